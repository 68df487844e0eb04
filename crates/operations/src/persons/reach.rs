//! Where somebody who works for the tenant is reached, and for what.

use std::collections::BTreeMap;

use munshi_conversations::reach::preferences::{self, ChosenPlaces, PersonPlaces};
use munshi_conversations::reach::{AccountEmails, ReachKind, ReachPreferences};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::{ContactAddress, Person, Role};
use munshi_pack::operation::{
    CallerClass, Operation, OperationCaller, OperationEffect, OperationError, OperationErrorCode,
    OperationSpec, RouteMethod,
};
use munshi_store::Tx;
use munshi_types::{PersonId, ReplyAddress, Zone};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::PersonInput;
use super::find::find_shown;
use super::rules::{call_by_name, check_not_program, lock_covered};
use crate::turn_errors::convert_turn_error;
use crate::{HouseCall, HouseServices};

/// Somebody's own addresses, in the order in which they are tried for each kind of news.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = PersonReach)]
pub struct PersonReachView {
    #[schema(value_type = uuid::Uuid)]
    pub id: PersonId,
    /// For questions that wait for their answer.
    pub approvals: ReachPlacesView,
    /// For what they should look at.
    pub alerts: ReachPlacesView,
    /// For summaries.
    pub briefings: ReachPlacesView,
    /// For links that let a connector in again.
    pub logins: ReachPlacesView,
    /// For customers who ask for a human.
    pub requests: ReachPlacesView,
    /// The time zone of their quiet hours; null for the tenant's.
    #[schema(value_type = Option<String>, example = "Asia/Kolkata")]
    pub zone: Option<Zone>,
}

/// Where somebody is tried for one kind of news.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = ReachPlaces)]
pub struct ReachPlacesView {
    /// Whether they were chosen. Otherwise it is their own e-mails, that of their account first.
    pub chosen: bool,
    #[schema(example = json!(["asha@shop.example"]))]
    pub addresses: Vec<String>,
}

impl PersonReachView {
    fn load(tx: &mut Tx<'_>, person: PersonId, accounts: &AccountEmails) -> Result<Self, OperationError> {
        let zone = preferences::find(tx, person)?.and_then(|chosen| chosen.zone);
        let own = PersonPlaces::load(tx, person, accounts)?;
        let show = |kind| {
            let (chosen, places) = match own.of_kind(kind) {
                ChosenPlaces::Own(places) => (true, places),
                ChosenPlaces::Usual(places) => (false, places),
            };
            ReachPlacesView { chosen, addresses: places.into_iter().map(|place| place.address).collect() }
        };
        Ok(Self {
            id: person,
            approvals: show(ReachKind::Approvals),
            alerts: show(ReachKind::Alerts),
            briefings: show(ReachKind::Briefings),
            logins: show(ReachKind::Logins),
            requests: show(ReachKind::Requests),
            zone,
        })
    }
}

pub struct ShowReach;

impl Operation<HouseServices> for ShowReach {
    type Input = PersonInput;
    type View = PersonReachView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "reach",
        noun: "reach",
        command: "reach",
        verb: "show",
        about: "Get where somebody who works for the tenant is reached for questions, alerts, summaries and links.",
        needs: CallerClass::Member(Area::Persons, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/persons/{id}/reach",
    };

    async fn run(call: &HouseCall, input: PersonInput) -> Result<PersonReachView, OperationError> {
        let accounts = load_accounts(call).await?;
        let read = call.read(move |tx| {
            let person = find_shown(tx, &input.id)?;
            PersonReachView::load(tx, person.id, &accounts)
        });
        read.await
    }
}

async fn load_accounts(call: &HouseCall) -> Result<AccountEmails, OperationError> {
    AccountEmails::load(&call.db, call.tenant.id).await.map_err(convert_turn_error)
}

/// Where somebody is to be reached; omitted kinds are unchanged.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PersonReachChange)]
pub struct SetReachInput {
    /// The person: an id, name, phone, e-mail or @handle.
    pub id: String,
    /// Addresses of theirs for questions that wait for their answer, in the order in which they are tried. An empty list
    /// asks them nowhere.
    #[schema(max_items = 10, example = json!(["asha@shop.example"]))]
    pub approvals: Option<Vec<String>>,
    /// The same for what they should look at.
    #[schema(max_items = 10)]
    pub alerts: Option<Vec<String>>,
    /// The same for summaries.
    #[schema(max_items = 10)]
    pub briefings: Option<Vec<String>>,
    /// The same for links that let a connector in again.
    #[schema(max_items = 10)]
    pub logins: Option<Vec<String>>,
    /// The same for customers who ask for a human.
    #[schema(max_items = 10)]
    pub requests: Option<Vec<String>>,
    /// Time zone of their quiet hours.
    #[schema(value_type = Option<String>, example = "Asia/Kolkata")]
    pub zone: Option<Zone>,
    /// What is left to the rule for all again: `approvals`, `alerts`, `briefings`, `logins`, `requests`, or `zone` for the
    /// tenant's.
    #[serde(default)]
    #[schema(max_items = 6, example = json!([]))]
    pub reset: Vec<String>,
}

const MOST: usize = 10;
/// What takes the time zone back to the tenant's.
const ZONE: &str = "zone";

/// A change that was looked at, as far as it needs no database.
struct ReachChange {
    places: BTreeMap<ReachKind, Vec<ReplyAddress>>,
    reset: Vec<ReachKind>,
    zone: Option<Zone>,
    is_zone_reset: bool,
}

impl ReachChange {
    fn parse(input: SetReachInput) -> Result<Self, OperationError> {
        let given = [
            (ReachKind::Approvals, input.approvals),
            (ReachKind::Alerts, input.alerts),
            (ReachKind::Briefings, input.briefings),
            (ReachKind::Logins, input.logins),
            (ReachKind::Requests, input.requests),
        ];
        let mut places = BTreeMap::new();
        for (kind, addresses) in given {
            let Some(addresses) = addresses else { continue };
            if addresses.len() > MOST {
                return Err(OperationError::field(kind.as_str(), "at most 10 are allowed"));
            }
            let parsed =
                addresses.iter().map(|text| parse_place(kind, text)).collect::<Result<Vec<_>, _>>()?;
            places.insert(kind, parsed);
        }
        let is_zone_reset = input.reset.iter().any(|what| what == ZONE);
        let kinds = input.reset.iter().filter(|what| *what != ZONE);
        let reset = kinds.map(|kind| kind.parse::<ReachKind>()).collect::<Result<Vec<_>, _>>();
        let reset = reset.map_err(|why| OperationError::field("reset", &format!("{why}, or zone")))?;
        Ok(Self { places, reset, zone: input.zone, is_zone_reset })
    }

    fn apply(self, before: ReachPreferences) -> ReachPreferences {
        let mut after = before;
        after.places.retain(|kind, _| !self.reset.contains(kind));
        after.places.extend(self.places);
        after.zone = self.zone.or(after.zone.filter(|_| !self.is_zone_reset));
        after
    }
}

fn parse_place(kind: ReachKind, text: &str) -> Result<ReplyAddress, OperationError> {
    let address = match text.contains('@') {
        true => ContactAddress::email(text),
        false => ContactAddress::phone(text),
    };
    let address = address.map_err(|error| OperationError::field(kind.as_str(), &error.to_string()))?;
    let unreachable = || OperationError::field(kind.as_str(), "nothing can be sent to this address");
    preferences::to_place(&address).ok_or_else(unreachable)
}

pub struct SetReach;

impl Operation<HouseServices> for SetReach {
    type Input = SetReachInput;
    type View = PersonReachView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "reach",
        noun: "reach",
        command: "reach",
        verb: "set",
        about: "Choose where somebody who works for the tenant is reached, and for what: addresses that are theirs, the \
                first one first. For oneself, or for a person with a lower role.",
        needs: CallerClass::Member(Area::Persons, ApiAccess::Write),
        effect: OperationEffect::Write(&["person.reach_changed"]),
        method: RouteMethod::Patch,
        path: "/v1/persons/{id}/reach",
    };

    async fn run(call: &HouseCall, input: SetReachInput) -> Result<PersonReachView, OperationError> {
        let (id, change) = (input.id.clone(), ReachChange::parse(input)?);
        let (caller, now) = (call.caller.clone(), call.now);
        let accounts = load_accounts(call).await?;
        let changed = call.write(move |tx| {
            let person = lock_covered(tx, &caller, &id)?;
            check_below(&caller, &person)?;
            check_own(tx, &caller, (&person, &accounts), &change)?;
            let before = preferences::find(tx, person.id)?.unwrap_or_default();
            let after = change.apply(before.clone());
            if after != before {
                preferences::save(tx, person.id, &after, now)?;
                tx.note("person.reach_changed", person.id.to_string(), describe(&after));
            }
            PersonReachView::load(tx, person.id, &accounts)
        });
        changed.await
    }
}

/// For the audit: the kinds that were chosen, and those that reach them nowhere.
fn describe(chosen: &ReachPreferences) -> Value {
    let nowhere = chosen.places.iter().filter(|(_, places)| places.is_empty());
    let nowhere: Vec<&str> = nowhere.map(|(kind, _)| kind.as_str()).collect();
    let kinds: Vec<&str> = chosen.places.keys().map(|kind| kind.as_str()).collect();
    json!({ "chosen": kinds, "none": nowhere, "zone": chosen.zone.is_some() })
}

/// Nobody keeps news from those who are what they are: only from themselves, and from those below.
fn check_below(caller: &OperationCaller, person: &Person) -> Result<(), OperationError> {
    if caller.is_machine() || caller.person() == Some(person.id) {
        return Ok(());
    }
    let is_below = match (caller.role(), person.role) {
        (Some(own), Some(role)) => own < role,
        (Some(own), None) => own <= Role::Admin,
        (None, _) => false,
    };
    if is_below {
        return Ok(());
    }
    let what = "This person's role is not lower than that of the key.";
    Err(OperationError::new(OperationErrorCode::Forbidden, what)
        .hint("They choose it themselves, with a key of theirs or `munshi reach set`."))
}

/// What is told names customers and amounts: it goes to nobody's address but their own. Nor does a program choose who hears of what it does.
fn check_own(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    (person, accounts): (&Person, &AccountEmails),
    change: &ReachChange,
) -> Result<(), OperationError> {
    check_not_program(caller, "A key that speaks as a program can't choose where people are reached.")?;
    let own = preferences::list_own_places(tx, person.id, accounts)?;
    for (kind, places) in &change.places {
        if let Some(other) = places.iter().find(|place| !own.contains(place)) {
            let what = format!("{} is not an address of {}", other.address, call_by_name(person));
            return Err(OperationError::field(kind.as_str(), &what));
        }
    }
    Ok(())
}
