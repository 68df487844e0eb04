//! What a key opens of the API.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::principal::PrincipalStanding;
use crate::role::Role;

macro_rules! areas {
    ($($(#[$doc:meta])* $name:ident = $word:literal;)+) => {
        /// A part of the API, as its routes are grouped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Area {
            $($(#[$doc])* $name,)+
        }

        impl Area {
            pub const ALL: &[Self] = &[$(Self::$name),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)+
                }
            }
        }
    };
}

areas! {
    /// Writing to a binding and hearing its answer, also in the manner of other makers' APIs.
    Chat = "chat";
    /// Calling the tools of a binding's agent without a turn, over MCP. What may be done is decided for each call.
    Tools = "tools";
    /// Conversations and their messages.
    Sessions = "sessions";
    /// What was done in a turn, step by step.
    Runs = "runs";
    Persons = "persons";
    Bindings = "bindings";
    /// Humans, teams, agents and the policy.
    Tiers = "tiers";
    /// Questions before an act. Who may say yes to which is for the policy.
    Approvals = "approvals";
    Usage = "usage";
    /// API keys themselves, and the keys of hosts.
    Keys = "keys";
    /// Other services that agents work with.
    Connectors = "connectors";
    /// Accounts at providers by which messages leave.
    Channels = "channels";
    /// What packs have to be administered, such as a shop's profile. Who may do what is for each of them and the policy.
    Packs = "packs";
    /// Those who look after the tenant through the web.
    Operators = "operators";
    /// Secrets by name; their values go in and never come out.
    Vault = "vault";
    /// The record of what was done.
    Audit = "audit";
    /// Looking at how the tenant is run over MCP, proposing changes there, and deciding on what was proposed. Only keys that
    /// name it have it.
    Administration = "administration";
    /// Forgetting people for good: only keys that name it have it.
    Erasure = "erasure";
    /// The test door: a turn, and all that happened in it.
    Test = "test";
}

impl Area {
    /// Whether a key has it only where it says so: what concerns the whole tenant and came after keys that open everything.
    pub const fn must_be_named(self) -> bool {
        matches!(
            self,
            Self::Connectors
                | Self::Channels
                | Self::Packs
                | Self::Operators
                | Self::Vault
                | Self::Audit
                | Self::Administration
                | Self::Erasure
        )
    }
}

/// Writing includes reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApiAccess {
    Read,
    Write,
}

/// One area that a key opens: `persons`, or `persons:read` for looking alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AreaGrant {
    pub area: Area,
    pub access: ApiAccess,
}

impl AreaGrant {
    pub const fn opens(self, area: Area, access: ApiAccess) -> bool {
        self.area as u8 == area as u8 && self.access as u8 >= access as u8
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown area `{text}`: use {}, or one of them with :read", names())]
pub struct AreaGrantError {
    text: String,
}

fn names() -> String {
    Area::ALL.iter().map(|area| area.as_str()).collect::<Vec<_>>().join(", ")
}

/// The lowest role that reaches an area; none where somebody who does not work here reaches it too.
pub fn minimum_role(area: Area, access: ApiAccess) -> Option<Role> {
    match (area, access) {
        (Area::Chat | Area::Tools, _) => None,
        (Area::Administration, _) => Some(Role::Owner),
        (Area::Keys | Area::Operators | Area::Vault | Area::Audit | Area::Erasure, _)
        | (
            Area::Bindings | Area::Tiers | Area::Usage | Area::Connectors | Area::Channels,
            ApiAccess::Write,
        ) => Some(Role::Admin),
        (Area::Test, _)
        | (Area::Sessions | Area::Runs | Area::Persons | Area::Approvals | Area::Packs, ApiAccess::Write) => {
            Some(Role::Staff)
        }
        (_, ApiAccess::Read) => Some(Role::Viewer),
    }
}

/// Whether a standing reaches an area.
pub(super) fn reaches(standing: PrincipalStanding, area: Area, access: ApiAccess) -> bool {
    match (standing, minimum_role(area, access)) {
        (PrincipalStanding::Member(role), Some(least)) => role <= least,
        (PrincipalStanding::Member(_) | PrincipalStanding::Known, None) => true,
        (PrincipalStanding::Known, Some(_))
        | (PrincipalStanding::Anonymous | PrincipalStanding::Service, _) => false,
    }
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for AreaGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.access {
            ApiAccess::Read => write!(f, "{}:read", self.area),
            ApiAccess::Write => write!(f, "{}", self.area),
        }
    }
}

impl FromStr for AreaGrant {
    type Err = AreaGrantError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, access) = match text.strip_suffix(":read") {
            Some(name) => (name, ApiAccess::Read),
            None => (text, ApiAccess::Write),
        };
        let area = Area::ALL.iter().find(|area| area.as_str() == name);
        area.map(|area| Self { area: *area, access }).ok_or_else(|| AreaGrantError { text: text.to_owned() })
    }
}

impl Serialize for AreaGrant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AreaGrant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_survives_text() {
        for area in Area::ALL {
            for access in [ApiAccess::Read, ApiAccess::Write] {
                let grant = AreaGrant { area: *area, access };
                assert_eq!(grant.to_string().parse::<AreaGrant>().unwrap(), grant);
                assert_eq!(grant.opens(*area, ApiAccess::Write), access == ApiAccess::Write);
                assert!(grant.opens(*area, ApiAccess::Read));
            }
        }
        for bad in ["", "chats", "chat:write", "chat:read:read", ":read", "Chat"] {
            assert!(bad.parse::<AreaGrant>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_lower_standing_never_reaches_more() {
        let all = [
            PrincipalStanding::Member(Role::Owner),
            PrincipalStanding::Member(Role::Admin),
            PrincipalStanding::Member(Role::Staff),
            PrincipalStanding::Member(Role::Viewer),
            PrincipalStanding::Known,
            PrincipalStanding::Anonymous,
        ];
        let count = |standing: PrincipalStanding| {
            let open = |area: &Area, access| usize::from(reaches(standing, *area, access));
            Area::ALL
                .iter()
                .map(|area| open(area, ApiAccess::Read) + open(area, ApiAccess::Write))
                .sum::<usize>()
        };
        assert_eq!(all.map(count), [38, 36, 21, 14, 4, 0]);
        for pair in all.windows(2) {
            for area in Area::ALL {
                for access in [ApiAccess::Read, ApiAccess::Write] {
                    let [higher, lower] = [pair[0], pair[1]].map(|who| reaches(who, *area, access));
                    assert!(higher || !lower, "{pair:?} {area} {access:?}");
                }
                assert!(
                    reaches(pair[0], *area, ApiAccess::Read) || !reaches(pair[0], *area, ApiAccess::Write)
                );
            }
        }
    }
}
