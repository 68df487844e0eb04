//! Where an address that others name may lead: not into our own network, unless the operator allowed that host, or one
//! port of it.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// Hosts that the operator allowed though they are private: each with the port that was named, or with all of them.
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts(Arc<BTreeSet<(String, Option<u16>)>>);

impl AllowedHosts {
    /// Each as `books.local:8080`, `192.168.1.20:443` or `[fd00::1]:8080`; without a port, every port of it.
    pub fn new(hosts: impl IntoIterator<Item = String>) -> Self {
        Self(Arc::new(hosts.into_iter().map(|text| parse_host(&text)).collect()))
    }

    /// Whether the operator named this host, with whichever port.
    fn contains_host(&self, host: &str) -> bool {
        let host = normalize_host(host);
        self.0.iter().any(|(known, _)| *known == host)
    }

    /// Whether the operator allowed this very place.
    pub fn allows(&self, url: &Url) -> bool {
        url.host_str().is_some_and(|host| self.allows_port(host, url.port_or_known_default()))
    }

    /// The same of a place that is no URL.
    pub fn allows_port(&self, host: &str, port: Option<u16>) -> bool {
        let host = normalize_host(host);
        self.0.contains(&(host.clone(), port)) || self.0.contains(&(host, None))
    }

    /// Why an address that needs no resolving can't be used.
    pub fn find_refusal(&self, url: &Url) -> Option<String> {
        let literal = match url.host()? {
            Host::Ipv4(address) => IpAddr::V4(address),
            Host::Ipv6(address) => IpAddr::V6(address),
            Host::Domain(_) => return None,
        };
        (!is_public(literal) && !self.allows(url))
            .then(|| private_host_error(url.host_str().unwrap_or_default()))
    }
}

/// A host as it is compared: small letters, no brackets, no dot at the end.
fn normalize_host(host: &str) -> String {
    host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_lowercase()
}

fn parse_host(text: &str) -> (String, Option<u16>) {
    let port = |text: &str| text.parse::<u16>().ok();
    match text.rsplit_once(':') {
        // An address of the longer kind has colons of its own.
        Some((host, after)) if text.parse::<Ipv6Addr>().is_err() && port(after).is_some() => {
            (normalize_host(host), port(after))
        }
        _ => (normalize_host(text), None),
    }
}

/// Resolves names to public addresses alone, or to any where the operator named them. It is asked for every connection,
/// so a name can't change its mind between being looked at and being used.
pub(crate) struct GuardedResolver(pub(crate) AllowedHosts);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = self.0.clone();
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let open: Vec<SocketAddr> = found
                .into_iter()
                .filter(|address| allowed.contains_host(&host) || is_public(address.ip()))
                .collect();
            if open.is_empty() {
                return Err(private_host_error(&host).into());
            }
            Ok(Box::new(open.into_iter()) as Addrs)
        })
    }
}

pub(crate) fn private_host_error(host: &str) -> String {
    format!(
        "{host} leads into a private network: the operator can allow it, as HOST:PORT, with connectors.private_hosts"
    )
}

/// Whether an address is one that everybody reaches.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let shared = first == 100 && (64..128).contains(&second);
    let protocol = first == 192 && second == 0 && matches!(third, 0 | 2);
    let benchmark = first == 198 && matches!(second, 18 | 19);
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_unspecified()
        || address.is_documentation()
        || address.is_broadcast()
        || address.is_multicast()
        || first == 0
        || first >= 240
        || shared
        || protocol
        || benchmark)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // An IPv4 address in a longer coat: mapped, compatible, translated (64:ff9b::/96) or tunnelled (2002::/16).
    let segments = address.segments();
    let inner = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    if let Some(inner) = address.to_ipv4() {
        return is_public_v4(inner) && segments[..5] == [0; 5];
    }
    if segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        return is_public_v4(inner(segments[6], segments[7]));
    }
    if segments[0] == 0x2002 {
        return is_public_v4(inner(segments[1], segments[2]));
    }
    // Only 2000::/3 is given out, and of that neither documentation nor Teredo.
    let documentation = segments[0] == 0x2001 && matches!(segments[1], 0xdb8 | 0);
    (0x2000..0x4000).contains(&segments[0]) && !documentation && segments[0] != 0x3fff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_everybody_reaches_are_public() {
        for public in ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "192.0.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "::7f00:1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }

    #[test]
    fn a_private_address_needs_the_operators_leave() {
        let none = AllowedHosts::default();
        let url = |text: &str| Url::parse(text).unwrap();
        // However it is written: the parser has made one address of them.
        for address in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]/",
            "http://[::ffff:7f00:1]/",
        ] {
            assert!(none.find_refusal(&url(address)).unwrap().contains("private"), "{address}");
        }
        assert_eq!(none.find_refusal(&url("https://8.8.8.8/mcp")), None);
        let some = AllowedHosts::new(["127.0.0.1".to_owned(), "Books.Local".to_owned()]);
        assert_eq!(some.find_refusal(&url("http://127.0.0.1:8080/")), None);
        assert!(some.allows(&url("http://books.local./")) && !some.allows(&url("http://other.local/")));
    }

    #[test]
    fn where_a_port_is_named_the_others_stay_shut() {
        let named = ["127.0.0.1:8080", "books.local:443", "[::1]:9000", "10.0.0.1", "fd00::1"];
        let some = AllowedHosts::new(named.map(str::to_owned));
        let url = |text: &str| Url::parse(text).unwrap();
        for open in [
            "http://127.0.0.1:8080/mcp",
            "https://BOOKS.local/",
            "http://[::1]:9000/",
            "http://10.0.0.1:1/",
            "https://[fd00::1]:7/",
        ] {
            assert!(some.allows(&url(open)) && some.find_refusal(&url(open)).is_none(), "{open}");
        }
        for shut in [
            "http://127.0.0.1/",
            "http://127.0.0.1:5432/",
            "http://books.local/",
            "https://books.local:8443/",
            "http://[::1]/",
            "http://[::2]:9000/",
        ] {
            assert!(!some.allows(&url(shut)), "{shut}");
        }
        assert!(some.find_refusal(&url("http://127.0.0.1:5432/")).unwrap().contains("private_hosts"));
    }
}
