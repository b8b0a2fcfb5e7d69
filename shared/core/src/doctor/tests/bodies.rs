use super::*;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::Write;

/// Only deliveries whose body is not empty.
fn with_body(change: impl Fn(&[u8]) -> Vec<u8>) -> impl Fn(&Recorded) -> Option<Recorded> {
    move |recorded| (!recorded.request.body.is_empty()).then(|| recorded.body(&change))
}

#[test]
fn a_body_that_is_still_base64_is_proved() {
    let spoilt = with_body(|body| STANDARD.encode(body).into_bytes());
    assert_each(spoilt, &["body-not-base64-decoded (proved)"], 80);
}

#[test]
fn a_line_end_more_is_proved() {
    let spoilt = with_body(|body| [body, b"\n"].concat());
    // Of a delivery that ended in CRLF it is one line end more, too.
    assert_each(spoilt, &["trailing-newline-added (proved)"], 80);
}

#[test]
fn a_line_end_less_is_proved() {
    let spoilt = |recorded: &Recorded| {
        recorded.request.body.ends_with(b"\n").then(|| recorded.body(|body| body.trim_ascii_end().to_vec()))
    };
    assert_each(spoilt, &["trailing-newline-trimmed (proved)"], 15);
}

#[test]
fn other_line_ends_are_proved() {
    let spoilt = |recorded: &Recorded| {
        let crlf = recorded.request.body.windows(2).any(|pair| pair == b"\r\n");
        crlf.then(|| recorded.body(|body| body::replaced(body, b"\r\n", b"\n")))
    };
    assert_each(spoilt, &["line-endings-changed (proved)"], 15);
}

#[test]
fn a_byte_order_mark_less_is_proved() {
    let spoilt = |recorded: &Recorded| {
        let rest = recorded.request.body.strip_prefix(body::BOM)?.to_vec();
        Some(recorded.body(|_| rest.clone()))
    };
    assert_each(spoilt, &["bom-dropped (proved)"], 15);
}

#[test]
fn compression_on_the_way_is_proved() {
    let gzip = with_body(|body| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    });
    assert_each(gzip, &["body-compressed (proved)"], 80);
    let zlib = with_body(|body| {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    });
    assert_each(zlib, &["body-compressed (proved)"], 80);
}

#[test]
fn bytes_read_as_latin_1_are_proved_and_bytes_that_were_replaced_are_guessed() {
    let widened =
        with_body(|body| body.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes());
    assert_each(widened, &["body-decoded-as-text (proved)"], 25);
    let replaced = |recorded: &Recorded| {
        std::str::from_utf8(&recorded.request.body)
            .is_err()
            .then(|| recorded.body(|body| String::from_utf8_lossy(body).into_owned().into_bytes()))
    };
    assert_each(replaced, &["body-decoded-as-text (guess)"], 8);
}

#[test]
fn json_that_was_written_again_is_proved() {
    let is_close = |body: &[u8]| serde_json::from_slice::<Value>(body).is_ok() && !body.contains(&b' ');
    let spaced = |recorded: &Recorded| {
        is_close(&recorded.request.body).then(|| {
            recorded.body(|body| body::replaced(&body::replaced(body, b"\":", b"\": "), b",\"", b", \""))
        })
    };
    assert_each(spaced, &["body-reserialised (proved)"], 30);
    let indented = one("github/valid")
        .body(|body| body::replaced(&body::replaced(body, b"\":", b"\": "), b",", b",\n    "));
    assert_eq!(indented.found(), "body-reserialised (proved)");
}

#[test]
fn escapes_that_were_undone_are_proved() {
    let valid = one("github/valid");
    let plain = valid.body(|body| body::replaced(body, b"\\u00e9", "é".as_bytes()));
    assert_ne!(plain.request.body, valid.request.body);
    assert_eq!(plain.found(), "body-reserialised (proved)");
    let upper = valid.body(|body| body::replaced(body, b"\\u00e9", b"\\u00E9"));
    assert_eq!(upper.found(), "body-reserialised (proved)");
    let spaced = valid.body(|body| body::replaced(body, b":", b": "));
    assert_eq!(spaced.found(), "body-reserialised (proved)");
}

#[test]
fn a_form_that_was_written_again_is_proved() {
    let form = one("github/form-encoded-body");
    let lower = form.body(|body| form::escapes(body, u8::to_ascii_lowercase));
    assert_eq!(lower.found(), "form-reencoded (proved)");
    let spaces = form.body(|body| body::replaced(body, b"+", b"%20"));
    assert_eq!(spaces.found(), "form-reencoded (proved)");
}

#[test]
fn what_the_field_of_a_form_held_is_proved() {
    let mut form =
        one("github/form-encoded-body").body(|_| br#"{"zen":"Keep it logically awesome."}"#.to_vec());
    form = form.headers(|name, value| {
        let form = "application/x-www-form-urlencoded";
        vec![(name.to_owned(), if name == "content-type" { form.to_owned() } else { value.to_owned() })]
    });
    assert_eq!(form.found(), "form-reencoded (proved)");
}

#[test]
fn a_clock_or_another_unit_is_proved() {
    for (id, seconds) in
        [("stripe/valid", 3600), ("slack/valid", 301), ("discord/valid", 86_400), ("svix/valid", -400)]
    {
        let spoilt = one(id).at(seconds);
        let found = spoilt.found();
        // Discord's description sets no bound.
        assert!(["clock-off (proved)", "verifies"].contains(&found.as_str()), "{id}: {found}");
    }
    let says = one("stripe/valid").at(7200).examined().diagnosis.unwrap().says;
    assert!(says.contains("exactly 2 h"), "{says}");
}
