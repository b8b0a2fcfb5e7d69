//! The template without deploying it: what holds of it and no linter checks,
//! and that a copy broken on purpose is noticed.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod assertions;
mod calls;
mod grants;
mod metrics;
mod mutations;
mod package;
mod template;

use sekali_aws::rights;
use std::collections::BTreeSet;
use template::{SHIPPED, Template};

#[test]
fn the_template_is_as_every_assertion_says() {
    let template = Template::parse(SHIPPED).unwrap();
    let wrong: Vec<_> = assertions::all()
        .into_iter()
        .filter_map(|assertion| Some(format!("{}: {}", assertion.name, (assertion.check)(&template).err()?)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_copy_that_was_broken_fails_the_assertion_in_question() {
    for mutation in mutations::ALL {
        let template = Template::parse(&mutation.broken()).unwrap();
        let assertion = assertions::all().into_iter().find(|assertion| assertion.name == mutation.assertion);
        let assertion =
            assertion.unwrap_or_else(|| panic!("no assertion is called {:?}", mutation.assertion));
        assert!(
            (assertion.check)(&template).is_err(),
            "{:?} was not noticed: {mutation:?}",
            mutation.assertion
        );
    }
}

#[test]
fn every_assertion_has_been_broken_at_least_once() {
    let broken: BTreeSet<_> = mutations::ALL.iter().map(|mutation| mutation.assertion).collect();
    let never: Vec<_> = assertions::all()
        .into_iter()
        .map(|assertion| assertion.name)
        .filter(|name| !broken.contains(name))
        .collect();
    assert!(never.is_empty(), "{never:#?}");
}

#[test]
fn the_list_of_rights_has_every_call_of_the_store_and_no_other() {
    let listed: BTreeSet<_> = rights::STORE.iter().map(|(call, _)| (*call).to_owned()).collect();
    let mut called = calls::methods("shared/core/src/ports/store.rs", "Store");
    assert!(called.remove("write"), "{called:?}");
    assert_eq!(listed, called);
}

#[test]
fn the_list_of_rights_says_what_the_adapters_call() {
    let of_write = rights::WRITE.iter().flat_map(|(_, rights)| rights.iter().map(|right| right.0)).collect();
    calls::compare("Store", "shared/aws/src/dynamodb", rights::STORE, &[("write", of_write)]).unwrap();
    calls::compare("Queue", "shared/aws/src/sqs.rs", rights::QUEUE, &[]).unwrap();
}

#[test]
fn destinations_are_called_by_what_their_parameters_grant() {
    let asked = calls::sources("shared/aws/src/aws_destination").concat();
    for (called, action) in [
        ("\"AmazonSQS.SendMessage\"", "sqs:SendMessage"),
        ("\"AmazonSQS.GetQueueUrl\"", "sqs:GetQueueUrl"),
        ("\"AWSEvents.PutEvents\"", "events:PutEvents"),
        ("/2015-03-31/functions/", "lambda:InvokeFunction"),
    ] {
        assert!(asked.contains(called), "{called}");
        assert!(rights::CONFIGURED.iter().any(|(listed, _)| *listed == action), "{action}");
    }
}

#[test]
fn secrets_are_read_by_the_calls_that_their_parameters_grant() {
    let asked = calls::sources("shared/aws/src/secrets").concat();
    for (target, action) in [
        ("secretsmanager.GetSecretValue", "secretsmanager:GetSecretValue"),
        ("AmazonSSM.GetParameter", "ssm:GetParameter"),
    ] {
        assert!(asked.contains(&format!("\"{target}\"")), "{target}");
        assert!(rights::CONFIGURED.iter().any(|(listed, _)| *listed == action), "{action}");
    }
}

/// A query for a field that nothing logs finds nothing, for ever.
#[test]
fn every_field_of_a_saved_query_is_one_that_is_logged() {
    let template = Template::parse(SHIPPED).unwrap();
    let queries: Vec<_> = template.of_type("AWS::Logs::QueryDefinition");
    assert!(queries.len() >= 5);
    for (name, query) in queries {
        let text = query["Properties"]["QueryString"].as_str().unwrap();
        let unknown: Vec<_> = metrics::queried(text)
            .into_iter()
            .filter(|field| !sekali_aws::log::FIELDS.contains(field))
            .collect();
        assert!(unknown.is_empty(), "{name} asks for {unknown:?}");
    }
    assert_eq!(metrics::queried("filter ispresent(`a.b`) by `c`, d"), ["a.b", "c"]);
}
