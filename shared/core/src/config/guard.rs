//! Guards: deliveries that an endpoint does not take although they are genuine.

use super::rule::{Condition, Types, conditions, types};
use crate::document::{Document, Table};
use crate::problem::Place;
use std::fmt;
use std::net::IpAddr;

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
    /// All of these hold, e.g. `livemode`.
    When(Vec<Condition>),
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

pub(super) const KEYS: &[&str] = &["networks", "types", "when", "answer"];
const DEMANDS: [&str; 3] = ["networks", "types", "when"];
const ANSWERS: [(&str, GuardAnswer); 2] = [("refuse", GuardAnswer::Refuse), ("filter", GuardAnswer::Filter)];

/// Reads one `[[endpoint.NAME.guard]]`.
pub(super) fn read(document: &mut Document<'_>, table: Table<'_>) -> Option<Guard> {
    document.only(table, "a guard", KEYS);
    let mut demands = table.entries().filter(|entry| DEMANDS.contains(&entry.key));
    let Some(demand) = demands.next() else {
        let remedy = "networks = [\"192.0.2.0/24\"], types = [\"..\"] or when = { \"/livemode\" = true }";
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
    let answer = match table.get("answer") {
        Some(entry) => document.word(entry, &ANSWERS),
        None => {
            let remedy = "answer = \"refuse\" is 403, answer = \"filter\" is 200 and counted";
            let message = "the guard does not say what is answered to what it stops";
            document.absent(table.at, message, Some(remedy.to_owned()));
            None
        }
    };
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
        _ => Demand::When(conditions(document, demand)?),
    };
    Some(Guard { demands, answer: answer?, place: document.place(table.at) })
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
