use super::*;

fn recorded(name: &str) -> String {
    repository().join("tests/vectors").join(name).display().to_string()
}

#[test]
fn every_format_is_recognised_and_passes() {
    let folder = Folder::new();
    let files = ["signatures.json", "events.json", "handshakes.json", "doctor.json"].map(recorded);
    let arguments: Vec<&str> = std::iter::once("vectors").chain(files.iter().map(String::as_str)).collect();
    let run = folder.sekali(&arguments);
    assert_eq!(run.code, 0, "{}", run.said());
    assert_eq!(run.out, "594 passed, 0 failed\n");
}

#[test]
fn a_vector_that_goes_otherwise_is_said_with_its_reason_and_ends_with_1() {
    let folder = Folder::new();
    for (name, from, to) in [
        ("signatures.json", "\"expected\": \"valid\"", "\"expected\": \"invalid\""),
        ("events.json", "\"event_type\": \"", "\"event_type\": \"other-"),
        ("handshakes.json", "\"status\": 200", "\"status\": 201"),
        ("doctor.json", "\"cause\": \"url-", "\"cause\": \"body-"),
    ] {
        let text = std::fs::read_to_string(recorded(name)).unwrap();
        folder.put(name, text.replacen(from, to, 1));
        let run = folder.sekali(&["vectors", name]);
        assert_eq!(run.code, 1, "{name}: {}", run.said());
        let lines: Vec<&str> = run.out.lines().collect();
        assert!(
            lines.len() == 2 && lines[0].starts_with("failed ") && lines[0].contains(": "),
            "{}",
            run.out
        );
        assert!(lines[1].ends_with(" passed, 1 failed"), "{}", run.out);
    }
}

#[test]
fn a_vendor_of_ones_own_comes_before_the_built_in_one() {
    let folder = Folder::new();
    let github = std::fs::read_to_string(repository().join("shared/core/vendors/github.toml")).unwrap();
    folder.put("own/github.toml", github.replace("sha256=", "sha512="));
    let run = folder.sekali(&["vectors", "--vendors", "own", &recorded("signatures.json")]);
    assert_eq!(run.code, 1);
    assert!(run.out.contains("failed github/valid: "), "{}", run.out);
    folder.put("own/github.toml", "confirmed = maybe\n");
    let run = folder.sekali(&["vectors", "--vendors", "own", &recorded("signatures.json")]);
    assert_eq!(run.code, 2);
    assert!(run.error.contains("own/github.toml:1:"), "{}", run.error);
}

#[test]
fn a_file_without_vectors_is_not_passed() {
    let folder = Folder::new();
    for text in ["[]", "{}", "[{\"id\":\"a\"}]", "hello"] {
        folder.put("a.json", text);
        let run = folder.sekali(&["vectors", "a.json"]);
        assert_eq!(run.code, 2, "{text}");
        assert!(run.error.contains("holds no vectors"), "{text}: {}", run.error);
    }
}
