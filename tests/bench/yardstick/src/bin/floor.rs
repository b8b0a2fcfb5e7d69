//! The floor: a function that puts what it gets into a table and sends one
//! message, with the same SDK and the same settings. It verifies nothing,
//! recognises nothing and promises nothing. Nobody who stores a webhook and
//! enqueues it on this SDK can do less.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use lambda_http::{Body, Error, Request, RequestExt, Response, run, service_fn};
use sekali_aws::Aws;
use sekali_aws::client::Patience;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let variable = |name| std::env::var(name).map_err(|_| format!("{name} is not set"));
    let (table, url) = (variable("SEKALI_EVENTS_TABLE")?, variable("SEKALI_QUEUE_URL")?);
    let aws = Aws::from_env(Patience::FUNCTION)?;
    let (dynamodb, sqs) = (aws.dynamodb(), aws.sqs());
    let (table, url, dynamodb, sqs) = (&table, &url, &dynamodb, &sqs);
    run(service_fn(|event: Request| async move {
        let id = event.lambda_context().request_id;
        let body = match event.into_body() {
            Body::Text(text) => text.into_bytes(),
            Body::Binary(bytes) => bytes,
            _ => Vec::new(),
        };
        let put = dynamodb.put_item().table_name(table).item("pk", AttributeValue::S(id.clone()));
        let put = put.item("body", AttributeValue::B(Blob::new(body)));
        put.condition_expression("attribute_not_exists(pk)").send().await?;
        sqs.send_message().queue_url(url).message_body(format!(r#"{{"event":"{id}"}}"#)).send().await?;
        Ok::<_, Error>(Response::builder().status(202).body(Body::Empty)?)
    }))
    .await
}
