//! Form bodies and queries: `a=1&b=2`, percent-escapes and `+` decoded once.

use crate::steps::step;

/// Names and values in order, decoded. A pair without `=` has an empty value.
pub(crate) fn pairs(text: &[u8]) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    text.split(|&byte| byte == b'&').filter(|pair| !pair.is_empty()).map(|pair| {
        step();
        let equals = pair.iter().position(|&byte| byte == b'=');
        let (name, value) = equals.map_or((pair, &[][..]), |at| (&pair[..at], &pair[at + 1..]));
        (decoded(name), decoded(value))
    })
}

/// The values of one parameter, in order.
pub(crate) fn values<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = Vec<u8>> + 'a {
    pairs(text.as_bytes()).filter(move |(known, _)| known == name.as_bytes()).map(|(_, value)| value)
}

/// A malformed escape stays as it is.
fn decoded(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let escape = (first == b'%')
            .then(|| super::algorithm::hex_bytes(after.get(..2)?, true))
            .flatten()
            .and_then(|bytes| bytes.first().copied());
        match (first, escape) {
            (_, Some(byte)) => {
                plain.push(byte);
                rest = &after[2..];
            }
            (b'+', None) => plain.push(b' '),
            (byte, None) => plain.push(byte),
        }
    }
    plain
}

/// The same query with every name and value escaped anew, as browsers' scripts
/// do it: all but letters, digits and `-_.!~*'()`.
pub(crate) fn escaped_anew(query: &str) -> String {
    let escaped = |bytes: &[u8]| {
        let mut text = String::with_capacity(bytes.len());
        for &byte in bytes {
            match byte {
                b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')' => text.push(char::from(byte)),
                byte if byte.is_ascii_alphanumeric() => text.push(char::from(byte)),
                byte => text.push_str(&format!("%{byte:02X}")),
            }
        }
        text
    };
    let pairs: Vec<String> = pairs(query.as_bytes())
        .map(|(name, value)| format!("{}={}", escaped(&name), escaped(&value)))
        .collect();
    pairs.join("&")
}

/// The fields of a form as a JSON object: text, or a list of texts where a
/// name is repeated. `None` where a name or value is not UTF-8.
pub(crate) fn as_json(body: &[u8]) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    let mut fields = std::collections::HashMap::<String, Vec<String>>::new();
    for (name, value) in pairs(body) {
        let (name, value) = (String::from_utf8(name).ok()?, String::from_utf8(value).ok()?);
        let values = fields.entry(name.clone()).or_default();
        if values.is_empty() {
            names.push(name);
        }
        values.push(value);
    }
    let quoted = |text: &str| crate::json::JsonText::from_text(text).as_json().to_owned();
    let members: Vec<String> = names
        .iter()
        .map(|name| match fields.get(name).map(Vec::as_slice).unwrap_or_default() {
            [value] => format!("{}:{}", quoted(name), quoted(value)),
            values => {
                let values: Vec<_> = values.iter().map(|value| quoted(value)).collect();
                format!("{}:[{}]", quoted(name), values.join(","))
            }
        })
        .collect();
    Some(format!("{{{}}}", members.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_are_decoded_once() {
        let got: Vec<_> = pairs(b"a=%2B1+2&b&c=%2525&d=%zz&=x&&").collect();
        let want = [("a", "+1 2"), ("b", ""), ("c", "%25"), ("d", "%zz"), ("", "x")];
        let want: Vec<_> = want.iter().map(|(n, v)| (n.as_bytes().to_vec(), v.as_bytes().to_vec())).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn a_query_is_escaped_anew() {
        assert_eq!(escaped_anew("a=x+y&b=%27q%27&c=1/2&d"), "a=x%20y&b='q'&c=1%2F2&d=");
        assert_eq!(escaped_anew("src=sms&x=a%20b"), "src=sms&x=a%20b");
        assert_eq!(escaped_anew(""), "");
    }

    #[test]
    fn a_form_is_an_object_and_a_repeated_field_a_list() {
        assert_eq!(as_json(b"a=1&b=x%22&a=2").unwrap(), r#"{"a":["1","2"],"b":"x\""}"#);
        assert_eq!(as_json(b"").unwrap(), "{}");
        assert_eq!(as_json(b"a=%FF"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Some(json) = as_json(&bytes) {
                prop_assert!(crate::json::read(&json, &[]).is_ok());
            }
        }
    }
}
