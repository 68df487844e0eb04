//! The port: free for us, or already answered by us.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use munshi_config::Config;
use munshi_web::{Error, Server};

use super::finding::Finding;
use crate::failure::Failure;

const PATIENCE: Duration = Duration::from_secs(2);

pub(super) async fn examine(config: &Config) -> Finding {
    let address = config.server.listen;
    match Server::bind(&address.to_string()).await {
        Ok(_) => Finding::ok("port", format!("{address} is free")),
        Err(Error::AddressInUse { .. }) if answers(address) => {
            Finding::ok("port", format!("Munshi answers on {address}"))
        }
        Err(error) => Finding::of("port", Failure::from(error)),
    }
}

/// Whether a Munshi is what listens there.
fn answers(address: SocketAddr) -> bool {
    ask(address).is_ok_and(|answer| answer.contains("200 OK") && answer.contains(r#""status":"alive""#))
}

fn ask(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(4096).read_to_string(&mut answer)?;
    Ok(answer)
}
