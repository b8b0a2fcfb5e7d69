//! One step of the way of a delivery, so often: `instructions VENDOR STEP SIZE
//! TIMES`. Run under an instruction counter with two counts of TIMES, the
//! difference is the step's and not the process's.

use anyhow::{Context, bail};
use sekali::http::{Headers, Request};
use sekali::secret::Secret;
use sekali::time::UnixMillis;
use sekali::vendor::sign::sign;
use sekali::vendor::{Params, Vendor, builtin};
use std::hint::black_box;

const NOW: UnixMillis = UnixMillis(1_930_000_000_000);

fn main() -> anyhow::Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [name, step, size, times] = arguments.as_slice() else {
        bail!("usage: instructions VENDOR verify|extract BODY_BYTES TIMES");
    };
    let (size, times): (usize, u32) = (size.parse()?, times.parse()?);
    let text = builtin::text(name).with_context(|| format!("no vendor {name}"))?;
    let vendor = Vendor::parse(name, "vendor.toml", text)
        .map_err(|problems| anyhow::anyhow!("{} problems", problems.len()))?;
    let secret = Secret::new("whsec_aW52ZW50ZWQgZm9yIHRoZSBpbnN0cnVjdGlvbnM=")?;
    let params = Params { public_url: None, ..Params::default() };
    let headers = [("content-type", "application/json"), ("x-github-event", "push"), ("webhook-id", "msg_1")];
    let mut request = Request {
        method: "POST".to_owned(),
        path: format!("/webhooks/{name}"),
        query: String::new(),
        headers: Headers::new(headers),
        body: body(size),
    };
    let signed = sign(&vendor, &request, &secret, &params, NOW, || "delivery-1".to_owned())?;
    let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    request.headers = Headers::new(headers.chain(signed));
    let keys = vendor.keys(&[secret]).map_err(|error| anyhow::anyhow!("{error}"))?;
    for _ in 0..times {
        let request = black_box(&request);
        match step.as_str() {
            "verify" => drop(black_box(vendor.verify(request, &keys, &params, NOW)?)),
            "extract" => {
                let events = vendor.events(request, &[]).map_err(|error| anyhow::anyhow!("{error:?}"))?;
                drop(black_box(events));
            }
            other => bail!("no step {other}"),
        }
    }
    Ok(())
}

/// An event of about this many bytes, in which every vendor's description that
/// is counted finds what it needs.
fn body(size: usize) -> Vec<u8> {
    let line = r#"{"object":"line_item","description":"Invented parcel","amount_total":4900},"#;
    let lines: String = line.chars().cycle().take(size / line.len() * line.len()).collect();
    let head =
        r#"{"id":"evt_1","type":"order.paid","created":1930000000,"event_id":"Ev1","event_time":1930000000"#;
    format!("{head},\"team_id\":\"T1\",\"data\":{{\"object\":{{\"lines\":[{lines}{{}}]}}}}}}").into_bytes()
}
