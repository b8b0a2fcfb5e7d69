//! The descriptions that come with Sekali, one file for each vendor.

macro_rules! descriptions {
    ($($name:literal),+ $(,)?) => {
        /// Names and texts, sorted by name.
        const DESCRIPTIONS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../vendors/", $name, ".toml")))),+];
    };
}

descriptions!(
    "adobe-sign",
    "adyen",
    "adyen-platform",
    "anthropic",
    "asana",
    "assemblyai",
    "auth0",
    "aws-sns",
    "bitbucket",
    "bland",
    "box",
    "calendly",
    "clerk",
    "cloudevents",
    "cloudflare-stream",
    "coinbase-commerce",
    "contentful",
    "d-id",
    "datadog",
    "deepgram",
    "discord",
    "docusign",
    "doku",
    "dropbox",
    "elevenlabs",
    "eventgrid",
    "fal",
    "fusionauth",
    "gemini",
    "generic-hmac",
    "generic-token",
    "github",
    "gitlab",
    "gocardless",
    "heygen",
    "hubspot",
    "hugging-face",
    "idempotency-key",
    "intercom",
    "jira",
    "labelbox",
    "lemon-squeezy",
    "line",
    "linear",
    "livekit",
    "mailchimp",
    "mailgun",
    "meta-whatsapp",
    "midtrans",
    "mollie",
    "mollie-classic",
    "monday",
    "ms-graph",
    "mux",
    "netlify",
    "notion",
    "okta",
    "openai",
    "paddle",
    "pagerduty",
    "paypal",
    "plaid",
    "postmark",
    "razorpay",
    "recall",
    "replicate",
    "resend",
    "retell",
    "runpod",
    "sanity",
    "scale",
    "sendgrid",
    "sentry",
    "shopify",
    "slack",
    "square",
    "standard-webhooks",
    "stripe",
    "svix",
    "svix-v1a",
    "synthesia",
    "telegram",
    "trello",
    "tripay",
    "turnkey",
    "twelve-labs",
    "twilio",
    "typeform",
    "vapi",
    "vercel",
    "vonage",
    "webflow",
    "websub",
    "wise",
    "workos",
    "x",
    "xendit",
    "zendesk",
    "zoom",
);

/// Other names under which people look for a vendor, as [`plain`] makes them.
const ALIASES: &[(&str, &str)] = &[
    ("acrobatsign", "adobe-sign"),
    ("adyenbanking", "adyen-platform"),
    ("amazonsns", "aws-sns"),
    ("azureeventgrid", "eventgrid"),
    ("cloudflare", "cloudflare-stream"),
    ("coinbase", "coinbase-commerce"),
    ("docusignconnect", "docusign"),
    ("facebook", "meta-whatsapp"),
    ("falai", "fal"),
    ("geminiapi", "gemini"),
    ("generic", "generic-hmac"),
    ("googlegemini", "gemini"),
    ("graph", "ms-graph"),
    ("instagram", "meta-whatsapp"),
    ("meta", "meta-whatsapp"),
    ("messenger", "meta-whatsapp"),
    ("microsoftgraph", "ms-graph"),
    ("mondaycom", "monday"),
    ("paddlebilling", "paddle"),
    ("recallai", "recall"),
    ("retellai", "retell"),
    ("scaleai", "scale"),
    ("sns", "aws-sns"),
    ("twitter", "x"),
    ("whatsapp", "meta-whatsapp"),
];

/// A name without what people write differently: case, dots, dashes.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The description of a vendor, as a file's text, under its name or another
/// that people know it by: `lemonsqueezy`, `monday.com`.
pub fn text(name: &str) -> Option<&'static str> {
    if let Ok(index) = DESCRIPTIONS.binary_search_by_key(&name, |(name, _)| name) {
        return Some(DESCRIPTIONS[index].1);
    }
    let wanted = plain(name);
    let known = ALIASES.iter().find(|(alias, _)| *alias == wanted).map(|(_, known)| plain(known));
    let wanted = known.unwrap_or(wanted);
    DESCRIPTIONS.iter().find(|(name, _)| plain(name) == wanted).map(|(_, text)| *text)
}

/// The names of all vendors that come with Sekali, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    DESCRIPTIONS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::super::Vendor;
    use super::*;

    #[test]
    fn every_description_is_found_and_without_a_problem() {
        assert!(names().is_sorted());
        for name in names() {
            let file = format!("vendors/{name}.toml");
            if let Err(problems) = Vendor::parse(name, &file, text(name).unwrap()) {
                let shown: Vec<_> = problems.iter().map(ToString::to_string).collect();
                panic!("{}", shown.join("\n"));
            }
        }
        assert_eq!(text("nobody"), None);
        assert!(ALIASES.iter().all(|(alias, name)| text(alias).is_some() && text(alias) == text(name)));
    }
}
