//! A processor with code of one's own: a packing slip is a file in a folder
//! that all workers share (a mounted file system), and its name is the key.
//!
//! ```toml
//! [destination]
//! packing = { code = "packing-slips", honours_key_for = "3650d", in_doubt = "retry" }
//! ```
//!
//! A file of one name is made once, whoever makes it, so this code may promise
//! that a repeated call finds what the first one made.

use lambda_runtime::Error;
use sekali::ports::{Acting, Call, Code, Outcome, OwnCode};
use sekali::protocol::action::EffectResult;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// Writes packing slips.
struct PackingSlips {
    folder: PathBuf,
}

impl PackingSlips {
    fn write(&self, call: &Call<'_>) -> Outcome {
        if !self.folder.is_dir() {
            // Certain: nothing was written. It is tried again.
            return Outcome::not_started("the folder of packing slips is not there");
        }
        let name = format!("{}.json", call.key.as_str());
        // A slip under its final name is a whole one: it is written beside and
        // then linked, and of two that link at once one finds it there.
        let draft = self.folder.join(format!("{name}.{}", call.attempt));
        let written = std::fs::File::create(&draft)
            .and_then(|mut file| file.write_all(call.body).and_then(|()| file.sync_all()));
        if let Err(error) = written {
            return Outcome::not_started(format!("the packing slip was not written: {error}"));
        }
        let linked = std::fs::hard_link(&draft, self.folder.join(&name));
        // A draft that stays disturbs nobody.
        let _ = std::fs::remove_file(&draft);
        match linked {
            Ok(()) => Outcome::Done(EffectResult(name)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Outcome::Done(EffectResult(name)),
            // A file system over a network may have linked it all the same.
            Err(error) => Outcome::unknown(format!("the packing slip may be there: {error}")),
        }
    }
}

impl Code for PackingSlips {
    fn call<'a>(&'a self, call: Call<'a>) -> Acting<'a> {
        Box::pin(async move { self.write(&call) })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let folder = std::env::var("PACKING_SLIPS").unwrap_or_else(|_| "/mnt/packing-slips".to_owned());
    let own = OwnCode::none().with("packing-slips", PackingSlips { folder: folder.into() });
    sekali_processor::run(own).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use sekali::ids::Generation;
    use sekali::key::ActionKey;
    use sekali::protocol::action::IdempotencyKey;
    use sekali::time::UnixMillis;
    use std::time::Duration;

    fn call(slips: &PackingSlips, order: &str, attempt: u32) -> Outcome {
        let key = IdempotencyKey::of(&ActionKey::from_stored(order), Generation::FIRST);
        slips.write(&Call {
            destination: &"packing".into(),
            action: &"pack".into(),
            key: &key,
            body: order.as_bytes(),
            resource: None,
            at: UnixMillis(0),
            attempt,
            correlation: "c",
            trace: None,
            timeout: Duration::from_secs(1),
        })
    }

    // INV-2: what it promises with `honours_key_for`.
    #[test]
    fn one_key_makes_one_slip_however_often_it_is_called() {
        let folder = std::env::temp_dir().join(format!("packing-slips-{}", std::process::id()));
        let slips = PackingSlips { folder: folder.clone() };
        assert!(matches!(call(&slips, "order_1", 1), Outcome::NotStarted { .. }));
        std::fs::create_dir_all(&folder).unwrap();
        let first = call(&slips, "order_1", 2);
        assert!(matches!(first, Outcome::Done(_)));
        assert_eq!(call(&slips, "order_1", 3), first);
        assert_ne!(call(&slips, "order_2", 1), first);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
