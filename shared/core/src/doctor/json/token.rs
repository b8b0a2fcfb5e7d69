//! JSON as the tokens that it is written with, so that one thing about the
//! writing can be changed and the rest stays.

/// One token; the input is JSON, so nothing here can be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// White space.
    Space(String),
    /// One of `{}[],:`.
    Mark(char),
    /// What stands between two quotes, escapes kept.
    Text(String),
    /// A number, `true`, `false` or `null`.
    Plain(String),
}

impl Token {
    pub(super) fn is_space(&self) -> bool {
        matches!(self, Self::Space(_))
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Plain(text) if text.ends_with(|last: char| last.is_ascii_digit()))
    }

    /// A number with these zeros behind it, where they do not change its value.
    pub(super) fn with_zeros(&self, zeros: &str) -> Option<Self> {
        let Self::Plain(number) = self else { return None };
        let has_point = number.contains('.');
        let fits = !number.contains(['e', 'E']) && has_point != zeros.starts_with('.');
        fits.then(|| Self::Plain(format!("{number}{zeros}")))
    }
}

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '"' => {
                let end = text_end(rest);
                (Token::Text(rest[1..end].to_owned()), end + 1)
            }
            '{' | '}' | '[' | ']' | ',' | ':' => (Token::Mark(first), 1),
            c if c.is_ascii_whitespace() => {
                let end = rest.find(|c: char| !c.is_ascii_whitespace()).unwrap_or(rest.len());
                (Token::Space(rest[..end].to_owned()), end)
            }
            _ => {
                let ends = |c: char| c.is_ascii_whitespace() || "{}[],:\"".contains(c);
                let end = rest.find(ends).unwrap_or(rest.len());
                (Token::Plain(rest[..end].to_owned()), end)
            }
        };
        tokens.push(token);
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
}

/// Where the closing quote stands.
fn text_end(from_quote: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in from_quote.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    from_quote.len()
}

/// What stands between tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spacing {
    Kept,
    None,
    /// `, ` and `: `, as Python writes.
    Spaced,
    /// A member to a line, indented by this.
    Indented(&'static str),
}

impl Spacing {
    pub(super) const ALL: &'static [Self] = &[
        Self::Kept,
        Self::None,
        Self::Spaced,
        Self::Indented("  "),
        Self::Indented("    "),
        Self::Indented("\t"),
    ];

    pub(super) fn described(self) -> &'static str {
        match self {
            Self::Kept => "",
            Self::None => "without white space",
            Self::Spaced => "with a space behind commas and colons",
            Self::Indented(_) => "in indented lines",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Kept,
    Plain,
    /// As an escape, its digits in lower case.
    Escaped,
    /// As an escape, its digits in upper case.
    EscapedUpper,
}

/// How characters within texts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spelling {
    slash: Way,
    unicode: Way,
    markup: Way,
}

/// What the common libraries do: one thing each.
pub(super) const COMMON: [(Spacing, Spelling); 5] = [
    (Spacing::Kept, Spelling { slash: Way::Escaped, ..Spelling::KEPT }),
    (Spacing::Kept, Spelling { unicode: Way::Escaped, ..Spelling::KEPT }),
    (Spacing::None, Spelling::KEPT),
    (Spacing::Spaced, Spelling::KEPT),
    (Spacing::Kept, Spelling { markup: Way::Escaped, ..Spelling::KEPT }),
];

impl Spelling {
    pub(super) const KEPT: Self = Self { slash: Way::Kept, unicode: Way::Kept, markup: Way::Kept };

    pub(super) fn all() -> impl Iterator<Item = Self> {
        const WAYS: [Way; 4] = [Way::Kept, Way::Plain, Way::Escaped, Way::EscapedUpper];
        let slashes = [Way::Kept, Way::Plain, Way::Escaped];
        slashes.into_iter().flat_map(|slash| {
            WAYS.into_iter()
                .flat_map(move |unicode| WAYS.into_iter().map(move |markup| Self { slash, unicode, markup }))
        })
    }

    pub(super) fn slash(self) -> &'static str {
        match self.slash {
            Way::Kept => "",
            Way::Plain => "with plain slashes",
            Way::Escaped | Way::EscapedUpper => "with escaped slashes (`\\/`)",
        }
    }

    pub(super) fn unicode(self) -> &'static str {
        match self.unicode {
            Way::Kept => "",
            Way::Plain => "with plain characters beyond ASCII",
            Way::Escaped | Way::EscapedUpper => "with escaped characters beyond ASCII (`\\u…`)",
        }
    }

    pub(super) fn markup(self) -> &'static str {
        match self.markup {
            Way::Kept => "",
            Way::Plain => "with plain `<`, `>` and `&`",
            Way::Escaped | Way::EscapedUpper => "with escaped `<`, `>` and `&`",
        }
    }

    fn write(self, text: &str, into: &mut String) {
        let mut rest = text;
        while let Some((spelt, character)) = next(rest) {
            let way = match character {
                Some('/') => self.slash,
                // .NET escapes these two as well, and writes upper-case digits.
                Some('\'' | '+') if self.markup == Way::EscapedUpper => Way::EscapedUpper,
                Some('<' | '>' | '&') => self.markup,
                Some(c) if !c.is_ascii() => self.unicode,
                _ => Way::Kept,
            };
            match (way, character) {
                (Way::Kept, _) | (_, None) => into.push_str(spelt),
                (Way::Plain, Some(c)) => into.push(c),
                (_, Some('/')) => into.push_str("\\/"),
                (Way::Escaped, Some(c)) => escape(c, false, into),
                (Way::EscapedUpper, Some(c)) => escape(c, true, into),
            }
            rest = &rest[spelt.len()..];
        }
    }
}

fn escape(c: char, upper: bool, into: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        into.push_str(&match upper {
            true => format!("\\u{unit:04X}"),
            false => format!("\\u{unit:04x}"),
        });
    }
}

/// The next character as it is spelt, and which it is; `None` for an escape
/// that stands for a control character, a quote or a backslash.
fn next(text: &str) -> Option<(&str, Option<char>)> {
    let first = text.chars().next()?;
    if first != '\\' {
        return Some((&text[..first.len_utf8()], Some(first)));
    }
    let unit = |from: usize| {
        let digits = text.get(from..from + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(high) = unit(0) else {
        let length = 1 + text[1..].chars().next().map_or(0, char::len_utf8);
        return Some((&text[..length], (text.get(..2) == Some("\\/")).then_some('/')));
    };
    let pair = unit(6).map(|low| [high, low]);
    let decoded = |units: &[u16]| char::decode_utf16(units.iter().copied()).next().and_then(Result::ok);
    match (decoded(&[high]), pair) {
        (Some(c), _) => {
            let special = c.is_control() || c == '"' || c == '\\';
            Some((&text[..6], (!special).then_some(c)))
        }
        (None, Some(pair)) if decoded(&pair).is_some() => Some((&text[..12], decoded(&pair))),
        (None, _) => Some((&text[..6], None)),
    }
}

/// The tokens as text.
pub(super) fn written(tokens: &[Token], spacing: Spacing, spelling: Spelling) -> String {
    let mut text = String::new();
    let mut depth: usize = 0;
    let significant: Vec<&Token> =
        tokens.iter().filter(|token| spacing == Spacing::Kept || !token.is_space()).collect();
    for (at, token) in significant.iter().enumerate() {
        let opens = |token: Option<&&Token>| matches!(token, Some(Token::Mark('{' | '[')));
        let closes = |token: Option<&&Token>| matches!(token, Some(Token::Mark('}' | ']')));
        let line = |text: &mut String, depth: usize| {
            if let Spacing::Indented(by) = spacing {
                text.push('\n');
                text.push_str(&by.repeat(depth));
            }
        };
        if closes(Some(token)) {
            depth = depth.saturating_sub(1);
            if !opens(at.checked_sub(1).and_then(|before| significant.get(before))) {
                line(&mut text, depth);
            }
        }
        match token {
            Token::Space(space) => text.push_str(space),
            Token::Mark(mark) => text.push(*mark),
            Token::Plain(plain) => text.push_str(plain),
            Token::Text(inner) => {
                text.push('"');
                spelling.write(inner, &mut text);
                text.push('"');
            }
        }
        match token {
            Token::Mark('{' | '[') => {
                depth += 1;
                if !closes(significant.get(at + 1)) {
                    line(&mut text, depth);
                }
            }
            Token::Mark(',') => match spacing {
                Spacing::Spaced => text.push(' '),
                _ => line(&mut text, depth),
            },
            Token::Mark(':') if !matches!(spacing, Spacing::Kept | Spacing::None) => text.push(' '),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tokens_written_as_they_were_are_the_text(value in "[ \\n]?[\\[{]?(\"[a-z\\\\/é<]{0,5}\"|[0-9]{1,3})[,: ]?[\\]}]?") {
            let tokens = tokens(&value);
            let kept = written(&tokens, Spacing::Kept, Spelling::KEPT);
            // An odd backslash leaves the last text open; that is no JSON.
            if serde_json::from_str::<serde_json::Value>(&value).is_ok() {
                prop_assert_eq!(kept, value);
            }
        }

        #[test]
        fn no_spelling_changes_what_a_text_means(text in "[a-z/<>&'+é€😀\\n\"]{0,8}") {
            let json = serde_json::Value::from(text.clone()).to_string();
            for spelling in Spelling::all() {
                let again = written(&tokens(&json), Spacing::None, spelling);
                prop_assert_eq!(serde_json::from_str::<String>(&again).unwrap(), text.clone(), "{}", again);
            }
        }
    }
}
