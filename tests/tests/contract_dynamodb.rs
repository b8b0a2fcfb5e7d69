//! The contract on DynamoDB, and the model and DynamoDB side by side.

use proptest::test_runner::{Config, TestError, TestRunner};
use sekali_aws::DynamoStore;
use sekali_tests::contract::differential::{agree, sequences};
use sekali_tests::emulator;
use std::path::Path;

async fn open() -> anyhow::Result<DynamoStore> {
    emulator::fresh_store(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("contract")).await
}

mod dynamodb {
    use super::open;

    sekali_tests::contract_tests!(open);
}

/// Random sequences of calls end alike on the model and on DynamoDB: what is
/// proven of the model then holds for what is deployed.
#[test]
fn random_sequences_of_calls_end_alike_on_the_model_and_on_dynamodb() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let store = runtime.block_on(open())?;
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(96) });
    let end = runner.run(&sequences(), |sequence| {
        runtime
            .block_on(agree(&store, &sequence))
            .map_err(|error| proptest::test_runner::TestCaseError::fail(format!("{error:#}")))
    });
    end.map_err(|error| match error {
        TestError::Fail(reason, sequence) => anyhow::anyhow!("{reason}\n{sequence:#?}"),
        TestError::Abort(reason) => anyhow::anyhow!("aborted: {reason}"),
    })
}
