//! A tenant: one customer of the installation.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::TenantId;
use crate::name::is_slug;

/// One customer of the installation, and what everybody needs to know of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tenant {
    pub id: TenantId,
    pub name: TenantName,
    /// Schedules fire and days begin by this zone.
    pub zone: Zone,
    pub status: TenantStatus,
    pub created_at: Timestamp,
}

impl Tenant {
    /// The installation itself, in the place of a tenant: for what belongs to none.
    pub fn installation() -> Self {
        Self {
            id: TenantId::PLATFORM,
            name: TenantName("installation".to_owned()),
            zone: Zone::default(),
            status: TenantStatus::Active,
            created_at: Timestamp::EPOCH,
        }
    }

    pub fn is_installation(&self) -> bool {
        self.id == TenantId::PLATFORM
    }
}

/// What may happen for a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TenantStatus {
    Active,
    /// Answers nobody and runs no work until resumed; nothing is lost meanwhile.
    Paused,
    /// Put away for good: kept for the record, never answers again.
    Archived,
}

impl TenantStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Archived => "archived",
        }
    }
}

impl fmt::Display for TenantStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TenantStatus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "active" => Ok(Self::Active),
            "paused" => Ok(Self::Paused),
            "archived" => Ok(Self::Archived),
            other => Err(format!("`{other}` is not a tenant status: use active, paused or archived")),
        }
    }
}

/// A tenant's short name, unique in the installation: it stands in paths, commands and addresses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TenantName(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid tenant name: use 1 to 63 lowercase letters, digits and hyphens, starting with a letter or digit"
)]
pub struct TenantNameError(String);

impl TenantName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TenantName {
    type Err = TenantNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if is_slug(text) { Ok(Self(text.to_owned())) } else { Err(TenantNameError(text.to_owned())) }
    }
}

impl TryFrom<String> for TenantName {
    type Error = TenantNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TenantName> for String {
    fn from(name: TenantName) -> Self {
        name.0
    }
}

impl fmt::Display for TenantName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An IANA time zone that is known to exist, such as `Asia/Kolkata`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a known time zone: use a name like Asia/Kolkata or Europe/London")]
pub struct ZoneError(String);

impl Zone {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn to_jiff(&self) -> jiff::tz::TimeZone {
        jiff::tz::TimeZone::get(&self.0).unwrap_or(jiff::tz::TimeZone::UTC)
    }
}

impl Default for Zone {
    fn default() -> Self {
        Self("Asia/Kolkata".to_owned())
    }
}

impl FromStr for Zone {
    type Err = ZoneError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match jiff::tz::TimeZone::get(text) {
            Ok(zone) => Ok(Self(zone.iana_name().unwrap_or(text).to_owned())),
            Err(_) => Err(ZoneError(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Zone {
    type Error = ZoneError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.0
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_fit_and_names_that_do_not() {
        for good in ["a", "sharma-kirana", "9to9", &"x".repeat(63)] {
            assert!(good.parse::<TenantName>().is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a b", "दुकान", "../x", &"x".repeat(64)] {
            assert!(bad.parse::<TenantName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_zone_is_known_or_refused() {
        assert_eq!("asia/kolkata".parse::<Zone>().unwrap().as_str(), "Asia/Kolkata");
        assert!("Mars/Olympus".parse::<Zone>().is_err());
        assert!(serde_json::from_str::<Zone>("\"nowhere\"").is_err());
    }

    #[test]
    fn a_status_reads_back_as_it_was_written() {
        for status in [TenantStatus::Active, TenantStatus::Paused, TenantStatus::Archived] {
            assert_eq!(status.to_string().parse::<TenantStatus>().unwrap(), status);
        }
    }
}
