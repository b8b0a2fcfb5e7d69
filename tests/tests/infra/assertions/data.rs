//! Tables and queues.

use super::super::template::Template;
use super::{Listed, Verdict, expect};
use sekali::process::SHORT_WAITS;
use sekali::protocol::policy::Limits;
use sekali_aws::dynamodb::{INDEX, INDEX_HASH_KEY, INDEX_RANGE_KEY, TABLE_KEY, TTL_ATTRIBUTE};
use serde_json::{Value, json};
use std::time::Duration;

const FOURTEEN_DAYS: u64 = 14 * 86_400;
const TABLES: [&str; 3] = ["EventsTable", "ResourcesTable", "ActionsTable"];

pub const ASSERTIONS: &[Listed] = &[
    ("tables outlive the stack", tables_outlive_the_stack),
    ("tables can be restored to any second", tables_can_be_restored),
    ("tables are encrypted, with a key of one's own if given", tables_are_encrypted),
    ("tables are deleted only on purpose", tables_are_protected),
    ("tables cost nothing while nothing arrives", tables_are_on_demand),
    ("items expire by the attribute that the code writes", items_expire),
    ("keys and index are those that the code reads", keys_are_those_of_the_code),
    ("a batch that is still retried is not handed out twice", visibility_covers_retries),
    ("messages are tried often enough before they are dead", receives_cover_attempts),
    ("dead letters wait for two weeks", dead_letters_wait),
    ("only the queue's own messages can be redriven to it", redrive_is_by_queue),
    ("queues are encrypted", queues_are_encrypted),
    ("queues refuse plain HTTP", queues_refuse_plain_http),
];

fn each(template: &Template, holds: impl Fn(&Value) -> bool, otherwise: &str) -> Verdict {
    let tables = template.of_type("AWS::DynamoDB::Table");
    expect(tables.len() == TABLES.len(), format!("{} tables", tables.len()))?;
    tables.into_iter().try_for_each(|(name, table)| expect(holds(table), format!("{name} {otherwise}")))
}

/// INV-1: what was acknowledged does not go with a stack.
fn tables_outlive_the_stack(template: &Template) -> Verdict {
    let kept = |table: &Value| {
        ["Retain", "RetainExceptOnCreate"].iter().any(|policy| table["DeletionPolicy"] == *policy)
            && table["UpdateReplacePolicy"] == "Retain"
    };
    each(template, kept, "would be deleted")
}

fn tables_can_be_restored(template: &Template) -> Verdict {
    let restored = |table: &Value| {
        table["Properties"]["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] == true
    };
    each(template, restored, "has no point-in-time recovery")
}

fn tables_are_encrypted(template: &Template) -> Verdict {
    let encrypted = |table: &Value| {
        let specification = &table["Properties"]["SSESpecification"];
        specification["SSEEnabled"] == true
            && specification["KMSMasterKeyId"]["Fn::If"][1] == json!({ "Ref": "TableKeyArn" })
    };
    each(template, encrypted, "is not encrypted as TableKeyArn says")
}

fn tables_are_protected(template: &Template) -> Verdict {
    let protected = |table: &Value| {
        table["Properties"]["DeletionProtectionEnabled"] == json!({ "Ref": "DeletionProtection" })
    };
    each(template, protected, "is not protected")?;
    expect(template.section("Parameters")["DeletionProtection"]["Default"] == "true", "off by default")
}

fn tables_are_on_demand(template: &Template) -> Verdict {
    each(template, |table| table["Properties"]["BillingMode"] == "PAY_PER_REQUEST", "is paid by the hour")
}

/// INV-9 rests on the TTL of events; a resource's state never expires.
fn items_expire(template: &Template) -> Verdict {
    for table in ["EventsTable", "ActionsTable"] {
        let expected = json!({ "AttributeName": TTL_ATTRIBUTE, "Enabled": true });
        let stated = &template.properties(table)["TimeToLiveSpecification"];
        expect(*stated == expected, format!("{table}: {stated}"))?;
    }
    let stated = &template.properties("ResourcesTable")["TimeToLiveSpecification"];
    expect(stated.is_null(), "a resource would be forgotten")
}

fn keys_are_those_of_the_code(template: &Template) -> Verdict {
    let hash = |name: &str| json!({ "AttributeName": name, "KeyType": "HASH" });
    for table in TABLES {
        let stated = &template.properties(table)["KeySchema"];
        expect(*stated == json!([hash(TABLE_KEY)]), format!("{table}: {stated}"))?;
    }
    let expected = json!([{
        "IndexName": INDEX,
        "KeySchema": [hash(INDEX_HASH_KEY), { "AttributeName": INDEX_RANGE_KEY, "KeyType": "RANGE" }],
        "Projection": { "ProjectionType": "KEYS_ONLY" },
    }]);
    let stated = &template.properties("EventsTable")["GlobalSecondaryIndexes"];
    expect(*stated == expected, format!("the index is {stated}"))
}

fn visibility_covers_retries(template: &Template) -> Verdict {
    let visibility = template.number(&template.properties("Queue")["VisibilityTimeout"])?;
    let timeout = template.number(template.of_function("Processor", "Timeout"))?;
    expect(visibility >= 6 * timeout, format!("{visibility} s of visibility, {timeout} s of timeout"))
}

/// INV-8: above what the attempts and short waits of one round can use, so that
/// a message dies of its event's failure and of nothing else.
fn receives_cover_attempts(template: &Template) -> Verdict {
    let redrive = &template.properties("Queue")["RedrivePolicy"];
    expect(redrive["deadLetterTargetArn"]["Fn::GetAtt"][0] == "DeadLetters", "no dead-letter queue")?;
    let receives = template.number(&redrive["maxReceiveCount"])?;
    let used = Limits::standard(Duration::ZERO).attempts + SHORT_WAITS;
    expect(receives > u64::from(used), format!("{receives} receives, {used} used in one round"))?;
    let least = &template.section("Parameters")["MaxReceiveCount"]["MinValue"];
    expect(least.as_u64().is_some_and(|least| least >= 5), "fewer than five receives may be set")
}

/// The clock of a dead letter starts with its first send.
fn dead_letters_wait(template: &Template) -> Verdict {
    let dead = template.number(&template.properties("DeadLetters")["MessageRetentionPeriod"])?;
    let alive = template.number(&template.properties("Queue")["MessageRetentionPeriod"])?;
    expect(dead == FOURTEEN_DAYS && alive < dead, format!("{alive} s, then {dead} s"))
}

fn redrive_is_by_queue(template: &Template) -> Verdict {
    let allowed = &template.properties("DeadLetters")["RedriveAllowPolicy"];
    let name = template.filled(&template.properties("Queue")["QueueName"]);
    let sources = allowed["sourceQueueArns"].as_array().map(Vec::as_slice).unwrap_or_default();
    let [source] = sources else { return Err(format!("{} sources", sources.len())) };
    let source = template.filled(source);
    expect(
        allowed["redrivePermission"] == "byQueue" && source.ends_with(&format!(":{name}")),
        format!("{source} is not {name}"),
    )
}

fn queues_are_encrypted(template: &Template) -> Verdict {
    let queues = template.of_type("AWS::SQS::Queue");
    expect(queues.len() == 2, "two queues")?;
    queues.into_iter().try_for_each(|(name, queue)| {
        expect(queue["Properties"]["SqsManagedSseEnabled"] == true, format!("{name} is not"))
    })
}

fn queues_refuse_plain_http(template: &Template) -> Verdict {
    for (queue, _) in template.of_type("AWS::SQS::Queue") {
        let refuses = template.of_type("AWS::SQS::QueuePolicy").into_iter().any(|(_, policy)| {
            let policy = &policy["Properties"];
            let statement = &policy["PolicyDocument"]["Statement"][0];
            policy["Queues"] == json!([{ "Ref": queue }])
                && statement["Effect"] == "Deny"
                && statement["Principal"] == "*"
                && statement["Action"] == "sqs:*"
                && statement["Resource"] == json!({ "Fn::GetAtt": [queue, "Arn"] })
                && statement["Condition"] == json!({ "Bool": { "aws:SecureTransport": "false" } })
        });
        expect(refuses, format!("{queue} takes it"))?;
    }
    Ok(())
}
