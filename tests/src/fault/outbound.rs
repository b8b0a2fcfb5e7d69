//! A vendor's API as a worker sees it when things go wrong.

use super::kind::{PortCall, Trouble};
use super::worker::Faulty;
use sekali::ports::{Get, Got, NotGot, Outbound};
use std::time::Duration;

fn instead(trouble: Trouble) -> Result<Got, NotGot> {
    let answered =
        |status, body: &str| Got { status, retry_after: None, link: None, body: body.as_bytes().to_vec() };
    match trouble {
        Trouble::Throttled | Trouble::Contended => {
            Ok(Got { retry_after: Some(Duration::from_secs(5)), ..answered(429, "") })
        }
        Trouble::Unanswered => Err(NotGot::Unknown("the request was lost".to_owned())),
        Trouble::Invalid => Ok(answered(403, "")),
        Trouble::Unreadable => Ok(answered(200, "<html>")),
    }
}

impl<O: Outbound> Outbound for Faulty<O> {
    async fn get(&self, get: Get<'_>) -> Result<Got, NotGot> {
        let lost = || Err(NotGot::Unknown("the answer was lost".to_owned()));
        // Nothing of ours is shown to whoever is called back.
        let call = if get.headers.is_empty() { PortCall::Confirm } else { PortCall::Ask };
        self.pass(call, || self.port.get(get), instead, lost).await
    }
}
