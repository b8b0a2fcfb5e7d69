//! The descriptions that come with Sekali, one file for each vendor.

macro_rules! descriptions {
    ($($name:literal),+ $(,)?) => {
        /// Names and texts, sorted by name.
        const DESCRIPTIONS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../vendors/", $name, ".toml")))),+];
    };
}

descriptions!("github", "standard-webhooks", "stripe");

/// The description of a vendor, as a file's text.
pub fn text(name: &str) -> Option<&'static str> {
    let index = DESCRIPTIONS.binary_search_by_key(&name, |(known, _)| known).ok()?;
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
    }
}
