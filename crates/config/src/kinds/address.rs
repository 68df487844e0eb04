//! An address and port to listen on.

use std::net::SocketAddr;

use munshi_toml::QuotedValue;

use super::{HomeFolders, RawSetting, SettingFault, SettingKind};
use crate::redacted::RedactedSetting;

#[derive(Debug)]
pub enum SocketAddressKind {}

impl SettingKind for SocketAddressKind {
    type Value = SocketAddr;

    fn expects() -> String {
        "an IP address and a port, such as \"127.0.0.1:8400\" or \"[::1]:8400\"".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<SocketAddr, SettingFault> {
        let text = raw.text()?.trim();
        text.parse().map_err(|_| {
            let fault = SettingFault::new(format!("{} is not an address and a port", QuotedValue(text)));
            match guess_address(text) {
                Some(address) => fault.with_hint(format!("write \"{address}\"")),
                None => fault,
            }
        })
    }

    fn show(value: &SocketAddr) -> RedactedSetting {
        RedactedSetting::Text(value.to_string())
    }
}

/// What was most likely meant: `localhost:8400`, `:8400` and `8400` name no IP address.
fn guess_address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let port: u16 = port.parse().ok()?;
    match host {
        "localhost" => Some(SocketAddr::from(([127, 0, 0, 1], port))),
        "" | "*" => Some(SocketAddr::from(([0, 0, 0, 0], port))),
        _ => None,
    }
}
