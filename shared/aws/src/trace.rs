//! A trace's header, in the two forms that it travels in: X-Ray's in AWS, the
//! W3C's `traceparent` elsewhere. Whoever sends one keeps the trace whole.

/// What both forms say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trace<'a> {
    /// 32 lower-case hex digits, cut where X-Ray puts a dash.
    id: (&'a str, &'a str),
    parent: &'a str,
    sampled: bool,
}

impl<'a> Trace<'a> {
    /// Reads either form. `None`: neither, so nothing is passed on, since a
    /// receiver might refuse the whole request for it.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        Self::parse_w3c(text).or_else(|| Self::parse_xray(text))
    }

    fn parse_w3c(text: &'a str) -> Option<Self> {
        let mut parts = text.split('-');
        let (version, id, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let plain = parts.next().is_none() && version == "00" && is_hex(id, 32) && is_hex(flags, 2);
        let sampled = u8::from_str_radix(flags, 16).ok()? & 1 == 1;
        (plain && is_hex(parent, 16)).then(|| Self { id: id.split_at(8), parent, sampled })
    }

    fn parse_xray(text: &'a str) -> Option<Self> {
        let field = |name| text.split(';').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
        let id = field("Root")?.strip_prefix("1-")?.split_once('-')?;
        let parent = field("Parent")?;
        let plain = is_hex(id.0, 8) && is_hex(id.1, 24) && is_hex(parent, 16);
        plain.then(|| Self { id, parent, sampled: field("Sampled") == Some("1") })
    }

    /// The value of `traceparent`.
    pub(crate) fn w3c(self) -> String {
        format!("00-{}{}-{}-{:02}", self.id.0, self.id.1, self.parent, u8::from(self.sampled))
    }

    /// The value of `X-Amzn-Trace-Id` and of the system attribute of a message.
    pub(crate) fn xray(self) -> String {
        format!(
            "Root=1-{}-{};Parent={};Sampled={}",
            self.id.0,
            self.id.1,
            self.parent,
            u8::from(self.sampled)
        )
    }
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const W3C: &str = "00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01";
    const XRAY: &str = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";

    #[test]
    fn either_form_becomes_the_other_and_stays_itself() {
        for form in [W3C, XRAY] {
            let trace = Trace::parse(form).unwrap();
            assert_eq!(trace.w3c(), W3C);
            assert_eq!(trace.xray(), XRAY);
        }
    }

    #[test]
    fn an_unsampled_trace_stays_unsampled_and_other_fields_are_left_out() {
        let text = "Self=1-67891234-12456789abcdef012345678;Root=1-5759e988-bd862e3fe1be46a994272793;\
                    Parent=53995c3f42cd8ad8;Sampled=0;Lineage=a:b";
        assert_eq!(Trace::parse(text).unwrap().w3c(), W3C.replace("-01", "-00"));
    }

    #[test]
    fn what_is_no_trace_is_not_passed_on() {
        for text in
            ["", "00-zz", "Root=1-5759e988", &format!("{W3C}-more"), &W3C.to_uppercase(), "Root=1-a\r\nb"]
        {
            assert_eq!(Trace::parse(text), None, "{text:?}");
        }
    }
}
