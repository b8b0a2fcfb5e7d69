//! Questions to a server on this machine, which misbehaves on purpose.

use super::*;
use crate::connection::local_tls::{authority, server};
use sekali::secret::Secret;
use sekali::url_template::OutboundUrl;
use std::time::Duration;
use tokio::net::TcpListener;

/// Long enough for a loopback call on a busy machine.
const LONG: Duration = Duration::from_secs(20);
/// Short enough to wait for where a timeout is the point.
const SHORT: Duration = Duration::from_millis(150);

fn local(port: u16) -> OutboundUrl {
    OutboundUrl::pinned(&format!("http://127.0.0.1:{port}/v1/jobs/a%2Fb?full=1")).unwrap()
}

async fn ask(url: &OutboundUrl, timeout: Duration) -> Result<Got, NotGot> {
    let headers = [("authorization".to_owned(), Secret::new("Bearer invented-token").unwrap())];
    Apis::new(Reach::Anywhere).get(Get { url, headers: &headers, timeout, largest: 64 }).await
}

#[tokio::test]
async fn an_answer_comes_whole_with_its_status_and_the_wait_it_asks_for() {
    let answer = b"HTTP/1.1 429 Slow\r\nretry-after: 7\r\ncontent-length: 2\r\n\r\n{}".to_vec();
    let (port, served) = server(false, answer, false).await;
    let got = ask(&local(port), LONG).await.unwrap();
    assert_eq!(
        got,
        Got { status: 429, retry_after: Some(Duration::from_secs(7)), link: None, body: b"{}".to_vec() }
    );
    let request = served.await.unwrap().unwrap();
    assert!(request.starts_with("GET /v1/jobs/a%2Fb?full=1 HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("authorization: Bearer invented-token\r\n"), "{request}");
    assert!(request.contains(&format!("host: 127.0.0.1:{port}\r\n")), "{request}");
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let answer = b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n".to_vec();
    let (port, _served) = server(false, answer, false).await;
    assert_eq!(ask(&local(port), LONG).await.unwrap().status, 302);
}

#[tokio::test]
async fn an_answer_that_breaks_off_hangs_or_never_ends_is_none() {
    let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{\"a\"".to_vec();
    let (port, _served) = server(false, cut.clone(), false).await;
    assert!(matches!(ask(&local(port), LONG).await, Err(NotGot::Unknown(_))));
    for silent in [cut, b"HTTP/1.1 200 OK\r\ncontent".to_vec(), Vec::new()] {
        let (port, _served) = server(false, silent, true).await;
        assert!(matches!(ask(&local(port), SHORT).await, Err(NotGot::Unknown(_))));
    }
    let large = [b"HTTP/1.1 200 OK\r\ncontent-length: 65\r\n\r\n".as_slice(), &[b'x'; 65]].concat();
    let (port, _served) = server(false, large, false).await;
    assert_eq!(ask(&local(port), LONG).await, Err(NotGot::TooLarge(64)));
}

#[tokio::test]
async fn where_nobody_listens_nothing_was_asked() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    assert!(matches!(ask(&local(port), LONG).await, Err(NotGot::NotStarted(_))));
}

#[tokio::test]
async fn plain_http_and_private_addresses_are_refused_unless_allowed() {
    let get = |url| async move {
        Apis::new(Reach::Public).get(Get { url, headers: &[], timeout: LONG, largest: 64 }).await
    };
    let plain = OutboundUrl::pinned("http://127.0.0.1:9/").unwrap();
    assert!(matches!(get(&plain).await, Err(NotGot::Forbidden(_))));
    let private = OutboundUrl::pinned("https://127.0.0.1:9/").unwrap();
    let Err(NotGot::Forbidden(cause)) = get(&private).await else { panic!("it was asked") };
    assert!(cause.contains("127.0.0.1 is not public"), "{cause}");
}

#[tokio::test]
async fn only_a_server_that_proves_its_name_is_asked() {
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}".to_vec();
    let (port, served) = server(true, answer.clone(), false).await;
    let apis = Apis { trust: OnceLock::from(Trust::of(authority())), ..Apis::new(Reach::Anywhere) };
    let url = OutboundUrl::pinned(&format!("https://localhost:{port}/v1")).unwrap();
    let get = Get { url: &url, headers: &[], timeout: LONG, largest: 64 };
    assert_eq!(apis.get(get).await.unwrap().body, b"{}");
    assert!(served.await.unwrap().unwrap().contains(&format!("host: localhost:{port}\r\n")));
    let (port, served) = server(true, answer, false).await;
    let url = OutboundUrl::pinned(&format!("https://127.0.0.1:{port}/v1")).unwrap();
    let get = Get { url: &url, headers: &[], timeout: LONG, largest: 64 };
    assert!(matches!(apis.get(get).await, Err(NotGot::NotStarted(_))));
    assert_eq!(served.await.unwrap(), None);
}

#[tokio::test]
async fn a_secret_that_no_header_can_carry_is_not_shown() {
    let headers = [("authorization".to_owned(), Secret::new("Bearer invented\ntoken").unwrap())];
    let url = local(9);
    let get = Get { url: &url, headers: &headers, timeout: LONG, largest: 64 };
    let error = Apis::new(Reach::Anywhere).get(get).await.unwrap_err().to_string();
    assert!(!error.contains("invented"), "{error}");
}

/// Questions where these variables are set, and nothing but public addresses may be asked.
fn with(variables: &[(&str, String)]) -> Apis {
    let variables: Vec<(String, String)> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let variable =
        move |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    Apis { variable: Arc::new(variable), ..Apis::new(Reach::Public) }
}

#[tokio::test]
async fn a_service_of_aws_is_asked_at_the_endpoint_that_the_deployment_names() {
    let url = OutboundUrl::pinned("https://sns.eu-north-1.amazonaws.com/?Action=ConfirmSubscription&Token=t")
        .unwrap();
    for (own, all) in
        [("AWS_ENDPOINT_URL_SNS", "AWS_ENDPOINT_URL"), ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SQS")]
    {
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}".to_vec();
        let (port, served) = server(false, answer, false).await;
        let apis = with(&[(own, format!("http://127.0.0.1:{port}")), (all, "http://127.0.0.1:9".to_owned())]);
        let get = Get { url: &url, headers: &[], timeout: LONG, largest: 64 };
        assert_eq!(apis.get(get).await.unwrap().status, 200);
        let request = served.await.unwrap().unwrap();
        assert!(request.starts_with("GET /?Action=ConfirmSubscription&Token=t HTTP/1.1\r\n"), "{request}");
        assert!(request.contains(&format!("host: 127.0.0.1:{port}\r\n")), "{request}");
    }
}

#[tokio::test]
async fn only_hosts_of_aws_itself_follow_its_variables() {
    let apis = with(&[("AWS_ENDPOINT_URL", "http://127.0.0.1:9".to_owned())]);
    for (host, service) in [
        ("sns.eu-north-1.amazonaws.com", Some("sns")),
        ("sns.cn-north-1.amazonaws.com.cn", Some("sns")),
        ("sns.eu-north-1.amazonaws.com.example.org", None),
        ("bucket.s3.eu-north-1.amazonaws.com", None),
        ("amazonaws.com", None),
        ("api.example.com", None),
    ] {
        let url: Uri = format!("https://{host}/").parse().unwrap();
        assert_eq!(
            (aws_service(host), apis.aws_endpoint(&url).is_some()),
            (service, service.is_some()),
            "{host}"
        );
    }
    let bad = with(&[("AWS_ENDPOINT_URL_SNS", "not a url".to_owned())]);
    let url = OutboundUrl::pinned("https://sns.eu-north-1.amazonaws.com/").unwrap();
    let get = Get { url: &url, headers: &[], timeout: LONG, largest: 64 };
    assert_eq!(bad.get(get).await, Err(NotGot::Forbidden("AWS_ENDPOINT_URL_SNS is no URL".to_owned())));
}
