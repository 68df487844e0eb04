//! Third: which tools can be reached through this door at all?

use std::fmt;
use std::str::FromStr;

use munshi_identity::{PrincipalStanding, Role};
use munshi_types::Reach;
use munshi_types::tier::Audience;
use serde::{Deserialize, Serialize};

use super::refusal::{ActRefusal, RefusalCode};
use super::{DecisionStore, Draft, PolicyRequest, StageName, Step, refuse};
use crate::error::Result;

/// Through which door somebody comes. The binding fixes it; what a person is does not widen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallerAudience {
    Private,
    Work,
    Public,
    Distribution,
    /// Other people's agents.
    Agents,
}

impl CallerAudience {
    pub const ALL: [Self; 5] = [Self::Private, Self::Work, Self::Public, Self::Distribution, Self::Agents];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Work => "work",
            Self::Public => "public",
            Self::Distribution => "distribution",
            Self::Agents => "agents",
        }
    }

    /// The least reach a tool must have to be in this door's palette; none where nobody of that standing comes in.
    pub fn minimum_reach(self, standing: PrincipalStanding) -> Option<Reach> {
        match (self, standing) {
            (Self::Private, PrincipalStanding::Member(Role::Owner)) => Some(Reach::Owner),
            (Self::Private | Self::Work, PrincipalStanding::Member(_))
            | (Self::Work, PrincipalStanding::Service) => Some(Reach::Business),
            (Self::Private | Self::Work, _) => None,
            (_, PrincipalStanding::Anonymous | PrincipalStanding::Service) => Some(Reach::Anyone),
            (Self::Public | Self::Distribution | Self::Agents, _) => Some(Reach::Person),
        }
    }
}

impl From<Audience> for CallerAudience {
    fn from(audience: Audience) -> Self {
        match audience {
            Audience::Private => Self::Private,
            Audience::Work => Self::Work,
            Audience::Public => Self::Public,
            Audience::Distribution => Self::Distribution,
        }
    }
}

impl fmt::Display for CallerAudience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for CallerAudience {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|door| door.as_str() == text);
        found.ok_or_else(|| {
            format!("`{text}` is not a door: use private, work, public, distribution or agents")
        })
    }
}

pub(super) fn run(
    ask: &PolicyRequest<'_>,
    _draft: &mut Draft,
    _ground: &mut dyn DecisionStore,
) -> Result<Step> {
    let Some(tool) = &ask.tool else { return Ok(Step::On) };
    let palette = ask.caller.door.minimum_reach(ask.caller.principal.standing);
    if palette.is_some_and(|least| tool.spec.reach >= least) {
        return Ok(Step::On);
    }
    let what =
        "This tool can't be reached through this door. Answer with what can, and offer to pass the wish on.";
    refuse(ActRefusal::new(StageName::Door, RefusalCode::WrongDoor, what).with_approver(Some(Role::Owner)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_door_has_its_palette() {
        let owner = PrincipalStanding::Member(Role::Owner);
        let staff = PrincipalStanding::Member(Role::Staff);
        for (door, standing, expected) in [
            (CallerAudience::Private, owner, Some(Reach::Owner)),
            (CallerAudience::Private, staff, Some(Reach::Business)),
            (CallerAudience::Private, PrincipalStanding::Known, None),
            (CallerAudience::Work, owner, Some(Reach::Business)),
            (CallerAudience::Work, staff, Some(Reach::Business)),
            (CallerAudience::Work, PrincipalStanding::Anonymous, None),
            (CallerAudience::Work, PrincipalStanding::Service, Some(Reach::Business)),
            (CallerAudience::Private, PrincipalStanding::Service, None),
            (CallerAudience::Public, owner, Some(Reach::Person)),
            (CallerAudience::Public, PrincipalStanding::Known, Some(Reach::Person)),
            (CallerAudience::Public, PrincipalStanding::Anonymous, Some(Reach::Anyone)),
            (CallerAudience::Distribution, PrincipalStanding::Known, Some(Reach::Person)),
            (CallerAudience::Distribution, PrincipalStanding::Anonymous, Some(Reach::Anyone)),
            (CallerAudience::Agents, PrincipalStanding::Known, Some(Reach::Person)),
            (CallerAudience::Agents, PrincipalStanding::Anonymous, Some(Reach::Anyone)),
        ] {
            assert_eq!(door.minimum_reach(standing), expected, "{door} {standing:?}");
        }
        assert_eq!("work".parse::<CallerAudience>(), Ok(CallerAudience::Work));
        assert!("window".parse::<CallerAudience>().is_err());
    }
}
