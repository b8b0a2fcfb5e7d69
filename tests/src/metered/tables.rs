//! The tables: conditional writes, transactions, the index, and what each costs.

use super::Item;
use super::bill::Charge;
use super::expression::{holds, updated};
use super::size::{self, LARGEST_ITEM};
use super::words::NotUnderstood;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Display;

/// A call that is refused, as the service says it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refused {
    pub(super) code: &'static str,
    pub(super) more: Value,
    pub(super) charge: Charge,
}

type Answer = Result<(Value, Charge), Refused>;

impl Refused {
    fn invalid(what: &dyn Display) -> Self {
        Self {
            code: "ValidationException",
            more: json!({ "message": what.to_string() }),
            charge: Charge::CALL,
        }
    }
}

impl From<NotUnderstood> for Refused {
    fn from(error: NotUnderstood) -> Self {
        Self::invalid(&error)
    }
}

/// Everything stored, each item as text: a table of many is small then.
#[derive(Debug, Default)]
pub(super) struct Tables {
    items: BTreeMap<(String, String), String>,
    /// The index of open events: of a table and the index's hash key the due
    /// times and keys, in their order.
    open: BTreeMap<(String, String), BTreeSet<(i64, String)>>,
    tokens: HashSet<String>,
}

/// One write that is tried: where, what stood there, and what would.
struct Tried {
    place: (String, String),
    before: Option<Item>,
    after: Option<Item>,
    holds: bool,
    shows_old: bool,
}

impl Tried {
    /// The larger of both, whether it is written or refused; and of the index
    /// what is taken away and what is put.
    fn write_units(&self, double: u64) -> u64 {
        let largest = [&self.before, &self.after].into_iter().flatten().map(size::of).max().unwrap_or(0);
        let entries = [&self.before, &self.after].map(|item| item.as_ref().and_then(entry));
        let moved = self.holds && entries[0] != entries[1];
        let of_index = if moved { entries.iter().flatten().count() } else { 0 };
        double * size::write_units(largest) + u64::try_from(of_index).unwrap_or(u64::MAX)
    }

    fn refusal(&self) -> Value {
        match &self.before {
            Some(item) if self.shows_old => json!({ "Code": "ConditionalCheckFailed", "Item": item }),
            _ => json!({ "Code": "ConditionalCheckFailed" }),
        }
    }
}

/// Where an item stands in the index of open events.
fn entry(item: &Item) -> Option<(Value, Value)> {
    Some((item.get("open")?.clone(), item.get("due")?.clone()))
}

fn text<'a>(request: &'a Value, name: &str) -> &'a str {
    request[name].as_str().unwrap_or_default()
}

/// The one attribute of a key, whatever its table calls it.
fn key(key: &Value) -> Result<(&str, &str), Refused> {
    let (name, value) = key
        .as_object()
        .and_then(|key| key.iter().next())
        .ok_or_else(|| Refused::invalid(&"a key has one attribute"))?;
    let text = value["S"].as_str().filter(|text| !text.is_empty() && text.len() <= 2048);
    Ok((name, text.ok_or_else(|| Refused::invalid(&"a key has 1 to 2048 bytes"))?))
}

impl Tables {
    pub(super) fn item(&self, table: &str, pk: &str) -> Option<Item> {
        let stored = self.items.get(&(table.to_owned(), pk.to_owned()))?;
        serde_json::from_str(stored).ok()
    }

    pub(super) fn insert(&mut self, table: &str, pk: &str, item: &Item) {
        self.place((table.to_owned(), pk.to_owned()), None, Some(item));
    }

    /// What stands at a place from now on, in table and index.
    fn place(&mut self, place: (String, String), before: Option<&Item>, after: Option<&Item>) {
        let indexed = |item: Option<&Item>| {
            let (open, due) = entry(item?)?;
            Some((open["S"].as_str()?.to_owned(), due["N"].as_str()?.parse::<i64>().ok()?))
        };
        if let Some((open, due)) = indexed(before) {
            let shelf = self.open.entry((place.0.clone(), open)).or_default();
            shelf.remove(&(due, place.1.clone()));
        }
        if let Some((open, due)) = indexed(after) {
            self.open.entry((place.0.clone(), open)).or_default().insert((due, place.1.clone()));
        }
        match after {
            Some(item) => drop(self.items.insert(place, Value::Object(item.clone()).to_string())),
            None => drop(self.items.remove(&place)),
        }
    }

    pub(super) fn answer(&mut self, operation: &str, request: &Value) -> Answer {
        match operation {
            "GetItem" => self.get(request),
            "PutItem" | "UpdateItem" | "DeleteItem" => self.write(operation, request),
            "TransactWriteItems" => self.transact(request),
            "Query" => self.query(request),
            "CreateTable" | "DescribeTable" => {
                Ok((json!({ "Table": table(request), "TableDescription": table(request) }), Charge::CALL))
            }
            "UpdateTimeToLive" => Ok((json!({}), Charge::CALL)),
            other => Err(Refused::invalid(&format!("{other} is not built"))),
        }
    }

    fn get(&self, request: &Value) -> Answer {
        let found = self.item(text(request, "TableName"), key(&request["Key"])?.1);
        let units = size::read_units(found.as_ref().map_or(0, size::of));
        let units = if request["ConsistentRead"] == true { units } else { units.div_ceil(2) };
        let answer = found.map_or(json!({}), |item| json!({ "Item": item }));
        Ok((answer, Charge::reading(units)))
    }

    fn write(&mut self, operation: &str, request: &Value) -> Answer {
        let tried = self.try_write(operation, request)?;
        let charge = Charge::writing(tried.write_units(1));
        if !tried.holds {
            let mut more = tried.refusal();
            more["message"] = "The conditional request failed".into();
            return Err(Refused { code: "ConditionalCheckFailedException", more, charge });
        }
        let shown = match text(request, "ReturnValues") {
            "ALL_NEW" => tried.after.clone(),
            "ALL_OLD" => tried.before.clone(),
            _ => None,
        };
        self.put(tried);
        Ok((shown.map_or(json!({}), |item| json!({ "Attributes": item })), charge))
    }

    fn transact(&mut self, request: &Value) -> Answer {
        let token = text(request, "ClientRequestToken").to_owned();
        if !token.is_empty() && self.tokens.contains(&token) {
            return Ok((json!({}), Charge::CALL));
        }
        let mut all = Vec::new();
        for item in request["TransactItems"].as_array().into_iter().flatten() {
            let (kind, part) = item
                .as_object()
                .and_then(|item| item.iter().next())
                .ok_or_else(|| Refused::invalid(&"an item of a transaction is empty"))?;
            let operation = match kind.as_str() {
                "Put" => "PutItem",
                "Update" => "UpdateItem",
                "Delete" => "DeleteItem",
                _ => "ConditionCheck",
            };
            all.push(self.try_write(operation, part)?);
        }
        let charge = Charge::writing(all.iter().map(|tried| tried.write_units(2)).sum());
        if all.iter().any(|tried| !tried.holds) {
            let reason =
                |tried: &Tried| if tried.holds { json!({ "Code": "None" }) } else { tried.refusal() };
            let reasons: Vec<_> = all.iter().map(reason).collect();
            let more = json!({ "message": "Transaction cancelled", "CancellationReasons": reasons });
            return Err(Refused { code: "TransactionCanceledException", more, charge });
        }
        all.into_iter().for_each(|tried| self.put(tried));
        self.tokens.insert(token);
        Ok((json!({}), charge))
    }

    fn try_write(&self, operation: &str, request: &Value) -> Result<Tried, Refused> {
        let whole = request["Item"].as_object();
        let place = match whole {
            Some(item) => ["pk", "id"]
                .into_iter()
                .find_map(|name| item.get(name)?["S"].as_str())
                .ok_or_else(|| Refused::invalid(&"an item has no key"))?
                .to_owned(),
            None => key(&request["Key"])?.1.to_owned(),
        };
        let place = (text(request, "TableName").to_owned(), place);
        let before = self.item(&place.0, &place.1);
        let holds = match request["ConditionExpression"].as_str() {
            Some(condition) => holds(condition, request, before.as_ref())?,
            None => true,
        };
        let after = match operation {
            "PutItem" => whole.cloned(),
            "DeleteItem" => None,
            "ConditionCheck" => before.clone(),
            _ => {
                let (name, pk) = key(&request["Key"])?;
                let mut fresh = Item::new();
                fresh.insert(name.to_owned(), json!({ "S": pk }));
                // An update that is refused need not make sense of what is there.
                match updated(text(request, "UpdateExpression"), request, before.as_ref().unwrap_or(&fresh)) {
                    Err(_) if !holds => before.clone(),
                    after => Some(after?),
                }
            }
        };
        if holds && after.as_ref().is_some_and(|item| size::of(item) > LARGEST_ITEM) {
            return Err(Refused::invalid(&"Item size has exceeded the maximum allowed size"));
        }
        let shows_old = text(request, "ReturnValuesOnConditionCheckFailure") == "ALL_OLD";
        Ok(Tried { place, before, after, holds, shows_old })
    }

    fn put(&mut self, tried: Tried) {
        self.place(tried.place, tried.before.as_ref(), tried.after.as_ref());
    }

    /// The index, by its keys; what is asked for is ordered by the due time.
    fn query(&self, request: &Value) -> Answer {
        let table = text(request, "TableName");
        let condition = text(request, "KeyConditionExpression");
        let asked = request["ExpressionAttributeValues"].as_object().into_iter().flatten();
        let asked: Vec<_> = asked.filter_map(|(_, value)| value["S"].as_str()).collect();
        let mut found = Vec::new();
        for ((of, open), shelf) in &self.open {
            if of != table || !asked.contains(&open.as_str()) {
                continue;
            }
            for (at, pk) in shelf {
                let entry =
                    json!({ "pk": { "S": pk }, "open": { "S": open }, "due": { "N": at.to_string() } });
                if holds(condition, request, entry.as_object())? {
                    found.push(((*at, pk.clone()), entry));
                }
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        if let Some(start) = request["ExclusiveStartKey"].as_object() {
            let at = start["due"]["N"].as_str().and_then(|due| due.parse::<i64>().ok()).unwrap_or_default();
            let start = (at, start["pk"]["S"].as_str().unwrap_or_default().to_owned());
            found.retain(|(place, _)| *place > start);
        }
        let limit = request["Limit"].as_u64().and_then(|limit| usize::try_from(limit).ok());
        let more = limit.is_some_and(|limit| found.len() > limit);
        found.truncate(limit.unwrap_or(usize::MAX));
        let items: Vec<_> = found.into_iter().map(|(_, item)| item).collect();
        let bytes = items.iter().filter_map(Value::as_object).map(size::of).sum();
        let mut answer = json!({ "Count": items.len(), "ScannedCount": items.len() });
        if let (true, Some(last)) = (more, items.last()) {
            answer["LastEvaluatedKey"] = last.clone();
        }
        answer["Items"] = items.into();
        Ok((answer, Charge::reading(size::read_units(bytes).div_ceil(2))))
    }
}

fn table(request: &Value) -> Value {
    json!({ "TableName": request["TableName"], "TableStatus": "ACTIVE" })
}
