//! Addresses of a server that others name, for who connects to it without HTTP.

use std::net::SocketAddr;

use crate::allowed_hosts::{AllowedHosts, is_public, private_host_error};

/// Why there is no address to connect to.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error("the name {0} was not found")]
    NotFound(String),
    /// It leads into a private network, and nobody allowed that.
    #[error("{0}")]
    Private(String),
}

/// The public addresses of a host; where the operator allowed this port of it, the private ones too. Connect to one of them, and
/// not to the name again: it may say something else by then.
pub async fn resolve_place(
    host: &str,
    port: u16,
    allowed: &AllowedHosts,
) -> Result<Vec<SocketAddr>, ResolveError> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found = tokio::net::lookup_host((bare, port)).await;
    let found: Vec<SocketAddr> = found.map_err(|_| ResolveError::NotFound(host.to_owned()))?.collect();
    if found.is_empty() {
        return Err(ResolveError::NotFound(host.to_owned()));
    }
    let is_allowed = allowed.allows_port(host, Some(port));
    let open: Vec<SocketAddr> =
        found.into_iter().filter(|address| is_allowed || is_public(address.ip())).collect();
    if open.is_empty() { Err(ResolveError::Private(private_host_error(host))) } else { Ok(open) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_private_place_needs_the_operators_leave_for_its_port() {
        let some = AllowedHosts::new(["127.0.0.1:2525".to_owned()]);
        let found = resolve_place("127.0.0.1", 2525, &some).await.unwrap();
        assert_eq!(found, ["127.0.0.1:2525".parse().unwrap()]);
        for (host, port) in [("127.0.0.1", 25), ("[::1]", 2525), ("10.0.0.1", 2525)] {
            let refused = resolve_place(host, port, &some).await.unwrap_err();
            assert!(matches!(refused, ResolveError::Private(_)), "{host}:{port}: {refused}");
        }
    }
}
