use super::*;
use std::fmt::Write as _;

const SECRET: &str = "gh-secret-7d1f";
const TAG: &str = "04f6d4a0107e755bafe56f5157328d0b4701a8223cee1cd091e7765685465d43";
const BODY: &str =
    r#"{"id":"evt_0001","type":"thing.done","created":1750000000,"data":{"n":1,"s":"caf\u00e9"}}"#;

fn puzzles() -> Vec<Value> {
    let text = std::fs::read_to_string(repository().join("tests/vectors/doctor.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn http(body: &str) -> String {
    let mut text = String::from("POST /in/github HTTP/1.1\r\nHost: hooks.example.test\r\n");
    for (name, value) in [
        ("X-GitHub-Event", "push"),
        ("Content-Type", "application/json"),
        ("X-Hub-Signature-256", &format!("sha256={TAG}")),
    ] {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    let _ = write!(text, "Content-Length: {}\r\n\r\n{body}", body.len());
    text
}

fn examined(file: &str, content: impl AsRef<[u8]>) -> Run {
    let folder = Folder::new();
    folder.put(file, content);
    folder.sekali_with(&["doctor", file, "--vendor", "github", "--secret", "env:HUB"], &[("HUB", SECRET)])
}

#[test]
fn every_recorded_puzzle_gives_its_slug_as_json() {
    let folder = Folder::new();
    for puzzle in puzzles() {
        folder.put("puzzle.json", puzzle.to_string());
        let run = folder.sekali(&["doctor", "puzzle.json", "--json"]);
        assert_eq!(run.code, 1, "{}", run.said());
        let json = run.json();
        assert_eq!(json["cause"], puzzle["expect"]["cause"], "{}", puzzle["id"]);
        assert_eq!(json["proved"], puzzle["expect"]["provable"], "{}", puzzle["id"]);
        assert_eq!(json["verifies"], false);
    }
}

#[test]
fn a_list_of_puzzles_gives_a_list() {
    let file = repository().join("tests/vectors/doctor.json").display().to_string();
    let run = Folder::new().sekali(&["doctor", &file, "--json"]);
    assert_eq!(run.json().as_array().unwrap().len(), 20);
}

#[test]
fn a_request_that_verifies_ends_with_0() {
    let run = examined("a.http", http(BODY));
    assert_eq!(run.code, 0, "{}", run.said());
    assert!(run.out.starts_with("verifies as a delivery of github"), "{}", run.out);
}

#[test]
fn a_request_is_read_in_every_form() {
    let har = |body: &str| {
        format!(
            r#"{{"log":{{"entries":[{{"startedDateTime":"2025-06-15T15:06:40Z","request":{{"method":"POST","url":"https://hooks.example.test/in","headers":[{{"name":"X-Hub-Signature-256","value":"sha256={TAG}"}}],"postData":{{"text":{}}}}}}}]}}}}"#,
            Value::from(body)
        )
    };
    let gateway = |body: &str| {
        format!(
            r#"{{"requestContext":{{"http":{{"method":"POST"}}}},"rawPath":"/in","headers":{{"x-hub-signature-256":"sha256={TAG}"}},"body":{},"isBase64Encoded":false}}"#,
            Value::from(body)
        )
    };
    let changed = BODY.replace("\\u00e9", "é");
    for (good, bad) in
        [(http(BODY), http(&changed)), (har(BODY), har(&changed)), (gateway(BODY), gateway(&changed))]
    {
        let run = examined("a", good);
        assert_eq!(run.code, 0, "{}", run.said());
        let run = examined("a", bad);
        assert_eq!(run.code, 1, "{}", run.said());
        assert!(run.out.contains("proved: body-reserialised"), "{}", run.out);
    }
}

#[test]
fn what_is_proved_what_is_guessed_and_what_fits_nothing_is_called_so() {
    let proved = examined("a.http", http(&format!("{BODY}\n")));
    assert!(proved.out.contains("proved: trailing-newline-added\n"), "{}", proved.out);
    let guess = examined("a.http", http(&BODY.replace("evt_0001", "evt_0002")));
    assert!(
        guess.out.contains("guess: body-changed; no single change that was tried makes it verify"),
        "{}",
        guess.out
    );
    let nothing =
        examined("a.http", "POST / HTTP/1.1\nHost: a.example\nContent-Type: application/json\n\n{}");
    assert!(
        nothing.out.contains("nothing fits: no single change that was tried makes it verify"),
        "{}",
        nothing.out
    );
    assert_eq!((proved.code, guess.code, nothing.code), (1, 1, 1));
}

#[test]
fn the_endpoint_brings_its_vendor_its_url_and_its_secrets() {
    let folder = Folder::new();
    folder.put("infra/endpoints.toml", "[endpoint.hub]\nvendor = \"github\"\nsecrets = [\"file:secrets/hub\"]\n[endpoint.other]\nvendor = \"github\"\nsecrets = [\"env:OTHER\"]\n");
    folder.put("infra/secrets/hub", format!("{SECRET}\n"));
    folder.put("a.http", http(BODY));
    let run = folder.sekali(&["doctor", "a.http", "--endpoint", "hub"]);
    assert_eq!(run.code, 0, "{}", run.said());
    let other =
        folder.sekali_with(&["doctor", "a.http", "--endpoint", "other"], &[("OTHER", "something-else")]);
    assert!(other.out.contains("proved: other-secret-of-endpoint"), "{}", other.said());
    assert!(other.out.contains("`file:secrets/hub of endpoint hub`"), "{}", other.out);
    let unset = folder.sekali(&["doctor", "a.http", "--endpoint", "other"]);
    assert_eq!(unset.code, 2);
    assert!(unset.error.contains("stand in with --secret env:NAME"), "{}", unset.error);
    let unknown = folder.sekali(&["doctor", "a.http", "--endpoint", "nobody"]);
    assert!(unknown.error.contains("hub, other"), "{}", unknown.error);
}

#[test]
fn the_age_is_judged_only_where_the_time_of_arrival_is_known() {
    let folder = Folder::new();
    let clock = puzzles().into_iter().find(|puzzle| puzzle["id"] == "doctor/clock-3600").unwrap();
    folder.put("captured.json", clock["captured"].to_string());
    let secret = clock["secrets"][0]["value"].as_str().unwrap();
    let examine = |more: &[&str]| {
        let base = ["doctor", "captured.json", "--vendor", "stripe", "--secret", "env:SHOP"];
        let arguments: Vec<&str> = base.iter().chain(more).copied().collect();
        folder.sekali_with(&arguments, &[("SHOP", secret)])
    };
    let unknown = examine(&[]);
    assert_eq!(unknown.code, 0, "{}", unknown.said());
    assert!(unknown.out.contains("its age was not judged (--at TIME)"), "{}", unknown.out);
    assert!(examine(&["--at", "1750003600"]).out.contains("proved: clock-off"));
    assert_eq!(examine(&["--at", "2025-06-15T15:06:40Z"]).code, 0);
    assert_eq!(examine(&["--at", "noon"]).code, 2);
}

#[test]
fn a_secret_itself_on_the_command_line_is_refused_and_not_repeated() {
    let folder = Folder::new();
    folder.put("a.http", http(BODY));
    let run = folder.sekali(&["doctor", "a.http", "--vendor", "github", "--secret", SECRET]);
    assert_eq!(run.code, 2);
    assert!(run.error.contains("--secret env:NAME") && !run.said().contains(SECRET), "{}", run.said());
}

/// No output holds the secret, the signature or what is expected.
#[test]
fn neither_a_secret_nor_a_signature_is_shown() {
    let folder = Folder::new();
    for (at, puzzle) in puzzles().into_iter().enumerate() {
        let mut canaries: Vec<String> = Vec::new();
        for secret in puzzle["secrets"].as_array().unwrap() {
            canaries.push(secret["value"].as_str().unwrap().to_owned());
        }
        canaries.extend(puzzle["expect"]["repair"]["secret"].as_str().map(str::to_owned));
        let repaired = puzzle["expect"]["repair"]["headers"].as_array();
        for header in
            puzzle["captured"]["headers"].as_array().unwrap().iter().chain(repaired.into_iter().flatten())
        {
            let value = header[1].as_str().unwrap();
            canaries.extend(value.split(['=', ',', ' ']).filter(|part| part.len() >= 12).map(str::to_owned));
        }
        canaries.retain(|canary| canary != "application/json" && !canary.starts_with("application/"));
        folder.put("puzzle.json", puzzle.to_string());
        for arguments in [&["doctor", "puzzle.json"][..], &["doctor", "puzzle.json", "--json"]] {
            let said = folder.sekali(arguments).said();
            let shown = canaries.iter().find(|canary| said.contains(canary.as_str()));
            assert!(shown.is_none(), "puzzle {at}: {said}");
        }
    }
    let mut told = String::new();
    for body in [BODY.to_owned(), format!("{BODY}\n"), BODY.replace("0001", "0002")] {
        told.push_str(&examined("a.http", http(&body)).said());
    }
    assert!(!told.contains(SECRET) && !told.contains(TAG), "{told}");
}
