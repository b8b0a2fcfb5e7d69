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

const CERTIFICATE: &str = include_str!("certificate.pem");
/// When that becomes valid.
const VALID_FROM: UnixMillis = UnixMillis(1_795_992_163_000);

#[test]
fn a_published_certificate_is_used_between_its_dates_and_a_configured_one_always() {
    let vendor = described(
        r#"confirmed = true
[[scheme]]
kind = "ecdsa-p256"
key = { encoding = "certificate", url = "https://keys.acme.example/c.pem" }
signature = { from = "header:Acme-Signature", encoding = "base64" }
message = "{body}"
[[event]]
id = "/id"
"#,
    );
    // Nobody has its private key: a certificate that is used shows in the mismatch.
    let delivery = request(&[("Acme-Signature", "AAAA")], b"{}");
    let refused = |keys: &Keys, now| vendor.verify(&delivery, keys, &params(), now).unwrap_err();
    let published = vendor.published_keys(CERTIFICATE.as_bytes()).unwrap();
    assert_eq!(refused(&published, UnixMillis(VALID_FROM.0 - 1)), Refusal::KeyNotValid);
    assert_eq!(refused(&published, VALID_FROM), Refusal::Mismatch);
    let configured = vendor.keys(&[secret(CERTIFICATE)]).unwrap();
    assert_eq!(refused(&configured, UnixMillis(VALID_FROM.0 - 1)), Refusal::Mismatch);
}

// Anybody can read what is published: it must never become a shared secret.
#[test]
fn a_published_document_makes_no_key_of_a_scheme_with_a_secret() {
    let vendor = described(
        r#"confirmed = true
[[scheme]]
name = "signed"
present = "header:Acme-Signature"
kind = "ecdsa-p256"
key = { encoding = "certificate", url = "https://keys.acme.example/c.pem" }
signature = { from = "header:Acme-Signature", encoding = "base64" }
message = "{body}"
[[scheme]]
name = "shared"
kind = "token"
signature = { from = "header:Acme-Token" }
[[event]]
id = "/id"
"#,
    );
    assert_eq!(vendor.keys(&[]).unwrap_err(), UnusableKey::NoSecret);
    let published = vendor.published_keys(CERTIFICATE.as_bytes()).unwrap();
    let token = request(&[("Acme-Token", CERTIFICATE.trim())], b"{}");
    assert_eq!(vendor.verify(&token, &published, &params(), VALID_FROM), Err(Refusal::Mismatch));
    assert_eq!(vendor.key_url(&token, &published), Ok(None));
}

#[test]
fn a_place_of_keys_is_pinned_or_the_description_is_refused() {
    let problems = |key: &str| {
        let text = format!(
            "confirmed = true\n[[scheme]]\nkind = \"ed25519\"\nkey = {key}\nsignature = {{ from = \"header:S\" }}\nmessage = \"{{body}}\"\n[[event]]\nid = \"/id\"\n"
        );
        match Vendor::parse("acme", "acme.toml", &text) {
            Ok(_) => String::new(),
            Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        }
    };
    let pinned = r#"{ encoding = "pem", url_from = "/key", hosts = ["a.example"], paths = ["/k/*"] }"#;
    assert_eq!(problems(pinned), "");
    for (key, reason) in [
        (
            r#"{ encoding = "pem", url_from = "/key", hosts = ["a.example"] }"#,
            "needs `key.hosts` and `key.paths`",
        ),
        (r#"{ encoding = "pem", url_from = "/key", paths = ["/k"] }"#, "needs `key.hosts` and `key.paths`"),
        (r#"{ encoding = "pem", url_from = "/key", hosts = ["*.example"], paths = ["/k"] }"#, "pins no host"),
        (
            r#"{ encoding = "pem", url_from = "/key", hosts = ["a.{region}"], paths = ["/k"] }"#,
            "pins no host",
        ),
        (r#"{ encoding = "pem", url_from = "/key", hosts = ["a.example"], paths = ["k"] }"#, "is no path"),
        (r#"{ encoding = "pem", url_from = "/key", hosts = ["a.example"], paths = ["/*/*"] }"#, "is no path"),
        (r#"{ encoding = "pem", url = "http://a.example/k" }"#, "https://host/path"),
        (r#"{ encoding = "hex", url = "https://a.example/k" }"#, "document of public keys"),
        (
            r#"{ encoding = "pem", url = "https://a.example/k", hosts = ["a.example"] }"#,
            "pins what `url_from` names",
        ),
        (
            r#"{ encoding = "pem", url = "https://a.example/k", url_from = "/key", hosts = ["a.example"], paths = ["/k"] }"#,
            "either `url` or `url_from`",
        ),
    ] {
        let shown = problems(key);
        assert!(shown.contains(reason), "{key}: {shown}");
    }
}
