//! Arbitrary descriptions of vendors.

use super::request;
use sekali::vendor::{Vendor, builtin};

/// The text of a built-in description.
pub fn text(name: &str) -> &'static [u8] {
    builtin::text(name).expect("a description that comes with the crate").as_bytes()
}

/// Whatever it says it is read, or refused with a place for each problem; one
/// that is read describes deliveries without a panic.
pub fn property(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Vendor::parse("acme", "acme.toml", &text) {
        Ok(vendor) => {
            let delivery = request([("content-type", "application/json")], b"{\"id\":\"e1\",\"a\":[{}]}");
            let _ = (vendor.events(&delivery, &[]), vendor.assurance(), vendor.methods());
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            problems.iter().for_each(|problem| assert!(problem.to_string().starts_with("acme.toml")));
        }
    }
}
