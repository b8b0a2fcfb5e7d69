//! The items of a payload: in the events table, in partitions of their own, so
//! that a status change never pays for the body.
//!
//! A small payload is one item as it came. A larger one is deflated where that
//! saves a write unit. What still does not fit into one item lies in parts,
//! each under a key of its own, so that no partition takes it all; the head,
//! under the payload's key, is written last and names them: where it is, all
//! of them are (INV-1).

use super::attribute::{Attributes, Item, Reading, bytes, number, size_of, text, whole, write_units};
use super::event::EXPIRES;
use flate2::read::DeflateDecoder;
use flate2::{Compress, Compression, FlushCompress, Status};
use sekali::ids::Generation;
use sekali::key::{EventHash, EventKey};
use sekali::payload::Payload;
use sekali::ports::StoreError;
use sekali::time::ExpiresAt;
use std::cell::RefCell;
use std::io::Read;

/// DynamoDB takes 400 KB an item, names included. A part stays a little below,
/// since how a number is counted is documented as approximate.
const LARGEST_ITEM: usize = 390 * 1024;

/// A part's key and names beside its bytes.
const AROUND_A_PART: usize = 256;

/// Up to here a body is deflated as tightly as is usual, which takes some tens
/// of microseconds for the few KB of a webhook. A larger one is deflated
/// quickly: the vendor waits.
const DEFLATED_TIGHTLY: usize = 64 * 1024;

/// Of a large body so much is tried first: what does not shrink, an archive or
/// an image, is not gone through to its end.
const TRIED_FIRST: usize = 64 * 1024;

/// Nothing that ingest takes is larger, by far. A stored size beyond it is no
/// size, and nothing is inflated for it.
const LARGEST_CONTENT: usize = 64 << 20;

/// The bytes of one part.
const PART: &str = "part";
/// How many parts there are.
const PARTS: &str = "parts";
/// The digest by which a head names its parts.
pub(crate) const DIGEST: &str = "digest";
/// The newest generation of its event that took the TTL off or set it again.
pub(crate) const GENERATION: &str = "generation";
/// Body and context as one, deflated.
const DEFLATED: &str = "deflated";
/// How many bytes body and context have as one.
const SIZE: &str = "size";
/// How the bytes of the parts are to be read.
const FORM: &str = "form";

/// The key of a payload. No event's key begins like this, and the length
/// keeps event key and hash apart (INV-7).
pub(crate) fn key(event: &EventKey, hash: &EventHash) -> String {
    format!("payload|{}:{}|{}", event.as_str().len(), event.as_str(), hash.as_str())
}

/// A payload as items: the parts, if there are any, and then the head.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Laid {
    pub(crate) parts: Vec<Item>,
    pub(crate) head: Item,
}

/// Lays a payload out in as few write units as it takes.
pub(crate) fn lay_out(event: &EventKey, hash: &EventHash, payload: &Payload, expires: ExpiresAt) -> Laid {
    let pk = key(event, hash);
    let (body, context) = payload.to_parts();
    let plain_size = size_of(&plain(&pk, &[], &context, expires)) + body.len();
    if write_units(plain_size) == 1 {
        return Laid { parts: Vec::new(), head: plain(&pk, body, &context, expires) };
    }
    let content = Content::new(body, &context);
    if let Some(deflated) = content.deflated() {
        let head = head(&pk, content.0.len(), expires, vec![(DEFLATED, Some(bytes(&deflated)))]);
        let size = size_of(&head);
        if size > LARGEST_ITEM {
            return in_parts(&pk, Form::Deflated, &deflated, content.0.len(), expires);
        }
        if write_units(size) < write_units(plain_size) {
            return Laid { parts: Vec::new(), head };
        }
    }
    if plain_size <= LARGEST_ITEM {
        return Laid { parts: Vec::new(), head: plain(&pk, body, &context, expires) };
    }
    in_parts(&pk, Form::Plain, &content.0, content.0.len(), expires)
}

fn plain(pk: &str, body: &[u8], context: &str, expires: ExpiresAt) -> Item {
    let attributes = vec![
        ("body", Some(bytes(body))),
        ("context", Some(text(context))),
        (EXPIRES, Some(number(expires.0))),
    ];
    whole(pk, attributes)
}

fn head(pk: &str, size: usize, expires: ExpiresAt, more: Attributes) -> Item {
    let mut attributes = vec![(SIZE, Some(number(size))), (EXPIRES, Some(number(expires.0)))];
    attributes.extend(more);
    whole(pk, attributes)
}

/// The digest in a part's key is over the payload's key and the bytes: two
/// deliveries of one event that differ in a volatile field have parts of their
/// own, and no two tenants share one (INV-7).
fn in_parts(pk: &str, form: Form, stored: &[u8], size: usize, expires: ExpiresAt) -> Laid {
    let digest = digest(pk, [stored]);
    let slices: Vec<_> = stored.chunks(LARGEST_ITEM - AROUND_A_PART).collect();
    let manifest = vec![
        (PARTS, Some(number(slices.len()))),
        (DIGEST, Some(text(digest.as_str()))),
        (FORM, Some(text(form.as_str()))),
    ];
    let part = |(position, slice): (usize, &&[u8])| {
        let attributes = vec![(PART, Some(bytes(slice))), (EXPIRES, Some(number(expires.0)))];
        whole(&part_key(&digest, position), attributes)
    };
    Laid { parts: slices.iter().enumerate().map(part).collect(), head: head(pk, size, expires, manifest) }
}

fn digest<'a>(pk: &'a str, stored: impl IntoIterator<Item = &'a [u8]>) -> EventHash {
    EventHash::of([pk.as_bytes(), b"|"].into_iter().chain(stored))
}

fn part_key(digest: &EventHash, position: usize) -> String {
    format!("part|{digest}|{position}")
}

/// Has a newer generation of its event settled the TTL of this item?
pub(crate) fn is_settled_after(item: &Item, generation: Generation) -> Result<bool, StoreError> {
    let newest = Reading(item).maybe_number(GENERATION)?;
    Ok(newest.is_some_and(|newest| Generation::from_stored(newest) > generation))
}

/// How the bytes of the parts are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Deflated,
}

impl Form {
    fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Deflated => "deflated",
        }
    }

    fn from_stored(word: &str) -> Option<Self> {
        [Self::Plain, Self::Deflated].into_iter().find(|form| form.as_str() == word)
    }
}

/// What a head names: where the parts of its payload are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) digest: EventHash,
    pk: String,
    parts: usize,
    form: Form,
    size: usize,
}

impl Manifest {
    /// The manifest of a head; `None` where the payload lies in one item.
    pub(crate) fn of(head: &Item) -> Result<Option<Self>, StoreError> {
        let read = Reading(head);
        let Some(digest) = read.maybe_text(DIGEST)? else { return Ok(None) };
        Ok(Some(Self {
            digest: EventHash::from_stored(digest),
            pk: read.text(super::attribute::KEY)?.to_owned(),
            parts: read.number(PARTS)?,
            form: read.word(FORM, Form::from_stored)?,
            size: content_size(read)?,
        }))
    }

    /// The keys of the parts, in their order.
    pub(crate) fn keys(&self) -> Vec<String> {
        (0..self.parts).map(|position| part_key(&self.digest, position)).collect()
    }

    /// The payload of these parts.
    pub(crate) fn join(&self, parts: &[Item]) -> Result<Payload, StoreError> {
        let slices = parts.iter().map(|part| Reading(part).bytes(PART)).collect::<Result<Vec<_>, _>>()?;
        let broken = |what| StoreError::Unreadable(format!("{}: {what}", self.pk));
        if digest(&self.pk, slices.iter().map(Vec::as_slice)) != self.digest {
            return Err(broken("its parts are not those that it names"));
        }
        let stored = slices.concat();
        let content = match self.form {
            Form::Plain => Content(stored),
            Form::Deflated => Content::inflated(&stored, self.size).ok_or_else(|| broken(NOT_DEFLATED))?,
        };
        content.payload().ok_or_else(|| broken(NOT_A_CONTENT))
    }
}

const NOT_DEFLATED: &str = "is not deflated as it says";
const NOT_A_CONTENT: &str = "is not a body and a context";

/// The payload of a stored item that names no parts.
pub(crate) fn decode(item: &Item) -> Result<Payload, StoreError> {
    let read = Reading(item);
    if !item.contains_key(DEFLATED) {
        return Payload::from_parts(read.bytes("body")?, read.text("context")?)
            .map_err(|error| read.unreadable("context", &error.to_string()));
    }
    let content = Content::inflated(&read.bytes(DEFLATED)?, content_size(read)?)
        .ok_or_else(|| read.unreadable(DEFLATED, NOT_DEFLATED))?;
    content.payload().ok_or_else(|| read.unreadable(DEFLATED, NOT_A_CONTENT))
}

fn content_size(read: Reading<'_>) -> Result<usize, StoreError> {
    let size = read.number(SIZE)?;
    if size > LARGEST_CONTENT {
        return Err(read.unreadable(SIZE, "is larger than anything that is taken"));
    }
    Ok(size)
}

thread_local! {
    /// What deflates most payloads. Its tables are as large as a hundred of
    /// them, so it is made once and not for each.
    static TIGHT: RefCell<Compress> = RefCell::new(Compress::new(Compression::default(), false));
}

/// The bytes deflated; `None` where that is not smaller, for which there is no room.
fn deflated(compress: &mut Compress, bytes: &[u8]) -> Option<Vec<u8>> {
    compress.reset();
    let mut smaller = Vec::with_capacity(bytes.len().saturating_sub(1));
    match compress.compress_vec(bytes, &mut smaller, FlushCompress::Finish) {
        Ok(Status::StreamEnd) => Some(smaller),
        Ok(Status::Ok | Status::BufError) | Err(_) => None,
    }
}

/// Body and context as one: the context's length, the context, the body.
struct Content(Vec<u8>);

/// The context's length takes so many bytes.
const LENGTH: usize = 4;

impl Content {
    fn new(body: &[u8], context: &str) -> Self {
        // A context is made of what a delivery carries, megabytes at most.
        let length = u32::try_from(context.len()).unwrap_or(u32::MAX).to_be_bytes();
        Self([length.as_slice(), context.as_bytes(), body].concat())
    }

    fn payload(self) -> Option<Payload> {
        let (length, rest) = self.0.split_first_chunk::<LENGTH>()?;
        let (context, body) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
        Payload::from_parts(body.to_vec(), std::str::from_utf8(context).ok()?).ok()
    }

    /// Deflated, where that is smaller.
    fn deflated(&self) -> Option<Vec<u8>> {
        if self.0.len() <= DEFLATED_TIGHTLY {
            return TIGHT.with_borrow_mut(|tight| deflated(tight, &self.0));
        }
        let fast = || Compress::new(Compression::fast(), false);
        if self.0.len() > 2 * TRIED_FIRST
            && deflated(&mut fast(), &self.0[..TRIED_FIRST])?.len() > TRIED_FIRST * 15 / 16
        {
            return None;
        }
        deflated(&mut fast(), &self.0)
    }

    fn inflated(deflated: &[u8], size: usize) -> Option<Self> {
        let mut content = Vec::with_capacity(size);
        let most = u64::try_from(size).ok()?.checked_add(1)?;
        DeflateDecoder::new(deflated).take(most).read_to_end(&mut content).ok()?;
        (content.len() == size).then_some(Self(content))
    }
}
