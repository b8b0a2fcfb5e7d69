use super::*;

#[test]
fn a_body_that_is_not_there_is_a_guess() {
    for id in [
        "stripe/valid",
        "github/valid",
        "standard-webhooks/valid",
        "discord/valid",
        "square/valid",
        "plaid/valid",
    ] {
        for body in ["", "{}", "null", "undefined", " "] {
            let spoilt = one(id).body(|_| body.as_bytes().to_vec());
            assert_eq!(spoilt.found(), "body-missing (guess)", "{id} {body:?}");
        }
    }
}

#[test]
fn a_body_that_was_changed_is_a_guess_that_says_what_else_it_may_be() {
    let changed = one("stripe/valid").body(|body| body::replaced(body, b"1750000000", b"1750000001"));
    assert_eq!(changed.found(), "body-changed (guess)");
    let says = changed.examined().diagnosis.unwrap().says;
    assert!(says.contains("another secret"), "{says}");
    let plaid = one("plaid/valid").body(|_| b"{\"other\":1}".to_vec());
    let says = plaid.examined().diagnosis.unwrap().says;
    assert!(says.starts_with("The signature is right"), "{says}");
}

#[test]
fn an_order_of_members_that_was_lost_is_a_guess() {
    let sorted = one("shopify/valid").body(|body| {
        let value: Value = serde_json::from_slice(body).unwrap();
        value.to_string().replace("é", "\\u00e9").into_bytes()
    });
    assert_eq!(sorted.found(), "body-reserialised (guess)");
    let object = one("shopify/valid").body(|_| b"[object Object]".to_vec());
    assert_eq!(object.found(), "body-reserialised (guess)");
}

#[test]
fn the_mode_of_a_delivery_against_the_name_of_the_secret_is_a_guess() {
    let mut spoilt = one("stripe/valid").body(|_| br#"{"id":"evt_1","livemode":false}"#.to_vec());
    spoilt.secrets[0].name = "env:STRIPE_LIVE".into();
    assert_eq!(spoilt.found(), "test-live-secret-mixed (guess)");
    spoilt.secrets[0].name = "env:STRIPE_TEST".into();
    assert_eq!(spoilt.found(), "body-changed (guess)");
}

#[test]
fn a_content_encoding_that_is_not_undone_here_is_a_guess() {
    let mut spoilt = one("github/valid").body(|_| b"\x8b\x02\x80{}\x03".to_vec());
    let pairs = spoilt.request.headers.iter().map(|(name, value)| (name.to_owned(), value.to_vec()));
    spoilt.request.headers =
        Headers::new(pairs.chain([("content-encoding".to_owned(), b"br".to_vec())]).collect::<Vec<_>>());
    assert_eq!(spoilt.found(), "body-compressed (guess)");
}

#[test]
fn where_nothing_fits_there_is_neither_proof_nor_guess() {
    let bare = one("github/valid").headers(|name, value| match name {
        "content-type" => vec![(name.to_owned(), value.to_owned())],
        _ => Vec::new(),
    });
    assert_eq!(bare.found(), "-");
    let token = one("gitlab/valid").secret(|_| "another-token".into());
    assert_eq!(token.found(), "-");
}

#[test]
fn the_age_of_a_delivery_is_not_judged_where_nobody_knows_when_it_arrived() {
    for recorded in recorded() {
        let ageless = Recorded { received_at: None, ..recorded.clone() };
        assert_eq!(ageless.found(), "verifies", "{}", recorded.id);
    }
    let stripe = Recorded { received_at: None, ..one("stripe/valid") };
    assert_eq!(stripe.body(|body| [body, b"\n"].concat()).found(), "trailing-newline-added (proved)");
}

#[test]
fn a_second_thing_that_is_wrong_is_said() {
    let spoilt = one("stripe/valid").body(|body| [body, b"\n"].concat()).at(3600);
    assert_eq!(spoilt.found(), "trailing-newline-added (proved)");
    let says = spoilt.examined().diagnosis.unwrap().says;
    assert!(says.contains("Besides"), "{says}");
}
