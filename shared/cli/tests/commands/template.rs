use super::*;

const TEMPLATE: &str = include_str!("../../../../infra/template.yaml");

const EVERYTHING: &str = r#"[endpoint.shop]
vendor = "stripe"
secrets = ["secretsmanager:prod/shop", "ssm:/prod/shop-old", "env:SHOP"]
[[endpoint.shop.rule]]
type = "a"
action.call = { order = "/id" }
[[endpoint.shop.rule]]
type = "b"
action.send = { order = "/id" }
[[endpoint.shop.rule]]
type = "c"
action.put = { order = "/id" }
[action]
call = { to = "jobs" }
send = { to = "builds" }
put = { to = "bus" }
[destination]
jobs = { function = "finish-job" }
builds = { sqs = "builds" }
bus = { eventbridge = "orders" }
"#;

fn granted(template: &str, parameters: &[&str]) -> (Vec<String>, Vec<String>) {
    let folder = Folder::new();
    folder.put("infra/endpoints.toml", EVERYTHING);
    folder.put("infra/template.yaml", template);
    let given = parameters.iter().flat_map(|parameter| ["--parameter", parameter]);
    let arguments: Vec<&str> =
        ["check", "--json", "--template", "infra/template.yaml"].into_iter().chain(given).collect();
    let json = folder.sekali(&arguments).json();
    let texts = |value: &Value, name: &str| -> Vec<String> {
        value
            .as_array()
            .unwrap()
            .iter()
            .map(|item| {
                let item = if name.is_empty() { item } else { &item[name] };
                item.as_str().unwrap().to_owned()
            })
            .collect()
    };
    let messages = texts(&json["remarks"], "message");
    let missing = messages.into_iter().filter(|message| message.contains("which the template does not give"));
    (missing.collect(), texts(&json["template_lines"], ""))
}

#[test]
fn what_the_template_does_not_grant_is_named_with_the_lines_to_add() {
    let (missing, lines) = granted(TEMPLATE, &[]);
    assert_eq!(missing.len(), 7, "{missing:#?}");
    for expected in [
        "endpoint `shop` needs the variable SHOP, which the template does not give Ingest",
        "endpoint `shop` needs secretsmanager:GetSecretValue on secret:prod/shop-??????, which the template does not give Ingest",
        "endpoint `shop` needs ssm:GetParameter on parameter/prod/shop-old, which the template does not give Ingest",
        "destination `jobs` needs lambda:InvokeFunction on function:finish-job, which the template does not give Processor",
        "destination `builds` needs sqs:SendMessage on builds, which the template does not give Processor",
        "destination `builds` needs sqs:GetQueueUrl on builds, which the template does not give Processor",
        "destination `bus` needs events:PutEvents on event-bus/orders, which the template does not give Processor",
    ] {
        assert!(missing.iter().any(|message| message == expected), "{expected}: {missing:#?}");
    }
    let lines = lines.join("\n");
    for line in [
        "          SHOP: !Ref Shop",
        "                Action: secretsmanager:GetSecretValue",
        "                  - !Sub arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:prod/shop-??????",
        "                  - !Sub arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:finish-job",
    ] {
        assert!(lines.lines().any(|own| own == line), "{line}: {lines}");
    }
}

/// The shipped template has a parameter for each but variables.
#[test]
fn what_is_named_in_the_templates_parameters_needs_no_lines() {
    let arn =
        |service: &str, resource: &str| format!("arn:aws:{service}:eu-central-1:123456789012:{resource}");
    let parameters = [
        format!("SecretArns={}", arn("secretsmanager", "secret:prod/shop-Ab12Cd")),
        format!("ParameterArns={}", arn("ssm", "parameter/prod/shop-old")),
        format!("DestinationQueueArns={}", arn("sqs", "builds")),
        format!("DestinationBusArns={}", arn("events", "event-bus/orders")),
        format!("DestinationFunctionArns={}", arn("lambda", "function:finish-job")),
    ];
    let (missing, _) = granted(TEMPLATE, &parameters.each_ref().map(String::as_str));
    assert_eq!(missing, ["endpoint `shop` needs the variable SHOP, which the template does not give Ingest"]);
}

#[test]
fn the_parameter_that_takes_an_arn_is_named() {
    let folder = Folder::new();
    folder.put("infra/endpoints.toml", EVERYTHING);
    folder.put("infra/template.yaml", TEMPLATE);
    let run = folder.sekali(&["check", "--template", "infra/template.yaml"]);
    for parameter in [
        "SecretArns",
        "ParameterArns",
        "DestinationQueueArns",
        "DestinationBusArns",
        "DestinationFunctionArns",
    ] {
        assert!(run.out.contains(&format!("name its ARN in the parameter {parameter}, or")), "{}", run.out);
    }
}

/// The lines put where they say they belong.
fn with_lines(template: &str, lines: &[String]) -> String {
    let mut template = template.to_owned();
    let mut block: Vec<&str> = Vec::new();
    let mut blocks: Vec<(String, String)> = Vec::new();
    for line in lines.iter().map(String::as_str).chain(["# end"]) {
        if let Some(comment) = line.strip_prefix("# ") {
            if let Some((_, text)) = blocks.last_mut() {
                *text = block.join("\n") + "\n";
            }
            blocks.push((comment.to_owned(), String::new()));
            block.clear();
        } else {
            block.push(line);
        }
    }
    for (place, text) in blocks {
        let after = match place.split_whitespace().next_back().unwrap() {
            _ if place.starts_with("under Parameters") => "Parameters:\n".to_owned(),
            last if last.ends_with("Role") => {
                let role = format!("  {last}:\n");
                let start = template.find(&role).unwrap();
                let statement =
                    "PolicyDocument:\n            Version: \"2012-10-17\"\n            Statement:\n";
                let end = template[start..].find(statement).unwrap() + start + statement.len();
                template.insert_str(end, &text);
                continue;
            }
            path if path.starts_with("Resources.") => {
                let function = path.split('.').nth(1).unwrap();
                format!(
                    "  {function}:\n    Type: AWS::Serverless::Function\n    Metadata: {{ SkipBuild: true }}\n    Properties:\n"
                )
            }
            _ => continue,
        };
        let at = template.find(&after).unwrap_or_else(|| panic!("{after}")) + after.len();
        template.insert_str(at, &text);
    }
    template
}

#[test]
fn the_lines_that_are_printed_are_all_that_lacks() {
    let (_, lines) = granted(TEMPLATE, &[]);
    let (missing, more) = granted(&with_lines(TEMPLATE, &lines), &[]);
    assert_eq!((missing, more), (Vec::new(), Vec::new()));
}

#[test]
fn arns_that_are_given_as_parameters_count() {
    let arn = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:prod/shop-AbCdEf";
    let old = "arn:aws:ssm:eu-central-1:111122223333:parameter/prod/shop-old";
    let (missing, _) = granted(TEMPLATE, &[&format!("SecretArns={arn}"), &format!("ParameterArns={old}")]);
    assert_eq!(missing.len(), 5, "{missing:#?}");
    let (missing, _) = granted(TEMPLATE, &["SecretArns=arn:aws:secretsmanager:*:*:secret:prod/*"]);
    assert_eq!(missing.len(), 6, "{missing:#?}");
    let (missing, _) =
        granted(TEMPLATE, &["SecretArns=arn:aws:secretsmanager:*:*:secret:prod/shopping-AbCdEf"]);
    assert_eq!(missing.len(), 7, "{missing:#?}");
}

#[test]
fn a_template_that_cannot_be_read_ends_with_2() {
    let folder = Folder::new();
    folder.put("infra/endpoints.toml", EVERYTHING);
    folder.put("a.yaml", "a: [1");
    for arguments in [&["check", "--template", "a.yaml"][..], &["check", "--template", "none.yaml"]] {
        assert_eq!(folder.sekali(arguments).code, 2);
    }
}
