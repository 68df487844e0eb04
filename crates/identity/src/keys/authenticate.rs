//! From a key's text to whom it stands for.

use std::time::Duration;

use munshi_store::{Db, JsonText, PlatformTx, Row, across_tenants, params, tenants};
use munshi_types::{BindingId, KeyId, OperatorId, PersonId, TenantId, TenantStatus, Timestamp};

use super::area::{ApiAccess, Area, AreaGrant, minimum_role, reaches};
use super::bounds::{KeyCeiling, KeyMaker, KeySpeaker};
use super::keeper;
use super::rows::{read_ceiling, read_speaker, read_subject};
use super::text::{KeyHash, KeyText};
use super::{KEYS, KeySubject};
use crate::error::Result;
use crate::operators::{self, OPERATORS, roles};
use crate::permission::MissingPermission;
use crate::persons;
use crate::principal::{Principal, PrincipalStanding};
use crate::role::Role;

/// The use of a key is written down no more often than this.
const NOTED_EVERY: Duration = Duration::from_secs(60);

/// Who sent a request, as its key proves, or the browser of an operator who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiCaller {
    pub tenant: TenantId,
    /// Active or paused; an archived tenant's keys open nothing.
    pub tenant_status: TenantStatus,
    /// Of an operator's browser, the id of their sign-in stands here.
    pub key: KeyId,
    /// Of an operator's browser, their e-mail.
    pub key_name: String,
    /// None for a key.
    pub operator: Option<OperatorId>,
    /// Whether they keep the installation. A keeper's key is no tenant's until it enters one: [`TenantId::PLATFORM`].
    pub keeper: bool,
    pub speaks_as: KeySpeaker,
    /// What whoever speaks through it is at most.
    pub ceiling: KeyCeiling,
    /// Who answers for it, and for keys made with it.
    pub maker: KeyMaker,
    pub principal: Principal,
    /// None where the key opens all that the standing reaches.
    pub areas: Option<Vec<AreaGrant>>,
    /// None where the key opens all of the tenant's.
    pub bindings: Option<Vec<BindingId>>,
    /// When it opens nothing any more, if that is set.
    pub until: Option<Timestamp>,
}

impl ApiCaller {
    /// Whether a route of this area is open. What an act may touch is asked of the policy besides.
    pub fn authorize(&self, area: Area, access: ApiAccess) -> Result<(), MissingPermission> {
        let grant = AreaGrant { area, access };
        let opened = |grants: &Vec<AreaGrant>| grants.iter().any(|grant| grant.opens(area, access));
        // A key from before an area was there does not gain it.
        let is_open = match &self.areas {
            Some(grants) => opened(grants),
            None => !area.must_be_named() || self.operator.is_some() || self.keeper,
        };
        if !is_open {
            return Err(MissingPermission {
                what: format!("this key does not grant {grant}"),
                ask: Some(Role::Admin),
            });
        }
        if area.must_be_named() && self.bindings.is_some() {
            return Err(MissingPermission {
                what: format!("a key that is limited to bindings does not grant {grant}"),
                ask: Some(Role::Admin),
            });
        }
        if reaches(self.principal.standing, area, access) {
            return Ok(());
        }
        let who = self.principal.role().map_or("non-members", Role::as_str);
        let ask = minimum_role(area, access).or(Some(Role::Admin));
        Err(MissingPermission { what: format!("{grant} is not allowed for {who}"), ask })
    }

    /// A key for some bindings reaches nothing that belongs to none.
    pub fn reaches(&self, binding: impl Into<Option<BindingId>>) -> bool {
        let binding = binding.into();
        self.bindings
            .as_ref()
            .is_none_or(|bindings| binding.is_some_and(|binding| bindings.contains(&binding)))
    }
}

/// Somebody let in, and until when at most.
pub(super) struct AuthenticatedCaller {
    pub(super) caller: ApiCaller,
    pub(super) hash: KeyHash,
    pub(super) until: Option<Timestamp>,
}

/// Whom a key's text stands for; none for a text that is no key, or one that opens nothing (any more). It says nothing
/// about why. A server that asks often has [`ApiKeyCache`](super::ApiKeyCache), which remembers for a moment.
pub async fn authenticate(db: &Db, text: &str, now: Timestamp) -> Result<Option<ApiCaller>> {
    let Some(text) = KeyText::parse(text) else { return Ok(None) };
    Ok(authenticate_key(db, text, now).await?.map(|admitted| admitted.caller))
}

pub(super) async fn authenticate_key(
    db: &Db,
    text: KeyText,
    now: Timestamp,
) -> Result<Option<AuthenticatedCaller>> {
    let read = move |tx: &mut PlatformTx<'_>| match text.is_keeper() {
        true => keeper::look_up(tx, &text, now),
        false => look_up(tx, &text, now),
    };
    let found = db.platform(KEYS).read(read).await?;
    let Some((admitted, last_used_at)) = found else { return Ok(None) };
    let Some(admitted) = cap_by_operator(db, admitted).await? else { return Ok(None) };
    let due = last_used_at.is_none_or(|last| last < now && now.since(last) >= NOTED_EVERY);
    if due {
        record_use(db, &admitted.caller, now).await;
    }
    Ok(Some(admitted))
}

/// A key that an operator answers for opens as long as they may make keys in its tenant, and is no more than they are: also
/// one that was made while their role was taken away. Operators stand behind a door of their own.
async fn cap_by_operator(db: &Db, mut admitted: AuthenticatedCaller) -> Result<Option<AuthenticatedCaller>> {
    let Some(operator) = admitted.caller.maker.operator() else { return Ok(Some(admitted)) };
    let tenant = admitted.caller.tenant;
    let read = move |tx: &mut PlatformTx<'_>| -> Result<_> {
        match operators::find(tx, operator)? {
            Some(operator) => roles::find_effective(tx, &operator, tenant),
            None => Ok(None),
        }
    };
    let role = db.platform(OPERATORS).read(read).await?.map(|(_, role)| role);
    let Some(role) = role.filter(|role| may_make(*role)) else { return Ok(None) };
    let caller = &mut admitted.caller;
    caller.principal = KeyCeiling { role: Some(role), ..KeyCeiling::default() }.cap(caller.principal.clone());
    caller.ceiling.role = caller.ceiling.role.map(|most| most.max(role));
    Ok(Some(admitted))
}

fn may_make(role: Role) -> bool {
    minimum_role(Area::Keys, ApiAccess::Write).is_none_or(|most| role <= most)
}

/// Whoever holds a good key is let in even when this can't be written: it is for people who tidy up.
async fn record_use(db: &Db, caller: &ApiCaller, now: Timestamp) {
    let (tenant, key, is_keeper) = (caller.tenant, caller.key, caller.keeper);
    let unit = move |tx: &mut PlatformTx<'_>| {
        if is_keeper {
            return tx.execute(
                across_tenants(
                    "UPDATE keeper_keys SET last_used_at = $2
                     WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $3)",
                ),
                params![key, now, now.minus(NOTED_EVERY)],
            );
        }
        tx.execute(
            across_tenants(
                "UPDATE api_keys SET last_used_at = $3
                 WHERE tenant_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at <= $4)",
            ),
            params![tenant, key, now, now.minus(NOTED_EVERY)],
        )
    };
    if let Err(error) = db.platform(KEYS).write(unit).await {
        tracing::warn!(%error, %key, "recording API key use failed");
    }
}

/// A row of the two tables.
struct Found {
    tenant: TenantId,
    key: KeyId,
    key_name: String,
    hash: Vec<u8>,
    carries: KeySubject,
    speaks_as: KeySpeaker,
    ceiling: KeyCeiling,
    maker: KeyMaker,
    areas: Option<Vec<AreaGrant>>,
    bindings: Option<Vec<BindingId>>,
    /// The end of the key or of its secret, whichever comes first.
    until: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
}

fn look_up(
    tx: &mut PlatformTx<'_>,
    text: &KeyText,
    now: Timestamp,
) -> Result<Option<(AuthenticatedCaller, Option<Timestamp>)>> {
    let found = tx.optional(
        across_tenants(
            "SELECT k.tenant_id, k.id, k.name, k.role, k.person_id, k.areas, k.bindings, k.expires_at,
               k.last_used_at, k.speaks_as, k.ceiling, k.ceiling_opened, k.ceiling_closed, s.hash, s.ends_at,
               CASE WHEN s.maker IS NULL THEN k.maker ELSE s.maker END AS maker,
               CASE WHEN s.maker IS NULL THEN k.maker_person ELSE s.maker_person END AS maker_person
             FROM api_key_secrets s JOIN api_keys k ON k.tenant_id = s.tenant_id AND k.id = s.key_id
             WHERE s.handle = $1 AND k.revoked_at IS NULL",
        ),
        params![text.handle()],
        read,
    )?;
    let Some(found) = found else { return Ok(None) };
    let hash = text.hash();
    let is_it = KeyHash::from_stored(&found.hash).is_some_and(|stored| stored.equals(&hash));
    if !is_it || found.until.is_some_and(|end| end <= now) {
        return Ok(None);
    }
    // One that a keeper's key answers for ends with it, also one that was made while that was revoked.
    if let Some(keeper) = keeper::parse_keeper_maker(&found.maker.name)
        && !keeper::is_open(tx, keeper, now)?
    {
        return Ok(None);
    }
    let Some(tenant) = tenants::find(tx, found.tenant)? else { return Ok(None) };
    let principal = match tenant.status {
        TenantStatus::Archived => None,
        TenantStatus::Active | TenantStatus::Paused => principal(tx, &found)?,
    };
    let (until, last_used_at) = (found.until, found.last_used_at);
    let caller = principal.map(|principal| ApiCaller {
        tenant: tenant.id,
        tenant_status: tenant.status,
        key: found.key,
        key_name: found.key_name,
        operator: None,
        keeper: false,
        speaks_as: found.speaks_as,
        ceiling: found.ceiling,
        maker: found.maker,
        principal,
        areas: found.areas,
        bindings: found.bindings,
        until,
    });
    Ok(caller.map(|caller| (AuthenticatedCaller { caller, hash, until }, last_used_at)))
}

/// A key is its person's own: it does not follow them into somebody they were merged with, who may stand higher, nor
/// above what they were when it was made. One that somebody made with a key of theirs lasts as long as they may make keys,
/// and stands no higher than they do.
fn principal(tx: &mut PlatformTx<'_>, found: &Found) -> Result<Option<Principal>> {
    let own = match found.carries {
        KeySubject::Role(role) => Some(Principal {
            standing: PrincipalStanding::Member(role),
            ..Principal::anonymous(found.tenant)
        }),
        KeySubject::Person(id) => find_principal(tx, found.tenant, id)?.filter(|who| who.person.is_some()),
    };
    let own = own.map(|own| found.ceiling.cap(own));
    let Some(maker) = found.maker.person else { return Ok(own) };
    let maker = find_principal(tx, found.tenant, maker)?.and_then(|who| who.role());
    let maker = maker.filter(|role| may_make(*role));
    Ok(own.zip(maker).map(|(own, role)| KeyCeiling { role: Some(role), ..KeyCeiling::default() }.cap(own)))
}

/// The role that a tenant's key has at this moment; none where it opens nothing any more, or is no member's. In the scope
/// of operators.
pub fn find_current_role(
    tx: &mut PlatformTx<'_>,
    tenant: TenantId,
    key: KeyId,
    now: Timestamp,
) -> Result<Option<Role>> {
    let is_open = tenants::find(tx, tenant)?.is_some_and(|found| found.status != TenantStatus::Archived);
    if !is_open {
        return Ok(None);
    }
    let secrets: Vec<Found> = tx.as_tenant(tenant, |tx| {
        tx.all(
            "SELECT k.tenant_id, k.id, k.name, k.role, k.person_id, k.areas, k.bindings, k.expires_at,
               k.last_used_at, k.speaks_as, k.ceiling, k.ceiling_opened, k.ceiling_closed, s.hash, s.ends_at,
               CASE WHEN s.maker IS NULL THEN k.maker ELSE s.maker END AS maker,
               CASE WHEN s.maker IS NULL THEN k.maker_person ELSE s.maker_person END AS maker_person
             FROM api_key_secrets s JOIN api_keys k ON k.tenant_id = s.tenant_id AND k.id = s.key_id
             WHERE k.tenant_id = $1 AND s.tenant_id = $1 AND k.id = $2 AND k.revoked_at IS NULL
             ORDER BY s.made_at DESC",
            params![key],
            read,
        )
    })?;
    let Some(found) = secrets.into_iter().find(|one| one.until.is_none_or(|end| now < end)) else {
        return Ok(None);
    };
    let role = principal(tx, &found)?.and_then(|who| who.role());
    let Some(maker) = found.maker.operator() else { return Ok(role) };
    let Some(maker) = operators::find(tx, maker)? else { return Ok(None) };
    let most = roles::find_effective(tx, &maker, tenant)?.map(|(_, role)| role);
    Ok(role.zip(most.filter(|role| may_make(*role))).map(|(role, most)| role.max(most)))
}

fn find_principal(tx: &mut PlatformTx<'_>, tenant: TenantId, id: PersonId) -> Result<Option<Principal>> {
    Ok(tx.as_tenant(tenant, |tx| -> munshi_store::Result<_> {
        Ok(persons::find(tx, id)?.map(|person| person.principal(tx)))
    })?)
}

fn read(row: &Row<'_>) -> munshi_store::Result<Found> {
    let ends: [Option<Timestamp>; 2] = [row.get("expires_at")?, row.get("ends_at")?];
    let carries = read_subject(row)?;
    let ceiling = match carries {
        // What was opened for whoever speaks through it is beyond its role, unless it is the highest.
        KeySubject::Role(role) => {
            let opened = (role != Role::Owner).then(Vec::new);
            KeyCeiling { role: Some(role), opened, ..KeyCeiling::default() }
        }
        KeySubject::Person(_) => {
            let scopes = |column: &str| {
                let stored = row.get::<Option<JsonText>>(column)?.map(|json| json.read()).transpose()?;
                munshi_store::Result::Ok(stored.unwrap_or_default())
            };
            let (opened, closed) = (scopes("ceiling_opened")?, scopes("ceiling_closed")?);
            KeyCeiling { role: read_ceiling(row)?, opened: Some(opened), closed }
        }
    };
    Ok(Found {
        tenant: row.get("tenant_id")?,
        key: row.get("id")?,
        key_name: row.get("name")?,
        hash: row.get("hash")?,
        carries,
        speaks_as: read_speaker(row)?,
        ceiling,
        maker: KeyMaker { name: row.get("maker")?, person: row.get("maker_person")?, key: None },
        areas: row.get::<Option<JsonText>>("areas")?.map(|json| json.read()).transpose()?,
        bindings: row.get::<Option<JsonText>>("bindings")?.map(|json| json.read()).transpose()?,
        until: ends.into_iter().flatten().min(),
        last_used_at: row.get("last_used_at")?,
    })
}
