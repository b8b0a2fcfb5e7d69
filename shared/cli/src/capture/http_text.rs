//! HTTP as text: a request's line and headers, an empty line, the body. As it
//! goes over the wire, as `curl -v` shows it, or headers alone.

use super::{Capture, parts};
use anyhow::{Result, bail};
use sekali::http::{Headers, Request};

const NOT_SHOWN: &str =
    "what is shown of a request does not hold its body: put it below, after an empty line";

/// Reads a request.
///
/// # Errors
/// There is no header in it.
pub(super) fn read(bytes: &[u8]) -> Result<Capture> {
    let (head, body) = split(bytes);
    let head = String::from_utf8_lossy(head);
    let shown = head
        .lines()
        .find(|line| !line.starts_with(['*', '{', '}']))
        .is_some_and(|line| line.starts_with("> "));
    let lines =
        head.lines().zip(1..).filter(|(line, _)| !shown || line.starts_with('>')).map(|(line, at)| {
            if shown { (line.trim_start_matches('>').trim_start(), at) } else { (line, at) }
        });
    let (mut method, mut target) = ("POST".to_owned(), None);
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (line, at) in lines.filter(|(line, _)| !line.trim().is_empty()) {
        if let Some((own, asked)) = request_line(line) {
            (method, target) = (own.to_ascii_uppercase(), Some(asked.to_owned()));
        } else if line.starts_with([' ', '\t']) {
            // A folded header goes on.
            if let Some((_, value)) = pairs.last_mut() {
                value.push_str(line);
            }
        } else if let Some(pseudo) = line.strip_prefix(':') {
            let Some((name, value)) = pseudo.split_once(':') else { continue };
            match name.trim() {
                "method" => method = value.trim().to_ascii_uppercase(),
                "path" => target = Some(value.trim().to_owned()),
                "authority" => pairs.push(("host".to_owned(), value.trim().to_owned())),
                _ => {}
            }
        } else if let Some((name, value)) = line.split_once(':').filter(|(name, _)| is_name(name.trim())) {
            pairs.push((name.trim().to_owned(), value.to_owned()));
        } else if !line.starts_with("HTTP/") {
            // It may be the body, or a value that lost its name.
            bail!("line {at} is neither a request's line nor a header");
        }
    }
    if pairs.is_empty() {
        bail!(
            "there is no header: a request begins with POST /path HTTP/1.1 and its headers, then comes an empty line"
        );
    }
    let headers = Headers::new(pairs);
    let (url, path, query) = parts(target.as_deref().unwrap_or("/"));
    let url = url.or_else(|| headers.text("host").map(|host| format!("https://{host}{path}")));
    let (body, note) = match shown && body.is_empty() && headers.text("content-length") != Some("0") {
        true => (Vec::new(), Some(NOT_SHOWN.to_owned())),
        false => own_body(body, &headers),
    };
    let request = Request { method, path, query, headers, body };
    Ok(Capture { request, url, received_at: None, note })
}

/// Head and body, at the first empty line.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let at = |gap: &[u8]| bytes.windows(gap.len()).position(|window| window == gap).map(|at| (at, gap.len()));
    let gaps: [&[u8]; 2] = [b"\r\n\r\n", b"\n\n"];
    match gaps.into_iter().filter_map(at).min() {
        Some((at, length)) => (&bytes[..at], &bytes[at + length..]),
        None => (bytes, &[]),
    }
}

/// `POST /path HTTP/1.1`, the version optional.
fn request_line(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let is_method = (3..=7).contains(&method.len()) && method.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_target = target.starts_with('/') || target.contains("://");
    let rest = words.next().is_none_or(|version| version.starts_with("HTTP/"));
    (is_method && is_target && rest).then_some((method, target))
}

/// Whether a header can have this name.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.!#$%&'*+^`|~".contains(&byte))
}

/// The body as it was sent: without the chunks of its transfer, and without the
/// line end with which an editor ends every file.
fn own_body(given: &[u8], headers: &Headers) -> (Vec<u8>, Option<String>) {
    // The last coding of `gzip, chunked` is that of the transfer.
    let last = headers.text("transfer-encoding").and_then(|codings| codings.rsplit(',').next());
    let chunked = last.is_some_and(|coding| coding.trim().eq_ignore_ascii_case("chunked"));
    if chunked && let Some(body) = joined(given) {
        return (body, Some("the chunks of the transfer were joined".to_owned()));
    }
    let declared: Option<usize> = headers.text("content-length").and_then(|length| length.parse().ok());
    match declared {
        Some(length) if length < given.len() && given[length..].iter().all(|byte| b"\r\n".contains(byte)) => {
            let note = "the line end behind the declared length was taken for the file's own";
            (given[..length].to_vec(), Some(note.to_owned()))
        }
        Some(length) if length != given.len() => {
            let note = format!(
                "{length} bytes were declared and {} are here: it is not the body that was sent",
                given.len()
            );
            (given.to_vec(), Some(note))
        }
        None if given.ends_with(b"\n") => {
            let note = "the file ends with a line end, which may be its editor's; the request's Content-Length would tell";
            (given.to_vec(), Some(note.to_owned()))
        }
        _ => (given.to_vec(), None),
    }
}

fn joined(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let size = std::str::from_utf8(&rest[..end]).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        rest = &rest[end + 1..];
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(..size)?);
        let after = rest.get(size..)?;
        rest = after.strip_prefix(b"\r\n").or_else(|| after.strip_prefix(b"\n"))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Capture {
        read(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_request_is_read_as_it_goes_over_the_wire() {
        let capture =
            request("POST /in/a?x=1 HTTP/1.1\r\nHost: hooks.example.com\r\nX-A:  b \r\n\r\n{\r\n\r\n}\n");
        assert_eq!(capture.url.as_deref(), Some("https://hooks.example.com/in/a"));
        assert_eq!((capture.request.path.as_str(), capture.request.query.as_str()), ("/in/a", "x=1"));
        assert_eq!(capture.request.headers.text("x-a"), Some("b"));
        assert_eq!(capture.request.body, b"{\r\n\r\n}\n");
    }

    #[test]
    fn what_tools_show_of_a_request_is_read() {
        for text in [
            "* Connected\n> POST /in HTTP/2\n> Host: a.example\n> X-A: b\n>\n\n{}",
            ":method: POST\n:path: /in\n:authority: a.example\nx-a: b\n\n{}",
            "POST https://a.example/in\nX-A: b\n\n{}",
            "HTTP/1.1 200 OK\nHost: a.example\nX-A: b\n\n{}",
        ] {
            let capture = request(text);
            assert_eq!(capture.request.headers.text("x-a"), Some("b"), "{text}");
            assert_eq!(capture.request.method, "POST");
            assert_eq!(capture.request.body, b"{}", "{text}");
            assert!(capture.url.unwrap().starts_with("https://a.example/"), "{text}");
        }
    }

    #[test]
    fn a_line_end_that_the_file_has_and_the_request_had_not_is_left_out() {
        let with_length =
            |length: usize| request(&format!("X-A: b\nContent-Length: {length}\n\n{{}}\n")).request.body;
        assert_eq!(with_length(2), b"{}");
        assert_eq!(with_length(3), b"{}\n");
        assert_eq!(with_length(9), b"{}\n");
        assert_eq!(request("X-A: b\n\n{}\n").request.body, b"{}\n");
    }

    #[test]
    fn a_body_that_is_not_there_or_not_whole_is_said() {
        let curl = "> POST /in HTTP/2\n> Host: a.example\n> X-A: b\n> Content-Length: 7\n> \n\
            * We are completely uploaded and fine\n< HTTP/2 401\n< content-type: application/json\n< \n{\"error\":\"unauthorized\"}";
        let capture = request(curl);
        assert!(capture.request.body.is_empty() && capture.note.unwrap().contains("put it below"));
        assert_eq!(capture.request.headers.text("content-type"), None, "that is of the answer");
        for (body, here) in [("{\"a\":12}", "8 are here"), ("{}", "2 are here")] {
            let capture = request(&format!("X-A: b\nContent-Length: 7\n\n{body}"));
            assert!(capture.note.unwrap().contains(here));
        }
    }

    #[test]
    fn a_head_with_bare_line_ends_leaves_those_of_the_body_alone() {
        let capture = request("POST /in HTTP/1.1\nHost: a.example\nX-A: b\n\n{\r\n\r\n\"a\":1}");
        assert_eq!(capture.request.body, b"{\r\n\r\n\"a\":1}");
        let capture = request("POST /in HTTP/1.1\r\nX-A: b\r\n\r\n{\n\n\"a\":1}");
        assert_eq!(capture.request.body, b"{\n\n\"a\":1}");
    }

    #[test]
    fn chunks_are_joined() {
        let gzip =
            request("X-A: b\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n2;x=y\r\n{}\r\n0\r\nX-B: c\r\n\r\n");
        assert_eq!(gzip.request.body, b"{}");
        let capture = request(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n3\r\n\":1\r\n1\r\n}\r\n0\r\n\r\n",
        );
        assert_eq!(capture.request.body, b"{\"a\":1}");
    }

    #[test]
    fn what_has_no_header_is_no_request() {
        for text in ["hello", "POST / HTTP/1.1\n\n{}", "{\"id\":1"] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
        let error = read(b"whsec_invented_and_long").unwrap_err().to_string();
        assert!(!error.contains("invented_and"), "{error}");
    }
}
