//! What the tests of one process stand on: a runtime that outlives each of
//! them, for the servers that they share.

use anyhow::Result;
use std::future::Future;
use std::sync::OnceLock;
use tokio::runtime::{Builder, Handle};

static GROUND: OnceLock<Result<Handle, String>> = OnceLock::new();

/// The shared runtime. It ends with the process.
///
/// # Errors
/// The system gives no thread for it.
pub fn ground() -> Result<&'static Handle> {
    let ground = GROUND.get_or_init(|| {
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
        let handle = runtime.handle().clone();
        std::thread::Builder::new()
            .name("ground".to_owned())
            .spawn(move || runtime.block_on(std::future::pending::<()>()))
            .map_err(|error| error.to_string())?;
        Ok(handle)
    });
    ground.as_ref().map_err(|error| anyhow::anyhow!("no runtime to stand on: {error}"))
}

/// Does `work` on the shared runtime, so that what it opens stays open.
///
/// # Errors
/// Those of the work, and a panic in it.
pub async fn on_ground<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    ground()?.spawn(work).await?
}
