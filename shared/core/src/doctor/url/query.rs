//! A query that was parsed and written again, or to which something was added.

use crate::doctor::form::{escapes, writings};
use crate::doctor::order::orders;
use crate::vendor::form::pairs;

/// Most parameters whose order is looked for.
const MOST_REORDERED: usize = 5;

/// The query in other orders and writings, and with less of it.
pub(super) fn others(query: &str) -> impl Iterator<Item = String> + use<> {
    let given: Vec<String> = query.split('&').filter(|pair| !pair.is_empty()).map(str::to_owned).collect();
    let with_order = |pairs: Vec<String>| {
        orders(pairs.len(), MOST_REORDERED)
            .map(move |order| order.iter().map(|at| pairs[*at].as_str()).collect::<Vec<_>>().join("&"))
    };
    let mut sorted = given.clone();
    sorted.sort_unstable();
    let without_one = (0..given.len()).map({
        let given = given.clone();
        move |gone| {
            let kept = given.iter().enumerate().filter(|(at, _)| *at != gone);
            kept.map(|(_, pair)| pair.as_str()).collect::<Vec<_>>().join("&")
        }
    });
    let is_there = !given.is_empty();
    with_order(given.clone())
        .chain([sorted.join("&"), String::new()])
        .chain(without_one)
        .chain(spelt(&given).flat_map(with_order))
        .filter(move |_| is_there)
}

/// The parameters in other writings.
fn spelt(given: &[String]) -> impl Iterator<Item = Vec<String>> + use<> {
    let given = given.to_vec();
    let changes: [fn(&str) -> String; 6] = [
        |pair| pair.replace('+', "%20"),
        |pair| pair.replace("%20", "+"),
        |pair| String::from_utf8_lossy(&escapes(pair.as_bytes(), u8::to_ascii_uppercase)).into_owned(),
        |pair| String::from_utf8_lossy(&escapes(pair.as_bytes(), u8::to_ascii_lowercase)).into_owned(),
        |pair| plain(pair, '='),
        |pair| pair.strip_suffix('=').map_or_else(|| format!("{pair}="), str::to_owned),
    ];
    let simple: Vec<Vec<String>> =
        changes.iter().map(|change| given.iter().map(|pair| change(pair)).collect()).collect();
    let again = writings().map(move |writing| {
        let pairs = given.iter().filter_map(|pair| pairs(pair.as_bytes()).next());
        pairs
            .map(|(name, value)| {
                let written = [writing.written(&name), writing.written(&value)]
                    .map(|part| String::from_utf8_lossy(&part).into_owned());
                written.join("=")
            })
            .collect()
    });
    simple.into_iter().chain(again)
}

/// A pair without its escapes.
fn plain(pair: &str, equals: char) -> String {
    let decoded = pairs(pair.as_bytes()).next().unwrap_or_default();
    let [name, value] = [decoded.0, decoded.1].map(|part| String::from_utf8_lossy(&part).into_owned());
    if pair.contains(equals) { format!("{name}{equals}{value}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_found_in_other_orders_and_writings() {
        let found: Vec<String> = others("b=a+b&a=%C3%A9").collect();
        for signed in ["a=%C3%A9&b=a%20b", "b=a+b", "", "b=a+b&a=%c3%a9"] {
            assert!(found.iter().any(|query| query == signed), "{signed}");
        }
    }
}
