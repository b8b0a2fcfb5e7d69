//! The deliveries of a file, for whoever sends them elsewhere.

use super::{NotVectors, Vector, millis};
use crate::http::Request;
use crate::time::UnixMillis;
use crate::vendor::Params;
use serde_json::Value;

/// A recorded delivery and what it takes to verify it.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The vector's id.
    pub id: String,
    /// The name of the vendor's description.
    pub vendor: String,
    /// The delivery.
    pub request: Request,
    /// The endpoint's parameters.
    pub params: Params,
    /// The endpoint's secrets, which are invented.
    pub secrets: Vec<String>,
    /// The receiver's clock.
    pub now: UnixMillis,
    /// `valid` or `invalid`, where the vector is about a signature.
    pub expected: Option<String>,
    /// What else is expected, as the file has it.
    pub expect: Option<Value>,
}

/// Reads the signatures and deliveries of a file without running them. A
/// body that is not base64 is left out: `run` says so.
///
/// # Errors
/// The text is not a list of vectors.
pub fn recorded(text: &str) -> Result<Vec<Recorded>, NotVectors> {
    let vectors: Vec<Vector> = serde_json::from_str(text).map_err(NotVectors::NotAList)?;
    let recorded = |vector: Vector| {
        let request = vector.request().ok()?;
        let (params, secrets) = vector.params();
        let now = UnixMillis(millis(vector.now.unwrap_or_default()));
        let Vector { id, vendor, expected, expect, .. } = vector;
        Some(Recorded { id, vendor, request, params, secrets, now, expected, expect })
    };
    Ok(vectors.into_iter().filter_map(recorded).collect())
}
