//! Another key, shown this once.

use munshi_identity::Role;
use munshi_identity::keys::{
    self, ApiAccess, Area, AreaGrant, AreaGrantError, KeySpeaker, KeySubject, NewApiKey,
};
use munshi_pack::operation::{
    CallerClass, Operation, OperationCaller, OperationEffect, OperationError, OperationErrorCode,
    OperationSpec, RouteMethod,
};
use munshi_store::Tx;
use munshi_tiers::history;
use munshi_types::tier::{TierKind, TierName, TierStatus};
use munshi_types::{BindingId, Id, PersonId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{IssuedKeyView, find_role, higher_role_error, note};
use crate::{HouseCall, HouseServices, persons};

/// A key to create. Set either `role` or `person`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewKey)]
pub struct AddKeyInput {
    /// A name for lists, such as the program that uses the key.
    #[schema(min_length = 1, max_length = 100, example = "till")]
    pub name: String,
    /// At most your own role.
    #[schema(value_type = Option<crate::schemas::RoleSchema>)]
    pub role: Option<Role>,
    /// The person the key acts as, with the role they have when the key is used: an id, name, phone, e-mail or @handle.
    pub person: Option<String>,
    /// Who writes what is sent: `person` if somebody types it, otherwise `program`. Writes requested by a program
    /// need a person's approval.
    #[schema(value_type = crate::schemas::KeySpeakerSchema)]
    pub speaks_as: KeySpeaker,
    /// The areas it may access: `chat`, `sessions`, `runs`, `persons`, `bindings`, `tiers`, `approvals`, `usage`,
    /// `keys`, `test`, each optionally with `:read`. Default: all that its role allows, limited to your own key's
    /// areas.
    #[schema(max_items = 20, example = json!(["chat", "persons:read"]))]
    pub areas: Option<Vec<String>>,
    /// The names of the bindings it may access. Default: all that your own key may access.
    #[schema(value_type = Option<Vec<String>>, max_items = 100, example = json!(["counter"]))]
    pub bindings: Option<Vec<TierName>>,
    /// Expiry time. Default: none; the key is valid until revoked.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
}

pub struct AddKey;

impl Operation<HouseServices> for AddKey {
    type Input = AddKeyInput;
    type View = IssuedKeyView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "keys",
        noun: "key",
        command: "key",
        verb: "add",
        about: "Create a key. Only this response contains its text. It never has more access than your own key.",
        needs: CallerClass::Member(Area::Keys, ApiAccess::Write),
        effect: OperationEffect::Write(&["api_key.made"]),
        method: RouteMethod::Create,
        path: "/v1/keys",
    };

    const KEEPS_VIEW: bool = false;

    async fn run(call: &HouseCall, input: AddKeyInput) -> Result<IssuedKeyView, OperationError> {
        let caller = call.caller.clone();
        let bindings = resolve_bindings(call, input.bindings.as_deref()).await?;
        let speaks_as = check_speaker(&caller, input.speaks_as)?;
        let (areas, maker) = (parse_areas(&caller, input.areas)?, caller.key_maker()?);
        let (ids, random, now) = (call.ids.clone(), call.random.clone(), call.now);
        let issued = call.write(move |tx| {
            let carries = resolve_subject(tx, &caller, input.role, input.person.as_deref())?;
            let role = find_role(tx, carries)?;
            if !caller.covers_role(role) {
                return Err(higher_role_error("A key can't create a key with a higher role than its own."));
            }
            let new = NewApiKey {
                name: input.name,
                carries,
                areas,
                bindings,
                // None outlives the key it is made with.
                expires_at: [input.expires_at, caller.until()].into_iter().flatten().min(),
                speaks_as,
                made_by: caller.actor().id.clone(),
                maker,
            };
            let issued = keys::add(tx, &ids, random.as_ref(), &new, now)?;
            note(tx, "api_key.made", &issued.key);
            Ok(issued)
        });
        Ok(IssuedKeyView::new(issued.await?, now))
    }
}

fn resolve_subject(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    role: Option<Role>,
    person: Option<&str>,
) -> Result<KeySubject, OperationError> {
    match (role, person) {
        (Some(role), None) => Ok(KeySubject::Role(role)),
        (None, Some(given)) => {
            // Whoever may not look at people learns nothing of them by their names and numbers.
            if given.parse::<PersonId>().is_err() {
                caller.authorize(CallerClass::Member(Area::Persons, ApiAccess::Read))?;
            }
            Ok(KeySubject::Person(persons::find(tx, given)?.id))
        }
        _ => Err(OperationError::field("role", "set either `role` or `person`")),
    }
}

/// A program makes no key with which its words would be a person's.
fn check_speaker(caller: &OperationCaller, wanted: KeySpeaker) -> Result<KeySpeaker, OperationError> {
    if caller.speaks_as() == KeySpeaker::Program && wanted == KeySpeaker::Person {
        let what = "A key that speaks as a program can create only such keys.";
        return Err(OperationError::new(OperationErrorCode::Forbidden, what)
            .hint("Create it on the account page, or with `munshi key add --speaks-as person`."));
    }
    Ok(wanted)
}

/// None wider than one's own.
fn parse_areas(
    caller: &OperationCaller,
    wanted: Option<Vec<String>>,
) -> Result<Option<Vec<AreaGrant>>, OperationError> {
    let Some(wanted) = wanted else { return Ok(caller.areas().cloned()) };
    let mut grants = Vec::new();
    for text in wanted {
        let grant: AreaGrant = text
            .parse()
            .map_err(|error: AreaGrantError| OperationError::field("areas", &error.to_string()))?;
        if !caller.opens(grant) {
            let what = format!("This key has no access to {grant} itself.");
            return Err(OperationError::new(OperationErrorCode::Forbidden, what)
                .hint("Ask an owner of the workspace for a key with this access."));
        }
        grants.push(grant);
    }
    // Reading is part of writing.
    grants.sort_unstable();
    grants.dedup();
    let wide: Vec<_> =
        grants.iter().filter(|one| one.access == ApiAccess::Write).map(|one| one.area).collect();
    grants.retain(|one| one.access == ApiAccess::Write || !wide.contains(&one.area));
    Ok(Some(grants))
}

/// By name, as people know them; a key keeps their ids.
async fn resolve_bindings(
    call: &HouseCall,
    names: Option<&[TierName]>,
) -> Result<Option<Vec<BindingId>>, OperationError> {
    let Some(names) = names else { return Ok(call.caller.bindings().cloned()) };
    let tiers = history::list_tiers(&call.db, &call.tenant.name).await?;
    let id = |name: &TierName| {
        let found = tiers.iter().find(|tier| {
            tier.kind == TierKind::Binding && tier.status == TierStatus::Active && tier.name == *name
        });
        let id = found.map(|tier| BindingId::from_uuid(tier.id.as_uuid()));
        id.filter(|id| call.caller.reaches(*id)).ok_or_else(|| {
            OperationError::field(
                "bindings",
                &format!("no binding {name} exists, or you have no access to it"),
            )
            .hint("List the accessible ones with GET /v1/bindings or `munshi tier list`.")
        })
    };
    names.iter().map(id).collect::<Result<_, _>>().map(Some)
}
