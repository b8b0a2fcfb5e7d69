//! Marks in what is sent, and a receiver that repeats what it hears.

use super::server::{Behaviour, Heard, Server};
use super::{Folder, QUICK};

const MARK: &str = "canary";
/// Base64 of "canary-secret-of-the-sender".
const SECRET: &str = "whsec_Y2FuYXJ5LXNlY3JldC1vZi10aGUtc2VuZGVy";

fn repeating(heard: &Heard) -> String {
    let said = ["webhook-signature", "authorization", "cookie"].map(|name| heard.header(name));
    format!("heard {}", said.join(" and "))
}

// INV-10
#[test]
fn neither_a_report_nor_what_is_left_shows_a_secret_a_signature_or_a_header() {
    let folder = Folder::new();
    folder.put(
        "events",
        "{\"n\":1,\"note\":\"canary-body\"}\n{\"n\":2,\"note\":\"canary-body\"}\nno event: canary-body\n",
    );
    for status in [307, 401, 422, 503, 410] {
        let headers = "location: https://x.example.com/?token=canary-token\r\nx-note: canary-header\r\n";
        let server =
            Server::start(move |heard, _| Behaviour::Answer(status, headers.to_owned(), repeating(heard)));
        let url = format!("{}?token=canary-token", server.url());
        for form in [&[][..], &["--json"]] {
            let line = [
                &["send", "events", "--url", &url, "--secret", "env:HOOK", "--attempts", "2"][..],
                &[
                    "--header",
                    "Authorization: Bearer canary-header-1",
                    "--header",
                    "Cookie: a=canary-header-2",
                ],
                &["--as", "lines", "--left", "left.jsonl"],
                &QUICK,
                form,
            ];
            let run = folder.sekali_with(&line.concat(), &[("HOOK", SECRET)]);
            assert_eq!(run.code, 1, "{}", run.said());
            let said = run.said();
            assert!(said.contains(&status.to_string()) && !said.contains(MARK), "{status}: {said}");
            // What is left are the bodies, to be sent again; nothing that signs them.
            let left = std::fs::read_to_string(folder.0.join("left.jsonl")).unwrap();
            assert!(left.contains("canary-body") && !left.contains("canary-header"), "{left}");
            for heard in server.heard() {
                let signature = heard.header("webhook-signature").trim_start_matches("v1,");
                assert!(signature.len() > 20 && !said.contains(signature), "{said}");
                assert!(!left.contains(signature), "{left}");
            }
        }
        assert!(!server.heard().is_empty());
    }
}
