//! Which addresses a call may go to. A configuration, or a name that resolves
//! to the inside of the network, must not turn the processor into a way in.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The variable that allows private addresses when it is `1`: for the local
/// run, or for destinations inside a VPC.
pub const ALLOW_PRIVATE: &str = "SEKALI_ALLOW_PRIVATE_DESTINATIONS";

/// How far a destination may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Public addresses only.
    Public,
    /// Any address.
    Anywhere,
}

/// The name resolves to an address that is not public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Forbidden(pub(crate) IpAddr);

impl Reach {
    /// As the environment says; public addresses only unless it says `1`.
    pub fn from_env() -> Self {
        Self::said(std::env::var(ALLOW_PRIVATE).ok().as_deref())
    }

    /// As the variable's value says.
    pub fn said(value: Option<&str>) -> Self {
        match value {
            Some("1") => Self::Anywhere,
            _ => Self::Public,
        }
    }

    /// Checks what a name resolved to. One private address among public ones
    /// refuses all: no honest name has both.
    pub(crate) fn check(self, addresses: &[SocketAddr]) -> Result<(), Forbidden> {
        match self {
            Self::Anywhere => Ok(()),
            Self::Public => match addresses.iter().map(SocketAddr::ip).find(|address| !is_public(*address)) {
                Some(address) => Err(Forbidden(address)),
                None => Ok(()),
            },
        }
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let private = address.is_private() || address.is_loopback() || address.is_link_local();
    let shared = a == 100 && (64..128).contains(&b);
    let protocol = a == 192 && b == 0 && c == 0;
    let benchmark = a == 198 && (18..20).contains(&b);
    // 0/8 is this host; from 224 on come multicast and what is reserved.
    !(private || shared || protocol || benchmark || address.is_documentation() || a == 0 || a >= 224)
}

/// Only what is given out to the public (2000::/3), and addresses that stand
/// for a public one of version 4.
fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_public_v4(inner);
    }
    let segments = address.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        // Translated by the network (NAT64).
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        // 6to4.
        [0x2002, high, low, ..] => v4(high, low),
        // Teredo and other special uses, and documentation.
        [0x2001, 0..0x200, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..0x1000, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str) -> Result<(), Forbidden> {
        Reach::Public.check(&[SocketAddr::new(address.parse().unwrap(), 443)])
    }

    #[test]
    fn an_address_inside_a_network_is_refused() {
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "169.254.170.2",
            "100.64.0.1",
            "192.0.0.1",
            "198.18.0.1",
            "203.0.113.5",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "2001:db8::1",
            "2001::1",
            "100::1",
        ] {
            assert!(check(address).is_err(), "{address}");
        }
    }

    #[test]
    fn a_public_address_is_taken() {
        for address in [
            "1.1.1.1",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "192.0.1.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "64:ff9b::101:101",
            "2002:101:101::1",
            "::ffff:1.1.1.1",
        ] {
            assert_eq!(check(address), Ok(()), "{address}");
        }
    }

    #[test]
    fn one_private_address_among_public_ones_refuses_the_name() {
        let mixed = ["1.1.1.1:443", "10.0.0.1:443"].map(|address| address.parse().unwrap());
        assert_eq!(Reach::Public.check(&mixed), Err(Forbidden("10.0.0.1".parse().unwrap())));
        assert_eq!(Reach::Anywhere.check(&mixed), Ok(()));
    }
}
