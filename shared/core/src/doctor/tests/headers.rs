use super::*;
use crate::vendor::scheme::{Kind, SignaturePlace};

/// The header that carries the signature of the delivery, where there is one.
fn signature_header(recorded: &Recorded) -> Option<String> {
    let schemes = reads::reads(&recorded.vendor, &recorded.params, &recorded.request.headers);
    let mut names = schemes.iter().flat_map(|reads| reads.signatures.clone());
    names.find(|name| recorded.request.headers.only(name).is_some())
}

#[test]
fn a_header_that_stands_twice_is_proved() {
    let first = |recorded: &Recorded| {
        let signed = signature_header(recorded)?;
        Some(recorded.headers(|name, value| {
            let right = (name.to_owned(), value.to_owned());
            if name == signed { vec![(name.to_owned(), "wrong".to_owned()), right] } else { vec![right] }
        }))
    };
    assert_each(first, &["duplicate-header (proved)"], 80);
    let joined = |recorded: &Recorded| {
        let signed = signature_header(recorded)?;
        Some(recorded.header(&signed, |value| format!("{value},{value}")))
    };
    // Of a list, both values are read.
    assert_each(joined, &["duplicate-header (proved)"], 60);
    let all = |recorded: &Recorded| {
        Some(recorded.headers(|name, value| {
            vec![(name.to_owned(), value.to_owned()), (name.to_owned(), value.to_owned())]
        }))
    };
    assert_each(all, &["duplicate-header (proved)"], 80);
}

#[test]
fn a_header_that_a_gateway_renamed_is_proved() {
    for remap in [
        |name: &str| format!("X-Amzn-Remapped-{name}"),
        |name: &str| format!("HTTP_{}", name.replace('-', "_").to_uppercase()),
        |name: &str| name.replace('-', "_"),
    ] {
        let spoilt = |recorded: &Recorded| {
            let signed = signature_header(recorded)?;
            (remap(&signed).to_lowercase() != signed).then(|| {
                recorded.headers(|name, value| {
                    let name = if name == signed { remap(name) } else { name.to_owned() };
                    vec![(name, value.to_owned())]
                })
            })
        };
        assert_each(spoilt, &["header-remapped (proved)"], 60);
    }
}

#[test]
fn a_companion_that_did_not_arrive_is_a_guess() {
    for (id, name) in [
        ("slack/valid", "x-slack-request-timestamp"),
        ("svix/valid", "svix-id"),
        ("standard-webhooks/valid", "webhook-timestamp"),
        ("discord/valid", "x-signature-timestamp"),
        ("sendgrid/valid", "x-twilio-email-event-webhook-timestamp"),
        ("fal/valid", "x-fal-webhook-user-id"),
        ("paypal/valid", "paypal-transmission-id"),
    ] {
        assert_eq!(one(id).without(name).found(), "companion-header-missing (guess)", "{id} {name}");
    }
}

#[test]
fn a_companion_whose_value_the_scheme_knows_is_proved() {
    let spoilt = one("paypal/valid").without("paypal-auth-algo");
    assert!(["companion-header-missing (proved)", "verifies"].contains(&spoilt.found().as_str()));
    let spoilt = one("twilio/valid").without("content-type");
    assert_eq!(spoilt.found(), "companion-header-missing (proved)");
}

#[test]
fn the_names_of_the_other_family_are_proved() {
    let rename = |recorded: &Recorded, from: &str, to: &str| {
        recorded.headers(|name, value| {
            let name = name.strip_prefix(from).map_or(name.to_owned(), |rest| format!("{to}{rest}"));
            vec![(name, value.to_owned())]
        })
    };
    assert_eq!(rename(&one("svix/valid"), "svix-", "webhook-").found(), "other-header-names (proved)");
    for id in ["standard-webhooks/valid", "openai/valid", "replicate/valid"] {
        assert_eq!(rename(&one(id), "webhook-", "svix-").found(), "other-header-names (proved)", "{id}");
    }
}

#[test]
fn names_that_nobody_knows_are_found_by_trying() {
    let spoilt = one("slack/valid").headers(|name, value| {
        let name = name
            .replace("x-slack-request-timestamp", "x-acme-time")
            .replace("x-slack-signature", "x-acme-mac");
        vec![(name, value.to_owned())]
    });
    assert_eq!(spoilt.found(), "other-header-names (proved)");
}

#[test]
fn another_vendors_delivery_is_proved() {
    for (id, taken_for) in [
        ("github/valid", "stripe"),
        ("slack/valid", "zoom"),
        ("stripe/valid", "github"),
        ("shopify/valid", "line"),
        ("razorpay/valid", "standard-webhooks"),
        ("discord/valid", "github"),
        ("svix/valid", "github"),
    ] {
        let spoilt = Recorded { vendor: vendor(taken_for), ..one(id) };
        assert_eq!(spoilt.found(), "other-vendor-scheme (proved)", "{id} as {taken_for}");
    }
    let says =
        Recorded { vendor: vendor("stripe"), ..one("github/valid") }.examined().diagnosis.unwrap().says;
    assert_eq!(says, "It verifies as a delivery of github, not of stripe.");
    let intercom = Recorded { vendor: vendor("github"), ..one("intercom/valid") };
    assert_eq!(intercom.found(), "other-vendor-scheme (proved)");
}

#[test]
fn another_vendors_header_without_its_secret_is_a_guess() {
    let spoilt = Recorded { vendor: vendor("stripe"), ..one("github/valid") }
        .secret(|_| "whsec_something_else".into());
    assert_eq!(spoilt.found(), "other-vendor-scheme (guess)");
}

#[test]
fn a_weaker_signature_alone_is_proved_where_it_is_right() {
    use hmac::{KeyInit, Mac};
    let mac = |secret: &[u8], body: &[u8]| {
        let mut mac = hmac::Hmac::<sha1::Sha1>::new_from_slice(secret).unwrap();
        mac.update(body);
        crate::key::hex(&mac.finalize().into_bytes())
    };
    let valid = one("github/valid");
    let tag = mac(valid.secrets[0].secret.expose(), &valid.request.body);
    let weaker = |tag: &str| {
        valid.headers(|name, value| match name {
            "x-hub-signature-256" => vec![("x-hub-signature".to_owned(), format!("sha1={tag}"))],
            _ => vec![(name.to_owned(), value.to_owned())],
        })
    };
    assert_eq!(weaker(&tag).found(), "only-weaker-scheme-present (proved)");
    let mut wrong = weaker(&tag);
    wrong.request.body = b"{}{}".to_vec();
    assert_eq!(wrong.found(), "only-weaker-scheme-present (guess)");
    let v0 = one("stripe/valid").header("stripe-signature", |value| value.replace("v1=", "v0="));
    assert_eq!(v0.found(), "only-weaker-scheme-present (proved)");
}

#[test]
fn a_signature_in_upper_case_is_proved() {
    let spoilt = |recorded: &Recorded| {
        let signed = signature_header(recorded)?;
        let of_hex = recorded.vendor.schemes.iter().any(|scheme| {
            scheme.signature.encoding == crate::vendor::algorithm::Encoding::Hex
                && !matches!(scheme.kind, Kind::Token | Kind::Basic | Kind::Jwt(_))
        });
        of_hex.then(|| {
            recorded.header(&signed, |value| {
                let at = value.rfind('=').map_or(0, |at| at + 1);
                format!("{}{}", &value[..at], value[at..].to_ascii_uppercase())
            })
        })
    };
    assert_each(spoilt, &["signature-uppercase-hex (proved)"], 30);
}

#[test]
fn a_signature_without_its_prefix_is_proved() {
    let spoilt = |recorded: &Recorded| {
        let signed = signature_header(recorded)?;
        let form = &recorded.vendor.schemes.iter().find(|scheme| {
            scheme.signature.from.iter().any(|place| {
                matches!(place, SignaturePlace::Place(place) if place.to_string().to_lowercase() == format!("header:{signed}"))
            })
        })?.signature;
        let before = match (&form.prefix, &form.list) {
            (Some(prefix), None) => prefix.clone(),
            (None, Some(list)) => format!("{}{}", list.pick, list.pair),
            _ => return None,
        };
        Some(recorded.header(&signed, |value| value.replace(&before, "")))
    };
    assert_each(spoilt, &["signature-prefix-missing (proved)"], 30);
}

#[test]
fn a_signature_in_another_encoding_is_proved() {
    let github = one("github/valid");
    let tag = |value: &str| {
        let hex = value.strip_prefix("sha256=").unwrap();
        crate::vendor::algorithm::hex_bytes(hex.as_bytes(), true).unwrap()
    };
    let url_safe = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    for spoilt in [
        github.header("x-hub-signature-256", |value| format!("sha256={}", STANDARD.encode(tag(value)))),
        github.header("x-hub-signature-256", |value| format!("sha256={}", url_safe.encode(tag(value)))),
        github.header("x-hub-signature-256", |value| format!("sha256={}", STANDARD.encode(&value[7..]))),
    ] {
        assert_eq!(spoilt.found(), "signature-encoding (proved)");
    }
    let shopify = one("shopify/valid");
    let hex =
        shopify.header("x-shopify-hmac-sha256", |value| crate::key::hex(&STANDARD.decode(value).unwrap()));
    assert_eq!(hex.found(), "signature-encoding (proved)");
    let svix = one("svix/valid")
        .header("svix-signature", |value| value.replace('=', "").replace('+', "-").replace('/', "_"));
    assert_eq!(svix.found(), "signature-encoding (proved)");
}
