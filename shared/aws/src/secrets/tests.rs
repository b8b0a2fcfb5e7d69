//! The keepers in AWS against a service that answers what a test tells it to.

use super::*;
use crate::client::{Aws, Patience};
use crate::scripted::{Reply, answering, error, ok, operations, service};
use sekali::config::SecretRef;
use serde_json::json;

fn name(text: &str) -> SecretName {
    SecretRef::parse(text).unwrap().of(None).unwrap()
}

fn keepers(url: &str) -> Keepers {
    Keepers::new(PathBuf::from("/"), Aws::at(url, Patience::FUNCTION).caller())
}

/// A Secrets Manager that answers each stage in its own way.
async fn manager(current: Reply, previous: Reply) -> Keepers {
    let (url, _) = answering(move |_, asked| match asked["VersionStage"].as_str() {
        Some("AWSCURRENT") => current.clone(),
        _ => previous.clone(),
    })
    .await;
    keepers(&url)
}

fn text(secret: &str) -> Reply {
    ok(json!({ "Name": "prod/hub", "SecretString": secret }))
}

fn is(stage: Stage, secret: &str) -> Kept {
    (stage, Ok(Secret::new(secret).unwrap()))
}

#[tokio::test]
async fn both_versions_of_a_rotated_secret_are_read() {
    let keepers = manager(text("second"), text("first")).await;
    let kept = keepers.read(&name("secretsmanager:prod/hub")).await;
    assert_eq!(kept, [is(Stage::Current, "second"), is(Stage::Previous, "first")]);
}

#[tokio::test]
async fn a_secret_that_was_never_rotated_has_no_previous_version() {
    let keepers = manager(text("first"), error(400, "ResourceNotFoundException")).await;
    assert_eq!(keepers.read(&name("secretsmanager:prod/hub")).await, [is(Stage::Current, "first")]);
}

#[tokio::test]
async fn a_member_of_a_json_object_and_a_binary_secret_are_read() {
    let keepers =
        manager(text(r#"{"signing":"of a member","other":1}"#), error(400, "ResourceNotFoundException"))
            .await;
    let of = |member: &str| name(&format!("secretsmanager:prod/hub#{member}"));
    assert_eq!(keepers.read(&of("signing")).await, [is(Stage::Current, "of a member")]);
    for (member, problem) in [("other", "is no text"), ("none", "has no member")] {
        let kept = keepers.read(&of(member)).await;
        let [(Stage::Current, Err(NoSecret::Unusable(reason)))] = kept.as_slice() else { panic!("{kept:?}") };
        assert!(reason.contains(problem) && !reason.contains("of a member"), "{reason}");
    }
    let binary = ok(json!({ "SecretBinary": "aW52ZW50ZWQ=" }));
    let keepers = manager(binary, error(400, "ResourceNotFoundException")).await;
    assert_eq!(keepers.read(&name("secretsmanager:prod/hub")).await, [is(Stage::Current, "invented")]);
}

#[tokio::test]
async fn a_parameter_is_asked_for_decrypted() {
    let (url, tries) =
        service(&[ok(json!({ "Parameter": { "Name": "/prod/hub", "Value": "first" } }))]).await;
    assert_eq!(keepers(&url).read(&name("ssm:/prod/hub")).await, [is(Stage::Current, "first")]);
    assert_eq!(operations(&tries), ["GetParameter"]);
    assert_eq!(tries.lock().unwrap()[0].1, json!({ "Name": "/prod/hub", "WithDecryption": true }));
}

// INV-10
#[tokio::test]
async fn a_blank_secret_is_none() {
    let keepers = manager(text(" \n"), text("")).await;
    let kept = keepers.read(&name("secretsmanager:prod/hub")).await;
    assert!(
        matches!(kept.as_slice(), [(_, Err(NoSecret::Unusable(_))), (_, Err(NoSecret::Unusable(_)))]),
        "{kept:?}"
    );
}

#[tokio::test]
async fn each_refusal_says_what_it_means_for_the_secret() {
    type Means = fn(&NoSecret) -> bool;
    let absent: Means = |reason| matches!(reason, NoSecret::Absent);
    let denied: Means = |reason| matches!(reason, NoSecret::Denied(_));
    let unusable: Means = |reason| matches!(reason, NoSecret::Unusable(_));
    let unavailable: Means = |reason| matches!(reason, NoSecret::Unavailable(_));
    for (reply, means, tries_made) in [
        (error(400, "ParameterNotFound"), absent, 1),
        (error(400, "ParameterVersionNotFound"), absent, 1),
        (error(400, "AccessDeniedException"), denied, 1),
        (error(400, "ExpiredTokenException"), denied, 1),
        (error(400, "ValidationException"), unusable, 1),
        (error(400, "ThrottlingException"), unavailable, 2),
        (error(500, "InternalServerError"), unavailable, 2),
        (Reply::Answer(503, json!("no object")), unavailable, 2),
        (Reply::Cut, unavailable, 2),
        (ok(json!({ "Unknown": 1 })), unavailable, 1),
    ] {
        let (url, tries) = service(std::slice::from_ref(&reply)).await;
        let kept = keepers(&url).read(&name("ssm:/prod/hub")).await;
        let [(Stage::Current, Err(reason))] = kept.as_slice() else { panic!("{kept:?}") };
        assert!(means(reason), "{reason:?}");
        assert_eq!(operations(&tries).len(), tries_made, "{reason:?}");
    }
}

#[tokio::test]
async fn a_second_try_makes_up_for_a_dead_connection() {
    let (url, _) = service(&[Reply::Cut, ok(json!({ "Parameter": { "Value": "first" } }))]).await;
    assert_eq!(keepers(&url).read(&name("ssm:/prod/hub")).await, [is(Stage::Current, "first")]);
}

#[tokio::test]
async fn a_service_that_is_not_there_ends_in_an_error_and_not_in_a_hang() {
    let kept = keepers("http://127.0.0.1:1").read(&name("ssm:/prod/hub")).await;
    assert!(matches!(kept.as_slice(), [(Stage::Current, Err(NoSecret::Unavailable(_)))]), "{kept:?}");
}

#[tokio::test]
async fn the_environment_and_files_need_no_service() {
    let keepers = keepers("http://127.0.0.1:1");
    let kept = keepers.read(&name("env:SEKALI_NEVER_SET_IN_TESTS")).await;
    assert_eq!(kept, [(Stage::Current, Err(NoSecret::Absent))]);
    let kept = keepers.read(&name("file:sekali/never/there")).await;
    assert_eq!(kept, [(Stage::Current, Err(NoSecret::Absent))]);
}

#[tokio::test]
async fn a_person_reads_a_secret_with_the_settings_that_the_sdk_has_found() {
    let (url, _) = answering(|_, _| text("invented")).await;
    let aws = Aws::at(&url, Patience::FUNCTION);
    let keepers =
        Keepers::new(PathBuf::from("/"), Caller::of(aws.settings(), Patience::FUNCTION).await.unwrap());
    let kept = keepers.read(&name("secretsmanager:prod/hub")).await;
    assert!(kept.contains(&is(Stage::Current, "invented")), "{kept:?}");
    let nobody = aws_types::SdkConfig::builder().region(aws_types::region::Region::new("eu-north-1")).build();
    let error = Caller::of(&nobody, Patience::FUNCTION).await.unwrap_err();
    assert!(error.contains("no credentials"), "{error}");
}
