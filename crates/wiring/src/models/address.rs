//! Whether what is secret, or names people, may be sent to an address.

use std::net::IpAddr;

/// The ends of host names that no name server outside a network answers for.
const INNER: [&str; 5] = [".local", ".internal", ".lan", ".home.arpa", ".localhost"];

/// Whether the address is on this machine. Whatever is not plainly so is not.
pub(super) fn is_loopback(base_url: &str) -> bool {
    let Some(host) = host(base_url) else { return false };
    match host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

/// Whether the address is on this machine or in a private network: by its number, or by a name that means nothing outside.
pub(super) fn is_private_network(base_url: &str) -> bool {
    let Some(host) = host(base_url) else { return false };
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private() || address.is_link_local(),
        Ok(IpAddr::V6(address)) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
        Err(_) => {
            let name = host.to_ascii_lowercase();
            let is_name = name.starts_with(|letter: char| letter.is_ascii_alphabetic());
            is_name && (!name.contains('.') || INNER.iter().any(|end| name.ends_with(end)))
        }
    }
}

fn host(base_url: &str) -> Option<&str> {
    let (_, rest) = base_url.split_once("://")?;
    // What stands before an @ only looks like the host.
    let place = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?;
    Some(match place.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => place.split(':').next().unwrap_or_default(),
    })
}

/// Whether others on the way could read what is sent.
pub(super) fn is_unencrypted(base_url: &str) -> bool {
    !base_url.starts_with("https://") && !is_loopback(base_url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_network_is_ones_own() {
        for own in [
            "http://127.0.0.1:1/v1",
            "http://localhost",
            "http://10.0.0.7:8080/v1",
            "https://192.168.1.9",
            "http://172.16.0.1",
            "http://ollama:11434/v1",
            "https://gpu.internal/v1",
            "http://Box.Local",
            "http://[fd00::1]:80",
        ] {
            assert!(is_private_network(own), "{own}");
        }
        for away in [
            "https://api.example.com/v1",
            "http://172.32.0.1",
            "http://8.8.8.8",
            "https://10.0.0.1.example.com",
            "https://localhost@api.example.com/v1",
            "https://[2001:db8::1]/v1",
            "http://127.1",
            "http://134744072",
            "http://0x08080808",
            "https://gpu.internal.example.com",
            "x",
            "",
        ] {
            assert!(!is_private_network(away), "{away}");
        }
    }

    #[test]
    fn only_this_machine_is_here() {
        for here in
            ["http://127.0.0.1:1/v1", "http://localhost", "http://LOCALHOST:8080", "https://[::1]:80/v1"]
        {
            assert!(is_loopback(here) && !is_unencrypted(here), "{here}");
        }
        for away in [
            "http://127.0.0.1.example.com",
            "http://localhost.example.com",
            "http://10.0.0.1",
            "http://127.1",
            "x",
        ] {
            assert!(!is_loopback(away) && is_unencrypted(away), "{away}");
        }
        assert!(!is_unencrypted("https://api.example.com/v1"));
    }
}
