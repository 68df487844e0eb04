//! Accounts as the store keeps them.

use munshi_store::{PlatformAdminTx, PlatformTx, Row, across_tenants, params};
use munshi_types::{IdGenerator, OperatorId, TenantId, Timestamp, is_invisible};

use super::{Operator, roles};
use crate::address::ContactAddress;
use crate::error::{Error, Result};
use crate::keys::ApiKeyRecord;
use crate::passwords::PasswordHash;
use crate::{links, sign_ins};

/// Longer ones don't fit a list.
const LONGEST_NAME: usize = 100;

/// An account to be made.
#[derive(Clone, Debug)]
pub struct NewOperator {
    pub email: String,
    pub name: String,
    pub password: Option<PasswordHash>,
    /// Who they are elsewhere: issuer and subject.
    pub elsewhere: Option<(String, String)>,
    pub keeper: bool,
    /// Comes by the first-run link; there is one at most.
    pub first: bool,
    /// Whether the e-mail is known to be theirs.
    pub proved: bool,
    /// The tenant whose invitation makes the account.
    pub home: Option<TenantId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddOperatorOutcome {
    Made(Operator),
    /// The e-mail has an account, or the first operator was made by somebody else meanwhile.
    Taken,
}

pub fn add(
    tx: &mut PlatformTx<'_>,
    ids: &IdGenerator,
    new: &NewOperator,
    now: Timestamp,
) -> Result<AddOperatorOutcome> {
    let (email, name) = (normalize_email(&new.email)?, validate_name(&new.name)?);
    let id: OperatorId = ids.next();
    let (issuer, subject) = new.elsewhere.clone().unzip();
    let rows = tx.execute(
        across_tenants(
            "INSERT INTO operators
               (id, email, name, password, issuer, subject, keeper, is_first, made_at, proved_at, home)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING",
        ),
        params![
            id,
            email,
            name,
            new.password.as_ref().map(|hash| hash.as_str().to_owned()),
            issuer,
            subject,
            new.keeper,
            new.first,
            now,
            new.proved.then_some(now),
            new.home
        ],
    )?;
    if rows == 0 {
        return Ok(AddOperatorOutcome::Taken);
    }
    let made = find(tx, id)?.ok_or_else(|| Error::Invalid(format!("account {id} can't be stored")))?;
    Ok(AddOperatorOutcome::Made(made))
}

/// As e-mails are compared.
pub(crate) fn normalize_email(email: &str) -> Result<String> {
    let address = ContactAddress::email(email).map_err(|error| Error::Invalid(error.to_string()))?;
    Ok(address.as_str().to_owned())
}

fn validate_name(name: &str) -> Result<String> {
    let name = name.trim();
    let fits = (1..=LONGEST_NAME).contains(&name.chars().count()) && !name.chars().any(is_invisible);
    if fits {
        return Ok(name.to_owned());
    }
    Err(Error::Invalid("a name must be 1 to 100 visible characters on one line".to_owned()))
}

pub fn find(tx: &mut PlatformTx<'_>, id: OperatorId) -> Result<Option<Operator>> {
    Ok(tx.optional(
        across_tenants(
            "SELECT id, email, name, keeper, password, proved_at, home, made_at FROM operators
             WHERE id = $1 AND removed_at IS NULL",
        ),
        params![id],
        read,
    )?)
}

/// None also for a text that is no e-mail.
pub fn find_by_email(tx: &mut PlatformTx<'_>, email: &str) -> Result<Option<Operator>> {
    let Ok(email) = normalize_email(email) else { return Ok(None) };
    Ok(tx.optional(
        across_tenants(
            "SELECT id, email, name, keeper, password, proved_at, home, made_at FROM operators
             WHERE email = $1 AND removed_at IS NULL",
        ),
        params![email],
        read,
    )?)
}

/// Whom another service knows by this id.
pub fn find_by_subject(tx: &mut PlatformTx<'_>, issuer: &str, subject: &str) -> Result<Option<Operator>> {
    Ok(tx.optional(
        across_tenants(
            "SELECT id, email, name, keeper, password, proved_at, home, made_at FROM operators
             WHERE issuer = $1 AND subject = $2 AND removed_at IS NULL",
        ),
        params![issuer, subject],
        read,
    )?)
}

/// Everybody with an account, by e-mail.
pub fn list(tx: &mut PlatformTx<'_>) -> Result<Vec<Operator>> {
    Ok(tx.all(
        across_tenants(
            "SELECT id, email, name, keeper, password, proved_at, home, made_at FROM operators
             WHERE removed_at IS NULL ORDER BY email LIMIT 10000",
        ),
        &[],
        read,
    )?)
}

/// Accounts that nobody has proved and that have roles in several tenants, or in all: from before that was asked.
pub fn list_unverified_in_several(tx: &mut PlatformTx<'_>) -> Result<Vec<Operator>> {
    Ok(tx.all(
        across_tenants(
            "SELECT id, email, name, keeper, password, proved_at, home, made_at FROM operators
             WHERE removed_at IS NULL AND proved_at IS NULL AND (keeper OR (
               SELECT COUNT(*) FROM operator_roles r WHERE r.operator_id = operators.id) > 1)
             ORDER BY email LIMIT 1000",
        ),
        &[],
        read,
    )?)
}

/// Whether there is any account: without one the first-run link is good.
pub fn has_any(tx: &mut PlatformTx<'_>) -> Result<bool> {
    let found: Option<OperatorId> = tx.optional(
        across_tenants("SELECT id FROM operators WHERE removed_at IS NULL LIMIT 1"),
        &[],
        |row| row.get(0),
    )?;
    Ok(found.is_some())
}

pub fn find_password(tx: &mut PlatformTx<'_>, id: OperatorId) -> Result<Option<PasswordHash>> {
    let text: Option<Option<String>> = tx.optional(
        across_tenants("SELECT password FROM operators WHERE id = $1 AND removed_at IS NULL"),
        params![id],
        |row| row.get(0),
    )?;
    Ok(text.flatten().map(PasswordHash::from_stored))
}

/// Holds the account until the transaction ends: what is read of its roles and its proof from here on stays so.
pub fn lock(tx: &mut PlatformTx<'_>, id: OperatorId) -> Result<()> {
    tx.optional(
        across_tenants((
            "SELECT id FROM operators WHERE id = $1",
            "SELECT id FROM operators WHERE id = $1 FOR UPDATE",
        )),
        params![id],
        |row| row.get::<OperatorId>(0),
    )?;
    Ok(())
}

/// Holds the account until the transaction ends, and says whether its password is still the one that was looked at: a proof
/// may have ended it while the slow hash was made. First in the transaction that writes by it.
pub fn lock_if_password_unchanged(
    tx: &mut PlatformTx<'_>,
    id: OperatorId,
    seen: Option<&PasswordHash>,
) -> Result<bool> {
    let text: Option<Option<String>> = tx.optional(
        across_tenants((
            "SELECT password FROM operators WHERE id = $1 AND removed_at IS NULL",
            "SELECT password FROM operators WHERE id = $1 AND removed_at IS NULL FOR UPDATE",
        )),
        params![id],
        |row| row.get(0),
    )?;
    Ok(text.is_some_and(|text| text.as_deref() == seen.map(PasswordHash::as_str)))
}

/// Also where there was none. Whoever was signed in stays so: see [`sign_ins::end_others`](crate::sign_ins::end_others).
pub fn set_password(tx: &mut PlatformTx<'_>, id: OperatorId, hash: &PasswordHash) -> Result<()> {
    tx.execute(
        across_tenants("UPDATE operators SET password = $2 WHERE id = $1 AND removed_at IS NULL"),
        params![id, hash.as_str()],
    )?;
    Ok(())
}

pub fn rename(tx: &mut PlatformTx<'_>, id: OperatorId, name: &str) -> Result<()> {
    let name = validate_name(name)?;
    tx.execute(
        across_tenants("UPDATE operators SET name = $2 WHERE id = $1 AND removed_at IS NULL"),
        params![id, name],
    )?;
    Ok(())
}

/// Notes that the account's e-mail is its holder's. The first time everything ends by which somebody else may have come in
/// before: the password, sign-ins and known browsers, and the links and keys they made. False where it was proved before.
pub fn mark_verified(tx: &mut PlatformTx<'_>, id: OperatorId, now: Timestamp) -> Result<bool> {
    Ok(mark_verified_revoking(tx, id, now)?.is_some())
}

/// [`mark_verified`], for who tells the audit of the keys too: gives those that were good until now; none where it was proved before.
pub fn mark_verified_revoking(
    tx: &mut PlatformTx<'_>,
    id: OperatorId,
    now: Timestamp,
) -> Result<Option<Vec<(TenantId, ApiKeyRecord)>>> {
    let rows = tx.execute(
        across_tenants(
            "UPDATE operators SET proved_at = $2, password = NULL
             WHERE id = $1 AND removed_at IS NULL AND proved_at IS NULL",
        ),
        params![id, now],
    )?;
    if rows == 0 {
        return Ok(None);
    }
    sign_ins::end_all(tx, id)?;
    tx.execute(across_tenants("DELETE FROM known_browsers WHERE operator_id = $1"), params![id])?;
    tx.execute(
        across_tenants(
            "UPDATE one_time_links SET ends_at = $2
             WHERE kind = 'recovery' AND operator_id = $1 AND used_at IS NULL AND ends_at > $2",
        ),
        params![id, now],
    )?;
    links::expire_made_by(tx, id, None, now)?;
    let Some(operator) = find(tx, id)? else { return Ok(None) };
    Ok(Some(roles::revoke_keys_everywhere(tx, &operator, now)?))
}

/// Whoever let somebody into the account may be the one who is in it: the e-mail is to be proved anew. Only in the tenant
/// whose owner can have let them in may the account rise before that, wherever it was made.
pub fn mark_unverified(tx: &mut PlatformTx<'_>, id: OperatorId) -> Result<()> {
    lock(tx, id)?;
    let home = match roles::list(tx, id)?.as_slice() {
        [(tenant, _)] => Some(*tenant),
        _ => None,
    };
    tx.execute(
        across_tenants("UPDATE operators SET proved_at = NULL, home = $2 WHERE id = $1"),
        params![id, home],
    )?;
    Ok(())
}

/// Lets somebody look after the installation; refused to an account that nobody has proved.
pub fn make_keeper(tx: &mut PlatformTx<'_>, id: OperatorId) -> Result<()> {
    // Held, so that nobody takes the proof back in between.
    lock(tx, id)?;
    if let Some(operator) = find(tx, id)?.filter(|operator| operator.proved_at.is_none()) {
        return Err(Error::Unproved(operator.email));
    }
    tx.execute(
        across_tenants("UPDATE operators SET keeper = TRUE WHERE id = $1 AND removed_at IS NULL"),
        params![id],
    )?;
    Ok(())
}

/// Remembers who an account is elsewhere. False where it is tied to somebody already, or somebody else has that id.
pub fn link_subject(tx: &mut PlatformTx<'_>, id: OperatorId, issuer: &str, subject: &str) -> Result<bool> {
    let rows = tx.execute(
        across_tenants(
            "UPDATE operators SET issuer = $2, subject = $3
             WHERE id = $1 AND removed_at IS NULL AND subject IS NULL AND NOT EXISTS (
               SELECT 1 FROM operators o WHERE o.issuer = $2 AND o.subject = $3 AND o.removed_at IS NULL)",
        ),
        params![id, issuer, subject],
    )?;
    Ok(rows > 0)
}

/// Closes an account for good: its sign-ins end, its links, invitations, keys and roles go, its e-mail is free again.
/// Gives the keys that were good until now; none where there is no such account.
pub fn remove(
    tx: &mut PlatformAdminTx<'_, '_>,
    id: OperatorId,
    now: Timestamp,
) -> Result<Option<Vec<(TenantId, ApiKeyRecord)>>> {
    let Some(operator) = find(tx, id)? else { return Ok(None) };
    let mut revoked = roles::revoke_keys_everywhere(tx, &operator, now)?;
    // A keeper was owner wherever they looked, without a row that says so.
    for workspace in roles::list_workspaces(tx, &operator)? {
        let tenant = workspace.tenant.id;
        let ended = roles::sync_person_role(tx, id, (tenant, None), now)?;
        revoked.extend(ended.into_iter().map(|key| (tenant, key)));
    }
    let rows = tx.execute(
        across_tenants(
            "UPDATE operators SET removed_at = $2, password = NULL WHERE id = $1 AND removed_at IS NULL",
        ),
        params![id, now],
    )?;
    if rows == 0 {
        return Ok(None);
    }
    tx.execute(across_tenants("DELETE FROM sign_ins WHERE operator_id = $1"), params![id])?;
    tx.execute(across_tenants("DELETE FROM known_browsers WHERE operator_id = $1"), params![id])?;
    for (tenant, _) in roles::list(tx, id)? {
        let lost = roles::revoke(tx, id, tenant, now)?;
        revoked.extend(lost.revoked.into_iter().map(|key| (tenant, key)));
    }
    links::expire_made_by(tx, id, None, now)?;
    tx.execute(
        across_tenants("UPDATE one_time_links SET ends_at = $2 WHERE operator_id = $1 AND ends_at > $2"),
        params![id, now],
    )?;
    Ok(Some(revoked))
}

pub(super) fn read(row: &Row<'_>) -> munshi_store::Result<Operator> {
    Ok(Operator {
        id: row.get("id")?,
        email: row.get("email")?,
        name: row.get("name")?,
        keeper: row.get("keeper")?,
        has_password: row.get::<Option<String>>("password")?.is_some(),
        proved_at: row.get("proved_at")?,
        home: row.get("home")?,
        made_at: row.get("made_at")?,
    })
}
