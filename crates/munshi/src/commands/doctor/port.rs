//! The port: free for us, or already answered by us.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use munshi_config::Config;
use munshi_web::visitor::UNNAMED_PROXY;
use munshi_web::{Error, Server};

use super::finding::Finding;
use super::settings::NAME_PROXY;
use crate::failure::Failure;

const PATIENCE: Duration = Duration::from_secs(2);

pub(super) async fn examine(config: &Config) -> Finding {
    let address = config.server.listen;
    match Server::bind(&address.to_string()).await {
        Ok(_) => Finding::ok("port", format!("{address} is free")),
        Err(Error::AddressInUse { .. }) if answers(address) => match has_unnamed_proxy(address) {
            false => Finding::ok("port", format!("Munshi answers on {address}")),
            true => {
                Finding::warn("port", format!("Munshi answers on {address}; {UNNAMED_PROXY}"), NAME_PROXY)
            }
        },
        Err(error) => Finding::of("port", Failure::from(error)),
    }
}

/// Whether a Munshi is what listens there.
fn answers(address: SocketAddr) -> bool {
    ask(address, "/healthz")
        .is_ok_and(|answer| answer.contains("200 OK") && answer.contains(r#""status":"alive""#))
}

/// Whether people have come to it through a proxy whose word is not taken.
fn has_unnamed_proxy(address: SocketAddr) -> bool {
    ask(address, "/readyz").is_ok_and(|answer| answer.contains(UNNAMED_PROXY))
}

fn ask(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(4096).read_to_string(&mut answer)?;
    Ok(answer)
}
