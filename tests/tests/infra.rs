//! What can be read off the template without deploying it.

const TEMPLATE: &str = include_str!("../../infra/template.yaml");

/// Lines that are not comments.
fn lines() -> impl Iterator<Item = &'static str> {
    TEMPLATE.lines().filter(|line| !line.trim_start().starts_with('#'))
}

#[test]
fn no_statement_has_a_wildcard() {
    // The one star left says which calls of the API may invoke ingest; it is a
    // permission on the function, not a right of a role.
    let stars: Vec<_> = lines().filter(|line| line.contains('*')).map(str::trim).collect();
    let [one] = stars[..] else { panic!("{stars:#?}") };
    assert!(one.starts_with("SourceArn: ") && one.ends_with("/webhooks/*"), "{one}");
}

#[test]
fn no_managed_policy_and_no_policy_template_widens_a_role() {
    for wide in
        ["ManagedPolicyArns", "SQSSendMessagePolicy", "CrudPolicy", "ReadPolicy", "arn:aws:iam::aws:policy"]
    {
        assert!(!lines().any(|line| line.contains(wide)), "{wide}");
    }
    let functions = lines().filter(|line| line.contains("Type: AWS::Serverless::Function")).count();
    let roles = lines().filter(|line| line.trim().starts_with("Role: !GetAtt")).count();
    assert_eq!((functions, roles), (3, 3));
}

#[test]
fn no_function_has_reserved_concurrency() {
    // It would throttle receives, and throttled receives count towards the DLQ.
    assert!(!lines().any(|line| line.contains("ReservedConcurrentExecutions")));
}

#[test]
fn the_template_holds_nothing_that_cloudformation_does_not_read() {
    // YAML aliases are the one thing that every linter takes and it refuses.
    let aliased = lines().find(|line| line.contains(": *") || line.contains("- *") || line.contains(": &"));
    assert_eq!(aliased, None);
}

#[test]
fn what_was_acknowledged_outlives_the_stack() {
    let tables = TEMPLATE.matches("Type: AWS::DynamoDB::Table").count();
    assert_eq!(tables, 3);
    assert_eq!(TEMPLATE.matches("PointInTimeRecoveryEnabled: true").count(), tables);
    for part in TEMPLATE.split("Type: AWS::DynamoDB::Table").skip(1) {
        let resource: String = part.lines().take(3).collect();
        assert!(
            resource.contains("DeletionPolicy: Retain") && resource.contains("UpdateReplacePolicy: Retain")
        );
    }
}
