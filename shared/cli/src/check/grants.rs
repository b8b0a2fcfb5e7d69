//! What the configuration names in AWS against what the template grants, and
//! the lines that are missing.

use super::template::{Template, at};
use saphyr::YamlOwned;
use sekali::config::{Config, DestinationKind, Keeper, Remark, SecretRef, Severity};
use sekali::problem::{Place, Problem};
use std::collections::BTreeMap;

/// A function of the template, by what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Ingest,
    Processor,
}

/// Something that the configuration needs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// A variable in the environment of a function.
    Variable { name: String },
    /// An action on something, by the last part of its ARN.
    Right { action: &'static str, service: &'static str, resource: String },
}

/// Who needs it, where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted {
    part: Part,
    need: Need,
    by: String,
}

/// What is missing: the problems, and the lines to add to the template.
pub(super) fn missing(config: &Config, template: &Template) -> (Vec<Remark>, Vec<String>) {
    let grants = granted(template);
    let mut wanted = wanted(config);
    wanted.sort();
    wanted.dedup();
    wanted.retain(|wanted| !is_met(wanted, template, &grants));
    let remarks = wanted.iter().map(|wanted| {
        let message = format!(
            "{} needs {}, which the template does not give {}",
            wanted.by,
            wanted.need.shown(),
            wanted.part.function()
        );
        let problem = Problem {
            place: Place::whole(&template.file),
            message,
            remedy: Some(wanted.need.remedy(template)),
        };
        Remark { severity: Severity::Problem, problem }
    });
    (remarks.collect(), lines(&wanted))
}

/// Secrets in variables that the template gives no function, which is known
/// without any parameter of a deployment: who needs which, and the function.
pub(super) fn missing_variables(config: &Config, template: &Template) -> Vec<(String, &'static str)> {
    let mut wanted = wanted(config);
    wanted.sort();
    wanted.dedup();
    let missing = wanted
        .iter()
        .filter(|wanted| matches!(wanted.need, Need::Variable { .. }) && !is_met(wanted, template, &[]));
    missing
        .map(|wanted| (format!("{} needs {}", wanted.by, wanted.need.shown()), wanted.part.function()))
        .collect()
}

impl Part {
    fn function(self) -> &'static str {
        match self {
            Self::Ingest => "Ingest",
            Self::Processor => "Processor",
        }
    }

    fn role(self, template: &Template) -> Option<String> {
        let role = template.at(&["Resources", self.function(), "Properties", "Role"])?;
        let (_, path) = super::template::function(role)?;
        path.as_str()?.split('.').next().map(str::to_owned)
    }
}

impl Need {
    /// The parameter that takes such an ARN, where the template has it, before
    /// lines of one's own.
    fn remedy(&self, template: &Template) -> String {
        let parameter = match self {
            Self::Right { action: "secretsmanager:GetSecretValue", .. } => Some("SecretArns"),
            Self::Right { action: "ssm:GetParameter", .. } => Some("ParameterArns"),
            Self::Right { action: "sqs:SendMessage", .. } => Some("DestinationQueueArns"),
            Self::Right { action: "events:PutEvents", .. } => Some("DestinationBusArns"),
            Self::Right { action: "lambda:InvokeFunction", .. } => Some("DestinationFunctionArns"),
            Self::Right { .. } | Self::Variable { .. } => None,
        };
        match parameter.filter(|name| template.at(&["Parameters", name]).is_some()) {
            Some(name) => format!("name its ARN in the parameter {name}, or add the lines below"),
            None => "add the lines below".to_owned(),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Variable { name } => format!("the variable {name}"),
            Self::Right { action, resource, .. } => format!("{action} on {resource}"),
        }
    }
}

fn wanted(config: &Config) -> Vec<Wanted> {
    let of_endpoints = config.endpoints.values().flat_map(|endpoint| {
        let by = format!("endpoint `{}`", endpoint.name);
        let asks = endpoint.fetch.iter().filter_map(|fetch| fetch.auth.as_ref());
        let of_ingest = endpoint.secrets.iter().filter_map(|secret| of_secret(Part::Ingest, secret, &by));
        let of_processor = asks.filter_map(|auth| of_secret(Part::Processor, auth.secret(), &by));
        of_ingest.chain(of_processor).collect::<Vec<_>>()
    });
    let of_destinations = config.destinations.values().flat_map(|destination| {
        let by = format!("destination `{}`", destination.name);
        let right = |action, service, resource: String| Need::Right { action, service, resource };
        let call = match &destination.kind {
            DestinationKind::Http(_) | DestinationKind::Code(_) => Vec::new(),
            DestinationKind::Sqs(queue) => ["sqs:SendMessage", "sqs:GetQueueUrl"]
                .map(|action| right(action, "sqs", queue.resource().to_owned()))
                .into(),
            DestinationKind::Function(function) => {
                let resource = match function.resource().starts_with("function:") {
                    true => function.resource().to_owned(),
                    false => format!("function:{function}"),
                };
                vec![right("lambda:InvokeFunction", "lambda", resource)]
            }
            DestinationKind::EventBridge(bus) => {
                let resource = match bus.resource().starts_with("event-bus/") {
                    true => bus.resource().to_owned(),
                    false => format!("event-bus/{bus}"),
                };
                vec![right("events:PutEvents", "events", resource)]
            }
        };
        let call = call.into_iter().map(|need| Wanted { part: Part::Processor, need, by: by.clone() });
        let call: Vec<_> = call.collect();
        let secrets: Vec<_> =
            destination.secrets.iter().filter_map(|secret| of_secret(Part::Processor, secret, &by)).collect();
        call.into_iter().chain(secrets)
    });
    of_endpoints.chain(of_destinations).collect()
}

fn of_secret(part: Part, secret: &SecretRef, by: &str) -> Option<Wanted> {
    // Every tenant's secret lies under one pattern.
    let name = secret.name().replace("{tenant}", "*");
    let need = match secret.keeper() {
        Keeper::Environment => Need::Variable { name },
        Keeper::SecretsManager => {
            let own = name.rsplit_once(":secret:").map_or(name.as_str(), |(_, own)| own);
            Need::Right {
                action: "secretsmanager:GetSecretValue",
                service: "secretsmanager",
                resource: format!("secret:{own}-??????"),
            }
        }
        Keeper::ParameterStore => {
            let own = name.rsplit_once(":parameter").map_or(name.as_str(), |(_, own)| own);
            Need::Right {
                action: "ssm:GetParameter",
                service: "ssm",
                resource: format!("parameter/{}", own.trim_start_matches('/')),
            }
        }
        // It travels in the function's package.
        Keeper::File => return None,
    };
    Some(Wanted { part, need, by: by.to_owned() })
}

/// What a role may do.
#[derive(Debug)]
struct Grant {
    role: String,
    actions: Vec<String>,
    resources: Vec<String>,
}

fn granted(template: &Template) -> Vec<Grant> {
    let mut grants = Vec::new();
    for (name, resource) in template.resources() {
        let kind = at(resource, &["Type"]).and_then(YamlOwned::as_str).unwrap_or_default();
        let Some(properties) = at(resource, &["Properties"]) else { continue };
        let policies =
            at(properties, &["Policies"]).and_then(YamlOwned::as_vec).map(Vec::as_slice).unwrap_or_default();
        match kind {
            "AWS::IAM::Role" | "AWS::Serverless::Function" => {
                for policy in policies {
                    let document = at(policy, &["PolicyDocument"]).unwrap_or(policy);
                    grants.extend(statements(template, &[name.to_owned()], document));
                }
            }
            "AWS::IAM::Policy" | "AWS::IAM::ManagedPolicy" => {
                let roles = at(properties, &["Roles"])
                    .and_then(YamlOwned::as_vec)
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                let roles: Vec<String> = roles
                    .iter()
                    .filter_map(|role| Some(super::template::function(role)?.1.as_str()?.to_owned()))
                    .collect();
                grants.extend(
                    at(properties, &["PolicyDocument"])
                        .into_iter()
                        .flat_map(|document| statements(template, &roles, document)),
                );
            }
            _ => {}
        }
    }
    grants
}

fn statements(template: &Template, roles: &[String], document: &YamlOwned) -> Vec<Grant> {
    let statement = at(document, &["Statement"]);
    let several = statement.and_then(YamlOwned::as_vec).map(Vec::as_slice);
    let statements: Vec<&YamlOwned> =
        several.map_or_else(|| statement.into_iter().collect(), |many| many.iter().collect());
    let mut grants = Vec::new();
    for statement in statements {
        let allows = at(statement, &["Effect"]).and_then(YamlOwned::as_str) == Some("Allow");
        let texts = |name: &str| at(statement, &[name]).map(|node| template.texts(node)).unwrap_or_default();
        for role in roles.iter().filter(|_| allows) {
            grants.push(Grant { role: role.clone(), actions: texts("Action"), resources: texts("Resource") });
        }
    }
    grants
}

fn is_met(wanted: &Wanted, template: &Template, grants: &[Grant]) -> bool {
    let function = wanted.part.function();
    let role = wanted.part.role(template).unwrap_or_else(|| function.to_owned());
    match &wanted.need {
        Need::Variable { name } => template.variable(function, name).is_some(),
        Need::Right { action, service, resource } => grants.iter().any(|grant| {
            grant.role == role
                && grant.actions.iter().any(|pattern| fits(pattern, action))
                && grant.resources.iter().any(|arn| reaches(arn, service, resource))
        }),
    }
}

/// Whether an ARN, perhaps with wildcards, reaches this of the service.
fn reaches(arn: &str, service: &str, resource: &str) -> bool {
    if arn == "*" {
        return true;
    }
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    let ["arn", _, own_service, _, _, own] = parts[..] else { return false };
    // Secrets Manager puts six characters behind the name: a full ARN has some.
    let whole =
        own.rsplit_once('-').filter(|(_, drawn)| drawn.len() == 6).map(|(name, _)| format!("{name}-??????"));
    fits(own_service, service)
        && (fits(own, &resource.replace('?', "x")) || whole.as_deref() == Some(resource))
}

/// Whether a pattern with `*` and `?` fits a whole text.
fn fits(pattern: &str, text: &str) -> bool {
    match (pattern.chars().next(), text.chars().next()) {
        (None, None) => true,
        (Some('*'), _) => {
            let rest = &pattern[1..];
            text.char_indices().map(|(at, _)| at).chain([text.len()]).any(|at| fits(rest, &text[at..]))
        }
        (Some('?'), Some(c)) => fits(&pattern[1..], &text[c.len_utf8()..]),
        (Some(p), Some(c)) if p == c => fits(&pattern[p.len_utf8()..], &text[c.len_utf8()..]),
        _ => false,
    }
}

/// The lines to add: variables to the functions, statements to their roles.
fn lines(wanted: &[Wanted]) -> Vec<String> {
    let mut variables: BTreeMap<Part, Vec<&str>> = BTreeMap::new();
    let mut rights: BTreeMap<(Part, &str), Vec<String>> = BTreeMap::new();
    for Wanted { part, need, .. } in wanted {
        match need {
            Need::Variable { name } => {
                let names = variables.entry(*part).or_default();
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
            Need::Right { action, service, resource } => {
                let region = "${AWS::Region}:${AWS::AccountId}";
                rights
                    .entry((*part, action))
                    .or_default()
                    .push(format!("arn:${{AWS::Partition}}:{service}:{region}:{resource}"));
            }
        }
    }
    let mut lines = Vec::new();
    let parameters: std::collections::BTreeSet<&str> = variables.values().flatten().copied().collect();
    if !parameters.is_empty() {
        lines.push(
            "# under Parameters; or keep the secrets in Secrets Manager, and name them in SecretArns"
                .to_owned(),
        );
        lines.extend(
            parameters.iter().map(|name| format!("  {}: {{ Type: String, NoEcho: true }}", parameter(name))),
        );
    }
    for (part, names) in variables {
        lines.push(format!("# under Resources.{}.Properties", part.function()));
        lines.extend(["      Environment:".to_owned(), "        Variables:".to_owned()]);
        lines.extend(names.iter().map(|name| format!("          {name}: !Ref {}", parameter(name))));
    }
    for ((part, action), mut arns) in rights {
        arns.dedup();
        lines.push(format!("# under the statements of {}Role", part.function()));
        lines.push("              - Effect: Allow".to_owned());
        lines.push(format!("                Action: {action}"));
        lines.push("                Resource:".to_owned());
        lines.extend(arns.iter().map(|arn| format!("                  - !Sub {arn}")));
    }
    lines
}

/// `SHOP_SECRET` as CloudFormation names parameters: `ShopSecret`.
fn parameter(variable: &str) -> String {
    let words = variable.split('_').filter(|word| !word.is_empty());
    words
        .map(|word| format!("{}{}", word[..1].to_ascii_uppercase(), word[1..].to_ascii_lowercase()))
        .collect()
}
