//! Marked secrets, signatures, headers and bodies: whatever the commands say of
//! them, on either output, in lines or as JSON, holds no mark.

use super::*;

/// What every mark begins with.
const MARK: &str = "canary";
const SECRET: &str = "canary-secret-of-the-hub";
const TAG: &str = "0c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee0";
const BODY: &str = r#"{"id":"evt_1","type":"paid","created":1750000000,"order":"o-7","note":"canary-body"}"#;

const ENDPOINTS: &str = r#"
[endpoint.hub]
vendor = "github"
secrets = ["env:HUB", "file:hub.txt", "env:BLANK", "ssm:/prod/hub"]
[[endpoint.hub.rule]]
type = "push"
when = { "/note" = "wanted" }
action.build = { order = "/order" }
[endpoint.shop]
vendor = "stripe"
secrets = ["env:SHOP"]
resource.order = "/missing"
[[endpoint.shop.rule]]
type = "paid"
status = "paid"
action.build = { order = "/order" }
late = "act"
[resource.order]
order = "rank"
moves = ["open -> paid"]
[action]
build = { key = ["order"], to = "builds" }
[destination]
builds = { http = "https://builds.example.com/?token=canary-token", secrets = ["env:CALLS"] }
"#;

const VARIABLES: [(&str, &str); 4] =
    [("HUB", SECRET), ("BLANK", " "), ("SHOP", " canary-secret-with-space "), ("CALLS", "canary-secret")];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.put("infra/endpoints.toml", ENDPOINTS);
    folder.put("infra/hub.txt", "canary-secret-in-a-file\n\n");
    folder.put("body.json", BODY);
    folder
}

/// A request as it was captured, with marks in line, headers and body.
fn captured(body: &str) -> String {
    let mut text = String::from("POST /in/hub?token=canary-query HTTP/1.1\r\nHost: hooks.example.test\r\n");
    for (name, value) in [
        ("Content-Type", "application/json"),
        ("X-GitHub-Event", "push"),
        ("X-GitHub-Delivery", "d-1"),
        ("X-Hub-Signature-256", &format!("sha256={TAG}")),
        ("Stripe-Signature", &format!("t=1750000000,v1={TAG}")),
        ("Webhook-Signature", "v1,Y2FuYXJ5LXNpZ25hdHVyZQ=="),
        ("Authorization", "Bearer canary-header"),
        ("Cookie", "session=canary-header"),
    ] {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{text}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// Says it in both forms, and looks for marks.
fn is_silent(folder: &Folder, line: &[&str]) -> String {
    let mut all = String::new();
    for more in [&[][..], &["--json"]] {
        let said = folder.sekali_with(&[line, more].concat(), &VARIABLES).said();
        assert!(!said.is_empty(), "{line:?} says nothing");
        for hidden in [MARK, TAG, "Y2FuYXJ5"] {
            assert!(!said.contains(hidden), "{line:?}: {said}");
        }
        all.push_str(&said);
    }
    all
}

// INV-10
#[test]
fn a_check_shows_no_secret_that_it_reads_and_of_a_payload_what_the_rules_take() {
    let folder = folder();
    folder.put("push.http", captured(&BODY.replace("canary-body", "wanted")));
    folder.put("torn.json", &BODY[..30]);
    folder.put("canary.json", r#"{"canary-body""#);
    let said = is_silent(&folder, &["check", "--secrets", "--explain"]);
    assert!(said.contains("env:BLANK") && said.contains("env:SHOP"), "{said}");
    let template = repository().join("infra/template.yaml").display().to_string();
    is_silent(&folder, &["check", "--template", &template, "--parameter", "canary"]);
    is_silent(&folder, &["check", "--template", &template]);
    for (payload, more) in [
        ("body.json", &["--endpoint", "shop"][..]),
        ("body.json", &["--endpoint", "hub", "--type", "push", "--header", "X-Note: canary-header"]),
        ("body.json", &["--endpoint", "hub", "--header", "canary-header"]),
        ("push.http", &["--endpoint", "hub"]),
        ("torn.json", &["--endpoint", "shop"]),
        ("torn.json", &["--endpoint", "hub"]),
    ] {
        is_silent(&folder, &[&["check", "--against", payload], more].concat());
    }
    let fired = is_silent(&folder, &["check", "--against", "push.http", "--endpoint", "hub"]);
    assert!(fired.contains("order = \"o-7\""), "{fired}");
}

// INV-10
#[test]
fn the_doctor_shows_nothing_of_a_request_or_a_secret() {
    let folder = folder();
    let changed = [BODY.to_owned(), format!("{BODY}\n"), BODY.replace(':', ": "), "eyJpZCI6MX0=".to_owned()];
    for body in &changed {
        folder.put("a.http", captured(body));
        for vendor in ["github", "stripe", "slack", "shopify", "paddle"] {
            let line = [
                "doctor",
                "a.http",
                "--vendor",
                vendor,
                "--secret",
                "env:HUB",
                "--other-secret",
                "env:CALLS",
            ];
            let said = is_silent(&folder, &line);
            assert!(said.contains("refused"), "{vendor}: {said}");
        }
    }
    is_silent(&folder, &["doctor", "a.http", "--endpoint", "hub"]);
    is_silent(
        &folder,
        &["doctor", "a.http", "--vendor", "github", "--secret", "env:HUB", "--param", "canary"],
    );
    is_silent(&folder, &["doctor", "a.http", "--vendor", "github", "--secret", "canary-secret"]);
    let har = r#"{"log":{"entries":"canary-body"}}"#;
    let request =
        |url: &str| format!(r#"{{"request":{{"method":"POST","url":"{url}","headers":["canary"]}}}}"#);
    let two = [request("https://x.example.com/a?token=canary-token"), request("https://x.example.com/b")];
    for unreadable in [
        "canary-body",
        "POST /in HTTP/1.1\nHost: a.example\ncanary-header-without-a-name\n\ncanary-body",
        har,
        &format!(r#"{{"log":{{"entries":[{}]}}}}"#, two.join(",")),
        &format!(r#"{{"log":{{"entries":[{}]}}}}"#, two[0]),
        r#"["canary-body"]"#,
        r#"{"captured":"canary-body"}"#,
        r#"{"body_b64":["canary-body"]}"#,
        r#"{"body_b64":"canary-body","method":"POST","url":"canary","headers":[["canary"]]}"#,
        r#"{"requestContext":{"http":{"method":"POST"}},"headers":"canary-header","body":7}"#,
        r#"{"requestContext":{},"isBase64Encoded":true,"body":"canary body"}"#,
        r#"{"note":"canary-body"}"#,
    ] {
        folder.put("b", unreadable);
        is_silent(&folder, &["doctor", "b", "--vendor", "github", "--secret", "env:HUB"]);
    }
}

// INV-10
#[test]
fn vectors_that_go_otherwise_are_said_without_their_secrets_and_signatures() {
    let folder = folder();
    let file = repository().join("tests/vectors/signatures.json");
    let all: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let (mut broken, mut hidden) = (Vec::new(), Vec::new());
    for mut vector in all.into_iter().take(120) {
        for header in vector["headers"].as_array().unwrap() {
            let value = header[1].as_str().unwrap();
            hidden.extend(value.split(['=', ',', ' ']).filter(|piece| piece.len() >= 24).map(str::to_owned));
        }
        vector["secret"] = "canary-secret".into();
        vector["expected"] = if vector["expected"] == "valid" { "invalid" } else { "valid" }.into();
        broken.push(vector);
    }
    folder.put("vectors.json", Value::from(broken).to_string());
    let run = folder.sekali(&["vectors", "vectors.json"]);
    assert!(run.code == 1 && run.out.contains("failed"), "{}", run.said());
    let shown = hidden.iter().find(|hidden| run.said().contains(hidden.as_str()));
    assert!(!run.said().contains(MARK) && shown.is_none(), "{shown:?}: {}", run.said());
}
