//! Which address a request is counted by, and whether a proxy has passed it on.

use std::net::IpAddr;

use axum::http::HeaderMap;

use crate::options::Peer;

/// What only a proxy adds, beside everything that begins with `x-forwarded`.
const FORWARDING: [&str; 10] = [
    "forwarded",
    "via",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-original-forwarded-for",
    "x-envoy-external-address",
    "true-client-ip",
    "cf-connecting-ip",
    "fly-client-ip",
];

/// What the log and the readiness check say of a proxy whose word is not taken.
pub const UNNAMED_PROXY: &str =
    "a proxy on this machine is not listed in web.proxies: all its visitors count as one address";

/// Whether a proxy has passed the request on, as far as its headers tell. Some proxies add nothing.
pub fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| name.as_str().starts_with("x-forwarded") || FORWARDING.contains(&name.as_str()))
}

/// The other end of the line. Where that is a proxy the settings name, the last address it was told that is none of
/// theirs. What any other proxy tells is not believed, since some pass on what the client itself wrote: all who come
/// through it count as one.
pub fn client_address(peer: IpAddr, headers: &HeaderMap, proxies: &[IpAddr]) -> IpAddr {
    let is_proxy = |address: &IpAddr| proxies.contains(&address.to_canonical());
    if !is_proxy(&peer) {
        return peer;
    }
    let told = headers.get_all("x-forwarded-for").into_iter().filter_map(|value| value.to_str().ok());
    let told: Vec<&str> = told.flat_map(|value| value.split(',')).map(str::trim).collect();
    let known = told.iter().rev().map_while(|text| text.parse::<IpAddr>().ok());
    known.into_iter().find(|address| !is_proxy(address)).unwrap_or(peer)
}

/// The address that wrong passwords are counted by. None where a crowd stands behind it, so that no stranger among them makes
/// all of them wait: this machine, whose proxy may add nothing; a proxy that told nobody; a network of our own that passes
/// requests on. From outside, those headers are anybody's words and change nothing.
pub fn throttle_address(peer: IpAddr, headers: &HeaderMap, proxies: &[IpAddr]) -> Option<IpAddr> {
    let address = client_address(peer, headers, proxies).to_canonical();
    let is_own = match address {
        IpAddr::V4(four) => four.is_private() || four.is_link_local(),
        IpAddr::V6(six) => six.is_unique_local() || six.is_unicast_link_local(),
    };
    let passes_on = address == peer.to_canonical() && is_own && is_forwarded(headers);
    let is_crowd = address.is_loopback() || proxies.contains(&address) || passes_on;
    (!is_crowd).then_some(address)
}

/// Whoever has an IPv6 network has all its addresses.
pub fn to_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => {
            let [a, b, c, d, ..] = six.segments();
            IpAddr::V6([a, b, c, d, 0, 0, 0, 0].into())
        }
        four => four,
    }
}

/// Whether the request comes from a program on this machine, and not through a proxy there that says so.
pub fn is_local(peer: Option<&Peer>, headers: &HeaderMap) -> bool {
    peer.is_some_and(|peer| peer.0.ip().to_canonical().is_loopback()) && !is_forwarded(headers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    fn headers(name: &'static str, text: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(text))])
    }

    #[test]
    fn a_proxy_that_is_named_is_believed_and_nobody_else() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let from = |peer: &str, told: &'static str| {
            let proxies = [ip("10.0.0.1"), ip("10.0.0.2")];
            client_address(ip(peer), &headers("x-forwarded-for", told), &proxies)
        };
        assert_eq!(from("192.0.2.7", "203.0.113.1"), ip("192.0.2.7"), "anybody can write that");
        assert_eq!(
            from("127.0.0.1", "203.0.113.1"),
            ip("127.0.0.1"),
            "also through a proxy that adds nothing"
        );
        assert_eq!(from("10.0.0.1", "203.0.113.1"), ip("203.0.113.1"));
        assert_eq!(from("10.0.0.1", "198.51.100.9, 203.0.113.1, 10.0.0.2"), ip("203.0.113.1"));
        assert_eq!(from("10.0.0.1", "203.0.113.1, nonsense"), ip("10.0.0.1"));
        assert_eq!(from("10.0.0.1", ""), ip("10.0.0.1"));
        assert_eq!(from("::ffff:10.0.0.1", "203.0.113.1"), ip("203.0.113.1"));
    }

    #[test]
    fn nobody_waits_for_a_crowd_behind_a_proxy() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let from = |peer: &str, told: &'static str| {
            throttle_address(ip(peer), &headers("x-forwarded-for", told), &[ip("10.0.0.1")])
        };
        for crowd in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "172.17.0.1", "fd00::1"] {
            assert_eq!(from(crowd, "203.0.113.1"), None, "{crowd}");
        }
        assert_eq!(from("10.0.0.1", ""), None, "a named one that says nothing");
        assert_eq!(from("10.0.0.1", "203.0.113.1"), Some(ip("203.0.113.1")));
        assert_eq!(from("203.0.113.9", "203.0.113.1"), Some(ip("203.0.113.9")), "no header hides a stranger");
        let bare = |peer: &str| throttle_address(ip(peer), &HeaderMap::new(), &[]);
        assert_eq!((bare("127.0.0.1"), bare("192.168.1.5")), (None, Some(ip("192.168.1.5"))));
    }

    #[test]
    fn every_header_of_a_proxy_is_known() {
        for name in
            FORWARDING.into_iter().chain(["x-forwarded-for", "x-forwarded-server", "x-forwarded-proto"])
        {
            assert!(is_forwarded(&headers(name, "x")), "{name}");
        }
        assert!(!is_forwarded(&headers("host", "localhost")));
    }
}
