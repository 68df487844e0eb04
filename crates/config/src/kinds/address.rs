//! An address and port to listen on.

use std::net::SocketAddr;

use super::{Fault, Home, Kind, Quoted, Raw};
use crate::show::Shown;

#[derive(Debug)]
pub enum Address {}

impl Kind for Address {
    type Value = SocketAddr;

    fn expects() -> String {
        "an IP address and a port, such as \"127.0.0.1:8400\" or \"[::1]:8400\"".to_owned()
    }

    fn read(raw: &Raw, _: &Home) -> Result<SocketAddr, Fault> {
        let text = raw.text()?.trim();
        text.parse().map_err(|_| {
            let fault = Fault::new(format!("{} is not an address and a port", Quoted(text)));
            match nearly(text) {
                Some(address) => fault.with_hint(format!("write \"{address}\"")),
                None => fault,
            }
        })
    }

    fn show(value: &SocketAddr) -> Shown {
        Shown::Text(value.to_string())
    }
}

/// What was most likely meant: `localhost:8400`, `:8400` and `8400` name no IP address.
fn nearly(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let port: u16 = port.parse().ok()?;
    match host {
        "localhost" => Some(SocketAddr::from(([127, 0, 0, 1], port))),
        "" | "*" => Some(SocketAddr::from(([0, 0, 0, 0], port))),
        _ => None,
    }
}
