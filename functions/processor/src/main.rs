//! The processor function: claim, effect, complete.

use lambda_runtime::Error;
use sekali::ports::OwnCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    // Teams that put their logic into the processor register it here, or build
    // a binary like this one: see `examples/packing_slips.rs`.
    sekali_processor::run(OwnCode::none()).await
}
