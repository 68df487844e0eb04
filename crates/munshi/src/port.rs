//! The port, for `munshi doctor`: free for us, or already answered by us.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use munshi_cli::{DoctorFinding, NAME_PROXY};
use munshi_config::Config;
use munshi_web::visitor::UNNAMED_PROXY;
use munshi_web::{Error, HttpServer};

use crate::server::to_command_failure;

/// A server of ours that is busy answers late; only where somebody listens and is silent is it waited for so long.
const TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) async fn examine(config: &Config) -> DoctorFinding {
    let address = config.server.listen;
    match HttpServer::bind(&address.to_string()).await {
        Ok(_) => DoctorFinding::ok("port", format!("{address} is free")),
        Err(Error::AddressInUse { .. }) if answers(address, TIMEOUT) => match has_unnamed_proxy(address) {
            false => DoctorFinding::ok("port", format!("Munshi is running on {address}")),
            true => DoctorFinding::warn(
                "port",
                format!("Munshi is running on {address}; {UNNAMED_PROXY}"),
                NAME_PROXY,
            ),
        },
        Err(error) => DoctorFinding::from_failure("port", to_command_failure(&error)),
    }
}

/// Whether a Munshi is what listens there.
fn answers(address: SocketAddr, timeout: Duration) -> bool {
    ask(address, "/healthz", timeout)
        .is_ok_and(|answer| answer.contains("200 OK") && answer.contains(r#""status":"alive""#))
}

/// Whether people have come to it through a proxy whose word is not taken.
fn has_unnamed_proxy(address: SocketAddr) -> bool {
    ask(address, "/readyz", TIMEOUT).is_ok_and(|answer| answer.contains(UNNAMED_PROXY))
}

fn ask(address: SocketAddr, path: &str, timeout: Duration) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, timeout)?;
    stream.set_read_timeout(Some(timeout))?;
    stream.set_write_timeout(Some(timeout))?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(4096).read_to_string(&mut answer)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_listens_and_is_silent_is_a_stranger() {
        let stranger = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(!answers(stranger.local_addr().unwrap(), Duration::from_millis(50)));
    }
}
