use super::*;
use crate::vendor::Keys;

fn keys(recorded: &Recorded) -> Keys {
    recorded.vendor.keys(std::slice::from_ref(&recorded.secrets[0].secret)).unwrap()
}

fn guess(recorded: &Recorded) -> Option<Cause> {
    let (keys, now) = (keys(recorded), recorded.received_at.unwrap());
    let refusal = recorded.vendor.verify(&recorded.request, &keys, &recorded.params, now).unwrap_err();
    quick(&recorded.vendor, &recorded.request, &keys, &recorded.params, &refusal, now)
}

#[test]
fn what_happens_most_is_guessed_with_the_keys_alone() {
    let github = one("github/valid");
    for (spoilt, cause) in [
        (github.body(|body| STANDARD.encode(body).into_bytes()), Cause::BodyNotBase64Decoded),
        (github.body(|body| [body, b"\n"].concat()), Cause::TrailingNewlineAdded),
        (github.body(|body| body::replaced(body, b":", b": ")), Cause::BodyReserialised),
        (
            github
                .header("x-hub-signature-256", |value| format!("sha256={}", value[7..].to_ascii_uppercase())),
            Cause::SignatureUppercaseHex,
        ),
        (github.header("x-hub-signature-256", |value| value[7..].to_owned()), Cause::SignaturePrefixMissing),
        (one("stripe/valid").at(4000), Cause::ClockOff),
        (one("slack/valid").without("x-slack-request-timestamp"), Cause::CompanionHeaderMissing),
        (github.body(|_| b"{\"id\":2}".to_vec()), Cause::BodyChanged),
        (Recorded { vendor: vendor("shopify"), ..github.clone() }, Cause::OtherVendorScheme),
    ] {
        assert_eq!(guess(&spoilt), Some(cause));
    }
}

// INV-8
#[test]
fn the_work_for_one_guess_is_bounded() {
    let long = one("github/valid").body(|_| vec![b'/'; LONGEST_BODY + 1]);
    let keys = keys(&long);
    let bench = Bench {
        vendor: &long.vendor,
        request: &long.request,
        params: &long.params,
        keys: Some(&keys),
        received_at: long.received_at,
        secrets: Vec::new(),
        tried: std::cell::Cell::new(0),
    };
    let refusal = Refusal::Mismatch;
    let of_body = quick::hypotheses(&bench, &refusal)
        .filter(|hypothesis| matches!(hypothesis.change, bench::Change::Body(_)));
    assert_eq!(of_body.count(), 0);
    let mut twilio = one("twilio/valid");
    twilio.request.query = (0..200).map(|n| format!("a{n}={n}")).collect::<Vec<_>>().join("&");
    let bench = Bench { vendor: &twilio.vendor, request: &twilio.request, params: &twilio.params, ..bench };
    assert!(quick::hypotheses(&bench, &refusal).count() > MOST_TRIED);
    assert!(bench.proved(quick::hypotheses(&bench, &refusal).take(MOST_TRIED)).is_none());
    assert!(bench.tried.get() <= MOST_TRIED);
}
