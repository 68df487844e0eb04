//! Lists. A variable holds one with commas, or in the form it has in the file.

use std::net::{IpAddr, Ipv6Addr};

use munshi_toml::QuotedValue;
use toml::de::DeValue;

use super::{HomeFolders, RawSetting, SettingFault, SettingKind, SlugKind, TextKind};
use crate::redacted::RedactedSetting;

/// Names, each once; the first comes first.
#[derive(Debug)]
pub enum ModelNameListKind {}

/// Places that data may go to, each once.
#[derive(Debug)]
pub enum ResidencyListKind {}

/// Sayings in any script: words, or several of them.
#[derive(Debug)]
pub enum PhraseListKind {}

/// Addresses of machines, each once.
#[derive(Debug)]
pub enum IpAddressListKind {}

impl SettingKind for IpAddressListKind {
    type Value = Vec<IpAddr>;

    fn expects() -> String {
        "a list of addresses such as [\"10.0.0.5\", \"fd00::5\"]; comma-separated in a variable".to_owned()
    }

    fn read(raw: &RawSetting, home: &HomeFolders) -> Result<Vec<IpAddr>, SettingFault> {
        let mut addresses = Vec::new();
        for item in items(raw, ",")? {
            let text = TextKind::read(&item, home)?;
            let address = text.parse::<IpAddr>();
            let address = address
                .map_err(|_| SettingFault::new(format!("{} is not an IP address", QuotedValue(&text))))?;
            addresses.push(address.to_canonical());
        }
        Ok(addresses)
    }

    fn show(value: &Vec<IpAddr>) -> RedactedSetting {
        RedactedSetting::List(value.iter().map(ToString::to_string).collect())
    }
}

/// Names or addresses of hosts.
#[derive(Debug)]
pub enum HostListKind {}

impl SettingKind for HostListKind {
    type Value = Vec<String>;

    fn expects() -> String {
        "a list of hosts such as [\"books.local:8443\", \"192.168.1.20:8080\"]; comma-separated in a variable"
            .to_owned()
    }

    fn read(raw: &RawSetting, home: &HomeFolders) -> Result<Vec<String>, SettingFault> {
        let hosts: Vec<String> =
            items(raw, ",")?.iter().map(|item| TextKind::read(item, home)).collect::<Result<_, _>>()?;
        let is_name = |host: &str| !host.is_empty() && !host.contains([':', '/', ' ', '[', ']']);
        let is_host = |text: &&String| {
            let with_port = match text.rsplit_once(':') {
                Some((host, port)) => {
                    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
                    let is_long = inner.is_some_and(|inner| inner.parse::<Ipv6Addr>().is_ok());
                    port.parse::<u16>().is_ok_and(|port| port > 0) && (is_long || is_name(host))
                }
                None => false,
            };
            with_port || is_name(text) || text.parse::<IpAddr>().is_ok()
        };
        match hosts.iter().find(|host| !is_host(host)) {
            Some(odd) => Err(SettingFault::new(format!("{} is not a host", QuotedValue(odd))).with_hint(
                "write a name or an address with a port and no path: books.local:8443, [fd00::1]:8443",
            )),
            None => Ok(hosts),
        }
    }

    fn show(value: &Vec<String>) -> RedactedSetting {
        RedactedSetting::List(value.clone())
    }
}

impl SettingKind for PhraseListKind {
    type Value = Vec<String>;

    fn expects() -> String {
        "a list of words or phrases such as [\"manager\", \"शिकायत\"]; comma-separated in a variable"
            .to_owned()
    }

    fn read(raw: &RawSetting, home: &HomeFolders) -> Result<Vec<String>, SettingFault> {
        items(raw, ",")?.iter().map(|item| TextKind::read(item, home)).collect()
    }

    fn show(value: &Vec<String>) -> RedactedSetting {
        RedactedSetting::List(value.clone())
    }
}

impl SettingKind for ModelNameListKind {
    type Value = Vec<String>;

    fn expects() -> String {
        "a list of names such as [\"sonnet\", \"offline\"]; comma-separated in a variable".to_owned()
    }

    fn read(raw: &RawSetting, home: &HomeFolders) -> Result<Vec<String>, SettingFault> {
        words(raw, home)
    }

    fn show(value: &Vec<String>) -> RedactedSetting {
        RedactedSetting::List(value.clone())
    }
}

impl SettingKind for ResidencyListKind {
    type Value = Vec<String>;

    fn expects() -> String {
        "a list of words such as [\"in\", \"eu\"]; comma-separated in a variable".to_owned()
    }

    fn read(raw: &RawSetting, home: &HomeFolders) -> Result<Vec<String>, SettingFault> {
        words(raw, home)
    }

    fn show(value: &Vec<String>) -> RedactedSetting {
        RedactedSetting::List(value.clone())
    }
}

fn words(raw: &RawSetting, home: &HomeFolders) -> Result<Vec<String>, SettingFault> {
    let mut words = Vec::new();
    for item in items(raw, ",")? {
        let word = SlugKind::read(&item, home)?;
        if words.contains(&word) {
            let fault = SettingFault::new(format!("duplicate entry {}", QuotedValue(&word)));
            return Err(fault.with_hint("remove the second one"));
        }
        words.push(word);
    }
    Ok(words)
}

/// What the list holds. One text alone is refused in the file, so that a list always looks like one.
pub(super) fn items(raw: &RawSetting, separator: &str) -> Result<Vec<RawSetting>, SettingFault> {
    match raw {
        RawSetting::List(items) => Ok(items.clone()),
        RawSetting::Bare(text) if text.trim_start().starts_with('[') => match DeValue::parse(text.trim()) {
            Ok(value) => items(&RawSetting::of(value.get_ref()), separator),
            Err(_) => Err(SettingFault::new("invalid list")),
        },
        RawSetting::Bare(text) => Ok(text
            .split(separator)
            .filter(|part| !part.trim().is_empty())
            .map(|part| RawSetting::Text(part.trim().to_owned()))
            .collect()),
        RawSetting::Text(_) => Err(raw.wrong_kind("a list").with_hint("write an array: [\"…\"]")),
        _ => Err(raw.wrong_kind("a list")),
    }
}
