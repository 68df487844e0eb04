//! Third: which tools can be reached through this door at all?

use std::fmt;
use std::str::FromStr;

use munshi_identity::{Role, Standing};
use munshi_types::Reach;
use munshi_types::tier::Audience;
use serde::{Deserialize, Serialize};

use super::refusal::{Code, Refusal};
use super::{Ask, Draft, Ground, StageName, Step, refuse};
use crate::error::Result;

/// Through which door somebody comes. The binding fixes it; what a person is does not widen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    Private,
    Work,
    Public,
    Distribution,
    /// Other people's agents.
    Agents,
}

impl Door {
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
    pub fn palette(self, standing: Standing) -> Option<Reach> {
        match (self, standing) {
            (Self::Private, Standing::Member(Role::Owner)) => Some(Reach::Owner),
            (Self::Private | Self::Work, Standing::Member(_)) => Some(Reach::Business),
            (Self::Private | Self::Work, _) => None,
            (_, Standing::Anonymous) => Some(Reach::Anyone),
            (Self::Public | Self::Distribution | Self::Agents, _) => Some(Reach::Person),
        }
    }
}

impl From<Audience> for Door {
    fn from(audience: Audience) -> Self {
        match audience {
            Audience::Private => Self::Private,
            Audience::Work => Self::Work,
            Audience::Public => Self::Public,
            Audience::Distribution => Self::Distribution,
        }
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Door {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|door| door.as_str() == text);
        found.ok_or_else(|| {
            format!("`{text}` is no door: write private, work, public, distribution or agents")
        })
    }
}

pub(super) fn run(ask: &Ask<'_>, _draft: &mut Draft, _ground: &mut dyn Ground) -> Result<Step> {
    let Some(tool) = &ask.tool else { return Ok(Step::On) };
    let palette = ask.caller.door.palette(ask.caller.principal.standing);
    if palette.is_some_and(|least| tool.spec.reach >= least) {
        return Ok(Step::On);
    }
    let what =
        "This tool can't be reached through this door. Answer with what can, and offer to pass the wish on.";
    refuse(Refusal::new(StageName::Door, Code::WrongDoor, what).ask(Some(Role::Owner)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_door_has_its_palette() {
        let owner = Standing::Member(Role::Owner);
        let staff = Standing::Member(Role::Staff);
        for (door, standing, expected) in [
            (Door::Private, owner, Some(Reach::Owner)),
            (Door::Private, staff, Some(Reach::Business)),
            (Door::Private, Standing::Known, None),
            (Door::Work, owner, Some(Reach::Business)),
            (Door::Work, staff, Some(Reach::Business)),
            (Door::Work, Standing::Anonymous, None),
            (Door::Public, owner, Some(Reach::Person)),
            (Door::Public, Standing::Known, Some(Reach::Person)),
            (Door::Public, Standing::Anonymous, Some(Reach::Anyone)),
            (Door::Distribution, Standing::Known, Some(Reach::Person)),
            (Door::Distribution, Standing::Anonymous, Some(Reach::Anyone)),
            (Door::Agents, Standing::Known, Some(Reach::Person)),
            (Door::Agents, Standing::Anonymous, Some(Reach::Anyone)),
        ] {
            assert_eq!(door.palette(standing), expected, "{door} {standing:?}");
        }
        assert_eq!("work".parse::<Door>(), Ok(Door::Work));
        assert!("window".parse::<Door>().is_err());
    }
}
