//! What a real payload would do: which rule it fires, with which keys.

use crate::capture::{self, Captures};
use anyhow::{Context, Result, bail, ensure};
use sekali::config::{Config, Endpoint, GuardAnswer, Late, TenantFrom, explain};
use sekali::http::{Headers, Request};
use sekali::ids::{EventType, Tenant};
use sekali::json::JsonText;
use sekali::key::EventKey;
use sekali::payload::Payload;
use sekali::rule::{Plan, Planned, Subject, event_guard, plan, sources};
use sekali::source::Source;
use sekali::time::UnixMillis;
use sekali::vendor::{Facts, Identity, Unreadable};
use serde_json::{Value, json};
use std::path::Path;

/// What is asked on the command line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) endpoint: Option<&'a str>,
    pub(super) event_type: Option<&'a str>,
    pub(super) headers: &'a [String],
    pub(super) headers_file: Option<&'a Path>,
    pub(super) tenant: Option<&'a str>,
}

/// What becomes of one event.
#[derive(Debug)]
pub(super) struct Fate {
    id: String,
    event_type: Option<String>,
    lines: Vec<String>,
    json: Value,
}

/// What the events of a payload would do at an endpoint.
///
/// # Errors
/// The payload cannot be read as the vendor's, or it is not said at which endpoint.
pub(super) fn fates(config: &Config, file: &Path, asked: Asked<'_>) -> Result<Vec<Fate>> {
    let endpoint = endpoint(config, asked.endpoint)?;
    let request = request(file, asked)?;
    let vendor = &endpoint.vendor;
    if let Some(Ok(answer)) = vendor.handshake(&request, None, &endpoint.params, None) {
        bail!(
            "it is the handshake \"{}\" of {}, which is answered and is no event",
            answer.name,
            vendor.name()
        );
    }
    let facts = match vendor.events(&request, sources(endpoint)) {
        Ok(facts) => facts.into_iter().map(Event::of).collect(),
        Err(Unreadable::NoEventId) => unidentified(endpoint, &request)?,
        Err(refused) => bail!("{} of {} would refuse it: {refused}", endpoint.name, vendor.name()),
    };
    facts.into_iter().map(|event| fate(config, endpoint, event, asked)).collect()
}

/// A payload whose id is in a header that is not given: with any id the vendor's
/// description says the rest of it.
fn unidentified(endpoint: &Endpoint, request: &Request) -> Result<Vec<Event>> {
    let header = endpoint.vendor.id_header(request);
    let described = header.and_then(|header| {
        let known = request.headers.iter().map(|(name, value)| (name.to_owned(), value.to_vec()));
        let headers = known.chain([(header.to_owned(), b"-".to_vec())]).collect::<Vec<_>>();
        let request = Request { headers: Headers::new(headers), ..request.clone() };
        Some((header, endpoint.vendor.events(&request, sources(endpoint)).ok()?))
    });
    match described {
        Some((header, facts)) => {
            Ok(facts.into_iter().map(|facts| Event::of(facts).with_no_id(header)).collect())
        }
        None => Ok(vec![Event::without_id(endpoint, request)?]),
    }
}

fn endpoint<'c>(config: &'c Config, name: Option<&str>) -> Result<&'c Endpoint> {
    let known = || config.endpoints.keys().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => config
            .endpoints
            .get(name)
            .with_context(|| format!("there is no endpoint `{name}`; there is {}", known())),
        None => {
            let mut all = config.endpoints.values();
            match (all.next(), all.next()) {
                (Some(only), None) => Ok(only),
                _ => bail!("say at which endpoint with --endpoint NAME: {}", known()),
            }
        }
    }
}

/// A captured request, or a body with the headers of the command line.
fn request(file: &Path, asked: Asked<'_>) -> Result<Request> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read the payload {}", file.display()))?;
    let mut lines: Vec<String> = asked.headers.to_vec();
    if let Some(file) = asked.headers_file {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read the headers {}", file.display()))?;
        lines.extend(text.lines().filter(|line| line.contains(':')).map(str::to_owned));
    }
    let pair = |line: &String| {
        // It may be a value alone, and that a secret.
        let (name, value) = line.split_once(':').context("a header is not \"Name: value\"")?;
        Ok((name.trim().to_owned(), value.trim().as_bytes().to_vec()))
    };
    let more: Vec<(String, Vec<u8>)> = lines.iter().map(pair).collect::<Result<_>>()?;
    let own = match capture::recognised(&bytes, None) {
        Ok(Captures::One(capture)) => capture.request,
        Ok(Captures::Puzzles(_)) | Err(_) => Request {
            method: "POST".to_owned(),
            path: "/".to_owned(),
            query: String::new(),
            headers: Headers::default(),
            body: bytes,
        },
    };
    let known = own.headers.iter().map(|(name, value)| (name.to_owned(), value.to_vec()));
    Ok(Request { headers: Headers::new(known.chain(more).collect::<Vec<_>>()), ..own })
}

/// Stands for an id that is not known, in keys that are not shown.
const NO_ID: &str = "(no id is known)";

/// What is said in its place.
const UNKNOWN: &str = "of an unknown id,";

/// As much of an event as a plan needs.
struct Event {
    id: Vec<Option<String>>,
    has_id: bool,
    /// The header that has it, where it is not given.
    id_header: Option<String>,
    event_type: Option<EventType>,
    tenant: Option<String>,
    occurred_at: Option<UnixMillis>,
    sequence: Option<String>,
    payload: Payload,
}

impl Event {
    fn of(facts: Facts) -> Self {
        let (id, has_id) = match facts.identity {
            Identity::Id(parts) | Identity::Weak(parts) => (parts, true),
            Identity::None => (vec![Some("a key of its own".to_owned())], false),
        };
        Self {
            id,
            has_id,
            id_header: None,
            event_type: facts.event_type,
            tenant: facts.tenant,
            occurred_at: facts.occurred_at,
            sequence: facts.sequence.map(|sequence| sequence.to_string()),
            payload: facts.payload,
        }
    }

    fn with_no_id(self, header: &str) -> Self {
        let id_header = Some(header.to_owned());
        Self { id: vec![Some(NO_ID.to_owned())], has_id: false, id_header, ..self }
    }

    /// A body alone, whose id is in a header that is not given: the rules read
    /// it all the same.
    fn without_id(endpoint: &Endpoint, request: &Request) -> Result<Self> {
        let is_json =
            sekali::json::text(&request.body).is_ok_and(|text| sekali::json::read(text, &[]).is_ok());
        ensure!(
            is_json,
            "the payload has no event id, and is no JSON; give its headers with --header \"Name: value\""
        );
        let context = sources(endpoint).iter().filter_map(|source| match source {
            Source::Header(name) => Some((source.clone(), JsonText::from_text(request.headers.text(name)?))),
            _ => None,
        });
        let payload = Payload::new(request.body.clone(), context);
        Ok(Self {
            id: vec![Some(NO_ID.to_owned())],
            has_id: false,
            id_header: endpoint.vendor.id_header(request).map(str::to_owned),
            event_type: None,
            tenant: None,
            occurred_at: None,
            sequence: None,
            payload,
        })
    }
}

fn fate(config: &Config, endpoint: &Endpoint, mut event: Event, asked: Asked<'_>) -> Result<Fate> {
    if let Some(event_type) = asked.event_type {
        event.event_type = Some(EventType::new(event_type));
    }
    let tenant = tenant(endpoint, &event, asked)?;
    let parts: Vec<Option<&str>> = event.id.iter().map(Option::as_deref).collect();
    let key = EventKey::new(&endpoint.dedup_scope, tenant.as_ref(), &parts);
    let shown = Fate {
        id: parts
            .iter()
            .map(|part| part.unwrap_or("-"))
            .collect::<Vec<_>>()
            .join(" ")
            .replace(NO_ID, UNKNOWN),
        event_type: event.event_type.as_ref().map(ToString::to_string),
        lines: event
            .id_header
            .iter()
            .map(|name| format!("its id is in the header {name}: --header '{name}: ..'"))
            .collect(),
        json: json!({"event_key": event.has_id.then(|| key.to_string())}),
    };
    if let Ok(Some(guard)) = event_guard(endpoint, event.event_type.as_ref(), &event.payload) {
        let status = match guard.answer {
            GuardAnswer::Refuse => 403,
            GuardAnswer::Filter => 200,
        };
        let line = format!("the guard in {} stops it: {status}", guard.place);
        return Ok(shown.with(
            [line],
            json!({"becomes": "filtered", "answer": status, "guard": guard.place.to_string()}),
        ));
    }
    let subject = Subject {
        key: &key,
        event_type: event.event_type.as_ref(),
        tenant: tenant.as_ref(),
        occurred_at: event.occurred_at,
        sequence: event.sequence.as_deref(),
        // Only an answer that was asked for is compared with it.
        received_at: UnixMillis(0),
    };
    Ok(match plan(endpoint, subject, &event.payload, None) {
        Plan::NoRule => {
            let hint = match event.event_type {
                None => "; its type is not in the payload: give it with --type, or the header that has it",
                Some(_) => "",
            };
            shown
                .with([format!("no rule takes it: it would be ignored{hint}")], json!({"becomes": "ignored"}))
        }
        Plan::Hold(hold) => {
            let reason = hold.reason();
            let cause = reason.cause.unwrap_or_default();
            let line = format!("it would be held: {}, {cause}", reason.slug.as_str());
            shown.with([line], json!({"becomes": "held", "reason": reason.slug.as_str(), "cause": cause}))
        }
        Plan::Ask(question) => {
            let line = format!("the answer of {} decides which rule takes it", question.url);
            shown.with([line], json!({"becomes": "received", "asks": question.url.as_str()}))
        }
        // Nobody was asked, so no answer is old.
        Plan::Older(cause) => shown.with([cause.to_owned()], json!({"becomes": "received"})),
        Plan::Planned(planned) => fires(config, endpoint, &planned, &event.payload, shown),
    })
}

impl Fate {
    fn with(mut self, lines: impl IntoIterator<Item = String>, more: Value) -> Self {
        self.lines.extend(lines);
        if let (Some(own), Value::Object(more)) = (self.json.as_object_mut(), more) {
            own.extend(more);
        }
        self
    }

    /// For people.
    pub(super) fn lines(&self) -> Vec<String> {
        let of_type = self
            .event_type
            .as_deref()
            .map_or_else(|| "without a type".to_owned(), |name| format!("of type {name}"));
        let first = format!("event {} {of_type}", self.id);
        std::iter::once(first).chain(self.lines.iter().map(|line| format!("  {line}"))).collect()
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        let mut json = self.json.clone();
        if let Some(own) = json.as_object_mut() {
            own.insert("id".to_owned(), Value::from(self.id.as_str()));
            own.insert("type".to_owned(), self.event_type.clone().into());
        }
        json
    }
}

fn fires(config: &Config, endpoint: &Endpoint, planned: &Planned, payload: &Payload, shown: Fate) -> Fate {
    let place = endpoint.rules.get(planned.rule).map(|rule| rule.place.clone());
    let sentence = explain(config).into_iter().find(|sentence| Some(&sentence.place) == place.as_ref());
    let place = place.map(|place| place.to_string()).unwrap_or_default();
    let mut lines = vec![format!("fires the rule in {place}")];
    lines.extend(sentence.map(|sentence| sentence.text));
    let mut json = json!({"becomes": "processed", "rule": place});
    if let Some(step) = &planned.resource_move {
        let key =
            endpoint.resource.as_ref().map(|resource| plain(payload, &resource.key)).unwrap_or_default();
        lines.push(format!("the {} {key} becomes {}, in the order {}", step.kind, step.to, step.order));
        lines.push(format!("  key {}", step.resource));
        json["resource"] = json!({"key": step.resource.to_string(), "status": step.to.to_string(), "order": step.order.to_string()});
    }
    if let Some(action) = &planned.action {
        lines.push(format!("{} is asked to {}", action.destination, action.name));
        lines.push(match action.key.as_str().contains(NO_ID) {
            true => "  key unknown: it is made of the event's id".to_owned(),
            false => format!("  key {}", action.key),
        });
        for (name, value) in &action.fields {
            lines.push(format!("  {name} = {}", value.as_ref().map_or("null", JsonText::as_json)));
        }
        let fields = action.fields.iter().map(|(name, value)| {
            let value = value.as_ref().and_then(|value| serde_json::from_str(value.as_json()).ok());
            (name.to_string(), value.unwrap_or(Value::Null))
        });
        let late = match action.late {
            Late::Act => "act",
            Late::Skip => "skip",
        };
        json["action"] = json!({
            "name": action.name.to_string(),
            "key": Some(action.key.as_str()).filter(|key| !key.contains(NO_ID)),
            "destination": action.destination.to_string(),
            "fields": fields.collect::<serde_json::Map<_, _>>(),
            "late": late,
        });
    }
    shown.with(lines, json)
}

/// The value at a place as people read it.
fn plain(payload: &Payload, source: &Source) -> String {
    let value = payload.read(std::slice::from_ref(source)).ok().and_then(|mut values| values.pop()).flatten();
    value.and_then(|value| value.key_part().map(|text| text.into_owned())).unwrap_or_default()
}

/// Whose the event is, where the endpoint serves many.
fn tenant(endpoint: &Endpoint, event: &Event, asked: Asked<'_>) -> Result<Option<Tenant>> {
    Ok(match &endpoint.tenant {
        None => None,
        Some(TenantFrom::Path) => {
            let given =
                asked.tenant.context("the URL names the tenant here: say which with --tenant NAME")?;
            Some(
                Tenant::in_path(given)
                    .with_context(|| format!("no tenant can be called \"{given}\" in a URL"))?,
            )
        }
        Some(TenantFrom::Vendor) => event.tenant.as_deref().map(Tenant::from),
        Some(TenantFrom::Place(source)) => {
            let value = event
                .payload
                .read(std::slice::from_ref(source))
                .ok()
                .and_then(|mut values| values.pop())
                .flatten();
            value.and_then(|value| value.key_part().map(|text| Tenant::new(text.into_owned())))
        }
    })
}
