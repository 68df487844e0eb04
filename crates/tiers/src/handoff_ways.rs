//! Where a conversation may be handed on to from where it is, as the tiers are now.

use munshi_store::Tx;
use munshi_types::tier::{Destination, TierKind, TierName, TierStatus};
use munshi_types::{Id, TierId};

use crate::draft::Tier;
use crate::error::Result;
use crate::precedence;
use crate::resolve::ActivePlace;
use crate::rows;

/// Where a destination leads, or why it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandoffWay {
    To {
        place: ActivePlace,
        /// The team that hands it on, as people see it.
        from: String,
    },
    /// The team names other ways, these.
    NotAllowed(Vec<String>),
    /// Nobody is there.
    Nowhere,
}

pub fn find_handoff_way(tx: &mut Tx<'_>, here: &ActivePlace, to: &Destination) -> Result<HandoffWay> {
    let Some(own_team) = find_own_team(tx, here)? else { return Ok(HandoffWay::Nowhere) };
    let name = here.team.as_ref().unwrap_or(&own_team);
    let Some(Tier::Team(team)) = find_tier(tx, TierKind::Team, name)? else { return Ok(HandoffWay::Nowhere) };
    if !precedence::can_hand_over(&team, to) {
        let ways = precedence::list_destinations(&team).iter().map(ToString::to_string).collect();
        return Ok(HandoffWay::NotAllowed(ways));
    }
    let place = match to {
        Destination::Person => Some(here.clone()),
        Destination::Team(name) => {
            let is_there = find_tier(tx, TierKind::Team, name)?.is_some();
            let team = (*name != own_team).then(|| name.clone());
            is_there.then(|| ActivePlace { team, ..here.clone() })
        }
        Destination::Binding(name) => {
            let found = rows::find(tx, TierKind::Binding, name)?;
            let found = found.filter(|found| found.status != TierStatus::Archived);
            found.map(|found| ActivePlace { binding: rows::as_binding(found.id), team: None })
        }
    };
    Ok(place.map_or(HandoffWay::Nowhere, |place| HandoffWay::To { place, from: team.name }))
}

/// The team of a binding; none where there is no such binding.
fn find_own_team(tx: &mut Tx<'_>, place: &ActivePlace) -> Result<Option<TierName>> {
    let found = rows::find_by_id(tx, TierId::from_uuid(place.binding.as_uuid()))?;
    let Some(found) = found else { return Ok(None) };
    Ok(match Tier::read(TierKind::Binding, &found.body)? {
        Tier::Binding(binding) => Some(binding.team),
        _ => None,
    })
}

fn find_tier(tx: &mut Tx<'_>, kind: TierKind, name: &TierName) -> Result<Option<Tier>> {
    let found = rows::find(tx, kind, name)?.filter(|found| found.status != TierStatus::Archived);
    found.map(|found| Tier::read(kind, &found.body)).transpose()
}
