//! Tests of the reference model itself.

mod line;
mod store;
