//! The secrets of our own calls: what signs them, what they authenticate with.
//!
//! They are rotated like those that we verify with: every place that is
//! declared and both versions of a keeper's secret are live, so that whoever
//! is called may still know the old one or already the new one. A keeper that
//! does not answer changes nothing; one that says *gone*, or hands out a
//! blank, takes the secret out (INV-10).

use super::{RETRY_KNOWN, TIME_TO_LIVE};
use crate::config::SecretRef;
use crate::ports::{Kept, NoSecret, Secrets};
use crate::secret::{Secret, Stage};
use crate::time::UnixMillis;
use futures_util::future::join_all;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thiserror::Error;

/// No secret is live, so nothing may be sent: a call without its signature is
/// another call. What is wrong with each, without any of them.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no secret to call with: {}", .0.join("; "))]
pub struct NoneLive(pub Vec<String>);

/// The secrets of our own calls, read once for all calls of a process and
/// again when their time to live is over.
#[derive(Debug)]
pub struct OutgoingSecrets<K> {
    keepers: K,
    known: Mutex<HashMap<SecretRef, Known>>,
    /// Many calls at once cause one reading.
    reading: futures_util::lock::Mutex<()>,
}

#[derive(Debug, Clone)]
struct Known {
    versions: Arc<Vec<(Stage, Secret)>>,
    troubles: Vec<String>,
    read_at: UnixMillis,
    due: UnixMillis,
}

impl Known {
    /// A clock that was set back says nothing, so it makes a reading due.
    fn is_fresh(&self, now: UnixMillis) -> bool {
        now < self.due && now >= self.read_at
    }
}

impl<K: Secrets> OutgoingSecrets<K> {
    /// Nothing is read yet.
    pub fn new(keepers: K) -> Self {
        Self { keepers, known: Mutex::default(), reading: futures_util::lock::Mutex::default() }
    }

    /// Every live version of the named secrets: the current ones in the order
    /// given, then the previous ones; none twice.
    ///
    /// # Errors
    /// None of them is live. Send nothing, and try later.
    pub async fn live(&self, named: &[SecretRef], now: UnixMillis) -> Result<Vec<Secret>, NoneLive> {
        let all = join_all(named.iter().map(|secret| self.known(secret, now))).await;
        let mut live: Vec<Secret> = Vec::new();
        for stage in [Stage::Current, Stage::Previous] {
            let of_stage = all.iter().flat_map(|known| known.versions.iter());
            for (_, secret) in of_stage.filter(|(own, _)| *own == stage) {
                if !live.contains(secret) {
                    live.push(secret.clone());
                }
            }
        }
        if live.is_empty() {
            return Err(NoneLive(all.into_iter().flat_map(|known| known.troubles).collect()));
        }
        Ok(live)
    }

    fn map(&self) -> MutexGuard<'_, HashMap<SecretRef, Known>> {
        // Nothing that is locked is left half written.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn known(&self, secret: &SecretRef, now: UnixMillis) -> Known {
        let fresh = || self.map().get(secret).filter(|known| known.is_fresh(now)).cloned();
        if let Some(known) = fresh() {
            return known;
        }
        let _reading = self.reading.lock().await;
        if let Some(known) = fresh() {
            return known;
        }
        let kept = match secret.of(None) {
            Some(name) => self.keepers.read(&name).await,
            None => vec![(Stage::Current, Err(NoSecret::Absent))],
        };
        let known = taken_in(secret, self.map().get(secret), kept, now);
        self.map().insert(secret.clone(), known.clone());
        known
    }
}

/// What a keeper said counts; where it said nothing, what was known does.
fn taken_in(secret: &SecretRef, before: Option<&Known>, kept: Vec<Kept>, now: UnixMillis) -> Known {
    let mut versions: Vec<(Stage, Secret)> = Vec::new();
    let mut troubles = Vec::new();
    let mut says_nothing = false;
    for (stage, answer) in kept {
        match answer {
            Ok(version) => versions.push((stage, version)),
            Err(reason) => {
                tracing::error!(
                    secret.name = %secret, secret.version = stage.as_str(), secret.problem = %reason,
                    "a secret of our own calls cannot be used"
                );
                troubles.push(format!("{secret} ({}): {reason}", stage.as_str()));
                if matches!(reason, NoSecret::Denied(_) | NoSecret::Unavailable(_)) {
                    says_nothing = true;
                    let known = before.iter().flat_map(|known| known.versions.iter());
                    versions.extend(known.filter(|(own, _)| *own == stage).cloned());
                }
            }
        }
    }
    let wait = if says_nothing || versions.is_empty() { RETRY_KNOWN } else { TIME_TO_LIVE };
    Known { versions: Arc::new(versions), troubles, read_at: now, due: now.plus(wait) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SecretName;
    use futures_util::FutureExt;

    /// Keepers that answer what is set.
    #[derive(Debug, Default)]
    struct Scripted {
        kept: Mutex<HashMap<String, Vec<Kept>>>,
        readings: Mutex<usize>,
    }

    impl Scripted {
        fn set(&self, name: &str, kept: Vec<Kept>) {
            self.kept.lock().unwrap().insert(name.to_owned(), kept);
        }
    }

    impl Secrets for Scripted {
        async fn read(&self, name: &SecretName) -> Vec<Kept> {
            *self.readings.lock().unwrap() += 1;
            let kept = self.kept.lock().unwrap();
            kept.get(name.name()).cloned().unwrap_or_else(|| vec![(Stage::Current, Err(NoSecret::Absent))])
        }
    }

    fn secret(text: &str) -> Secret {
        Secret::new(text).unwrap()
    }

    fn current(text: &str) -> Kept {
        (Stage::Current, Ok(secret(text)))
    }

    fn named(texts: &[&str]) -> Vec<SecretRef> {
        texts.iter().map(|text| SecretRef::parse(text).unwrap()).collect()
    }

    fn live(
        secrets: &OutgoingSecrets<Scripted>,
        texts: &[&str],
        seconds: i64,
    ) -> Result<Vec<Secret>, NoneLive> {
        secrets.live(&named(texts), UnixMillis(seconds * 1000)).now_or_never().unwrap()
    }

    #[test]
    fn every_place_and_both_versions_are_live_and_none_twice() {
        let secrets = OutgoingSecrets::new(Scripted::default());
        secrets.keepers.set("prod/a", vec![current("new"), (Stage::Previous, Ok(secret("old")))]);
        secrets.keepers.set("/b", vec![current("new")]);
        secrets.keepers.set("/c", vec![current("next")]);
        let all = live(&secrets, &["secretsmanager:prod/a", "ssm:/b", "ssm:/c"], 0).unwrap();
        assert_eq!(all, [secret("new"), secret("next"), secret("old")]);
    }

    #[test]
    fn a_rotation_is_seen_after_the_time_to_live_and_not_asked_for_before() {
        let secrets = OutgoingSecrets::new(Scripted::default());
        secrets.keepers.set("/a", vec![current("first")]);
        assert_eq!(live(&secrets, &["ssm:/a"], 0).unwrap(), [secret("first")]);
        secrets.keepers.set("/a", vec![current("second")]);
        assert_eq!(live(&secrets, &["ssm:/a"], 299).unwrap(), [secret("first")]);
        assert_eq!(*secrets.keepers.readings.lock().unwrap(), 1);
        assert_eq!(live(&secrets, &["ssm:/a"], 300).unwrap(), [secret("second")]);
    }

    // INV-10
    #[test]
    fn a_keeper_that_is_silent_changes_nothing_and_one_that_has_none_takes_it_out() {
        let secrets = OutgoingSecrets::new(Scripted::default());
        secrets.keepers.set("/a", vec![current("first")]);
        live(&secrets, &["ssm:/a"], 0).unwrap();
        let silent = NoSecret::Unavailable("no answer".to_owned());
        secrets.keepers.set("/a", vec![(Stage::Current, Err(silent))]);
        assert_eq!(live(&secrets, &["ssm:/a"], 400).unwrap(), [secret("first")]);
        secrets.keepers.set("/a", vec![(Stage::Current, Err(NoSecret::Absent))]);
        let none = live(&secrets, &["ssm:/a"], 430).unwrap_err();
        assert_eq!(
            none.to_string(),
            "no secret to call with: ssm:/a (current): the keeper has no secret of this name"
        );
    }
}
