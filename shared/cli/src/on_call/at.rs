//! Which receiver a command is about, and the way to it.

use super::desk::{Desk, Queues, Rules};
use crate::local::environment;
use crate::team::Team;
use anyhow::{Context, Result, bail};
use aws_sdk_dynamodb::config::ProvideCredentials;
use clap::Args;
use sekali::config::{self, Config, Retentions};
use sekali::deployment::Deployment;
use sekali_aws::client::{Patience, behavior, http_client};
use sekali_aws::refusal::of_call;
use sekali_aws::secrets::{Caller, Keepers};
use sekali_aws::{ALLOW_PRIVATE, Aws, DynamoStore, Reach, Tables};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names the stack where no option does.
const STACK: &str = "SEKALI_STACK";

/// What the queue's numbers are where the template's parameters do not say.
const VISIBILITY: Duration = Duration::from_secs(360);
const QUEUE_RETENTION: Duration = Duration::from_secs(4 * 24 * 3600);
const DLQ_RETENTION: Duration = Duration::from_secs(14 * 24 * 3600);

/// Which receiver, and how to answer. The same for every command on call.
#[derive(Debug, Clone, Default, Args)]
pub struct At {
    /// The deployed stack, by its CloudFormation name [default: $SEKALI_STACK].
    #[arg(long, value_name = "NAME", help_heading = "Which receiver")]
    pub stack: Option<String>,
    /// The receiver of `make run` on this machine, while it is up; or one
    /// whose environment lies in FILE.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with = "stack", help_heading = "Which receiver")]
    pub local: Option<Option<PathBuf>>,
    /// The profile of your AWS configuration, SSO and roles included.
    #[arg(long, value_name = "NAME", conflicts_with = "local", help_heading = "Which receiver")]
    pub profile: Option<String>,
    /// The stack's region, where your AWS configuration says another.
    #[arg(long, value_name = "NAME", conflicts_with = "local", help_heading = "Which receiver")]
    pub region: Option<String>,
    /// The configuration that is deployed [default: infra/endpoints.toml here or above].
    #[arg(long, value_name = "FILE", help_heading = "Which receiver")]
    pub config: Option<PathBuf>,
    /// Who decides, for the record [default: the AWS identity, or $USER].
    #[arg(long = "as", value_name = "NAME", help_heading = "Which receiver")]
    pub who: Option<String>,
    /// One JSON value instead of lines.
    #[arg(long)]
    pub json: bool,
}

impl At {
    /// Finds the tables and queues.
    ///
    /// # Errors
    /// No receiver is named, or it is not there, or may not be asked.
    pub async fn connect(&self) -> Result<Desk> {
        if let Some(file) = &self.local {
            return self.local(&environment::read(file.as_deref())?);
        }
        let named = std::env::var(STACK).ok().filter(|name| !name.trim().is_empty());
        let Some(stack) = self.stack.clone().or(named) else {
            bail!(
                "which receiver? --stack NAME (or {STACK}=NAME) for a deployed one, --local for `make run`"
            );
        };
        self.deployed(&stack).await
    }

    /// The receiver whose functions have this environment.
    ///
    /// # Errors
    /// A variable is missing.
    pub fn local(&self, variables: &HashMap<String, String>) -> Result<Desk> {
        let variable = |name: &str| variables.get(name).cloned().filter(|value| !value.is_empty());
        let wanted = |name: &str| variable(name).with_context(|| format!("the environment lacks {name}"));
        let seconds = |name: &str| variable(name)?.parse().ok().map(Duration::from_secs);
        let aws = Aws::from_variables(Patience::PERSON, variable)?;
        let beside = variable("SEKALI_CONFIG").map(|folder| Path::new(&folder).join("endpoints.toml"));
        let rules = self.rules(beside.as_deref());
        Ok(Desk {
            store: DynamoStore::new(
                aws.dynamodb(),
                Tables {
                    events: wanted("SEKALI_EVENTS_TABLE")?,
                    resources: wanted("SEKALI_RESOURCES_TABLE")?,
                    actions: wanted("SEKALI_ACTIONS_TABLE")?,
                },
            ),
            queues: Queues::new(aws.sqs(), wanted("SEKALI_QUEUE_URL")?, wanted("SEKALI_DLQ_URL")?),
            deployment: deployment(
                rules.config,
                (seconds("SEKALI_QUEUE_RETENTION_S"), seconds("SEKALI_DLQ_RETENTION_S")),
                seconds("SEKALI_VISIBILITY_S"),
            ),
            rules: rules.said,
            who: self.who.clone().or_else(login),
            options: self.options(),
            receiver: "the local receiver".to_owned(),
            keepers: Ok(Keepers::new(rules.folder, aws.caller())),
            reach: Reach::said(variable(ALLOW_PRIVATE).as_deref()),
        })
    }

    /// The way to this receiver, for commands to copy; empty where
    /// [`STACK`] alone names it.
    fn options(&self) -> String {
        let path = |path: &Path| path.display().to_string();
        let local = self.local.as_ref().map(|file| match file {
            Some(file) => format!(" --local={}", word(&path(file))),
            None => " --local".to_owned(),
        });
        let option = |name: &str, value: Option<String>| {
            value.map(|value| format!(" --{name} {}", word(&value))).unwrap_or_default()
        };
        [
            local.unwrap_or_default(),
            option("stack", self.stack.clone()),
            option("profile", self.profile.clone()),
            option("region", self.region.clone()),
            option("config", self.config.as_deref().map(path)),
        ]
        .concat()
    }

    async fn deployed(&self, stack: &str) -> Result<Desk> {
        let mut loader = aws_config::defaults(behavior())
            .http_client(http_client())
            .timeout_config(Patience::PERSON.timeouts())
            .retry_config(Patience::PERSON.retries());
        if let Some(profile) = &self.profile {
            loader = loader.profile_name(profile);
        }
        if let Some(region) = &self.region {
            loader = loader.region(aws_config::Region::new(region.clone()));
        }
        let shared = loader.load().await;
        signed_in(&shared).await?;
        let answer = aws_sdk_cloudformation::Client::new(&shared)
            .describe_stacks()
            .stack_name(stack)
            .send()
            .await
            .map_err(|error| anyhow::anyhow!("{}", of_call(&error)))
            .with_context(|| {
                format!(
                    "the stack {stack} cannot be described: is its name right, and --profile and --region?"
                )
            })?;
        let described = answer.stacks().first().with_context(|| format!("there is no stack {stack}"))?;
        let outputs: HashMap<&str, &str> = described
            .outputs()
            .iter()
            .filter_map(|output| Some((output.output_key()?, output.output_value()?)))
            .collect();
        let output = |name: &str| {
            outputs.get(name).map(|value| (*value).to_owned()).with_context(|| {
                format!("the stack {stack} has no output {name}: is it one of Sekali's template?")
            })
        };
        let seconds = |name: &str| {
            let parameter =
                described.parameters().iter().find(|parameter| parameter.parameter_key() == Some(name))?;
            parameter.parameter_value()?.parse().ok().map(Duration::from_secs)
        };
        let rules = self.rules(None);
        Ok(Desk {
            store: DynamoStore::new(
                aws_sdk_dynamodb::Client::new(&shared),
                Tables {
                    events: output("EventsTable")?,
                    resources: output("ResourcesTable")?,
                    actions: output("ActionsTable")?,
                },
            ),
            queues: Queues::new(aws_sdk_sqs::Client::new(&shared), output("QueueUrl")?, output("DlqUrl")?),
            deployment: deployment(
                rules.config,
                (seconds("QueueRetentionSeconds"), seconds("DlqRetentionSeconds")),
                seconds("VisibilityTimeoutSeconds"),
            ),
            rules: rules.said,
            who: match &self.who {
                Some(who) => Some(who.clone()),
                None => identity(&shared).await.or_else(login),
            },
            options: self.options(),
            receiver: format!("the stack {stack}"),
            keepers: Caller::of(&shared, Patience::PERSON)
                .await
                .map(|caller| Keepers::new(rules.folder, caller)),
            reach: Reach::from_env(),
        })
    }

    /// Today's rules: those that are named, those that lie with the receiver,
    /// or those of the checkout around us.
    fn rules(&self, beside: Option<&Path>) -> Read {
        let file = self.config.as_deref().or(beside);
        match Team::read(file, None) {
            Err(error) => Read {
                config: Config::default(),
                said: Rules::Unknown(format!("{error:#}")),
                folder: PathBuf::new(),
            },
            Ok(team) => match config::load(team.endpoints(), &team.descriptions()) {
                Ok(config) => Read { config, said: Rules::From(team.file), folder: team.folder },
                Err(problems) => {
                    let said = format!("{} has {} problem(s): `sekali check`", team.file, problems.len());
                    Read { config: Config::default(), said: Rules::Unknown(said), folder: team.folder }
                }
            },
        }
    }
}

struct Read {
    config: Config,
    said: Rules,
    /// Where the configuration lies, and the secrets that are files.
    folder: PathBuf,
}

fn deployment(
    config: Config,
    (queue, dlq): (Option<Duration>, Option<Duration>),
    visibility: Option<Duration>,
) -> Deployment {
    Deployment {
        config,
        retentions: Retentions { queue: queue.unwrap_or(QUEUE_RETENTION), dlq: dlq.unwrap_or(DLQ_RETENTION) },
        visibility: visibility.unwrap_or(VISIBILITY),
    }
}

/// Said first, since everything else would fail in words of its own.
async fn signed_in(shared: &aws_config::SdkConfig) -> Result<()> {
    let provider = shared.credentials_provider().context("no AWS credentials are configured")?;
    let found = provider.provide_credentials().await.map(drop);
    found.map_err(|_| {
        anyhow::anyhow!(
            "no AWS credentials: `aws sts get-caller-identity` must answer, with the same --profile; then try again"
        )
    })
}

/// Who AWS says we are, e.g. `assumed-role/on-call/alice`. Nobody needs a right
/// to ask that.
async fn identity(shared: &aws_config::SdkConfig) -> Option<String> {
    let answer = aws_sdk_sts::Client::new(shared).get_caller_identity().send().await.ok()?;
    let arn = answer.arn()?;
    Some(arn.rsplit(':').next().unwrap_or(arn).to_owned())
}

fn login() -> Option<String> {
    std::env::var("USER").ok().filter(|name| !name.trim().is_empty())
}

/// One word of a command line, as a shell takes it.
fn word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=@%+,".contains(letter);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_the_receiver_is_said_again_as_it_was_said() {
        assert_eq!(At::default().options(), "");
        let local = At { local: Some(None), config: Some("my own.toml".into()), ..At::default() };
        assert_eq!(local.options(), " --local --config 'my own.toml'");
        let elsewhere = At { local: Some(Some("target/env".into())), ..At::default() };
        assert_eq!(elsewhere.options(), " --local=target/env");
        let stack = At {
            stack: Some("sekali-prod".to_owned()),
            region: Some("eu-central-1".to_owned()),
            ..At::default()
        };
        assert_eq!(stack.options(), " --stack sekali-prod --region eu-central-1");
    }
}
