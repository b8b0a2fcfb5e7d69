//! The signatures that a delivery carries, strictly decoded.

use super::refusal::Refusal;
use super::scheme::{List, SignatureForm, SignaturePlace};
use super::view::{Single, View};
use crate::steps::step;
use std::borrow::Cow;

/// Most signatures that are tried; vendors send one for each live secret.
const MOST_CANDIDATES: usize = 100;

/// What stands where signatures stand.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    /// Each as text, without its prefix.
    pub(crate) candidates: Vec<Vec<u8>>,
    /// The elements of a list, e.g. `t`.
    pub(crate) elements: Vec<(String, String)>,
}

/// Finds the candidates. Unknown elements of a list are skipped; a repeated
/// single-valued header is refused.
pub(crate) fn carried(view: &View<'_>, form: &SignatureForm) -> Result<Carried, Refusal> {
    let mut carried = Carried::default();
    let mut seen = false;
    for place in &form.from {
        for value in values(view, place)? {
            seen = true;
            match &form.list {
                Some(list) => list_elements(&value, list, &mut carried),
                None => carried.candidates.push(value.into_owned()),
            }
        }
    }
    if !seen {
        return Err(Refusal::Missing(named(form)));
    }
    // A static token may be stored with its prefix or without.
    if let (Some(prefix), false) = (&form.prefix, form.prefix_may_lack) {
        carried.candidates = carried
            .candidates
            .iter()
            .filter_map(|candidate| candidate.strip_prefix(prefix.as_bytes()).map(<[u8]>::to_vec))
            .collect();
    }
    carried.candidates.truncate(MOST_CANDIDATES);
    if carried.candidates.is_empty() {
        return Err(Refusal::Malformed(named(form)));
    }
    Ok(carried)
}

/// The candidates' bytes; those that do not decode are no candidates.
pub(crate) fn decoded(carried: &Carried, form: &SignatureForm) -> Result<Vec<Vec<u8>>, Refusal> {
    let signatures: Vec<_> = carried
        .candidates
        .iter()
        .filter_map(|candidate| form.encoding.decode(candidate))
        .filter(|signature| !signature.is_empty())
        .collect();
    if signatures.is_empty() { Err(Refusal::Malformed(named(form))) } else { Ok(signatures) }
}

fn values<'v>(view: &'v View<'_>, place: &SignaturePlace) -> Result<Vec<Cow<'v, [u8]>>, Refusal> {
    match place {
        SignaturePlace::Place(place) => match view.bytes(place) {
            Single::Absent => Ok(Vec::new()),
            Single::One(value) => Ok(vec![value]),
            Single::Repeated => Err(Refusal::Repeated(place.to_string())),
        },
        SignaturePlace::Numbered(prefix) => {
            let mut numbered: Vec<(&str, &[u8])> = view
                .request
                .headers
                .iter()
                .inspect(|_| step())
                .filter(|(name, _)| {
                    name.strip_prefix(prefix.as_str()).is_some_and(|number| {
                        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
                    })
                })
                .collect();
            numbered.sort_unstable();
            if let Some(pair) = numbered.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return Err(Refusal::Repeated(format!("header:{}", pair[0].0)));
            }
            Ok(numbered.into_iter().map(|(_, value)| Cow::Borrowed(value)).collect())
        }
    }
}

/// `t=1,v1=ab` or `v1,ab v2,cd`; white space around an item is not part of it.
fn list_elements(value: &[u8], list: &List, carried: &mut Carried) {
    let Ok(text) = std::str::from_utf8(value) else { return };
    for item in text.split(list.items).map(str::trim) {
        step();
        let Some((key, value)) = item.split_once(list.pair) else { continue };
        if key == list.pick {
            carried.candidates.push(value.as_bytes().to_vec());
        } else {
            carried.elements.push((key.to_owned(), value.to_owned()));
        }
    }
}

/// One element of a list, where it stands once.
pub(crate) fn element<'t>(text: &'t str, list: &List) -> Option<&'t str> {
    let mut values = text
        .split(list.items)
        .inspect(|_| step())
        .filter_map(|item| item.trim().split_once(list.pair))
        .filter(|(key, _)| *key == list.pick)
        .map(|(_, value)| value);
    let first = values.next()?;
    values.next().is_none().then_some(first)
}

fn named(form: &SignatureForm) -> String {
    let names: Vec<_> = form
        .from
        .iter()
        .map(|place| match place {
            SignaturePlace::Place(place) => place.to_string(),
            SignaturePlace::Numbered(prefix) => format!("header:{prefix}*"),
        })
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(value: &str, items: char, pair: char, pick: &str) -> (Vec<String>, Vec<(String, String)>) {
        let mut carried = Carried::default();
        list_elements(value.as_bytes(), &List { items, pair, pick: pick.into() }, &mut carried);
        let candidates = carried.candidates.into_iter().map(|c| String::from_utf8(c).unwrap()).collect();
        (candidates, carried.elements)
    }

    #[test]
    fn unknown_elements_are_skipped_and_all_signatures_kept() {
        let (candidates, elements) = read("t=1, v1=ab,v0=cd,junk,v1=ef", ',', '=', "v1");
        assert_eq!(candidates, ["ab", "ef"]);
        assert_eq!(elements, [("t".into(), "1".into()), ("v0".into(), "cd".into())]);
        let (candidates, _) = read("v1a,xx v1,A= v1,B=", ' ', ',', "v1");
        assert_eq!(candidates, ["A=", "B="]);
    }

    #[test]
    fn a_repeated_element_is_not_one_element() {
        let list = List { items: ',', pair: '=', pick: "algorithm".into() };
        assert_eq!(element("key=SK1,algorithm=A", &list), Some("A"));
        assert_eq!(element("algorithm=A,algorithm=B", &list), None);
    }

    proptest! {
        #[test]
        fn every_signature_of_a_list_is_found(
            signatures in prop::collection::vec("[0-9a-f]{1,8}", 1..5),
            others in prop::collection::vec("[a-u][0-9]{1,3}=[a-z]{0,3}", 0..4),
        ) {
            let items: Vec<_> = others.into_iter().chain(signatures.iter().map(|s| format!("v1={s}"))).collect();
            let (found, _) = read(&items.join(","), ',', '=', "v1");
            prop_assert_eq!(found, signatures);
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}") {
            let _ = read(&text, ',', '=', "v1");
        }
    }
}
