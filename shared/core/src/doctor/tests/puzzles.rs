use super::puzzle::Puzzle;
use super::*;

const PUZZLES: &str = include_str!("../../../../../tests/vectors/doctor.json");

fn puzzles() -> Vec<Puzzle> {
    serde_json::from_str(PUZZLES).unwrap()
}

#[test]
fn every_recorded_puzzle_is_solved_and_what_is_no_proof_is_called_a_guess() {
    let puzzles = puzzles();
    let wrong: Vec<String> = puzzles
        .iter()
        .filter_map(|puzzle| {
            let difference = puzzle.check(&vendor(&puzzle.vendor), everyone()).err()?;
            Some(format!("{}: {difference}", puzzle.id))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(puzzles.len(), 20);
}

#[test]
fn a_puzzle_with_another_answer_is_not_solved() {
    let turned = PUZZLES
        .replace("\"url-host\"", "\"url-scheme\"")
        .replace("\"provable\": false", "\"provable\": true");
    let puzzles: Vec<Puzzle> = serde_json::from_str(&turned).unwrap();
    let unsolved = puzzles.iter().filter(|puzzle| puzzle.check(&vendor(&puzzle.vendor), everyone()).is_err());
    assert_eq!(unsolved.count(), 2);
}

#[test]
fn recorded_causes_are_causes_that_are_known() {
    let known: Vec<&str> = Cause::ALL.iter().map(|cause| cause.slug()).collect();
    for puzzle in puzzles() {
        assert!(known.contains(&puzzle.expected().unwrap().0), "{}", puzzle.id);
    }
}

#[test]
fn whatever_verifies_has_no_cause() {
    for recorded in recorded() {
        assert_eq!(
            recorded.examined(),
            Finding { refused: None, diagnosis: None, tried: 0 },
            "{}",
            recorded.id
        );
    }
    assert!(recorded().len() > 100);
}
