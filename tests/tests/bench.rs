//! The bench with few events and the binaries of a development build: that it
//! runs, and that it counts right. Times are not looked at.

use anyhow::{Result, ensure};
use sekali_cli::local::checkout::Checkout;
use sekali_cli::local::package;
use sekali_tests::bench::measure::{Plan, measure};
use sekali_tests::bench::subject::{Ground, Kind};
use std::path::Path;

#[tokio::test]
async fn the_real_functions_are_counted_call_by_call() -> Result<()> {
    let checkout = Checkout::around(Path::new(env!("CARGO_MANIFEST_DIR")))?;
    package::build(&checkout).await?;
    let ground = Ground::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench"), 1).await?;
    let bootstrap = |name: &str| vec![checkout.builds().join(name).join("bootstrap").display().to_string()];
    let ingest = ground.subject("ingest", Kind::Receiver, bootstrap("ingest"));
    let processor = ground.subject("processor", Kind::Processor, bootstrap("processor"));
    for (subject, calls, units) in [
        (&ingest, [("PutItem", 2.0), ("SendMessage", 1.0)].as_slice(), 3.0),
        (&processor, &[("GetItem", 4.0), ("TransactWriteItems", 1.0), ("UpdateItem", 2.0)], 9.0),
    ] {
        let figures = measure(&ground, subject, &ingest, Plan::QUICK).await?;
        let mut counted: Vec<_> =
            figures.calls_per_event.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        // The pauses are read again after ten seconds, whatever is measured.
        if let Some((_, reads)) = counted.iter_mut().find(|(name, _)| *name == "GetItem") {
            *reads = reads.floor();
        }
        ensure!(counted == calls, "{}: {counted:?}", subject.name);
        ensure!(figures.write_units_per_event <= units, "{}: {figures:?}", subject.name);
        ensure!(figures.memory_mib > 1.0 && figures.init_ms.least > 0.0, "{figures:?}");
    }
    Ok(())
}
