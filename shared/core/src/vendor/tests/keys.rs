//! Secrets become keys in the form that the description names.

use super::*;

fn fault(vendor: &str, text: &str) -> String {
    builtin_vendor(vendor).keys(&[secret(text)]).unwrap_err().to_string()
}

// INV-10: an unusable secret takes the endpoint offline.
#[test]
fn a_secret_in_a_wrong_form_is_refused_with_what_is_wrong_with_it() {
    for (vendor, text, reason) in [
        ("standard-webhooks", "v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "begins with `v1,`"),
        ("standard-webhooks", "\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"", "in quotes"),
        ("standard-webhooks", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", "white space"),
        ("standard-webhooks", "whsec_not base64", "not base64"),
        ("standard-webhooks", "whsec_QUJD", "3 bytes"),
        ("stripe", "abc", "3 bytes"),
        ("stripe", " whsec_x1234", "white space"),
        ("adyen", "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA05", "not hex"),
        ("discord", "00ff", "2 bytes"),
        ("discord", "00ff00ff", "Ed25519"),
        ("sendgrid", "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD", "public key"),
        ("paypal", "-----BEGIN CERTIFICATE-----", "certificate"),
        ("plaid", "{\"keys\":[]}", "key set"),
        ("postmark", "no-colon-here", "user:password"),
    ] {
        let shown = fault(vendor, text);
        assert!(shown.contains(reason), "{vendor}: {shown}");
        assert!(!shown.contains(text), "{shown}");
    }
    assert_eq!(builtin_vendor("stripe").keys(&[]).unwrap_err(), UnusableKey::NoSecret);
}

// The prefix alone decides nothing: the description does.
#[test]
fn the_same_secret_is_text_for_one_vendor_and_base64_for_another() {
    let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let body = request(&[], b"{}");
    for name in ["stripe", "standard-webhooks"] {
        let vendor = builtin_vendor(name);
        let delivery = signed(&vendor, &body, &secret(text), NOW);
        let whole = vendor.keys(&[secret(text)]).unwrap();
        assert!(vendor.verify(&delivery, &whole, &params(), NOW).is_ok(), "{name}");
        let bare = vendor.keys(&[secret(&text[6..])]).unwrap();
        let without_prefix = vendor.verify(&delivery, &bare, &params(), NOW).is_ok();
        assert_eq!(without_prefix, name == "standard-webhooks", "{name}");
    }
}

#[test]
fn a_vendor_that_signs_nothing_needs_no_secret_and_proves_nothing() {
    let vendor = builtin_vendor("runpod");
    let keys = vendor.keys(&[]).unwrap();
    let verified = vendor.verify(&request(&[], b"{}"), &keys, &params(), NOW).unwrap();
    assert_eq!((verified.secret_index, verified.assurance), (None, Assurance::None));
}
