use super::*;

fn text_secret(recorded: &Recorded) -> bool {
    !String::from_utf8_lossy(recorded.secrets[0].secret.expose()).starts_with(['-', '{'])
}

#[test]
fn white_space_around_or_in_a_secret_is_proved() {
    for spoil in [
        |secret: &str| format!("{secret}\n"),
        |secret: &str| format!(" {secret}\r\n"),
        |secret: &str| format!("{secret}\\n"),
        |secret: &str| format!("{secret}\u{200b}"),
        |secret: &str| format!("{}\n{}", &secret[..4], &secret[4..]),
    ] {
        let spoilt = |recorded: &Recorded| text_secret(recorded).then(|| recorded.secret(spoil));
        assert_each(spoilt, &["secret-has-whitespace (proved)"], 80);
    }
}

#[test]
fn quotes_around_a_secret_are_proved() {
    for spoil in [
        |secret: &str| format!("\"{secret}\""),
        |secret: &str| format!("'{secret}'\n"),
        |secret: &str| format!("“{secret}”"),
        |secret: &str| format!("\"{secret}"),
    ] {
        let spoilt = |recorded: &Recorded| text_secret(recorded).then(|| recorded.secret(spoil));
        assert_each(spoilt, &["secret-has-quotes (proved)"], 80);
    }
}

#[test]
fn a_secret_with_the_version_of_signatures_is_proved() {
    let spoilt = one("standard-webhooks/valid").secret(|secret| format!("v1,{secret}"));
    assert_eq!(spoilt.found(), "secret-has-version (proved)");
}

#[test]
fn a_prefix_that_is_part_of_the_key_is_missed() {
    let spoilt = one("stripe/valid").secret(|secret| secret.replace("whsec_", ""));
    assert_eq!(spoilt.found(), "secret-prefix-missing (proved)");
    let spoilt = one("shopify/valid").secret(|secret| secret.replace("shpss_", ""));
    assert_eq!(spoilt.found(), "secret-prefix-missing (proved)");
}

/// What a sender would send that takes another secret for the key.
fn signed_with(id: &str, sender: &str, secret: &str) -> Recorded {
    let mut recorded = one(id);
    let lying = vendor(sender);
    let schemes = reads::reads(&lying, &recorded.params, &recorded.request.headers);
    let names: Vec<&String> = schemes.iter().flat_map(reads::Reads::needed).collect();
    let bare = recorded.headers(|name, value| match names.iter().any(|known| *known == name) {
        true => Vec::new(),
        false => vec![(name.to_owned(), value.to_owned())],
    });
    let secret = Secret::new(secret).unwrap();
    let now = recorded.received_at.unwrap();
    let fresh =
        crate::vendor::sign::sign(&lying, &bare.request, &secret, &recorded.params, now, || "msg_1".into());
    let pairs = bare.request.headers.iter().map(|(name, value)| (name.to_owned(), value.to_vec()));
    let added = fresh.unwrap().into_iter().map(|(name, value)| (name, value.into_bytes()));
    recorded.request.headers = Headers::new(pairs.chain(added).collect::<Vec<_>>());
    recorded
}

#[test]
fn a_sender_that_takes_the_text_for_the_key_is_proved() {
    let known = "whsec_uaDDD+k/zxx0e/LHvseE5v7ox6XCkBC10KFgGdqFXpE=";
    for text in [known, known.strip_prefix("whsec_").unwrap()] {
        let as_base64 = format!("whsec_{}", STANDARD.encode(text));
        let spoilt =
            signed_with("standard-webhooks/valid", "standard-webhooks", &as_base64).secret(|_| known.into());
        assert_eq!(spoilt.found(), "sender-used-secret-as-text (proved)");
    }
}

#[test]
fn a_key_whose_digits_are_not_decoded_is_proved() {
    let hex: String = "gh-secret-7d1f".bytes().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(one("github/valid").secret(|_| hex.clone()).found(), "hex-key-not-decoded (proved)");
    let base64 = STANDARD.encode("gh-secret-7d1f");
    assert_eq!(one("github/valid").secret(|_| base64.clone()).found(), "base64-key-not-decoded (proved)");
}

#[test]
fn a_secret_that_is_not_in_use_is_found() {
    let with_other = |name: &str, used: &str, wrong: &str| {
        let mut recorded = one("stripe/valid");
        let right = recorded.secrets[0].secret.clone();
        recorded.secrets[0] =
            KnownSecret { name: used.into(), secret: Secret::new(wrong).unwrap(), used: true };
        recorded.secrets.push(KnownSecret { name: name.into(), secret: right, used: false });
        recorded.found()
    };
    assert_eq!(with_other("previous", "current", "whsec_test_other"), "other-secret-of-endpoint (proved)");
    assert_eq!(with_other("env:OLD", "env:NEW", "whsec_other"), "other-secret-of-endpoint (proved)");
    assert_eq!(with_other("test", "live", "whsec_x_other"), "test-live-secret-mixed (proved)");
    assert_eq!(with_other("test", "current", "whsec_x_other"), "test-live-secret-mixed (proved)");
    assert_eq!(with_other("second", "first", "whsec_live_other"), "test-live-secret-mixed (proved)");
}
