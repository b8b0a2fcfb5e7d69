use super::*;

/// The delivery as a receiver sees it that takes another URL for its own.
fn seen_as(id: &str, url: &str) -> Recorded {
    let mut recorded = one(id);
    let (bare, query) = url.split_once('?').unwrap_or((url, ""));
    recorded.params.public_url = Some(bare.to_owned());
    recorded.request.query = query.to_owned();
    recorded.request.path =
        bare.split_once("://").map_or("/", |(_, rest)| &rest[rest.find('/').unwrap()..]).to_owned();
    recorded
}

#[test]
fn each_part_of_a_url_that_differs_is_proved() {
    let signed = one("twilio/valid").url;
    assert_eq!(signed, "https://hooks.example.test/in/twilio");
    for (seen, cause) in [
        ("http://hooks.example.test/in/twilio?src=sms&x=a%20b", "url-scheme (proved)"),
        ("https://hooks.example.test/prod/in/twilio?src=sms&x=a%20b", "url-stage-prefix (proved)"),
        (
            "https://abc.execute-api.eu-central-1.amazonaws.com/blue/in/twilio?src=sms&x=a%20b",
            "url-host (guess)",
        ),
        ("https://hooks.example.test/in/twilio/?src=sms&x=a%20b", "url-path-changed (proved)"),
        ("https://hooks.example.test/app/in/twilio?src=sms&x=a%20b", "url-path-changed (proved)"),
        ("https://hooks.example.test//in/twilio?src=sms&x=a%20b", "url-path-changed (proved)"),
        ("https://hooks.example.test/in/twilio?src=sms&x=a%20b&utm=1", "url-query-changed (proved)"),
        ("https://hooks.example.test/in/twilio?x=a%20b&src=sms", "url-query-changed (proved)"),
    ] {
        assert_eq!(seen_as("twilio/valid", seen).found(), cause, "{seen}");
    }
    // A gateway may hand a query on escaped another way: verification tries both.
    let escaped_anew = "https://hooks.example.test/in/twilio?src=sms&x=a+b";
    assert_eq!(seen_as("twilio/valid", escaped_anew).found(), "verifies");
}

#[test]
fn a_known_url_is_proved_to_be_the_signed_one() {
    for (seen, cause) in [
        ("https://10.0.3.7:8443/in/square", "url-host (proved)"),
        ("https://hooks.example.test/in", "url-path-changed (proved)"),
    ] {
        let spoilt = Recorded {
            urls: vec!["https://hooks.example.test/in/square".into()],
            ..seen_as("square/valid", seen)
        };
        assert_eq!(spoilt.found(), cause, "{seen}");
    }
}

#[test]
fn what_a_proxy_says_of_the_url_is_tried() {
    let mut spoilt = seen_as("square/valid", "http://10.0.3.7:8080/in/square");
    let pairs = spoilt.request.headers.iter().map(|(name, value)| (name.to_owned(), value.to_vec()));
    let told = ("x-forwarded-host".to_owned(), b"hooks.example.test".to_vec());
    spoilt.request.headers = Headers::new(pairs.chain([told]).collect::<Vec<_>>());
    assert_eq!(spoilt.found(), "url-host (proved)");
}

#[test]
fn an_address_that_no_vendor_can_call_is_a_guess() {
    assert_eq!(seen_as("square/valid", "http://10.0.3.7:8080/x").found(), "url-host (guess)");
    assert_eq!(seen_as("square/valid", "http://a.example.test/x").found(), "url-scheme (guess)");
}

#[test]
fn a_query_that_got_lost_is_a_guess() {
    let spoilt = seen_as("twilio/published-bodysha256", &one("twilio/published-bodysha256").url);
    assert_eq!(spoilt.found(), "url-query-changed (guess)");
}
