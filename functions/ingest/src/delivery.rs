//! The gateway's form of a request and an answer, and ours.

use lambda_http::http::HeaderMap;
use lambda_http::http::header::CONTENT_TYPE;
use lambda_http::request::RequestContext;
use lambda_http::{Body, RequestExt, Response};
use sekali::http::{Headers, Request};
use sekali::ids::CorrelationId;
use sekali::ingest::Addressed;
use sekali::ingest::answer::Answer;
use sekali::ports::Entropy;
use std::net::IpAddr;

/// The header in which AWS hands the trace on.
const TRACE_HEADER: &str = "x-amzn-trace-id";

/// The request as received. The gateway's base64 is taken off exactly where it
/// says so, which `lambda_http` does; nothing else touches the body.
pub fn read(event: lambda_http::Request, entropy: &impl Entropy) -> (Addressed, Request) {
    let parameters = event.path_parameters();
    let path = event.raw_http_path().to_owned();
    let correlation =
        gateway_id(&event).map_or_else(|| entropy.correlation(), |id| CorrelationId::new(id.to_owned()));
    let trace = event.headers().get(TRACE_HEADER).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let addressed = Addressed {
        endpoint: parameters.first("endpoint").unwrap_or_default().to_owned(),
        tenant: parameters.first("tenant").map(str::to_owned),
        from: caller(&event),
        correlation,
        trace,
    };
    let (parts, body) = event.into_parts();
    let request = Request {
        method: parts.method.as_str().to_owned(),
        path: if path.is_empty() { parts.uri.path().to_owned() } else { path },
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: headers(&parts.headers),
        body: match body {
            Body::Text(text) => text.into_bytes(),
            Body::Binary(bytes) => bytes,
            _ => Vec::new(),
        },
    };
    (addressed, request)
}

/// The gateway's own request id, so that its access log and ours can be joined.
fn gateway_id(event: &lambda_http::Request) -> Option<&str> {
    match event.request_context_ref()? {
        RequestContext::ApiGatewayV2(context) => context.request_id.as_deref(),
        RequestContext::ApiGatewayV1(context) => context.request_id.as_deref(),
        _ => None,
    }
    .filter(|id| !id.is_empty())
}

/// The address that called the gateway. A forwarding header says whatever its
/// sender wrote, so it is never read.
fn caller(event: &lambda_http::Request) -> Option<IpAddr> {
    let address = match event.request_context_ref()? {
        RequestContext::ApiGatewayV2(context) => context.http.source_ip.as_deref(),
        RequestContext::ApiGatewayV1(context) => context.identity.source_ip.as_deref(),
        _ => None,
    };
    address?.parse().ok()
}

fn headers(map: &HeaderMap) -> Headers {
    Headers::new(map.iter().map(|(name, value)| (name.as_str(), value.as_bytes())))
}

/// The answer as the gateway wants it.
pub fn write(answer: Answer) -> Result<Response<Body>, lambda_http::http::Error> {
    let mut response = Response::builder().status(answer.status);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    if let Some(content_type) = answer.content_type {
        response = response.header(CONTENT_TYPE, content_type);
    }
    response.body(if answer.body.is_empty() { Body::Empty } else { Body::Text(answer.body) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sekali_aws::SystemEntropy;

    fn gateway(event: &str) -> (Addressed, Request) {
        let request = lambda_http::request::from_str(event).unwrap();
        read(request, &SystemEntropy::new())
    }

    fn version_2(body: &str, base64: bool) -> String {
        format!(
            r#"{{"version":"2.0","routeKey":"ANY /webhooks/{{endpoint}}","rawPath":"/webhooks/stripe",
            "rawQueryString":"a=1&b=%20","headers":{{"stripe-signature":"t=1,v1=00","x-forwarded-for":"203.0.113.1"}},
            "pathParameters":{{"endpoint":"stripe","tenant":"acme"}},"isBase64Encoded":{base64},"body":"{body}",
            "requestContext":{{"requestId":"req-1","stage":"$default","http":{{"method":"POST","path":"/webhooks/stripe","sourceIp":"192.0.2.7"}}}}}}"#
        )
    }

    #[test]
    fn base64_is_decoded_exactly_when_the_flag_says_so() {
        let (_, encoded) = gateway(&version_2("eyJhIjoxfQ==", true));
        let (_, plain) = gateway(&version_2(r#"{\"a\":1}"#, false));
        let (_, looks_encoded) = gateway(&version_2("eyJhIjoxfQ==", false));
        assert_eq!(encoded.body, br#"{"a":1}"#);
        assert_eq!(plain.body, encoded.body);
        assert_eq!(looks_encoded.body, b"eyJhIjoxfQ==");
    }

    #[test]
    fn bytes_that_are_no_text_survive() {
        let (_, request) = gateway(&version_2("eyJuIjoi/yJ9DQo=", true));
        assert_eq!(request.body, b"{\"n\":\"\xff\"}\r\n");
    }

    #[test]
    fn endpoint_query_and_correlation_id_come_from_the_gateway() {
        let (addressed, request) = gateway(&version_2("", false));
        assert_eq!((addressed.endpoint.as_str(), addressed.correlation.as_str()), ("stripe", "req-1"));
        assert_eq!(addressed.tenant.as_deref(), Some("acme"));
        assert_eq!((request.path.as_str(), request.query.as_str()), ("/webhooks/stripe", "a=1&b=%20"));
    }

    #[test]
    fn the_caller_is_whom_the_gateway_saw_and_no_header_says_otherwise() {
        let (addressed, _) = gateway(&version_2("", false));
        assert_eq!(addressed.from, "192.0.2.7".parse().ok());
    }

    #[test]
    fn a_handshake_s_answer_keeps_its_headers_and_its_type_without_a_body() {
        let headers = vec![("X-Hook-Secret".to_owned(), "invented".to_owned())];
        let content_type = Some("application/json".to_owned());
        let response = write(Answer { status: 204, headers, content_type, body: String::new() }).unwrap();
        assert_eq!((response.status().as_u16(), response.headers().len()), (204, 2));
        assert_eq!(response.headers()["x-hook-secret"], "invented");
        assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
        assert!(matches!(response.body(), Body::Empty));
    }

    #[test]
    fn a_header_that_came_in_many_values_only_is_found_in_format_1() {
        let (addressed, request) = gateway(
            r#"{"resource":"/webhooks/{endpoint}","path":"/webhooks/github","httpMethod":"POST",
            "headers":{},"multiValueHeaders":{"X-HUB-SIGNATURE-256":["sha256=ab"]},
            "queryStringParameters":null,"multiValueQueryStringParameters":null,
            "pathParameters":{"endpoint":"github"},"stageVariables":null,"isBase64Encoded":false,"body":"{}",
            "requestContext":{"requestId":"req-2","resourcePath":"/webhooks/{endpoint}","httpMethod":"POST","stage":"prod","path":"/prod/webhooks/github",
            "identity":{"sourceIp":"2001:db8::7"}}}"#,
        );
        assert_eq!(addressed.from, "2001:db8::7".parse().ok());
        assert_eq!(request.headers.text("x-hub-signature-256"), Some("sha256=ab"));
    }
}
