//! Conditions and updates: what an expression says of an item, and what it
//! makes of it.

use super::Item;
use super::words::{NotUnderstood, Words};
use serde_json::{Value, json};
use std::cmp::Ordering;

/// Whether the condition of a request holds for this item; one that is not
/// there has no attributes.
pub(super) fn holds(condition: &str, request: &Value, item: Option<&Item>) -> Result<bool, NotUnderstood> {
    let nothing = Item::new();
    let mut words = Words::of(condition, request);
    let truth = either(&mut words, item.unwrap_or(&nothing))?;
    if words.peek().is_some() { Err(words.lost()) } else { Ok(truth) }
}

fn either(words: &mut Words<'_>, item: &Item) -> Result<bool, NotUnderstood> {
    let mut truth = both(words, item)?;
    while words.takes("OR") {
        truth |= both(words, item)?;
    }
    Ok(truth)
}

fn both(words: &mut Words<'_>, item: &Item) -> Result<bool, NotUnderstood> {
    let mut truth = one(words, item)?;
    while words.takes("AND") {
        truth &= one(words, item)?;
    }
    Ok(truth)
}

fn one(words: &mut Words<'_>, item: &Item) -> Result<bool, NotUnderstood> {
    if words.takes("NOT") {
        return one(words, item).map(|truth| !truth);
    }
    if words.takes("(") {
        let truth = either(words, item)?;
        return words.wants(")").map(|()| truth);
    }
    for (word, wanted) in [("attribute_exists", true), ("attribute_not_exists", false)] {
        if words.takes(word) {
            words.wants("(")?;
            let there = item.contains_key(&words.attribute()?);
            return words.wants(")").map(|()| there == wanted);
        }
    }
    if words.takes("contains") {
        words.wants("(")?;
        let list = words.value(item)?;
        words.wants(",")?;
        let wanted = words.value(item)?;
        let listed = list.as_ref().and_then(|list| list["L"].as_array());
        let found = listed.is_some_and(|list| wanted.is_some_and(|wanted| list.contains(&wanted)));
        return words.wants(")").map(|()| found);
    }
    comparison(words, item)
}

fn comparison(words: &mut Words<'_>, item: &Item) -> Result<bool, NotUnderstood> {
    let left = operand(words, item)?;
    if words.takes("IN") {
        words.wants("(")?;
        let mut found = false;
        loop {
            let right = operand(words, item)?;
            found |= compare(left.as_ref(), right.as_ref()) == Some(Ordering::Equal);
            if !words.takes(",") {
                return words.wants(")").map(|()| found);
            }
        }
    }
    let sign = words.next()?;
    let right = operand(words, item)?;
    let order = compare(left.as_ref(), right.as_ref());
    Ok(match sign {
        "=" => order == Some(Ordering::Equal),
        "<" => order == Some(Ordering::Less),
        ">" => order == Some(Ordering::Greater),
        "<=" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        ">=" => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        "<>" => left.is_some() && right.is_some() && order != Some(Ordering::Equal),
        _ => return Err(NotUnderstood(sign.to_owned())),
    })
}

fn operand(words: &mut Words<'_>, item: &Item) -> Result<Option<Value>, NotUnderstood> {
    if !words.takes("size") {
        return words.value(item);
    }
    words.wants("(")?;
    let value = words.value(item)?;
    words.wants(")")?;
    let length = value.map(|value| match (value["L"].as_array(), value["S"].as_str()) {
        (Some(list), _) => list.len(),
        (None, text) => text.map_or(0, str::len),
    });
    Ok(length.map(|length| json!({ "N": length.to_string() })))
}

/// Values of one type are ordered; anything else is only different.
fn compare(left: Option<&Value>, right: Option<&Value>) -> Option<Ordering> {
    let (left, right) = (left?, right?);
    let number = |value: &Value| value["N"].as_str().and_then(|text| text.parse::<f64>().ok());
    if left == right {
        return Some(Ordering::Equal);
    }
    if let (Some(left), Some(right)) = (number(left), number(right)) {
        return left.partial_cmp(&right);
    }
    Some(left["S"].as_str()?.cmp(right["S"].as_str()?)).filter(|order| *order != Ordering::Equal)
}

/// What an update makes of an item. Everything it reads, it reads of the item
/// as it was.
pub(super) fn updated(update: &str, request: &Value, before: &Item) -> Result<Item, NotUnderstood> {
    let mut after = before.clone();
    let mut words = Words::of(update, request);
    while words.peek().is_some() {
        let clause = words.next()?;
        loop {
            let attribute = words.attribute()?;
            match clause {
                "SET" => {
                    words.wants("=")?;
                    let value = assigned(&mut words, before)?;
                    after.insert(attribute, value.ok_or_else(|| words.lost())?);
                }
                "REMOVE" => {
                    after.remove(&attribute);
                }
                "ADD" => {
                    let more = words.value(before)?;
                    let sum = sum(before.get(&attribute), more.as_ref());
                    after.insert(attribute, sum.ok_or_else(|| words.lost())?);
                }
                other => return Err(NotUnderstood(other.to_owned())),
            }
            if !words.takes(",") {
                break;
            }
        }
    }
    Ok(after)
}

fn assigned(words: &mut Words<'_>, before: &Item) -> Result<Option<Value>, NotUnderstood> {
    if words.takes("if_not_exists") {
        words.wants("(")?;
        let stands = before.get(&words.attribute()?).cloned();
        words.wants(",")?;
        let otherwise = assigned(words, before)?;
        return words.wants(")").map(|()| stands.or(otherwise));
    }
    if words.takes("list_append") {
        words.wants("(")?;
        let first = assigned(words, before)?;
        words.wants(",")?;
        let second = assigned(words, before)?;
        words.wants(")")?;
        let values = |list: Option<Value>| list.and_then(|list| list["L"].as_array().cloned());
        return Ok(values(first).zip(values(second)).map(|(mut list, more)| {
            list.extend(more);
            json!({ "L": list })
        }));
    }
    words.value(before)
}

/// A number and more, or a set and what is added to it.
fn sum(stands: Option<&Value>, more: Option<&Value>) -> Option<Value> {
    if let Some(more) = more.and_then(|more| more["SS"].as_array()) {
        let mut all = stands.map_or(Some(Vec::new()), |stands| stands["SS"].as_array().cloned())?;
        all.extend(more.iter().filter(|one| !all.contains(one)).cloned().collect::<Vec<_>>());
        return Some(json!({ "SS": all }));
    }
    let number = |value: &Value| value["N"].as_str()?.parse::<i128>().ok();
    let sum = stands.map_or(Some(0), number)? + number(more?)?;
    Some(json!({ "N": sum.to_string() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Value {
        json!({ "ExpressionAttributeNames": { "#a": "status", "#list": "list", "#n": "number" },
            "ExpressionAttributeValues": { ":s": { "S": "done" }, ":one": { "N": "1" }, ":ten": { "N": "10" },
                ":none": { "L": [] }, ":more": { "L": [{ "S": "x" }] }, ":x": { "S": "x" } } })
    }

    fn item() -> Item {
        json!({ "status": { "S": "done" }, "number": { "N": "9" }, "list": { "L": [{ "S": "x" }] } })
            .as_object()
            .unwrap()
            .clone()
    }

    #[test]
    fn a_condition_is_read_as_dynamodb_reads_it() {
        for (condition, there, absent) in [
            ("attribute_exists(#a) AND #a = :s", true, false),
            ("attribute_not_exists(#a) OR #n < :ten", true, true),
            ("NOT (#n >= :ten) AND #a <> :x", true, false),
            ("#a IN (:x, :s)", true, false),
            ("size(#list) < :ten AND NOT contains(#list, :x)", false, false),
            ("#n = :one", false, false),
        ] {
            assert_eq!(holds(condition, &request(), Some(&item())), Ok(there), "{condition}");
            assert_eq!(holds(condition, &request(), None), Ok(absent), "{condition}");
        }
        assert!(holds("#a ~ :s", &request(), None).is_err());
        assert!(holds("#unknown = :s", &request(), None).is_err());
    }

    #[test]
    fn an_update_reads_the_item_as_it_was() {
        let update =
            "SET #a = :x, #list = list_append(if_not_exists(#list, :none), :more) REMOVE gone ADD #n :one";
        let after = updated(update, &request(), &item()).unwrap();
        assert_eq!(after["status"], json!({ "S": "x" }));
        assert_eq!(after["list"]["L"].as_array().unwrap().len(), 2);
        assert_eq!(after["number"], json!({ "N": "10" }));
        let fresh = updated(update, &request(), &Item::new()).unwrap();
        assert_eq!(fresh["number"], json!({ "N": "1" }));
    }
}
