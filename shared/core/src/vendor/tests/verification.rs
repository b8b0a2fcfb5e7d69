//! What is not proven is refused, and the refusal gives nothing away.

use super::*;

const STRIPE: &str = "whsec_invented_0001";

fn delivery(now: UnixMillis) -> Request {
    signed(&builtin_vendor("stripe"), &request(&[], b"{\"id\":\"evt_1\"}"), &secret(STRIPE), now)
}

fn verify(request: &Request, secrets: &[&str], now: UnixMillis) -> Result<Verified, Refusal> {
    let vendor = builtin_vendor("stripe");
    let secrets: Vec<_> = secrets.iter().map(|text| secret(text)).collect();
    vendor.verify(request, &vendor.keys(&secrets).unwrap(), &params(), now)
}

#[test]
fn it_says_which_secret_made_the_signature_and_when() {
    let verified = verify(&delivery(NOW), &["whsec_another_0002", STRIPE], NOW).unwrap();
    assert_eq!(verified.secret_index, Some(1));
    assert_eq!(verified.signed_at, Some(NOW));
    assert_eq!(verified.assurance, Assurance::High);
}

// INV-10: what is not proven is refused.
#[test]
fn a_stale_or_early_signature_is_refused_with_the_skew_of_the_clocks() {
    let past = verify(&delivery(UnixMillis(NOW.0 - 301_000)), &[STRIPE], NOW).unwrap_err();
    assert_eq!((past.slug(), past.clock_skew_ms()), ("too-old", Some(-301_000)));
    let future = verify(&delivery(UnixMillis(NOW.0 + 301_000)), &[STRIPE], NOW).unwrap_err();
    assert_eq!((future.slug(), future.clock_skew_ms()), ("too-new", Some(301_000)));
    let forged = verify(&delivery(UnixMillis(NOW.0 - 301_000)), &["whsec_another_0002"], NOW).unwrap_err();
    assert_eq!((forged.slug(), forged.clock_skew_ms()), ("mismatch", None));
}

// INV-10: the reason goes to the log and must give nothing away.
#[test]
fn a_refusal_holds_neither_signature_nor_secret_nor_body() {
    let right = delivery(NOW);
    let mac = right.headers.text("stripe-signature").unwrap().split("v1=").nth(1).unwrap().to_owned();
    let mut wrong = right.clone();
    wrong.body.push(b'\n');
    let refusal = verify(&wrong, &[STRIPE], NOW).unwrap_err();
    let shown = format!("{refusal} {refusal:?} {}", refusal.slug());
    assert!(!shown.contains(&mac) && !shown.contains("evt_1") && !shown.contains("whsec"), "{shown}");
}

#[test]
fn a_repeated_header_is_refused_and_so_is_its_joined_form() {
    let right = delivery(NOW);
    let value = right.headers.text("stripe-signature").unwrap().to_owned();
    let twice = request(&[("Stripe-Signature", &value), ("stripe-signature", &value)], &right.body);
    assert_eq!(verify(&twice, &[STRIPE], NOW).unwrap_err().slug(), "repeated");
    let joined = request(&[("stripe-signature", &format!("{value},{value}"))], &right.body);
    assert_eq!(verify(&joined, &[STRIPE], NOW).unwrap_err().slug(), "repeated");
}

#[test]
fn what_a_token_says_of_its_algorithm_is_not_believed() {
    let vendor = builtin_vendor("livekit");
    let keys = vendor.keys(&[secret("lk-invented-secret-0123456789")]).unwrap();
    let mut params = params();
    params.named.insert("api_key".into(), "APIk".into());
    // {"alg":"none"} and {"alg":"RS256"} with an empty signature.
    for header in ["eyJhbGciOiJub25lIn0", "eyJhbGciOiJSUzI1NiJ9"] {
        let token = format!("{header}.eyJpc3MiOiJBUElrIn0.");
        let delivery = request(&[("Authorization", &token)], b"{}");
        assert_eq!(vendor.verify(&delivery, &keys, &params, NOW), Err(Refusal::Algorithm));
    }
}

#[test]
fn a_missing_parameter_of_the_endpoint_is_not_guessed() {
    let vendor = builtin_vendor("square");
    let delivery = signed(&vendor, &request(&[], b"{}"), &secret("square-invented"), NOW);
    let keys = vendor.keys(&[secret("square-invented")]).unwrap();
    assert!(vendor.verify(&delivery, &keys, &params(), NOW).is_ok());
    let refusal = vendor.verify(&delivery, &keys, &Params::default(), NOW).unwrap_err();
    assert_eq!(refusal, Refusal::NoParam("public_url".into()));
}
