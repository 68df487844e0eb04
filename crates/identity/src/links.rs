//! One-time links: they let somebody in once. Those that open something at once end within a quarter of an hour; an
//! invitation waits some days for whoever it was sent to, and can be taken back.
//!
//! Looking at one uses nothing up, since programs that guard a mailbox look at links too. What is kept is a hash.

use std::time::Duration;

use munshi_store::{PlatformAdminTx, PlatformTx, Row, across_tenants, params};
use munshi_types::{IdGenerator, KeyId, LinkId, OperatorId, Random, TenantId, Timestamp};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::operators;
use crate::role::Role;
use crate::token::SecretToken;

/// A link for the first operator, or for another password, is good for so long.
pub const LIFE: Duration = Duration::from_secs(15 * 60);
/// An invitation is, unless the settings say otherwise.
pub const INVITATION_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Used and ended links are kept for so long, for whoever looks into abuse.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What a link is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LinkPurpose {
    /// Makes the first operator, a keeper. Good only while there is no operator.
    First,
    /// Lets somebody look after a tenant, or the whole installation where none is named.
    Invitation { email: String, place: InvitationScope },
    /// Lets somebody choose another password.
    Recovery { operator: OperatorId },
}

/// What somebody is invited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InvitationScope {
    /// Keeper of the installation.
    Everywhere,
    Workspace {
        tenant: TenantId,
        role: Role,
    },
}

/// A link as it is known: everything but its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OneTimeLink {
    pub id: LinkId,
    #[serde(flatten)]
    pub purpose: LinkPurpose,
    pub made_by: String,
    pub made_at: Timestamp,
    pub ends_at: Timestamp,
    pub used_at: Option<Timestamp>,
    /// When the installation's account mailed it to the e-mail that it is for; nobody else was shown it.
    #[serde(skip)]
    pub mailed_at: Option<Timestamp>,
}

impl OneTimeLink {
    /// Whether whoever brings it reads the mailbox that it is for.
    pub const fn proves_email(&self) -> bool {
        self.mailed_at.is_some()
    }

    pub fn is_open(&self, now: Timestamp) -> bool {
        self.used_at.is_none() && now < self.ends_at
    }
}

/// A link to be made.
#[derive(Clone, Debug)]
pub struct NewOneTimeLink<'a> {
    pub purpose: &'a LinkPurpose,
    /// Who makes it: [`render_maker`], [`render_key_maker`], or whoever keeps the installation.
    pub made_by: &'a str,
    pub life: Duration,
}

/// What the links of an operator are made by.
pub fn render_maker(operator: OperatorId) -> String {
    format!("operator {operator}")
}

const KEY_MAKER: &str = "api key ";

/// What the links of a tenant's API key are made by.
pub fn render_key_maker(key: KeyId) -> String {
    format!("{KEY_MAKER}{key}")
}

/// Makes a link. One for the first operator, or for the same person and purpose, ends those before it: of several, only
/// the last that was handed out is good.
pub fn make(
    tx: &mut PlatformTx<'_>,
    ids: &IdGenerator,
    random: &dyn Random,
    new: &NewOneTimeLink<'_>,
    now: Timestamp,
) -> Result<(OneTimeLink, SecretToken)> {
    let columns = Columns::from_purpose(new.purpose)?;
    expire_previous(tx, &columns, now)?;
    let (id, token): (LinkId, _) = (ids.next(), SecretToken::random(random));
    tx.execute(
        across_tenants(
            "INSERT INTO one_time_links
               (hash, id, kind, email, operator_id, workspace, role, made_by, made_at, ends_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        ),
        params![
            token.hash(),
            id,
            columns.kind,
            columns.email,
            columns.operator,
            columns.tenant,
            columns.role,
            new.made_by,
            now,
            now.plus(new.life)
        ],
    )?;
    let link = find(tx, &token)?.ok_or_else(|| Error::Invalid("the link can't be stored".to_owned()))?;
    Ok((link, token))
}

struct Columns {
    kind: &'static str,
    email: Option<String>,
    operator: Option<OperatorId>,
    tenant: Option<TenantId>,
    role: Option<&'static str>,
}

impl Columns {
    fn from_purpose(purpose: &LinkPurpose) -> Result<Self> {
        let none = Self { kind: "first", email: None, operator: None, tenant: None, role: None };
        Ok(match purpose {
            LinkPurpose::First => none,
            LinkPurpose::Recovery { operator } => {
                Self { kind: "recovery", operator: Some(*operator), ..none }
            }
            LinkPurpose::Invitation { email, place } => {
                let email = Some(operators::normalize_email(email)?);
                let (tenant, role) = match place {
                    InvitationScope::Everywhere => (None, None),
                    InvitationScope::Workspace { tenant, role } => (Some(*tenant), Some(role.as_str())),
                };
                Self { kind: "invitation", email, tenant, role, ..none }
            }
        })
    }
}

fn expire_previous(tx: &mut PlatformTx<'_>, columns: &Columns, now: Timestamp) -> Result<()> {
    tx.execute(
        across_tenants(
            "UPDATE one_time_links SET ends_at = $5
             WHERE kind = $1 AND used_at IS NULL AND ends_at > $5
               AND COALESCE(email, '') = $2
               AND (operator_id = $3 OR (operator_id IS NULL AND $3 IS NULL))
               AND (workspace = $4 OR (workspace IS NULL AND $4 IS NULL))",
        ),
        params![
            columns.kind,
            columns.email.clone().unwrap_or_default(),
            columns.operator,
            columns.tenant,
            now
        ],
    )?;
    Ok(())
}

/// The link of a token, whatever became of it.
pub fn find(tx: &mut PlatformTx<'_>, token: &SecretToken) -> Result<Option<OneTimeLink>> {
    Ok(tx.optional(
        across_tenants(
            "SELECT id, kind, email, operator_id, workspace, role, made_by, made_at, ends_at, used_at, mailed_at
             FROM one_time_links WHERE hash = $1",
        ),
        params![token.hash()],
        read,
    )?)
}

/// Notes that a link went by the installation's account to whom it is for, and was shown to nobody.
pub fn mark_mailed(tx: &mut PlatformTx<'_>, id: LinkId, now: Timestamp) -> Result<()> {
    tx.execute(
        across_tenants("UPDATE one_time_links SET mailed_at = $2 WHERE id = $1 AND used_at IS NULL"),
        params![id, now],
    )?;
    Ok(())
}

/// How many links somebody has made since then, whatever became of them.
pub fn count_made_by(tx: &mut PlatformTx<'_>, made_by: &str, since: Timestamp) -> Result<i64> {
    Ok(tx.one(
        across_tenants("SELECT count(*) FROM one_time_links WHERE made_by = $1 AND made_at > $2"),
        params![made_by, since],
        |row| row.get(0),
    )?)
}

/// How many invitations to a tenant were made since then, by whomever: each of its keys is somebody of its own.
pub fn count_invitations(tx: &mut PlatformTx<'_>, tenant: TenantId, since: Timestamp) -> Result<i64> {
    Ok(tx.one(
        across_tenants("SELECT count(*) FROM one_time_links WHERE workspace = $1 AND made_at > $2"),
        params![tenant, since],
        |row| row.get(0),
    )?)
}

/// Uses a link up, in the transaction of what it lets somebody do. False where it was used, or its time is over: of two at
/// once, one hears so.
pub fn redeem(tx: &mut PlatformTx<'_>, id: LinkId, now: Timestamp) -> Result<bool> {
    let rows = tx.execute(
        across_tenants(
            "UPDATE one_time_links SET used_at = $2 WHERE id = $1 AND used_at IS NULL AND ends_at > $2",
        ),
        params![id, now],
    )?;
    Ok(rows > 0)
}

/// Every invitation that is open, to whatever place, the newest first.
pub fn list_all_invitations(tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<Vec<OneTimeLink>> {
    Ok(tx.all(
        across_tenants(
            "SELECT id, kind, email, operator_id, workspace, role, made_by, made_at, ends_at, used_at, mailed_at
             FROM one_time_links
             WHERE kind = 'invitation' AND used_at IS NULL AND ends_at > $1
             ORDER BY made_at DESC, id DESC LIMIT 1000",
        ),
        params![now],
        read,
    )?)
}

/// Invitations to a tenant that are open, the newest first.
pub fn list_invitations(
    tx: &mut PlatformTx<'_>,
    tenant: TenantId,
    now: Timestamp,
) -> Result<Vec<OneTimeLink>> {
    Ok(tx.all(
        across_tenants(
            "SELECT id, kind, email, operator_id, workspace, role, made_by, made_at, ends_at, used_at, mailed_at
             FROM one_time_links
             WHERE workspace = $1 AND used_at IS NULL AND ends_at > $2 ORDER BY made_at DESC, id DESC LIMIT 200",
        ),
        params![tenant, now],
        read,
    )?)
}

/// Takes back an invitation to a tenant. False where there is no such that is open.
pub fn withdraw(
    tx: &mut PlatformAdminTx<'_, '_>,
    tenant: TenantId,
    id: LinkId,
    now: Timestamp,
) -> Result<bool> {
    let rows = tx.execute(
        across_tenants(
            "UPDATE one_time_links SET ends_at = $3
             WHERE id = $1 AND workspace = $2 AND used_at IS NULL AND ends_at > $3",
        ),
        params![id, tenant, now],
    )?;
    Ok(rows > 0)
}

/// Takes back every open invitation of an e-mail, wherever it leads; gives those that were open.
pub fn withdraw_all(
    tx: &mut PlatformAdminTx<'_, '_>,
    email: &str,
    now: Timestamp,
) -> Result<Vec<OneTimeLink>> {
    let email = operators::normalize_email(email)?;
    let mut open = list_all_invitations(tx, now)?;
    open.retain(
        |link| matches!(&link.purpose, LinkPurpose::Invitation { email: invited, .. } if *invited == email),
    );
    tx.execute(
        across_tenants(
            "UPDATE one_time_links SET ends_at = $2
             WHERE kind = 'invitation' AND email = $1 AND used_at IS NULL AND ends_at > $2",
        ),
        params![email, now],
    )?;
    Ok(open)
}

/// Ends the open links that a keeper's key has made; gives them.
pub fn withdraw_made_by(
    tx: &mut PlatformAdminTx<'_, '_>,
    made_by: &str,
    now: Timestamp,
) -> Result<Vec<OneTimeLink>> {
    let open = tx.all(
        across_tenants(
            "SELECT id, kind, email, operator_id, workspace, role, made_by, made_at, ends_at, used_at, mailed_at
             FROM one_time_links WHERE made_by = $1 AND used_at IS NULL AND ends_at > $2 ORDER BY id",
        ),
        params![made_by, now],
        read,
    )?;
    tx.execute(
        across_tenants(
            "UPDATE one_time_links SET ends_at = $2 WHERE made_by = $1 AND used_at IS NULL AND ends_at > $2",
        ),
        params![made_by, now],
    )?;
    Ok(open)
}

/// Who has made a link, as far as it ends with what they may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkMaker {
    /// Whoever has the machine, or a keeper's key: its links are ended when it is revoked.
    Keeper,
    Operator(OperatorId),
    /// A tenant's API key.
    Key(KeyId),
}

impl LinkMaker {
    /// Back from [`render_maker`] and [`render_key_maker`]; any other name is of somebody at the machine.
    pub fn parse(by: &str) -> Self {
        if let Some(operator) = parse_maker(by) {
            return Self::Operator(operator);
        }
        match by.strip_prefix(KEY_MAKER).and_then(|id| id.parse().ok()) {
            Some(key) => Self::Key(key),
            None => Self::Keeper,
        }
    }
}

/// Back from [`render_maker`].
pub(crate) fn parse_maker(by: &str) -> Option<OperatorId> {
    by.strip_prefix("operator ")?.parse().ok()
}

/// Ends the open links that an operator has made: invitations to one tenant or to all, and every recovery. What they may
/// not do any more, nobody does in their name.
pub(crate) fn expire_made_by(
    tx: &mut PlatformTx<'_>,
    operator: OperatorId,
    tenant: Option<TenantId>,
    now: Timestamp,
) -> Result<()> {
    tx.execute(
        across_tenants(
            "UPDATE one_time_links SET ends_at = $3
             WHERE made_by = $1 AND (workspace = $2 OR $2 IS NULL OR kind = 'recovery')
               AND used_at IS NULL AND ends_at > $3",
        ),
        params![render_maker(operator), tenant, now],
    )?;
    Ok(())
}

/// Removes what ended a week ago; for the nightly job.
pub fn sweep(tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<u64> {
    Ok(tx
        .execute(across_tenants("DELETE FROM one_time_links WHERE ends_at < $1"), params![now.minus(KEPT)])?)
}

fn read(row: &Row<'_>) -> munshi_store::Result<OneTimeLink> {
    let odd = |what: &str| munshi_store::Error::Decode(format!("a one-time link {what}"));
    let kind: String = row.get("kind")?;
    let purpose = match kind.as_str() {
        "first" => LinkPurpose::First,
        "recovery" => {
            let operator = row.get::<Option<OperatorId>>("operator_id")?;
            LinkPurpose::Recovery { operator: operator.ok_or_else(|| odd("without an operator"))? }
        }
        "invitation" => {
            let place = match (row.get("workspace")?, row.get::<Option<String>>("role")?) {
                (Some(tenant), Some(role)) => {
                    let role = role.parse().map_err(|_| odd("with an unknown role"))?;
                    InvitationScope::Workspace { tenant, role }
                }
                (None, None) => InvitationScope::Everywhere,
                _ => return Err(odd("with an incomplete target")),
            };
            let email: Option<String> = row.get("email")?;
            LinkPurpose::Invitation { email: email.ok_or_else(|| odd("without an e-mail"))?, place }
        }
        other => return Err(odd(&format!("of unknown kind {other}"))),
    };
    Ok(OneTimeLink {
        id: row.get("id")?,
        purpose,
        made_by: row.get("made_by")?,
        made_at: row.get("made_at")?,
        ends_at: row.get("ends_at")?,
        used_at: row.get("used_at")?,
        mailed_at: row.get("mailed_at")?,
    })
}
