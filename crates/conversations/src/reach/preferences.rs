//! Where somebody is reached, as they chose it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use munshi_identity::{ContactAddress, ContactAddressKind, PersonalData, persons};
use munshi_store::{JsonText, Result, SealedColumn, Tx, params};
use munshi_types::tier::Channel;
use munshi_types::{PersonId, ReplyAddress, Timestamp, Zone};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::accounts::AccountEmails;
use crate::sealing::seal_by_owner;

const BODY: SealedColumn = SealedColumn::new("reach_preferences", "body");

/// What somebody is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReachKind {
    /// Questions that wait for their answer.
    Approvals,
    /// What somebody should look at.
    Alerts,
    /// Summaries that come by the clock.
    Briefings,
    /// Links by which they let a connector in again.
    Logins,
    /// Customers who ask for a human.
    Requests,
}

impl ReachKind {
    pub const ALL: [Self; 5] = [Self::Approvals, Self::Alerts, Self::Briefings, Self::Logins, Self::Requests];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approvals => "approvals",
            Self::Alerts => "alerts",
            Self::Briefings => "briefings",
            Self::Logins => "logins",
            Self::Requests => "requests",
        }
    }
}

impl fmt::Display for ReachKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ReachKind {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| {
            format!("unknown kind `{text}`: use approvals, alerts, briefings, logins or requests")
        })
    }
}

/// What somebody chose. A kind that is not named is left to the rule for all; one with no address reaches them nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReachPreferences {
    #[serde(default)]
    pub places: BTreeMap<ReachKind, Vec<ReplyAddress>>,
    /// Where they live, for quiet hours; none for the tenant's.
    #[serde(default)]
    pub zone: Option<Zone>,
}

/// None where they chose nothing.
pub fn find(tx: &mut Tx<'_>, person: PersonId) -> Result<Option<ReachPreferences>> {
    tx.optional(
        "SELECT body FROM reach_preferences WHERE tenant_id = $1 AND person_id = $2",
        params![person],
        |row| row.get_sealed::<JsonText>("body", BODY.cell(person))?.read(),
    )
}

/// Replaces what they chose.
pub fn save(tx: &mut Tx<'_>, person: PersonId, chosen: &ReachPreferences, now: Timestamp) -> Result<()> {
    let by = seal_by_owner(tx, Some(person))?;
    let body = tx.seal_json(by, BODY.cell(person), chosen)?;
    tx.execute(
        "INSERT INTO reach_preferences (tenant_id, person_id, body, changed_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, person_id) DO UPDATE SET body = excluded.body, changed_at = excluded.changed_at",
        params![person, body, now],
    )?;
    Ok(())
}

pub(crate) fn find_zone(tx: &mut Tx<'_>, person: PersonId) -> Result<Option<Zone>> {
    Ok(find(tx, person)?.and_then(|chosen| chosen.zone))
}

/// Where somebody can be reached: the e-mail of their account first, then their other addresses by letter.
pub fn list_own_places(
    tx: &mut Tx<'_>,
    person: PersonId,
    accounts: &AccountEmails,
) -> Result<Vec<ReplyAddress>> {
    let addresses = persons::list_addresses(tx, person)?;
    let mut own: Vec<ReplyAddress> =
        addresses.iter().filter_map(|address| accounts.find(address)).cloned().collect();
    let mut others: Vec<ReplyAddress> = addresses.iter().filter_map(to_place).collect();
    others.retain(|place| !own.contains(place));
    others.sort_by(|a, b| a.address.cmp(&b.address));
    own.append(&mut others);
    Ok(own)
}

/// What somebody chose, and what is theirs.
#[derive(Clone, Debug)]
pub struct PersonPlaces {
    chosen: BTreeMap<ReachKind, Vec<ReplyAddress>>,
    own: Vec<ReplyAddress>,
}

impl PersonPlaces {
    pub fn load(tx: &mut Tx<'_>, person: PersonId, accounts: &AccountEmails) -> Result<Self> {
        let chosen = find(tx, person)?.map(|chosen| chosen.places).unwrap_or_default();
        Ok(Self { chosen, own: list_own_places(tx, person, accounts)? })
    }

    /// Where they are tried for a kind of news: as they chose, else at their own e-mails. An address that is theirs no longer is left out.
    pub fn of_kind(&self, kind: ReachKind) -> ChosenPlaces {
        let own = self.own.iter();
        match self.chosen.get(&kind) {
            Some(places) => {
                let still_own = places.iter().filter(|place| self.own.contains(place));
                ChosenPlaces::Own(still_own.cloned().collect())
            }
            None => {
                ChosenPlaces::Usual(own.filter(|place| place.channel == Channel::Email).cloned().collect())
            }
        }
    }
}

/// Addresses in the order in which they are tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenPlaces {
    /// They chose them.
    Own(Vec<ReplyAddress>),
    /// They chose nothing.
    Usual(Vec<ReplyAddress>),
}

/// How an address of theirs is written to; none for one that nothing leaves to.
pub fn to_place(address: &ContactAddress) -> Option<ReplyAddress> {
    let channel = match address.kind() {
        ContactAddressKind::Email => Channel::Email,
        ContactAddressKind::Phone => Channel::Whatsapp,
        ContactAddressKind::Handle | ContactAddressKind::Channel => return None,
    };
    Some(ReplyAddress::new(channel, address.as_str()))
}

/// One row a person, under their id.
pub(crate) const REACH_DATA: PersonalData =
    PersonalData { name: "where they are reached", list_next, show, erase };

fn list_next(tx: &mut Tx<'_>, person: PersonId, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT found.id FROM (
           SELECT person_id AS id FROM reach_preferences WHERE tenant_id = $1 AND person_id = $2
           UNION SELECT person_id AS id FROM reach_notices WHERE tenant_id = $1 AND person_id = $2
         ) found WHERE found.id > $3 ORDER BY found.id LIMIT $4",
        params![person, after, limit],
        |row| row.get(0),
    )
}

fn show(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    let chosen = find(tx, PersonId::from_uuid(id))?;
    Ok(chosen.map(|chosen| json!({ "places": chosen.places, "zone": chosen.zone })))
}

fn erase(tx: &mut Tx<'_>, persons: &[Uuid]) -> Result<u64> {
    let mut erased = 0;
    for person in persons {
        erased += tx.execute(
            "DELETE FROM reach_preferences WHERE tenant_id = $1 AND person_id = $2",
            params![*person],
        )?;
        erased += tx
            .execute("DELETE FROM reach_notices WHERE tenant_id = $1 AND person_id = $2", params![*person])?;
    }
    Ok(erased)
}
