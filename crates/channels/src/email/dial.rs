//! A connection to a mail server, found and encrypted: whatever is spoken on it.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use munshi_http::{AllowedHosts, ResolveError, resolve_place};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use super::fault::{MailFault, MailStage};
use super::timings::MailTimings;
use crate::accounts::MailSecurity;

/// Of the addresses of one name so many are tried.
const MOST_ADDRESSES: usize = 4;

/// Where a server is, and what a connection to it is opened with.
pub(super) struct MailDialer<'a> {
    pub host: &'a str,
    pub port: u16,
    pub security: MailSecurity,
    /// What to try where the port turns out to be of the other kind.
    pub other_port: &'static str,
    pub tls: &'a Arc<ClientConfig>,
    pub allowed: &'a AllowedHosts,
    pub timings: &'a MailTimings,
    /// When all of it has to be done.
    pub until: Instant,
}

impl MailDialer<'_> {
    async fn resolve(&self) -> Result<Vec<SocketAddr>, MailFault> {
        let (host, port) = (self.host, self.port);
        let fault = |what: String| MailFault::passing(MailStage::Resolve, what);
        let addresses = match self.limit(self.timings.connect, resolve_place(host, port, self.allowed)).await
        {
            Some(Ok(addresses)) => keep_reachable(addresses, self.security),
            Some(Err(error @ ResolveError::NotFound(_))) => {
                return Err(fault(format!("{error}: check host")));
            }
            Some(Err(error @ ResolveError::Private(_))) => return Err(fault(error.to_string())),
            None => return Err(fault(format!("looking up {host} took too long"))),
        };
        match addresses.is_empty() {
            true => Err(fault(format!("{host} is not this machine, as it must be with security = \"none\""))),
            false => Ok(addresses),
        }
    }

    pub(super) async fn connect(&self) -> Result<(TcpStream, SocketAddr), MailFault> {
        let (host, port) = (self.host, self.port);
        let mut why = String::new();
        for address in self.resolve().await?.into_iter().take(MOST_ADDRESSES) {
            match self.limit(self.timings.connect, TcpStream::connect(address)).await {
                Some(Ok(line)) => {
                    // Commands are short, and each waits for its answer.
                    let _refused = line.set_nodelay(true);
                    return Ok((line, address));
                }
                Some(Err(error)) => why = error.to_string(),
                None => why = "no answer: a firewall may be in between, or the port is another".to_owned(),
            }
        }
        Err(MailFault::passing(MailStage::Connect, format!("can't connect to {host}:{port}: {why}")))
    }

    pub(super) async fn encrypt(&self, line: TcpStream) -> Result<TlsStream<TcpStream>, MailFault> {
        let host = self.host;
        let fault = |what: String| MailFault::passing(MailStage::Encrypt, what);
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(bare)
            .map_err(|_| fault(format!("{host} can't be a name in a certificate")))?;
        let connector = TlsConnector::from(self.tls.clone());
        match self.limit(self.timings.connect, connector.connect(name, line)).await {
            Some(Ok(line)) => Ok(line),
            Some(Err(error)) => {
                let what = format!("TLS with {host} failed: {error}");
                // What is not TLS at all is most often the other kind of port.
                let is_other = error.to_string().contains("corrupt message");
                let hint = if is_other { self.other_port } else { "" };
                Err(fault(what + hint))
            }
            None => Err(fault(format!("TLS with {host} took too long"))),
        }
    }

    /// None where the time of this step is over, or of all.
    pub(super) async fn limit<T>(&self, time: Duration, work: impl Future<Output = T>) -> Option<T> {
        limit(time.min(self.until.saturating_duration_since(Instant::now())), work).await
    }
}

/// What may be connected to. What is said in the open stays on this machine, wherever a name leads today.
fn keep_reachable(addresses: Vec<SocketAddr>, security: MailSecurity) -> Vec<SocketAddr> {
    let is_open = security == MailSecurity::None;
    let is_here = |address: &SocketAddr| address.ip().to_canonical().is_loopback();
    addresses.into_iter().filter(|address| !is_open || is_here(address)).collect()
}

/// None where the time is over.
pub(super) async fn limit<T>(time: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(time, work).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_in_the_open_stays_here() {
        let places =
            |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<SocketAddr>>();
        let here = ["127.0.0.1:25", "127.9.9.9:25", "[::1]:25", "[::ffff:127.0.0.1]:25"];
        let away = ["192.0.2.1:25", "10.0.0.1:25", "[2001:db8::1]:25", "0.0.0.0:25"];
        let both = places(&[here, away].concat());
        assert_eq!(keep_reachable(both.clone(), MailSecurity::None), places(&here));
        for security in [MailSecurity::Tls, MailSecurity::Starttls] {
            assert_eq!(keep_reachable(both.clone(), security), both);
        }
    }
}
