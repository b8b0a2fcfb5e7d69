//! Every promise has its tag in the code that keeps it and in the tests that
//! try it, so that `grep -rn INV-` finds both, and ARCHITECTURE.md says where.

#![expect(clippy::unwrap_used, reason = "a tree that cannot be read has failed the test")]

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// What is deployed, or run by people on call.
const CODE: [&str; 3] = ["functions", "shared/core/src", "shared/aws/src"];
const TESTS: [&str; 3] = ["tests/src", "tests/tests", "shared"];

/// The promises, as many as the design makes.
const PROMISES: usize = 10;

/// Every Rust file below, with its text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

fn is_test(path: &Path) -> bool {
    let parts = path.strip_prefix(ROOT).unwrap_or(path).components();
    parts.into_iter().any(|part| {
        let part = part.as_os_str().to_string_lossy();
        part.starts_with("tests") || part.ends_with("tests.rs")
    })
}

/// What stands before the tests of a file, and the tests.
fn halves(text: &str) -> (&str, &str) {
    text.split_at(text.find("#[cfg(test)]\nmod ").unwrap_or(text.len()))
}

/// The numbers of the promises that a text names.
fn named(text: &str) -> Vec<usize> {
    let numbers = text.split("INV-").skip(1).filter_map(|after| {
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        after[..digits].parse().ok()
    });
    numbers.collect()
}

fn missing(numbers: &[usize]) -> Vec<usize> {
    (1..=PROMISES).filter(|promise| !numbers.contains(promise)).collect()
}

#[test]
fn every_promise_is_named_in_the_code_that_keeps_it() {
    let files = CODE.iter().flat_map(|folder| sources(&Path::new(ROOT).join(folder)));
    let numbers: Vec<_> =
        files.filter(|(path, _)| !is_test(path)).flat_map(|(_, text)| named(halves(&text).0)).collect();
    assert_eq!(missing(&numbers), [0; 0], "promises without a place in the code");
    let unknown: Vec<_> = numbers.iter().filter(|number| !(1..=PROMISES).contains(*number)).collect();
    assert!(unknown.is_empty(), "no such promises: {unknown:?}");
}

#[test]
fn every_promise_is_named_in_the_tests_that_try_it() {
    let files = TESTS.iter().flat_map(|folder| sources(&Path::new(ROOT).join(folder)));
    let numbers: Vec<_> = files
        .filter(|(path, _)| !path.ends_with("tests/tests/promises.rs"))
        .flat_map(|(path, text)| if is_test(&path) { named(&text) } else { named(halves(&text).1) })
        .collect();
    assert_eq!(missing(&numbers), [0; 0], "promises that no test names");
}

#[test]
fn the_map_says_where_each_promise_lives_and_the_places_exist() {
    let map = fs::read_to_string(Path::new(ROOT).join("ARCHITECTURE.md")).unwrap();
    let section = map.split("## Promises").nth(1).and_then(|after| after.split("\n## ").next()).unwrap();
    assert_eq!(missing(&named(section)), [0; 0]);
    let places = section.split('`').skip(1).step_by(2).filter(|place| place.ends_with(".rs"));
    for place in places {
        let path = Path::new(ROOT).join("shared/core/src").join(place);
        assert!(path.is_file(), "ARCHITECTURE.md names {place}, which is not there");
    }
}
