//! The template deployed to an emulator, with the real functions and real
//! signatures over HTTP.

use anyhow::{Context, Result};
use sekali::process::SHORT_WAITS;
use sekali::protocol::policy::Limits;
use sekali_cli::local::checkout::Checkout;
use sekali_cli::local::configuration::LocalConfiguration;
use sekali_cli::local::demo::script::Script;
use sekali_cli::local::demo::send::Sender;
use sekali_cli::local::demo::{self};
use sekali_cli::local::destination::LocalDestination;
use sekali_cli::local::emulator::any_port;
use sekali_cli::local::package;
use sekali_cli::local::secrets::Secrets;
use sekali_cli::local::stack::{Spec, Stack};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A stack with the shipped configuration, and the demo's secrets.
struct Deployed {
    stack: Stack,
    destination: LocalDestination,
    configuration: LocalConfiguration,
    script: Script,
}

impl Deployed {
    async fn new(name: &str) -> Result<Self> {
        let checkout = Checkout::around(Path::new(env!("CARGO_MANIFEST_DIR")))?;
        package::build(&checkout).await?;
        let folder = folder(name)?;
        let port = any_port()?;
        let destination = LocalDestination::start(port, &folder.join("effects.jsonl")).await?;
        let configuration = LocalConfiguration::read(&checkout.endpoints(), port)?.with_local_apis(port)?;
        let script = Script::read(&checkout.demo())?;
        destination.play(script.answers()?);
        let secrets = Secrets::gather(&configuration.config, Some(&script));
        let stack = Stack::start(Spec {
            checkout: &checkout,
            folder,
            port: any_port()?,
            configuration: &configuration,
            endpoint_secrets: secrets.of_endpoints,
            destination_secrets: secrets.of_processor,
            parameters: Vec::new(),
        })
        .await?;
        Ok(Self { stack, destination, configuration, script })
    }

    fn sender(&self) -> Sender<'_> {
        Sender { stack: &self.stack, config: &self.configuration.config, secrets: &self.script.secrets }
    }
}

fn folder(name: &str) -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// INV-1, INV-2 and INV-7 on the real thing: repeats, races, reordering,
/// forgeries, conflicts, and two vendors that ask for the same action.
#[tokio::test]
async fn the_demo_ends_as_it_is_written() -> Result<()> {
    let deployed = Deployed::new("demo").await?;
    let played = demo::play(&deployed.script, deployed.sender(), &deployed.destination).await?;
    let log = std::fs::read_to_string(deployed.stack.log())?;
    assert_eq!(played.wrong, [""; 0], "\n{}\nthe emulator and the functions said:\n{log}", played.table);
    assert_eq!(
        played.counts.to_string(),
        format!(
            "demo: {} deliveries, 13 events, {} effects, 0 lost, 0 doubled",
            deployed.script.requests(),
            deployed.script.effects.len()
        )
    );
    // The README's first minute shows what really happens.
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md"))?;
    let shown = format!("{}\n\n{}", played.table.trim_end(), played.counts);
    assert!(readme.contains(shown.trim_start_matches('\n')), "the README should show:\n{shown}");
    Ok(())
}

/// What no linter checks, read back from what was really deployed.
#[tokio::test]
async fn the_deployed_queue_and_functions_keep_the_numbers_that_promises_rest_on() -> Result<()> {
    let deployed = Deployed::new("numbers").await?;
    let aws = deployed.stack.aws();
    let processor = aws.function(deployed.stack.output("ProcessorFunction")?).await?;
    let queue = attributes(&deployed.stack, "QueueUrl").await?;
    let dlq = attributes(&deployed.stack, "DlqUrl").await?;
    let redrive: Value = serde_json::from_str(queue["RedrivePolicy"].as_str().context("no redrive policy")?)?;

    // A batch that Lambda still retries must not appear to a second poller.
    assert!(number(&queue["VisibilityTimeout"])? >= 6 * number(&processor["Timeout"])?);
    // Throttled receives count: below five, messages would die untried.
    let receives = number(&redrive["maxReceiveCount"])?;
    assert!(receives >= 5);
    // INV-8: and above what attempts and short waits of one round can use.
    let attempts = Limits::standard(Duration::ZERO).attempts;
    assert!(receives > u64::from(attempts + SHORT_WAITS));
    // The DLQ's clock starts with the first send, so it must be the longer one.
    assert!(number(&dlq["MessageRetentionPeriod"])? > number(&queue["MessageRetentionPeriod"])?);
    assert!(dlq["RedriveAllowPolicy"].as_str().is_some_and(|policy| policy.contains("byQueue")), "{dlq}");

    let sources = aws.event_sources(deployed.stack.output("ProcessorFunction")?).await?;
    let [source] = &sources[..] else { anyhow::bail!("one event source, not {}", sources.len()) };
    assert_eq!(source["FunctionResponseTypes"], json!(["ReportBatchItemFailures"]));
    assert!(number(&source["ScalingConfig"]["MaximumConcurrency"])? >= 2);
    assert!(number(&source["BatchSize"])? <= 10 || number(&source["MaximumBatchingWindowInSeconds"])? >= 1);

    // INV-9 rests on these: what the functions are told is what the queues do.
    for function in ["IngestFunction", "ProcessorFunction", "SweeperFunction"] {
        let told = aws.variables(deployed.stack.output(function)?).await?;
        assert_eq!(
            told["SEKALI_QUEUE_RETENTION_S"],
            queue["MessageRetentionPeriod"].as_str().unwrap_or_default()
        );
        assert_eq!(
            told["SEKALI_DLQ_RETENTION_S"],
            dlq["MessageRetentionPeriod"].as_str().unwrap_or_default()
        );
        assert_eq!(told["SEKALI_PROCESSOR_TIMEOUT_S"], processor["Timeout"].to_string());
        assert_eq!(told["SEKALI_VISIBILITY_S"], queue["VisibilityTimeout"].as_str().unwrap_or_default());
        assert_eq!(
            told["SEKALI_MAX_RECEIVE_COUNT"],
            redrive["maxReceiveCount"].to_string().trim_matches('"')
        );
    }
    Ok(())
}

async fn attributes(stack: &Stack, output: &str) -> Result<Value> {
    let asked = json!({ "QueueUrl": stack.output(output)?, "AttributeNames": ["All"] });
    Ok(stack.aws().ask("sqs", "AmazonSQS.GetQueueAttributes", &asked).await?["Attributes"].take())
}

/// SQS and CloudFormation write numbers as texts, Lambda as numbers.
fn number(value: &Value) -> Result<u64> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.parse().with_context(|| format!("{text} is no number"))
}
