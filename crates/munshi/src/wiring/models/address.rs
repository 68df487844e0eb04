//! Whether what is secret may be sent to an address.

use std::net::IpAddr;

/// Whether the address is on this machine. Whatever is not plainly so is not.
pub(super) fn is_here(base_url: &str) -> bool {
    let Some((_, rest)) = base_url.split_once("://") else { return false };
    let host = rest.split('/').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    match host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

/// Whether others on the way could read what is sent.
pub(super) fn is_open(base_url: &str) -> bool {
    !base_url.starts_with("https://") && !is_here(base_url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_here() {
        for here in
            ["http://127.0.0.1:1/v1", "http://localhost", "http://LOCALHOST:8080", "https://[::1]:80/v1"]
        {
            assert!(is_here(here) && !is_open(here), "{here}");
        }
        for away in [
            "http://127.0.0.1.example.com",
            "http://localhost.example.com",
            "http://10.0.0.1",
            "http://127.1",
            "x",
        ] {
            assert!(!is_here(away) && is_open(away), "{away}");
        }
        assert!(!is_open("https://api.example.com/v1"));
    }
}
