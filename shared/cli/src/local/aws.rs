//! The few calls that the local run makes to the emulator's AWS.

use super::wire::{Answer, exchange};
use anyhow::{Context, Result, bail};
use bytes::Bytes;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The region that the emulator plays.
pub const REGION: &str = "us-east-1";

/// What the template calls the version of each function that is in use.
const ALIAS: &str = "live";

/// The emulator's AWS on one port of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Aws {
    /// The port.
    pub port: u16,
}

/// How a stack stands.
#[derive(Debug, Clone)]
pub struct StackState {
    /// CloudFormation's word.
    pub status: String,
    /// Why, where it says.
    pub reason: Option<String>,
    /// Its outputs, once complete.
    pub outputs: BTreeMap<String, String>,
}

impl Aws {
    /// Where SDKs call it.
    pub fn endpoint(self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Whether it says that it is up.
    pub async fn healthy(self) -> bool {
        let request = http::Request::get("/_ministack/health").body(Bytes::new());
        let Ok(request) = request else { return false };
        matches!(exchange(self.port, request).await, Ok(answer) if answer.status == 200)
    }

    /// Creates a bucket.
    ///
    /// # Errors
    /// Refused or unreachable.
    pub async fn create_bucket(self, bucket: &str) -> Result<()> {
        self.call("s3", "PUT", &format!("/{bucket}"), &[], Bytes::new()).await.map(drop)
    }

    /// Puts an object.
    ///
    /// # Errors
    /// Refused or unreachable.
    pub async fn put_object(self, bucket: &str, key: &str, object: Bytes) -> Result<()> {
        self.call("s3", "PUT", &format!("/{bucket}/{key}"), &[], object).await.map(drop)
    }

    /// Begins to create a stack from a template in a bucket, where `sam deploy`
    /// puts it, too: a call carries no more than 51,200 bytes of one.
    ///
    /// # Errors
    /// The template is refused, with the emulator's reason.
    pub async fn create_stack(
        self,
        name: &str,
        template_path: &str,
        parameters: &[(&str, &str)],
    ) -> Result<()> {
        let mut form = vec![
            ("Action".to_owned(), "CreateStack".to_owned()),
            ("Version".to_owned(), "2010-05-15".to_owned()),
            ("StackName".to_owned(), name.to_owned()),
            ("TemplateURL".to_owned(), format!("{}/{template_path}", self.endpoint())),
            ("Capabilities.member.1".to_owned(), "CAPABILITY_NAMED_IAM".to_owned()),
            ("Capabilities.member.2".to_owned(), "CAPABILITY_AUTO_EXPAND".to_owned()),
        ];
        for (n, (key, value)) in (1..).zip(parameters) {
            form.push((format!("Parameters.member.{n}.ParameterKey"), (*key).to_owned()));
            form.push((format!("Parameters.member.{n}.ParameterValue"), (*value).to_owned()));
        }
        self.cloudformation(&form).await.map(drop)
    }

    /// Reads how a stack stands.
    ///
    /// # Errors
    /// There is no such stack.
    pub async fn stack(self, name: &str) -> Result<StackState> {
        let form = [("Action", "DescribeStacks"), ("Version", "2010-05-15"), ("StackName", name)]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        let text = self.cloudformation(&form).await?.text();
        let status = element(&text, "StackStatus").context("the emulator names no stack status")?;
        let outputs = text
            .split("<OutputKey>")
            .skip(1)
            .filter_map(|rest| {
                let key = rest.split_once('<')?.0;
                Some((key.to_owned(), element(rest, "OutputValue")?))
            })
            .collect();
        Ok(StackState { status, reason: element(&text, "StackStatusReason"), outputs })
    }

    /// The first resource of a stack that failed, and why.
    ///
    /// # Errors
    /// There is no such stack.
    pub async fn stack_failure(self, name: &str) -> Result<Option<String>> {
        let form = [("Action", "DescribeStackEvents"), ("Version", "2010-05-15"), ("StackName", name)]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        let text = self.cloudformation(&form).await?.text();
        // Events come newest first; the oldest failure is the cause of the others.
        Ok(text.rsplit("<LogicalResourceId>").find_map(|rest| {
            let id = rest.split_once('<')?.0;
            let failed = element(rest, "ResourceStatus")?.ends_with("FAILED");
            failed.then(|| format!("{id}: {}", element(rest, "ResourceStatusReason").unwrap_or_default()))
        }))
    }

    async fn cloudformation(self, form: &[(String, String)]) -> Result<Answer> {
        let body: Vec<_> = form.iter().map(|(key, value)| format!("{key}={}", percent(value))).collect();
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        self.call("cloudformation", "POST", "/", &headers, body.join("&").into()).await
    }

    /// Adds variables to a function's environment; those of the template stay.
    /// Callers use its alias, so what is changed becomes a version and the
    /// alias names that, as a deployment would have it.
    ///
    /// # Errors
    /// There is no such function, or it has no such alias.
    pub async fn add_variables(self, function: &str, more: &BTreeMap<String, String>) -> Result<()> {
        let path = format!("/2015-03-31/functions/{function}/configuration");
        let present = self.function(function).await?;
        let mut variables = present["Environment"]["Variables"].as_object().cloned().unwrap_or_default();
        variables.extend(more.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))));
        let body = json!({ "Environment": { "Variables": variables } });
        let headers = [("content-type", "application/json")];
        self.call("lambda", "PUT", &path, &headers, body.to_string().into()).await?;
        let versions = format!("/2015-03-31/functions/{function}/versions");
        let published = self.call("lambda", "POST", &versions, &headers, "{}".into()).await?;
        let published: Value = serde_json::from_slice(&published.body)?;
        let alias = format!("/2015-03-31/functions/{function}/aliases/{ALIAS}");
        let body = json!({ "FunctionVersion": published["Version"] });
        self.call("lambda", "PUT", &alias, &headers, body.to_string().into()).await.map(drop)
    }

    /// A function's configuration as it stands, in Lambda's own JSON.
    ///
    /// # Errors
    /// There is no such function.
    pub async fn function(self, function: &str) -> Result<Value> {
        let path = format!("/2015-03-31/functions/{function}/configuration");
        let answer = self.call("lambda", "GET", &path, &[], Bytes::new()).await?;
        Ok(serde_json::from_slice(&answer.body)?)
    }

    /// A function's environment as it stands.
    ///
    /// # Errors
    /// There is no such function.
    pub async fn variables(self, function: &str) -> Result<BTreeMap<String, String>> {
        let function = self.function(function).await?;
        Ok(serde_json::from_value(function["Environment"]["Variables"].clone())?)
    }

    /// The event sources of a function, in Lambda's own JSON.
    ///
    /// # Errors
    /// There is no such function.
    pub async fn event_sources(self, function: &str) -> Result<Vec<Value>> {
        let path = format!("/2015-03-31/event-source-mappings/?FunctionName={function}");
        let answer = self.call("lambda", "GET", &path, &[], Bytes::new()).await?;
        let answer: Value = serde_json::from_slice(&answer.body)?;
        Ok(answer["EventSourceMappings"].as_array().cloned().unwrap_or_default())
    }

    /// Invokes a function and returns what it answered.
    ///
    /// # Errors
    /// It failed, with its own message.
    pub async fn invoke(self, function: &str, event: &Value) -> Result<Value> {
        let path = format!("/2015-03-31/functions/{function}/invocations");
        let headers = [("content-type", "application/json")];
        let answer = self.call("lambda", "POST", &path, &headers, event.to_string().into()).await?;
        if answer.headers.contains_key("x-amz-function-error") {
            bail!("{function} failed: {}", answer.text());
        }
        Ok(serde_json::from_slice(&answer.body).unwrap_or(Value::Null))
    }

    /// Every item of a table, in DynamoDB's own JSON.
    ///
    /// # Errors
    /// There is no such table.
    pub async fn scan(self, table: &str) -> Result<Vec<Value>> {
        let mut items = Vec::new();
        let mut from = Value::Null;
        loop {
            let mut body = json!({ "TableName": table, "ConsistentRead": true });
            if !from.is_null() {
                body["ExclusiveStartKey"] = from;
            }
            let page = self.ask("dynamodb", "DynamoDB_20120810.Scan", &body).await?;
            items.extend(page["Items"].as_array().cloned().unwrap_or_default());
            from = page["LastEvaluatedKey"].clone();
            if from.is_null() {
                return Ok(items);
            }
        }
    }

    /// How many messages a queue holds: visible, and in flight.
    ///
    /// # Errors
    /// There is no such queue.
    pub async fn depth(self, queue_url: &str) -> Result<(u64, u64)> {
        let visible = "ApproximateNumberOfMessages";
        let in_flight = "ApproximateNumberOfMessagesNotVisible";
        let body = json!({ "QueueUrl": queue_url, "AttributeNames": [visible, in_flight] });
        let answer = self.ask("sqs", "AmazonSQS.GetQueueAttributes", &body).await?;
        let count = |name: &str| answer["Attributes"][name].as_str().and_then(|text| text.parse().ok());
        Ok((count(visible).unwrap_or(0), count(in_flight).unwrap_or(0)))
    }

    /// Asks a service that speaks JSON, e.g. `sqs` for `AmazonSQS.GetQueueAttributes`.
    ///
    /// # Errors
    /// Refused, with the service's reason, or unreachable.
    pub async fn ask(self, service: &str, target: &str, body: &Value) -> Result<Value> {
        let headers = [("x-amz-target", target), ("content-type", "application/x-amz-json-1.0")];
        let answer = self.call(service, "POST", "/", &headers, body.to_string().into()).await?;
        Ok(serde_json::from_slice(&answer.body)?)
    }

    async fn call(
        self,
        service: &str,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Answer> {
        // The emulator checks no signature; it reads service and region from it.
        let scope = format!("Credential=local/20260101/{REGION}/{service}/aws4_request");
        let mut request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=none"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = exchange(self.port, request.body(body)?).await?;
        if answer.status >= 300 {
            bail!(
                "the emulator's {service} answered {} to {method} {path}: {}",
                answer.status,
                answer.text()
            );
        }
        Ok(answer)
    }
}

/// The text of the first element of that name. CloudFormation answers in XML
/// and we read three flat elements of it.
fn element(xml: &str, name: &str) -> Option<String> {
    let rest = xml.split_once(&format!("<{name}>"))?.1;
    let text = rest.split_once('<')?.0;
    Some(text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"))
}

/// A form value, percent-encoded.
fn percent(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push_str(&sekali::key::hex(&[byte]).to_uppercase());
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_value_survives_whatever_it_holds() {
        assert_eq!(percent("a b&c=é"), "a%20b%26c%3D%C3%A9");
    }

    #[test]
    fn the_text_of_an_element_is_unescaped_once() {
        assert_eq!(element("<A>x</A><B>&amp;lt; &lt;</B>", "B").as_deref(), Some("&lt; <"));
        assert_eq!(element("<A>x</A>", "B"), None);
    }
}
