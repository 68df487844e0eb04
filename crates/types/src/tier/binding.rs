//! The binding: a human in a team on an agent, behind its addresses.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{RoutingKey, TierName};

/// What people reach. Three names, the ways in, and who gets something else for trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    pub human: TierName,
    pub team: TierName,
    pub agent: TierName,
    /// The door people come through: who is on the other side.
    #[serde(default)]
    pub door: Audience,
    #[serde(default = "default_channels")]
    pub channels: Vec<Channel>,
    /// The addresses that lead here; each leads to one binding of one tenant.
    #[serde(default)]
    pub keys: Vec<RoutingKey>,
    #[serde(default)]
    pub slices: Vec<BindingSlice>,
}

fn default_channels() -> Vec<Channel> {
    vec![Channel::Whatsapp, Channel::Web]
}

/// Who comes through a binding's door; what may be told and done differs by it. The further out, the less: the greatest of
/// several is the strictest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// The owner alone.
    Private,
    /// Those who work in the business.
    Work,
    /// Other people and their agents, as peers.
    Public,
    /// Customers, fans, citizens: many, each for themselves.
    #[default]
    Distribution,
}

/// A way in and out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    Whatsapp,
    Web,
    Voice,
    Telegram,
    Slack,
    Email,
    A2a,
    Ticket,
    Api,
    Sms,
    Teams,
}

impl Channel {
    pub const ALL: [Self; 11] = [
        Self::Whatsapp,
        Self::Web,
        Self::Voice,
        Self::Telegram,
        Self::Slack,
        Self::Email,
        Self::A2a,
        Self::Ticket,
        Self::Api,
        Self::Sms,
        Self::Teams,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Whatsapp => "whatsapp",
            Self::Web => "web",
            Self::Voice => "voice",
            Self::Telegram => "telegram",
            Self::Slack => "slack",
            Self::Email => "email",
            Self::A2a => "a2a",
            Self::Ticket => "ticket",
            Self::Api => "api",
            Self::Sms => "sms",
            Self::Teams => "teams",
        }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Channel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|channel| channel.as_str() == text);
        let known = Self::ALL.map(Self::as_str).join(", ");
        found.ok_or_else(|| format!("unknown channel `{text}`: use one of {known}"))
    }
}

/// A part of the people who get something else, the same people every time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenSlice", into = "WrittenSlice")]
pub struct BindingSlice {
    /// Stands in the record of every turn of the slice.
    pub name: String,
    /// Of a hundred people; all slices of a binding together have at most a hundred.
    pub share: u8,
    pub candidate: SliceCandidate,
}

/// What a slice gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SliceCandidate {
    /// Another binding of the tenant as a whole.
    Binding(TierName),
    /// Other tiers or other versions of them in this binding; what is none stays.
    Tiers { human: Option<TierRef>, team: Option<TierRef>, agent: Option<TierRef> },
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSlice {
    name: String,
    share: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    binding: Option<TierName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    human: Option<TierRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    team: Option<TierRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<TierRef>,
}

impl TryFrom<WrittenSlice> for BindingSlice {
    type Error = String;

    fn try_from(written: WrittenSlice) -> Result<Self, Self::Error> {
        let WrittenSlice { name, share, binding, human, team, agent } = written;
        let candidate = match (binding, human, team, agent) {
            (None, None, None, None) => {
                return Err(format!("slice `{name}` changes nothing: {SLICE}"));
            }
            (Some(binding), None, None, None) => SliceCandidate::Binding(binding),
            (None, human, team, agent) => SliceCandidate::Tiers { human, team, agent },
            _ => return Err(format!("slice `{name}` names both a binding and a tier: {SLICE}")),
        };
        Ok(Self { name, share, candidate })
    }
}

const SLICE: &str = "write `binding`, or one or more of `human`, `team` and `agent`";

impl From<BindingSlice> for WrittenSlice {
    fn from(BindingSlice { name, share, candidate }: BindingSlice) -> Self {
        let (binding, human, team, agent) = match candidate {
            SliceCandidate::Binding(binding) => (Some(binding), None, None, None),
            SliceCandidate::Tiers { human, team, agent } => (None, human, team, agent),
        };
        Self { name, share, binding, human, team, agent }
    }
}

/// A tier as it is now (`meera`) or at one version (`meera@3`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TierRef {
    pub name: TierName,
    pub version: Option<u32>,
}

impl FromStr for TierRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, version) = match text.split_once('@') {
            None => (text, None),
            Some((name, version)) => {
                let bad =
                    || format!("`{text}` has no valid version: write a number after the @, such as meera@3");
                let version: u32 = version.parse().map_err(|_| bad())?;
                (name, Some(version).filter(|version| *version > 0).ok_or_else(bad)?.into())
            }
        };
        let name = name.parse().map_err(|error: super::TierNameError| error.to_string())?;
        Ok(Self { name, version })
    }
}

impl TryFrom<String> for TierRef {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TierRef> for String {
    fn from(tier: TierRef) -> Self {
        tier.to_string()
    }
}

impl fmt::Display for TierRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version {
            Some(version) => write!(f, "{}@{version}", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_slice_differs_in_one_way() {
        let read = |value| serde_json::from_value::<BindingSlice>(value);
        let by_version = json!({ "name": "warm", "share": 10, "human": "meera@3" });
        assert_eq!(serde_json::to_value(read(by_version.clone()).unwrap()).unwrap(), by_version);
        assert!(read(json!({ "name": "b", "share": 5, "binding": "other" })).is_ok());
        assert!(read(json!({ "name": "b", "share": 5 })).is_err());
        assert!(read(json!({ "name": "b", "share": 5, "binding": "o", "team": "t" })).is_err());
        assert!("meera@0".parse::<TierRef>().is_err() && "meera@x".parse::<TierRef>().is_err());
    }

    #[test]
    fn a_channel_is_written_as_it_is_called() {
        for channel in Channel::ALL {
            assert_eq!(serde_json::to_value(channel).unwrap(), channel.as_str());
        }
    }
}
