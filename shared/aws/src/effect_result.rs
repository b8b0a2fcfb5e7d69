//! What is kept of the answer to a done call, for people and for callers that
//! ask again. A large one lies in an item of its own, which is the store's.

use crate::connection::{End, read};
use hyper::body::Incoming;
use sekali::key::hex;
use sekali::protocol::action::EffectResult;
use tokio::time::Instant;

/// No more than this of an answer is read, in bytes: its sender decides
/// nothing about our memory (INV-8).
pub const LARGEST_ANSWER_READ: usize = 64 * 1024;

/// The body of a done call: as it is, if it came whole and is text; else the
/// SHA-256 of what was read, and how much that was. A body that breaks off or
/// comes too late changes nothing: the destination has said that it is done.
pub(crate) async fn of_body(body: Incoming, deadline: Instant) -> EffectResult {
    let (read, end) = read(body, LARGEST_ANSWER_READ, deadline).await;
    of_read(read, &end)
}

/// The same, of what was read already.
pub(crate) fn of_read(read: Vec<u8>, end: &End) -> EffectResult {
    let digest = |read: &[u8]| {
        let sha256 = hex(ring::digest::digest(&ring::digest::SHA256, read).as_ref());
        let how_much = if *end == End::Whole { "" } else { "the first " };
        format!("sha256:{sha256} ({how_much}{} bytes)", read.len())
    };
    if *end != End::Whole {
        return EffectResult(digest(&read));
    }
    EffectResult(String::from_utf8(read).unwrap_or_else(|error| digest(error.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_text_is_kept_and_everything_else_is_a_digest() {
        let kept = |read: Vec<u8>, end: End| of_read(read, &end).0;
        assert_eq!(kept(b"{\"task\":\"t_1\"}".to_vec(), End::Whole), "{\"task\":\"t_1\"}");
        assert_eq!(kept(Vec::new(), End::Whole), "");
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(kept(Vec::new(), End::TooLate), format!("{empty} (the first 0 bytes)"));
        assert!(kept(vec![b'a'; LARGEST_ANSWER_READ], End::Whole).starts_with("aaaa"));
        assert!(kept(vec![b'a'; 10], End::TooLarge).ends_with("(the first 10 bytes)"));
        assert!(kept(vec![0xff], End::Whole).ends_with("(1 bytes)"));
    }
}
