//! Keys as the store keeps them, seen by their tenant.

use std::collections::BTreeSet;
use std::time::Duration;

use munshi_store::{
    AdminTx, Cursor, Error as StoreError, JsonText, Page, PageRequest, PlatformTx, Row, Tx, across_tenants,
    params, sql_in_both_orders,
};
use munshi_types::{Id, IdGenerator, KeyId, Random, TenantId, Timestamp, is_invisible};

use super::keeper::parse_keeper_maker;
use super::text::KeyText;
use super::{
    ApiKeyRecord, ApiKeyRevocation, IssuedApiKey, KeyMaker, KeySecret, KeySpeaker, KeySubject, NewApiKey,
};
use crate::error::{Error, Result};
use crate::persons::{self, Person};
use crate::role::Role;

/// Before the id of a key that made another.
const KEY_AS_MAKER: &str = "api key ";
/// Longer ones don't fit a list.
const LONGEST_NAME: usize = 100;

/// Makes a key. Its text is in the answer and nowhere else.
pub fn add(
    tx: &mut AdminTx<'_, '_>,
    ids: &IdGenerator,
    random: &dyn Random,
    new: &NewApiKey,
    now: Timestamp,
) -> Result<IssuedApiKey> {
    let stands_for = check(tx, new, now)?;
    if let Some(parent) = new.maker.key {
        lock_parent(tx, parent)?;
    }
    let id: KeyId = ids.next();
    let (role, person) = match new.carries {
        KeySubject::Role(role) => (Some(role.as_str()), None),
        KeySubject::Person(person) => (None, Some(person)),
    };
    let added = tx.execute(
        "INSERT INTO api_keys
           (tenant_id, id, name, role, person_id, areas, bindings, made_by, made_at, expires_at, speaks_as, ceiling,
            ceiling_opened, ceiling_closed, maker, maker_person, parent)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
         ON CONFLICT (tenant_id, name) WHERE revoked_at IS NULL DO NOTHING",
        params![
            id,
            new.name,
            role,
            person,
            new.areas.as_ref().map(JsonText::of).transpose()?,
            new.bindings.as_ref().map(JsonText::of).transpose()?,
            new.made_by,
            now,
            new.expires_at,
            new.speaks_as.as_str(),
            stands_for.as_ref().and_then(|person| person.role).map(Role::as_str),
            stands_for.as_ref().map(|person| JsonText::of(&person.opened)).transpose()?,
            stands_for.as_ref().map(|person| JsonText::of(&person.closed)).transpose()?,
            new.maker.name,
            new.maker.person,
            new.maker.key
        ],
    )?;
    if added == 0 {
        return Err(Error::NameTaken(new.name.clone()));
    }
    let text = add_secret(tx, id, random, now)?;
    let key = find(tx, id)?.ok_or_else(|| Error::Invalid(format!("key {id} can't be stored")))?;
    Ok(IssuedApiKey { key, text })
}

/// Holds the key that another is made with, so that nobody revokes it before the other is there to be revoked with it. One
/// that was revoked or removed makes none, whoever knew it as good until now.
fn lock_parent(tx: &mut Tx<'_>, parent: KeyId) -> Result<()> {
    let revoked_at: Option<Option<Timestamp>> = tx.optional(
        (
            "SELECT revoked_at FROM api_keys WHERE tenant_id = $1 AND id = $2",
            "SELECT revoked_at FROM api_keys WHERE tenant_id = $1 AND id = $2 FOR SHARE",
        ),
        params![parent],
        |row| row.get(0),
    )?;
    match revoked_at {
        Some(None) => Ok(()),
        Some(Some(_)) | None => {
            Err(Error::Invalid("the key that creates it was revoked: use another".to_owned()))
        }
    }
}

pub(super) fn check_name(name: &str) -> Result<()> {
    let fits = (1..=LONGEST_NAME).contains(&name.chars().count());
    if fits && name.trim() == name && !name.chars().any(is_invisible) {
        return Ok(());
    }
    Err(Error::Invalid("a key name must be 1 to 100 visible characters on one line".to_owned()))
}

/// Gives the person it stands for, held as they are.
fn check(tx: &mut Tx<'_>, new: &NewApiKey, now: Timestamp) -> Result<Option<Person>> {
    let invalid = |what: &str| Err(Error::Invalid(what.to_owned()));
    check_name(&new.name)?;
    if new.areas.as_ref().is_some_and(Vec::is_empty) {
        return invalid(
            "a key with an empty list of areas grants nothing: name an area, or omit the list for all",
        );
    }
    if new.bindings.as_ref().is_some_and(Vec::is_empty) {
        return invalid(
            "a key with an empty list of bindings grants nothing: name a binding, or omit the list for all",
        );
    }
    if new.expires_at.is_some_and(|end| end <= now) {
        return invalid("the key would already have expired: give a later time");
    }
    if let KeySubject::Person(id) = new.carries {
        match persons::lock_living(tx, id)? {
            Some(person) if person.id == id && person.left_at.is_none() => return Ok(Some(person)),
            Some(person) if person.id == id => return invalid("a person who has left can't have a key"),
            _ => return Err(Error::NoPerson(id)),
        }
    }
    Ok(None)
}

fn add_secret(tx: &mut Tx<'_>, key: KeyId, random: &dyn Random, now: Timestamp) -> Result<KeyText> {
    let text = KeyText::random(random);
    tx.execute(
        "INSERT INTO api_key_secrets (handle, tenant_id, key_id, hash, made_at) VALUES ($2, $1, $3, $4, $5)",
        params![text.handle(), key, text.hash().as_bytes(), now],
    )?;
    Ok(text)
}

pub fn find(tx: &mut Tx<'_>, id: KeyId) -> Result<Option<ApiKeyRecord>> {
    let key = tx.optional(
        "SELECT id, name, role, person_id, areas, bindings, speaks_as, ceiling, made_by, maker, made_at, expires_at,
           last_used_at, revoked_at
         FROM api_keys WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )?;
    key.map(|key| with_secrets(tx, key)).transpose()
}

/// The key of this name that was not revoked.
pub fn find_by_name(tx: &mut Tx<'_>, name: &str) -> Result<Option<ApiKeyRecord>> {
    let id: Option<KeyId> = tx.optional(
        "SELECT id FROM api_keys WHERE tenant_id = $1 AND name = $2 AND revoked_at IS NULL",
        params![name],
        |row| row.get(0),
    )?;
    id.map_or(Ok(None), |id| find(tx, id))
}

/// The key one of whose secrets begins so, such as `mk_4fGh7Kq2`: what a scanner or a log shows. A whole text will do.
pub fn find_by_handle(tx: &mut Tx<'_>, text: &str) -> Result<Option<ApiKeyRecord>> {
    let Some(handle) = KeyText::parse_handle(text) else { return Ok(None) };
    let id: Option<KeyId> = tx.optional(
        "SELECT key_id FROM api_key_secrets WHERE tenant_id = $1 AND handle = $2",
        params![handle],
        |row| row.get(0),
    )?;
    id.map_or(Ok(None), |id| find(tx, id))
}

/// Newest first or the other way round, those that were revoked or have ended too.
pub fn list(tx: &mut Tx<'_>, request: &PageRequest) -> Result<Page<ApiKeyRecord>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, name, role, person_id, areas, bindings, speaks_as, ceiling, made_by, maker, made_at, expires_at,
               last_used_at, revoked_at
             FROM api_keys WHERE tenant_id = $1 AND (made_at, id) < ($2, $3)
             ORDER BY made_at DESC, id DESC LIMIT $4"
        )),
        params![request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    let mut page = Page::from_rows(rows, request, |key| Cursor { time: key.made_at, id: key.id.as_uuid() });
    let keys = std::mem::take(&mut page.items);
    page.items = keys.into_iter().map(|key| with_secrets(tx, key)).collect::<Result<_>>()?;
    Ok(page)
}

/// Takes a key back with all that were made with it; none where there is no such. Other nodes stop knowing them within a
/// second or two; for this one use [`ApiKeyCache::revoke`](super::ApiKeyCache::revoke).
pub fn revoke(tx: &mut AdminTx<'_, '_>, id: KeyId, now: Timestamp) -> Result<Option<ApiKeyRevocation>> {
    revoke_with_children(tx, id, now)
}

pub(super) fn revoke_with_children(
    tx: &mut Tx<'_>,
    id: KeyId,
    now: Timestamp,
) -> Result<Option<ApiKeyRevocation>> {
    let changed = mark_revoked(tx, id, now)?;
    let Some(key) = find(tx, id)? else { return Ok(None) };
    let (mut made_with_it, mut parents) = (Vec::new(), vec![id]);
    while let Some(parent) = parents.pop() {
        for child in children(tx, parent)? {
            parents.push(child);
            if mark_revoked(tx, child, now)? {
                made_with_it.extend(find(tx, child)?);
            }
        }
    }
    Ok(Some(ApiKeyRevocation { key, changed, made_with_it }))
}

/// Whether a key is another itself or was made with it, so that revoking that one ends it too. The other has to be good still.
pub fn ends_with(tx: &mut Tx<'_>, id: KeyId, other: KeyId) -> Result<bool> {
    lock_parent(tx, other)?;
    Ok(id == other || children(tx, other)?.contains(&id))
}

fn mark_revoked(tx: &mut Tx<'_>, id: KeyId, now: Timestamp) -> Result<bool> {
    let changed = tx.execute(
        "UPDATE api_keys SET revoked_at = $3 WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL",
        params![id, now],
    )?;
    Ok(changed > 0)
}

/// Keys that were made with one, those that were revoked too: others may have been made with these. From before parents
/// were stored, those that name it as who made them.
fn children(tx: &mut Tx<'_>, parent: KeyId) -> Result<Vec<KeyId>> {
    Ok(tx.all(
        "SELECT id FROM api_keys WHERE tenant_id = $1 AND (parent = $2 OR (parent IS NULL AND made_by = $3)) ORDER BY id",
        params![parent, render_key_maker(parent)],
        |row| row.get(0),
    )?)
}

/// Takes back every key that somebody answers for; gives those that were good until now. Of a key that somebody rotated
/// since, the secret that they know ends before its grace does.
pub(crate) fn revoke_made_by(tx: &mut Tx<'_>, maker: &str, now: Timestamp) -> Result<Vec<ApiKeyRecord>> {
    let ids: Vec<KeyId> = tx.all(
        "SELECT id FROM api_keys WHERE tenant_id = $1 AND maker = $2 AND revoked_at IS NULL ORDER BY id",
        params![maker],
        |row| row.get(0),
    )?;
    let mut revoked = Vec::new();
    for id in ids {
        if let Some(one) = revoke_with_children(tx, id, now)? {
            revoked.extend(one.changed.then_some(one.key).into_iter().chain(one.made_with_it));
        }
    }
    tx.execute(
        "UPDATE api_key_secrets SET ends_at = $3 WHERE tenant_id = $1 AND maker = $2 AND ends_at > $3",
        params![maker, now],
    )?;
    Ok(revoked)
}

/// Whether two keys have a maker in common, now or before a rotation, or one was made with the other, through however many
/// keys. An id that is no key's, such as that of a browser, shares none; a key that was removed after it asked shares its
/// maker with every other.
pub fn has_common_maker(tx: &mut Tx<'_>, asked: KeyId, other: KeyId) -> munshi_store::Result<bool> {
    if asked == other {
        return Ok(true);
    }
    let others = collect_makers(tx, other)?;
    if others.is_empty() {
        return Ok(false);
    }
    let own = collect_makers(tx, asked)?;
    Ok(own.is_empty() || !own.is_disjoint(&others))
}

/// Whether keepers answer for a key: it was made with one of theirs, or it is none of the tenant's own.
pub fn has_keeper_maker(tx: &mut Tx<'_>, id: KeyId) -> munshi_store::Result<bool> {
    let makers = collect_makers(tx, id)?;
    Ok(makers.is_empty() || makers.iter().any(|maker| parse_keeper_maker(maker).is_some()))
}

/// How a key is named as the maker of another.
pub(super) fn render_key_maker(id: KeyId) -> String {
    format!("{KEY_AS_MAKER}{id}")
}

/// Everybody who ever answered for a key, it among them, and for the keys it was made with. Empty where there is no such key.
fn collect_makers(tx: &mut Tx<'_>, id: KeyId) -> munshi_store::Result<BTreeSet<String>> {
    let (mut all, mut open) = (BTreeSet::new(), vec![id]);
    while let Some(id) = open.pop() {
        let makers: Vec<String> = tx.all(
            "SELECT made_by FROM api_keys WHERE tenant_id = $1 AND id = $2
             UNION SELECT maker FROM api_keys WHERE tenant_id = $1 AND id = $2
             UNION SELECT maker FROM api_key_secrets WHERE tenant_id = $1 AND key_id = $2 AND maker IS NOT NULL",
            params![id],
            |row| row.get(0),
        )?;
        if makers.is_empty() {
            continue;
        }
        all.insert(render_key_maker(id));
        for maker in makers {
            let key: Option<KeyId> = maker.strip_prefix(KEY_AS_MAKER).and_then(|id| id.parse().ok());
            if all.insert(maker) {
                open.extend(key);
            }
        }
    }
    Ok(all)
}

/// Keys that are good and were never asked for whom they talk, made before they had to say it: in every tenant, through the keys' door.
pub fn list_assumed_speakers(
    tx: &mut PlatformTx<'_>,
    speaks_as: KeySpeaker,
    now: Timestamp,
) -> munshi_store::Result<Vec<(TenantId, String)>> {
    tx.all(
        across_tenants(
            "SELECT tenant_id, name FROM api_keys WHERE speaks_assumed AND speaks_as = $2 AND revoked_at IS NULL
               AND (expires_at IS NULL OR expires_at > $1) ORDER BY tenant_id, name LIMIT 1000",
        ),
        params![now, speaks_as.as_str()],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Takes a key away with its row: for one that was made for a single use, so that the list stays one of keys people made.
/// What it was stands in the audit.
pub fn remove(tx: &mut Tx<'_>, id: KeyId) -> Result<bool> {
    tx.execute("DELETE FROM api_key_secrets WHERE tenant_id = $1 AND key_id = $2", params![id])?;
    let removed = tx.execute("DELETE FROM api_keys WHERE tenant_id = $1 AND id = $2", params![id])?;
    Ok(removed > 0)
}

/// The same for all that have ended and whose name begins so: those that nobody came to take away.
pub fn remove_ended(tx: &mut Tx<'_>, beginning: &str, now: Timestamp) -> Result<u64> {
    let ended: Vec<KeyId> = tx.all(
        "SELECT id FROM api_keys WHERE tenant_id = $1 AND name LIKE $2
           AND (expires_at <= $3 OR revoked_at IS NOT NULL)",
        params![format!("{beginning}%"), now],
        |row| row.get(0),
    )?;
    let mut removed = 0;
    for id in ended {
        removed += u64::from(remove(tx, id)?);
    }
    Ok(removed)
}

/// Gives a key another secret. The one before opens for `grace` longer, so that programs can be changed over; with none
/// it ends at once. None where there is no such key, or it was revoked or has ended.
pub fn rotate(
    tx: &mut AdminTx<'_, '_>,
    random: &dyn Random,
    id: KeyId,
    grace: Duration,
    now: Timestamp,
) -> Result<Option<IssuedApiKey>> {
    let open: Option<KeyId> = tx.optional(
        (
            "SELECT id FROM api_keys WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL
               AND (expires_at IS NULL OR expires_at > $3)",
            "SELECT id FROM api_keys WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL
               AND (expires_at IS NULL OR expires_at > $3) FOR UPDATE",
        ),
        params![id, now],
        |row| row.get(0),
    )?;
    if open.is_none() {
        return Ok(None);
    }
    tx.execute(
        "UPDATE api_key_secrets SET ends_at = $3
         WHERE tenant_id = $1 AND key_id = $2 AND (ends_at IS NULL OR ends_at > $3)",
        params![id, now.plus(grace)],
    )?;
    let text = add_secret(tx, id, random, now)?;
    Ok(find(tx, id)?.map(|key| IssuedApiKey { key, text }))
}

/// Whoever was shown a new secret answers for the key from now on: it ends with what they are, not with what the maker was.
/// For the secrets from before, as long as their grace lasts, answers who did so until now.
pub fn transfer_maker(tx: &mut AdminTx<'_, '_>, id: KeyId, maker: &KeyMaker) -> Result<()> {
    tx.execute(
        "UPDATE api_key_secrets SET
           maker = (SELECT k.maker FROM api_keys k WHERE k.tenant_id = $1 AND k.id = $2),
           maker_person = (SELECT k.maker_person FROM api_keys k WHERE k.tenant_id = $1 AND k.id = $2)
         WHERE tenant_id = $1 AND key_id = $2 AND maker IS NULL AND ends_at IS NOT NULL",
        params![id],
    )?;
    tx.execute(
        "UPDATE api_keys SET maker = $3, maker_person = $4 WHERE tenant_id = $1 AND id = $2",
        params![id, maker.name, maker.person],
    )?;
    Ok(())
}

fn with_secrets(tx: &mut Tx<'_>, mut key: ApiKeyRecord) -> Result<ApiKeyRecord> {
    key.secrets = tx.all(
        "SELECT handle, made_at, ends_at FROM api_key_secrets WHERE tenant_id = $1 AND key_id = $2
         ORDER BY made_at DESC, handle",
        params![key.id],
        |row| Ok(KeySecret { handle: row.get(0)?, made_at: row.get(1)?, ends_at: row.get(2)? }),
    )?;
    Ok(key)
}

fn read(row: &Row<'_>) -> munshi_store::Result<ApiKeyRecord> {
    Ok(ApiKeyRecord {
        id: row.get("id")?,
        name: row.get("name")?,
        carries: read_subject(row)?,
        areas: row.get::<Option<JsonText>>("areas")?.map(|json| json.read()).transpose()?,
        bindings: row.get::<Option<JsonText>>("bindings")?.map(|json| json.read()).transpose()?,
        speaks_as: read_speaker(row)?,
        ceiling: read_ceiling(row)?,
        made_by: row.get("made_by")?,
        maker: row.get("maker")?,
        made_at: row.get("made_at")?,
        expires_at: row.get("expires_at")?,
        last_used_at: row.get("last_used_at")?,
        revoked_at: row.get("revoked_at")?,
        secrets: Vec::new(),
    })
}

pub(super) fn read_subject(row: &Row<'_>) -> munshi_store::Result<KeySubject> {
    let odd = |what: String| StoreError::Decode(what);
    match (row.get::<Option<String>>("role")?, row.get("person_id")?) {
        (Some(role), None) => {
            role.parse::<Role>().map(KeySubject::Role).map_err(|error| odd(error.to_string()))
        }
        (None, Some(person)) => Ok(KeySubject::Person(person)),
        _ => Err(odd("a key must have both a role and a person, or neither".to_owned())),
    }
}

pub(super) fn read_speaker(row: &Row<'_>) -> munshi_store::Result<KeySpeaker> {
    let text: String = row.get("speaks_as")?;
    text.parse().map_err(|error: super::KeySpeakerError| StoreError::Decode(error.to_string()))
}

pub(super) fn read_ceiling(row: &Row<'_>) -> munshi_store::Result<Option<Role>> {
    let text: Option<String> = row.get("ceiling")?;
    let odd = |error: crate::role::RoleError| StoreError::Decode(error.to_string());
    text.map(|text| text.parse().map_err(odd)).transpose()
}
