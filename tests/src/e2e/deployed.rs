//! The receiver as it is deployed: `infra/template.yaml` on an emulator, the
//! real functions behind an emulated API Gateway and a queue, the proxy
//! between them and AWS. One for each process of tests; it ends with that
//! process, however that ends.

use super::configuration;
use super::destination::Destination;
use super::driven::Answer;
use super::ground::on_ground;
use super::kept::{Item, Kept};
use super::proxy::Proxy;
use super::until::until;
use super::vendors::{SECRETS, Signed, Vendors};
use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use futures_util::future::try_join_all;
use sekali_aws::Tables;
use sekali_cli::local::aws::Aws;
use sekali_cli::local::checkout::Checkout;
use sekali_cli::local::emulator::any_port;
use sekali_cli::local::package;
use sekali_cli::local::stack::{Spec, Stack};
use sekali_cli::local::wire::exchange;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::OnceCell;

static DEPLOYED: OnceCell<Result<Deployed, String>> = OnceCell::const_new();

/// A deployed receiver and all around it.
pub struct Deployed {
    /// Its tables and queues.
    pub kept: Kept,
    /// What stands between its functions and AWS.
    pub proxy: Proxy,
    /// Where its effects happen.
    pub destination: Destination,
    /// Who sends to it.
    pub vendors: Vendors,
    /// The checkout that it was built from.
    pub checkout: Checkout,
    /// The port of the destination where nobody listens.
    pub absent: u16,
    folder: PathBuf,
    stack: Stack,
}

impl Deployed {
    /// The one of this process; it is started by whoever asks first and keeps
    /// its files in `folder`. The functions are built before, by the same call
    /// as for `make run`; `make test` has done that already.
    ///
    /// # Errors
    /// One sentence says what is missing.
    pub async fn get(folder: &Path) -> Result<&'static Self> {
        let folder = folder.to_owned();
        let deployed = DEPLOYED
            .get_or_init(|| async {
                on_ground(Self::start(folder)).await.map_err(|error| format!("{error:#}"))
            })
            .await;
        deployed.as_ref().map_err(|error| anyhow!("{error}"))
    }

    async fn start(folder: PathBuf) -> Result<Self> {
        let checkout = Checkout::around(Path::new(env!("CARGO_MANIFEST_DIR")))?;
        package::build(&checkout).await.context("the functions are needed: run `make test`")?;
        let absent = any_port()?;
        let destination = Destination::start(0, &configuration::HONOURING).await?;
        let configuration = configuration::write(&folder.join("written"), destination.port(), absent)?;
        let secrets: BTreeMap<_, _> =
            SECRETS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let stack = Stack::start(Spec {
            checkout: &checkout,
            folder: folder.clone(),
            port: any_port()?,
            configuration: &configuration,
            endpoint_secrets: secrets,
            destination_secrets: BTreeMap::new(),
            // Enough for the slowest destination, and leases are not much longer.
            parameters: vec![
                ("ProcessorTimeoutSeconds", "30".to_owned()),
                ("VisibilityTimeoutSeconds", "180".to_owned()),
            ],
        })
        .await?;
        let proxy = Proxy::start(stack.aws().port).await?;
        let addresses = BTreeMap::from(
            ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SQS"].map(|name| (name.to_owned(), proxy.url())),
        );
        for function in ["IngestFunction", "ProcessorFunction", "SweeperFunction"] {
            stack.aws().add_variables(stack.output(function)?, &addresses).await?;
        }
        let kept = kept(&stack)?;
        let vendors = Vendors::new(configuration.config);
        Ok(Self { kept, proxy, destination, vendors, checkout, absent, folder, stack })
    }

    /// The emulator's AWS.
    pub fn aws(&self) -> Aws {
        self.stack.aws()
    }

    /// Where the functions write what they say.
    pub fn log(&self) -> &Path {
        self.stack.log()
    }

    /// Where this run keeps its files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where vendors call an endpoint.
    ///
    /// # Errors
    /// The stack has no gateway.
    pub fn url(&self, endpoint: &str) -> Result<String> {
        Ok(format!("{}{}", self.aws().endpoint(), self.stack.endpoint_path(endpoint)?))
    }

    /// Sends a delivery through the gateway.
    ///
    /// # Errors
    /// Nobody answered.
    pub async fn deliver(&self, signed: &Signed) -> Result<Answer> {
        let tenant = signed.tenant.map_or(String::new(), |tenant| format!("/{tenant}"));
        let path = self.stack.endpoint_path(&format!("{}{tenant}", signed.endpoint))?;
        self.send("POST", &path, &signed.headers, &signed.body).await
    }

    /// Sends the same delivery many times at once.
    ///
    /// # Errors
    /// One of them was not answered.
    pub async fn deliver_at_once(&self, signed: &Signed, times: usize) -> Result<Vec<Answer>> {
        try_join_all((0..times).map(|_| self.deliver(signed))).await
    }

    /// Sends any request without a body to an endpoint, whose name may be
    /// followed by a query.
    ///
    /// # Errors
    /// Nobody answered.
    pub async fn request(&self, method: &str, endpoint: &str) -> Result<Answer> {
        self.request_with(method, endpoint, &[]).await
    }

    /// The same with header fields.
    ///
    /// # Errors
    /// Nobody answered.
    pub async fn request_with(
        &self,
        method: &str,
        endpoint: &str,
        headers: &[(&str, &str)],
    ) -> Result<Answer> {
        let headers: Vec<(String, String)> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.send(method, &self.stack.endpoint_path(endpoint)?, &headers, b"").await
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<Answer> {
        let mut request = http::Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let answer = exchange(self.aws().port, request.body(Bytes::copy_from_slice(body))?).await?;
        let header = |name: &http::HeaderName, value: &http::HeaderValue| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        let headers = answer.headers.iter().filter_map(|(name, value)| header(name, value)).collect();
        Ok(Answer::new(answer.status, headers, answer.text()))
    }

    /// Invokes ingest with an event as API Gateway would hand it over.
    ///
    /// # Errors
    /// It failed.
    pub async fn invoke_ingest(&self, event: &Value) -> Result<Answer> {
        super::driven::answered(&self.aws().invoke(self.stack.output("IngestFunction")?, event).await?)
    }

    /// Runs the sweeper now.
    ///
    /// # Errors
    /// It failed.
    pub async fn sweep(&self) -> Result<()> {
        let event = serde_json::json!({ "source": "aws.events" });
        self.aws().invoke(self.stack.output("SweeperFunction")?, &event).await.map(drop)
    }

    /// So much time passes for an event and its action, and then the sweeper runs.
    ///
    /// # Errors
    /// The event is not there or will not keep still.
    pub async fn sweep_after(&self, endpoint: &str, id: &str, span: Duration) -> Result<()> {
        self.kept.pass(endpoint, id, span).await?;
        self.sweep().await
    }

    /// Waits until an event has this status.
    ///
    /// # Errors
    /// It never has.
    pub async fn becomes(&self, endpoint: &str, id: &str, status: &str) -> Result<Item> {
        let mut last = String::new();
        let found = until(format!("the event {id} to be {status}"), async || {
            let event = self.kept.event(endpoint, id).await?;
            last = event.as_ref().map_or_else(|| "not stored".to_owned(), |event| event.status().to_owned());
            Ok(event.filter(|event| event.status() == status))
        });
        found.await.with_context(|| format!("it is {last}; the log is {}", self.log().display()))
    }
}

fn kept(stack: &Stack) -> Result<Kept> {
    let output = |name| stack.output(name).map(str::to_owned);
    Ok(Kept {
        aws: stack.aws(),
        tables: Tables {
            events: output("EventsTable")?,
            resources: output("ResourcesTable")?,
            actions: output("ActionsTable")?,
        },
        queue: output("QueueUrl")?,
        dead_letters: output("DlqUrl")?,
    })
}
