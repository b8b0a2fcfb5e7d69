//! What arbitrary bytes must not bring about, on bytes from fixed seeds. The
//! fuzz targets in `tests/fuzz` try the same properties for as long as told.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a property says what it expected")]

mod properties;

use properties::{description, forgery, form, header, json, list, timestamp, verification};

/// A splitmix64 generator: the same seed gives the same bytes.
struct Seeded(u64);

impl Seeded {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, ceiling: usize) -> usize {
        usize::try_from(self.draw() % u64::try_from(ceiling.max(1)).unwrap()).unwrap()
    }

    /// Up to so many bytes, with a liking for what parsers look at.
    fn bytes(&mut self, most: usize) -> Vec<u8> {
        const LIKED: &[u8] = b"{}[]\",:=&;.%+ \n\\/0123456789-eEtv\0\xff";
        let length = self.below(most);
        (0..length)
            .map(|_| match self.below(3) {
                0 => self.draw().to_le_bytes()[0],
                _ => LIKED[self.below(LIKED.len())],
            })
            .collect()
    }

    /// A seed with a few bytes changed, cut, doubled or put in.
    fn mutated(&mut self, seed: &[u8]) -> Vec<u8> {
        let mut bytes = seed.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            match self.below(5) {
                0 if at < bytes.len() => bytes[at] = self.draw().to_le_bytes()[0],
                1 if at < bytes.len() => drop(bytes.remove(at)),
                2 => bytes.truncate(at),
                3 => {
                    let end = at + self.below(bytes.len() - at + 1);
                    let again = bytes[at..end].to_vec();
                    bytes.splice(at..at, again);
                }
                _ => {
                    let more = self.bytes(6);
                    bytes.splice(at..at, more);
                }
            }
        }
        bytes
    }
}

/// Tries the property on arbitrary bytes and on mutated seeds. A failure
/// prints the bytes, which may be tried again by themselves.
fn holds(property: impl Fn(&[u8]), seeds: &[&[u8]]) {
    let mut seeded = Seeded(0x5eca_1100);
    for round in 0..400 {
        let bytes = match seeds.get(round % (seeds.len() + 1)) {
            Some(seed) if round > seeds.len() => seeded.mutated(seed),
            Some(seed) => seed.to_vec(),
            None => seeded.bytes(200),
        };
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| property(&bytes)));
        assert!(tried.is_ok(), "round {round}: {shown:?}");
    }
}

#[test]
fn no_header_makes_a_delivery_genuine() {
    holds(
        header::property,
        &[b"stripe-signature: t=1,v1=00\nx-hub-signature-256: sha256=00", b"a:b\r\n\r\n:"],
    );
}

#[test]
fn what_a_list_of_signatures_holds_besides_changes_nothing() {
    holds(list::property, &[b"v0=ab,x=y", b"v2,xx v3,yy", b"=,=,", b", ,"]);
}

#[test]
fn a_form_is_read_once_and_as_it_was_meant() {
    holds(form::property, &[b"a=%2B1+2&b&c=%2525", b"id=1&id=2&%00=%ff", b"payload=%7B%22id%22%3A1%7D"]);
}

#[test]
fn a_time_is_taken_in_its_notation_only() {
    holds(
        timestamp::property,
        &[b"1800000000", b"2027-01-15T08:00:00.123456789+05:30", b"18e8", b"+1800000000"],
    );
}

#[test]
fn what_is_read_of_json_is_what_a_tree_would_hold() {
    holds(json::property, &[br#"{"a":{"b":[1,{"c":1.50}],"a":2},"a":{"b":[]}}"#, br#"[{"a":1},"x",[[]]]"#]);
}

#[test]
fn nothing_arbitrary_verifies_and_nothing_panics() {
    holds(
        verification::property,
        &[b"\x10\x01{\"id\":1}", b"\x33\x02[{\"a\":[]}]\x00x:y", b"\x20\x03a=b&c=d"],
    );
}

#[test]
fn a_genuine_delivery_of_which_a_byte_was_changed_is_refused() {
    holds(
        forgery::property,
        &[b"\x00\x00\x00\x00\x01", b"\x01\x10\xff\x00\x80", b"\x02\x20\x00\x10\x20\x30"],
    );
}

#[test]
fn no_description_makes_its_reader_panic() {
    let seeds: Vec<&[u8]> =
        ["stripe", "twilio", "aws-sns", "meta-whatsapp", "zoom"].map(description::text).to_vec();
    holds(description::property, &seeds);
}
