use super::*;

/// Nothing that is shown holds the secret, a value of a header or of the query.
#[test]
fn no_words_hold_a_secret_or_a_signature() {
    let spoils: [fn(&Recorded) -> Recorded; 8] = [
        |recorded| recorded.body(|body| [body, b"\n"].concat()),
        |recorded| recorded.body(|_| b"{\"other\":true}".to_vec()),
        |recorded| recorded.secret(|secret| format!("{secret}\n")),
        |recorded| recorded.secret(|secret| format!("\"{secret}\"")),
        |recorded| recorded.secret(|secret| secret.chars().rev().collect()),
        |recorded| recorded.at(100_000),
        |recorded| {
            recorded.headers(|name, value| vec![(format!("x-amzn-remapped-{name}"), value.to_owned())])
        },
        |recorded| Recorded { vendor: vendor("stripe"), ..recorded.clone() },
    ];
    let mut shown = 0;
    for recorded in recorded().iter().step_by(4) {
        let canaries: Vec<String> = recorded
            .request
            .headers
            .iter()
            .flat_map(|(_, value)| {
                let text = String::from_utf8_lossy(value).into_owned();
                let parts = text.split(['=', ',', ' ', '.']).map(str::to_owned).collect::<Vec<_>>();
                parts.into_iter().chain([text])
            })
            .chain([String::from_utf8_lossy(recorded.secrets[0].secret.expose()).into_owned()])
            .chain(recorded.request.query.split(['=', '&']).map(str::to_owned))
            .filter(|canary| canary.len() >= 16)
            .collect();
        for spoil in spoils {
            let finding = spoil(recorded).examined();
            let words = format!(
                "{finding:?} {}",
                finding.refused.as_ref().map(ToString::to_string).unwrap_or_default()
            );
            shown += usize::from(finding.diagnosis.is_some());
            let found = canaries.iter().find(|canary| words.contains(canary.as_str()));
            assert!(found.is_none(), "{}: {words}", recorded.id);
        }
    }
    assert!(shown > 80, "{shown}");
}

#[test]
fn no_debug_output_holds_a_secret() {
    let recorded = one("github/valid");
    assert!(!format!("{:?}", recorded.secrets).contains("gh-secret"));
    let puzzle: puzzle::Puzzle = serde_json::from_str(
        r#"{"id":"a","vendor":"b","captured":{"method":"POST","url":"https://a.example/","headers":[],"body_b64":""},
            "secrets":[{"name":"current","value":"gh-secret-7d1f","used":true}]}"#,
    )
    .unwrap();
    assert!(!format!("{puzzle:?}").contains("gh-secret"));
}
