//! Whatever comes, and many at once.

use super::*;
use futures_util::future::join_all;
use futures_util::task::noop_waker_ref;
use proptest::prelude::*;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};

const SECRETS: &str = "secrets = [\"secretsmanager:prod/hub\"]";
const NAME: &str = "secretsmanager:prod/hub";

/// A keeper that lets others go first before it answers.
struct Slow(Drawer);

impl Secrets for Slow {
    async fn read(&self, name: &SecretName) -> Vec<Kept> {
        let mut waited = false;
        let turn = poll_fn(|context| {
            context.waker().wake_by_ref();
            if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
        });
        turn.await;
        self.0.read(name).await
    }
}

impl KeyDocuments for Slow {
    async fn fetch(&self, url: &KeyUrl) -> Result<Vec<u8>, NoKeyDocument> {
        self.0.fetch(url).await
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(noop_waker_ref());
    for _ in 0..1_000 {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
    panic!("it never ends")
}

#[test]
fn many_first_deliveries_at_once_cause_one_reading() {
    let (keyring, config) = (Keyring::new(Slow(Drawer::default())), config(SECRETS));
    let endpoint = config.endpoints.values().next().unwrap();
    keyring.secrets().0.put(NAME, vec![current("first")]);
    let request = signed(endpoint, "first");
    let verified = run(join_all((0..50).map(|_| keyring.verify(endpoint, None, &request, START))));
    assert!(verified.iter().all(Result::is_ok));
    assert_eq!(keyring.secrets().0.readings(), 1);
}

#[test]
fn many_at_once_after_a_rotation_all_verify_with_one_reading() {
    let (keyring, config) = (Keyring::new(Slow(Drawer::default())), config(SECRETS));
    let endpoint = config.endpoints.values().next().unwrap();
    keyring.secrets().0.put(NAME, vec![current("first")]);
    assert!(run(keyring.verify(endpoint, None, &signed(endpoint, "first"), START)).is_ok());
    keyring.secrets().0.put(NAME, vec![current("second"), previous("first")]);
    let request = signed(endpoint, "second");
    let verified = run(join_all((0..50).map(|_| keyring.verify(endpoint, None, &request, START))));
    assert!(verified.iter().all(Result::is_ok));
    assert_eq!(keyring.secrets().0.readings(), 2);
}

#[test]
fn who_signs_well_does_not_wait_for_a_reading_that_a_bad_signature_caused() {
    let (keyring, config) = (Keyring::new(Slow(Drawer::default())), config(SECRETS));
    let endpoint = config.endpoints.values().next().unwrap();
    keyring.secrets().0.put(NAME, vec![current("first")]);
    let good = signed(endpoint, "first");
    assert!(run(keyring.verify(endpoint, None, &good, START)).is_ok());
    let bad = signed(endpoint, "guess");
    let mut reading = pin!(keyring.verify(endpoint, None, &bad, START));
    let mut context = Context::from_waker(noop_waker_ref());
    assert!(reading.as_mut().poll(&mut context).is_pending());
    assert!(keyring.verify(endpoint, None, &good, START).now_or_never().unwrap().is_ok());
    assert!(run(reading).is_err());
}

#[derive(Debug, Clone)]
enum Step {
    Pass(u64),
    Rotate,
    Blank,
    Gone,
    Silent,
    /// Signed with the secret that was put there so many rotations ago.
    Deliver(usize),
    Guess,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..400_u64).prop_map(Step::Pass),
        2 => Just(Step::Rotate),
        1 => Just(Step::Blank),
        1 => Just(Step::Gone),
        1 => Just(Step::Silent),
        6 => (0..3_usize).prop_map(Step::Deliver),
        4 => Just(Step::Guess),
    ]
}

/// The keeper as a test drives it, and what the keyring has heard of it.
struct Told {
    generation: usize,
    live: Vec<String>,
    silent: bool,
    heard: Vec<String>,
    believed_until: UnixMillis,
}

impl Told {
    fn text(generation: usize) -> String {
        format!("secret {generation}")
    }

    fn first() -> Self {
        let live = vec![Self::text(0)];
        Self { generation: 0, live, silent: false, heard: Vec::new(), believed_until: START }
    }

    fn keeps_now(&mut self, step: &Step) -> Vec<Kept> {
        self.silent = matches!(step, Step::Silent);
        match step {
            Step::Rotate => {
                self.generation += 1;
                self.live = vec![Self::text(self.generation), Self::text(self.generation - 1)];
                vec![current(&self.live[0]), previous(&self.live[1])]
            }
            Step::Blank | Step::Gone => {
                self.live.clear();
                let gone = (Stage::Current, Err(NoSecret::Absent));
                vec![if matches!(step, Step::Gone) { gone } else { current(" ") }]
            }
            _ => silent(),
        }
    }

    /// The keyring has asked: what it hears is believed for its time to live,
    /// and silence leaves what it knew for a little longer.
    fn was_asked(&mut self, now: UnixMillis) {
        if self.silent {
            self.believed_until = now.plus(RETRY_KNOWN);
        } else {
            self.heard.clone_from(&self.live);
            self.believed_until = now.plus(TIME_TO_LIVE);
        }
    }

    /// INV-10: whatever verifies is what the keeper last said, and lately.
    fn may_verify(&self, secret: &str, now: UnixMillis) -> bool {
        self.heard.iter().any(|heard| heard == secret) && now <= self.believed_until
    }

    /// A secret that is live now is refused only where nobody may ask again yet.
    fn may_refuse(&self, secret: &str, refused: &NotVerified) -> bool {
        let live = !self.silent && self.live.iter().any(|live| live == secret);
        !live
            || matches!(refused, NotVerified::Refused(_, Some(Refresh::Suppressed)) | NotVerified::Offline(_))
    }
}

proptest! {
    #[test]
    fn what_verifies_is_what_the_keeper_said_lately_and_it_is_not_asked_too_often(
        steps in proptest::collection::vec(step(), 1..120),
    ) {
        let mut bench = Bench::with(SECRETS);
        let mut told = Told::first();
        bench.drawer().put(NAME, vec![current(&told.live[0])]);
        let mut caused: Vec<UnixMillis> = Vec::new();
        for step in steps {
            let secret = match step {
                Step::Pass(seconds) => {
                    bench.pass(Duration::from_secs(seconds));
                    continue;
                }
                Step::Deliver(ago) => Told::text(told.generation.saturating_sub(ago)),
                Step::Guess => "guess".to_owned(),
                keeper => {
                    bench.drawer().put(NAME, told.keeps_now(&keeper));
                    continue;
                }
            };
            let before = bench.drawer().readings();
            let verified = bench.deliver(&secret);
            let asked = bench.drawer().readings() - before;
            prop_assert!(asked <= 2, "one that was due, one for the signature");
            if asked > 0 {
                told.was_asked(bench.now);
            }
            match verified {
                Ok(_) => prop_assert!(told.may_verify(&secret, bench.now), "{secret}"),
                Err(refused) => {
                    prop_assert!(told.may_refuse(&secret, &refused), "{secret}: {refused:?}");
                    let NotVerified::Refused(_, Some(refresh)) = refused else { continue };
                    if refresh != Refresh::Suppressed {
                        caused.push(bench.now);
                    }
                }
            }
        }
        for pair in caused.windows(2) {
            prop_assert!(pair[1].since(pair[0]) >= REFRESH_INTERVAL, "{caused:?}");
        }
    }
}
