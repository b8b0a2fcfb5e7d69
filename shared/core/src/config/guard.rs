//! Guards: deliveries that an endpoint does not take although they are genuine.

use super::rule::{Condition, Fetched, Types, conditions, source, types};
use crate::document::{Document, Entry, Table, whole_number};
use crate::json::Literal;
use crate::problem::Place;
use crate::source::Source;
use crate::vendor::Vendor;
use std::fmt;
use std::net::IpAddr;
use toml::de::DeValue;

/// One thing that every delivery of an endpoint must be, and what becomes of
/// one that is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// What it must be.
    pub demands: Demand,
    /// What one that is not is answered.
    pub answer: GuardAnswer,
    /// Where the guard stands.
    pub place: Place,
}

/// What a guard demands of a delivery or an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Demand {
    /// It comes from one of these networks. Looked at before anything else.
    Networks(Vec<Network>),
    /// The event is of one of these types.
    Types(Types),
    /// All of these hold.
    When(Vec<Condition>),
    /// It is of the vendor's live mode, or of its test mode.
    Livemode {
        /// Which of the two.
        live: bool,
        /// What shows that it is live: a place, and what stands there. All of
        /// them; a delivery that does not show it is of the test mode.
        shown_by: Vec<(Source, Vec<Literal>)>,
    },
}

impl Demand {
    /// The places that it reads.
    pub(super) fn sources(&self) -> Vec<&Source> {
        match self {
            Self::Networks(_) | Self::Types(_) => Vec::new(),
            Self::When(conditions) => conditions.iter().map(|condition| &condition.source).collect(),
            Self::Livemode { shown_by, .. } => shown_by.iter().map(|(source, _)| source).collect(),
        }
    }
}

/// What a delivery that a guard does not let through is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GuardAnswer {
    /// 403.
    Refuse,
    /// 200, counted as filtered: the vendor is not to retry.
    Filter,
}

/// A network in CIDR notation, or a single address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Network {
    address: IpAddr,
    prefix: u32,
}

/// Why a text is no network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotANetwork {
    /// Not `address` or `address/bits`.
    #[error("a network is an address or address/bits, e.g. 192.0.2.0/24 or 2001:db8::/32")]
    Malformed,
    /// The address has bits beyond the prefix: one of the two is a slip.
    #[error("the address has bits beyond its network: it would be {0}")]
    HostBits(Network),
}

impl Network {
    /// Reads `192.0.2.0/24`, `2001:db8::/32` or a single address.
    pub fn parse(text: &str) -> Result<Self, NotANetwork> {
        let (address, bits) =
            text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| NotANetwork::Malformed)?;
        let width = width(address);
        let prefix = match bits {
            Some(bits) if bits.bytes().all(|byte| byte.is_ascii_digit()) => {
                bits.parse().ok().filter(|prefix| *prefix <= width).ok_or(NotANetwork::Malformed)?
            }
            Some(_) => return Err(NotANetwork::Malformed),
            None => width,
        };
        // An IPv4 address written as IPv6 counts as what it is, and so does a network of them.
        let (address, prefix) = match address.to_canonical() {
            canonical if canonical.is_ipv4() && width == 128 && prefix >= 96 => (canonical, prefix - 96),
            _ => (address, prefix),
        };
        let network = Self { address: first(address, prefix), prefix };
        if network.address == address { Ok(network) } else { Err(NotANetwork::HostBits(network)) }
    }

    /// Whether the address is in this network. An IPv4 address written as
    /// IPv6 (`::ffff:192.0.2.1`) counts as the IPv4 address that it is.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        width(address) == width(self.address) && first(address, self.prefix) == self.address
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

fn width(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The first address of the network of `prefix` bits in which `address` is.
fn first(address: IpAddr, prefix: u32) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - prefix).unwrap_or(0);
            IpAddr::V4((v4.to_bits() & mask).into())
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
            IpAddr::V6((v6.to_bits() & mask).into())
        }
    }
}

pub(super) const KEYS: &[&str] = &["networks", "types", "when", "livemode", "at", "answer"];
const DEMANDS: [&str; 4] = ["networks", "types", "when", "livemode"];

/// Reads one `[[endpoint.NAME.guard]]`. `vendor` is `None` where its
/// description is malformed, which is a problem already.
pub(super) fn read(document: &mut Document<'_>, vendor: Option<&Vendor>, table: Table<'_>) -> Option<Guard> {
    document.only(table, "a guard", KEYS);
    let mut demands = table.entries().filter(|entry| DEMANDS.contains(&entry.key));
    let Some(demand) = demands.next() else {
        let remedy =
            "networks = [\"192.0.2.0/24\"], types = [\"..\"], when = { \"/a\" = 1 } or livemode = true";
        document.absent(table.at, "the guard demands nothing", Some(remedy.to_owned()));
        return None;
    };
    for more in demands {
        let message = format!("a guard demands one thing; `{}` is one more", more.key);
        document.problem(
            more.key_at,
            message,
            Some("write a guard for each; all of them must let it pass".to_owned()),
        );
    }
    if let (true, Some(entry)) = (demand.key != "livemode", table.get("at")) {
        document.problem(entry.key_at, "`at` says where `livemode` is, and the guard has none", None);
    }
    let answer = answer(document, table);
    let before = document.found();
    let demands = match demand.key {
        "networks" => {
            let texts = document.texts(demand)?;
            if texts.is_empty() {
                document.problem(demand.value_at, "`networks` is empty: nobody could deliver", None);
            }
            let networks = texts.iter().filter_map(|text| document.accept(*text, Network::parse(text.text)));
            Demand::Networks(networks.collect())
        }
        "types" => Demand::Types(types(document, demand)?),
        "when" => Demand::When(conditions(document, Fetched::TooEarly, demand)?),
        _ => livemode(document, vendor, table, demand)?,
    };
    // What lacks a part would seem to stop more, or other, than it does.
    if document.found() > before {
        return None;
    }
    Some(Guard { demands, answer: answer?, place: document.place(table.at) })
}

fn answer(document: &mut Document<'_>, table: Table<'_>) -> Option<GuardAnswer> {
    let remedy = "answer = 403, or answer = 200 where the vendor is not to send it again";
    let Some(entry) = table.get("answer") else {
        let message = "the guard does not say what is answered to what it stops";
        document.absent(table.at, message, Some(remedy.to_owned()));
        return None;
    };
    match entry.value {
        DeValue::Integer(status) if whole_number(status) == Some(403) => Some(GuardAnswer::Refuse),
        DeValue::Integer(status) if whole_number(status) == Some(200) => Some(GuardAnswer::Filter),
        _ => {
            document.problem(entry.value_at, "`answer` is 403 or 200", Some(remedy.to_owned()));
            None
        }
    }
}

/// `livemode = true`, at the place that the guard or the description names.
fn livemode(
    document: &mut Document<'_>,
    vendor: Option<&Vendor>,
    table: Table<'_>,
    demand: Entry<'_>,
) -> Option<Demand> {
    let live = document.truth(demand)?;
    let shown_by = match (table.get("at"), vendor) {
        (Some(entry), _) => {
            let text = document.text(entry)?;
            // A header and a query parameter have no truth, only its word.
            let literals = vec![Literal::Truth(true), Literal::Text("true".to_owned())];
            vec![(source(document, Fetched::TooEarly, text)?, literals)]
        }
        (None, Some(vendor)) => vendor.livemode().to_vec(),
        (None, None) => return None,
    };
    if let (true, Some(vendor)) = (shown_by.is_empty(), vendor) {
        let message = format!("the description of {} does not say how live mode is shown", vendor.name());
        let remedy = "say where it stands, e.g. at = \"/livemode\", or demand it with `when`";
        document.absent(demand.key_at, message, Some(remedy.to_owned()));
        return None;
    }
    Some(Demand::Livemode { live, shown_by })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn contains(network: &str, address: &str) -> bool {
        Network::parse(network).unwrap().contains(address.parse().unwrap())
    }

    #[test]
    fn a_network_contains_its_addresses_and_no_others() {
        assert!(contains("192.0.2.0/24", "192.0.2.255"));
        assert!(!contains("192.0.2.0/24", "192.0.3.0"));
        assert!(contains("192.0.2.7", "192.0.2.7"));
        assert!(contains("0.0.0.0/0", "203.0.113.9"));
        assert!(contains("2001:db8::/32", "2001:db8:1::1"));
        assert!(!contains("::/0", "192.0.2.1"), "one family is not the other");
        assert!(contains("192.0.2.0/24", "::ffff:192.0.2.1"));
        assert!(contains("::ffff:192.0.2.0/120", "192.0.2.255"), "a network of IPv4 written as IPv6");
        assert!(!contains("::ffff:192.0.2.0/120", "192.0.3.0"));
        assert!(contains("::ffff:192.0.2.7", "::ffff:192.0.2.7"));
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for bad in ["", "192.0.2.0/33", "192.0.2.0/", "192.0.2.0/+8", "192.0.2", "example.com", "::/129"] {
            assert_eq!(Network::parse(bad), Err(NotANetwork::Malformed), "{bad}");
        }
        let meant = Network::parse("10.0.0.0/8").unwrap();
        assert_eq!(Network::parse("10.0.0.1/8"), Err(NotANetwork::HostBits(meant)));
    }

    proptest! {
        #[test]
        fn a_network_is_read_as_it_is_shown(bits in any::<u128>(), prefix in 0..=128_u32, four in any::<bool>()) {
            let (address, prefix) = match four {
                true => (IpAddr::V4(Ipv4Addr::from_bits(bits as u32)), prefix % 33),
                false => (IpAddr::V6(Ipv6Addr::from_bits(bits)), prefix),
            };
            let network = Network { address: first(address, prefix), prefix };
            prop_assert_eq!(Network::parse(&network.to_string()), Ok(network));
            prop_assert!(network.contains(address) || address.to_canonical() != address);
        }
    }
}
