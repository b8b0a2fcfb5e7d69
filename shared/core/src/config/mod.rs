//! What a team wrote in `endpoints.toml`, checked as a whole.

pub mod graph;
mod secret_ref;
mod value;
