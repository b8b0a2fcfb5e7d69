//! The vendor descriptions that endpoints name: a team's own and the built-in
//! ones, each parsed once.

use super::File;
use crate::ids::VendorName;
use crate::problem::{Place, Problem};
use crate::vendor::{Vendor, builtin};
use std::collections::HashMap;
use std::sync::Arc;

/// Descriptions by name, and what is wrong with them.
#[derive(Debug)]
pub(super) struct Vendors {
    /// `None`: there is one, but it is malformed.
    known: HashMap<VendorName, Option<Arc<Vendor>>>,
    problems: Vec<Problem>,
}

impl Vendors {
    /// Parses every description of the team's own, used or not: a mistake in
    /// one is better found today than with its first endpoint.
    pub(super) fn read(team: &[File<'_>]) -> Self {
        let mut vendors = Self { known: HashMap::new(), problems: Vec::new() };
        for (file, text) in team {
            match file_stem(file) {
                Some(name) if !vendors.known.contains_key(name) => vendors.parse(name, file, text),
                stem => {
                    let message = match stem {
                        Some(name) => format!("a second description of the vendor \"{name}\""),
                        None => "the file's name names no vendor".to_owned(),
                    };
                    let remedy = Some("call it vendors/NAME.toml".to_owned());
                    vendors.problems.push(Problem { place: Place::whole(file), message, remedy });
                }
            }
        }
        vendors
    }

    /// The description of this name, the team's own first. `Some(None)`: it is
    /// malformed, which is a problem already.
    pub(super) fn get(&mut self, name: &str) -> Option<Option<Arc<Vendor>>> {
        if !self.known.contains_key(name) {
            let text = builtin::text(name)?;
            self.parse(name, &format!("vendors/{name}.toml"), text);
        }
        self.known.get(name).cloned()
    }

    fn parse(&mut self, name: &str, file: &str, text: &str) {
        let vendor = match Vendor::parse(name, file, text) {
            Ok(vendor) => Some(Arc::new(vendor)),
            Err(problems) => {
                self.problems.extend(problems);
                None
            }
        };
        self.known.insert(name.into(), vendor);
    }

    /// Every name that an endpoint may use.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(VendorName::as_str).chain(builtin::names().map(|name| -> &str { name }))
    }

    /// What is wrong with the descriptions.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }
}

/// The `acme` of `vendors/acme.toml`.
fn file_stem(file: &str) -> Option<&str> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.strip_suffix(".toml").filter(|stem| super::value::name(stem).is_ok())
}
