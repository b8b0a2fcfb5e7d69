//! `make bench`: measures the release binaries, the floor and, where they are
//! installed and asked for, the peers. Writes `report.json`, `report.txt` and
//! `report.svg`.

use anyhow::{Context, Result, ensure};
use clap::Parser;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use sekali_cli::local::checkout::Checkout;
use sekali_cli::local::emulator::{Emulator, any_port};
use sekali_tests::bench::figures::Figures;
use sekali_tests::bench::growth::{Extent, curves};
use sekali_tests::bench::measure::{Plan, measure, slowly, throughput, whole};
use sekali_tests::bench::plot::svg;
use sekali_tests::bench::report::{Machine, Report};
use sekali_tests::bench::subject::{Ground, Kind, Subject};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The memory at whose share a cold start is measured.
const SMALL_MEGABYTES: f64 = 256.0;

/// Events of each process where several work side by side.
const SIDE_BY_SIDE: usize = 200;

#[derive(Parser)]
struct Arguments {
    /// Where the release binaries are.
    #[arg(long)]
    binaries: PathBuf,
    /// Where the report goes.
    #[arg(long, default_value = "target/bench")]
    out: PathBuf,
    /// A peer: its name, a colon, and its command line.
    #[arg(long = "peer")]
    peers: Vec<String>,
    /// Events of each subject.
    #[arg(long, default_value_t = Plan::FULL.events)]
    events: usize,
    /// Starts of each subject.
    #[arg(long, default_value_t = Plan::FULL.starts)]
    starts: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(run(&arguments))?;
    std::fs::create_dir_all(&arguments.out)?;
    let table = report.table();
    std::fs::write(arguments.out.join("report.json"), serde_json::to_vec_pretty(&report)?)?;
    std::fs::write(arguments.out.join("report.txt"), &table)?;
    std::fs::write(arguments.out.join("report.svg"), svg(&report.subjects))?;
    write!(std::io::stdout(), "{table}")?;
    Ok(())
}

async fn run(arguments: &Arguments) -> Result<Report> {
    let machine = Machine::this();
    let work = arguments.out.join("work");
    if work.exists() {
        std::fs::remove_dir_all(&work)?;
    }
    let ground = Ground::new(&std::path::absolute(work.join("shop"))?, 1).await?;
    let binary = |name: &str| -> Result<Vec<String>> {
        let path = std::path::absolute(arguments.binaries.join(name))?;
        ensure!(path.is_file(), "{} is not built: run `make bench`", path.display());
        Ok(vec![path.display().to_string()])
    };
    let ingest = ground.subject("ingest", Kind::Receiver, binary("ingest")?);
    let processor = ground.subject("processor", Kind::Processor, binary("processor")?);
    let mut subjects =
        vec![ground.subject("floor", Kind::Receiver, binary("floor")?), ingest.clone(), processor.clone()];
    subjects.extend(peers(&ground, &arguments.peers)?);
    let plan = Plan { starts: arguments.starts, events: arguments.events, ..Plan::FULL };
    let mut measured = Vec::new();
    for subject in &subjects {
        measured.push((subject.name.clone(), measure(&ground, subject, &ingest, plan).await?));
    }
    let slow = slowly(&ground, &ingest, SMALL_MEGABYTES, plan.starts).await;
    let mut per_second = BTreeMap::new();
    for processes in [1, 2, 4] {
        per_second.insert(processes, throughput(&ground, &ingest, processes, SIDE_BY_SIDE).await?);
    }
    let mut whole_per_second = BTreeMap::new();
    for pairs in [1, 2, 4] {
        let rate = whole(&ground, [&ingest, &processor], pairs, SIDE_BY_SIDE).await?;
        whole_per_second.insert(pairs, rate);
    }
    let emulated = emulated(&work, binary("ingest")?, plan).await?;
    let growth = curves(&std::path::absolute(&work)?, &binary("ingest")?, &Extent::full()).await?;
    let zipped_kb = ["ingest", "processor"]
        .into_iter()
        .map(|name| Ok((name.to_owned(), zipped(&arguments.binaries.join(name))? / 1_000)))
        .collect::<Result<_>>()?;
    let slow = slow.map_err(|error| format!("{error:#}"));
    Ok(Report {
        machine,
        subjects: measured,
        zipped_kb,
        slow,
        per_second,
        whole_per_second,
        emulated,
        growth,
    })
}

/// Ingest as it is, on an emulator that is started for it.
async fn emulated(work: &Path, ingest: Vec<String>, plan: Plan) -> Result<Figures> {
    let checkout = Checkout::around(Path::new(env!("CARGO_MANIFEST_DIR")))?;
    let folder = std::path::absolute(work.join("emulator"))?;
    std::fs::create_dir_all(&folder)?;
    let emulator = Emulator::start(&checkout, &folder, any_port()?).await?;
    let ground = Ground::on(&emulator, &folder.join("shop")).await?;
    let ingest = ground.subject("ingest", Kind::Receiver, ingest);
    measure(&ground, &ingest, &ingest, Plan { starts: 1, ..plan }).await
}

fn peers(ground: &Ground, given: &[String]) -> Result<Vec<Subject>> {
    let peer = |text: &String| {
        let (name, command) = text.split_once(':').context("a peer is NAME:COMMAND")?;
        let command = command.split_whitespace().map(str::to_owned).collect();
        Ok(ground.subject(name, Kind::Receiver, command))
    };
    given.iter().map(peer).collect()
}

/// A binary's size as in a zip.
fn zipped(binary: &Path) -> Result<u64> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&std::fs::read(binary)?)?;
    Ok(u64::try_from(encoder.finish()?.len())?)
}
