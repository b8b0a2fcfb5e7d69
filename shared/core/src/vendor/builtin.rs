//! The descriptions that come with Sekali, one file for each vendor.

macro_rules! descriptions {
    ($($name:literal),+ $(,)?) => {
        /// Names and texts, sorted by name.
        const DESCRIPTIONS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../vendors/", $name, ".toml")))),+];
    };
}

descriptions!(
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
    "mailgun",
    "meta-whatsapp",
    "midtrans",
    "mollie",
    "mollie-classic",
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
    "tripay",
    "twelve-labs",
    "twilio",
    "typeform",
    "vapi",
    "vercel",
    "webflow",
    "websub",
    "wise",
    "workos",
    "x",
    "xendit",
    "zendesk",
    "zoom",
);

/// Other names under which people look for a vendor.
const ALIASES: &[(&str, &str)] = &[
    ("amazon-sns", "aws-sns"),
    ("azure-event-grid", "eventgrid"),
    ("coinbase", "coinbase-commerce"),
    ("facebook", "meta-whatsapp"),
    ("generic", "generic-hmac"),
    ("lemonsqueezy", "lemon-squeezy"),
    ("meta", "meta-whatsapp"),
    ("microsoft-graph", "ms-graph"),
    ("scale-ai", "scale"),
    ("sns", "aws-sns"),
    ("twitter", "x"),
    ("whatsapp", "meta-whatsapp"),
];

/// The description of a vendor, as a file's text.
pub fn text(name: &str) -> Option<&'static str> {
    let known = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, known)| known);
    let index = DESCRIPTIONS.binary_search_by_key(&known, |(name, _)| name).ok()?;
    Some(DESCRIPTIONS[index].1)
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
