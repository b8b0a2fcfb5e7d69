//! The properties that `cargo test` tries on bytes from fixed seeds, for the
//! fuzz targets.

#[path = "../../../shared/core/tests/hardness/properties/mod.rs"]
pub mod properties;
