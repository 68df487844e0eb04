//! Sign-ins: browsers in which an operator is signed in.
//!
//! A browser holds a random token in a cookie; the store has its hash. A sign-in ends when nobody came for a while, at the
//! latest after its whole life, or when somebody ends it. Every coming in makes another token, so one that was planted in
//! a browser before is good for nothing after.

use std::time::Duration;

use munshi_store::{PlatformTx, Row, across_tenants, params};
use munshi_types::{IdGenerator, OperatorId, Random, SignInId, TenantId, Timestamp};
use serde::Serialize;

use crate::error::Result;
use crate::operators::{self, Operator};
use crate::token::SecretToken;

/// Without a request for so long, it ends.
pub const IDLE: Duration = Duration::from_secs(24 * 60 * 60);
/// It ends after so long whatever happens.
pub const LIFE: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// When somebody was seen is right to so long.
const NOTED_EVERY: Duration = Duration::from_secs(60);
/// More browsers at once than anybody has; the oldest goes.
const MOST: i64 = 50;
/// So long a browser in which somebody has signed in is known.
pub const KNOWN: Duration = Duration::from_secs(180 * 24 * 60 * 60);

/// How somebody came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SignInMethod {
    Password,
    /// A one-time link.
    Link,
    /// Another service said who they are.
    Oidc,
}

impl SignInMethod {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Link => "link",
            Self::Oidc => "oidc",
        }
    }
}

/// From where somebody comes in, for the list of their browsers. Both are cut to what a list shows.
#[derive(Clone, Debug, Default)]
pub struct SignInOrigin {
    pub address: String,
    pub browser: String,
}

/// A sign-in as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignIn {
    pub id: SignInId,
    pub operator: OperatorId,
    /// The tenant whose pages were opened last.
    pub workspace: Option<TenantId>,
    pub how: SignInMethod,
    pub address: String,
    pub browser: String,
    pub made_at: Timestamp,
    /// Right to about a minute.
    pub seen_at: Timestamp,
    pub ends_at: Timestamp,
}

impl SignIn {
    fn is_open(&self, now: Timestamp) -> bool {
        now < self.ends_at && now.since(self.seen_at) < IDLE
    }
}

/// Somebody has come in. The token goes into the cookie and is nowhere else.
pub fn begin(
    tx: &mut PlatformTx<'_>,
    ids: &IdGenerator,
    random: &dyn Random,
    operator: OperatorId,
    (how, from): (SignInMethod, &SignInOrigin),
    now: Timestamp,
) -> Result<(SignInId, SecretToken)> {
    let (id, token): (SignInId, _) = (ids.next(), SecretToken::random(random));
    let cut = |text: &str| text.chars().filter(|c| !c.is_control()).take(200).collect::<String>();
    tx.execute(
        across_tenants(
            "INSERT INTO sign_ins (hash, id, operator_id, how, address, browser, made_at, seen_at, ends_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8)",
        ),
        params![
            token.hash(),
            id,
            operator,
            how.as_str(),
            cut(&from.address),
            cut(&from.browser),
            now,
            now.plus(LIFE)
        ],
    )?;
    tx.execute(
        across_tenants(
            "DELETE FROM sign_ins WHERE operator_id = $1 AND id NOT IN (
               SELECT id FROM sign_ins WHERE operator_id = $1 ORDER BY made_at DESC, id DESC LIMIT $2)",
        ),
        params![operator, MOST],
    )?;
    Ok((id, token))
}

/// Who is signed in with this token; none where it ended.
pub fn find(
    tx: &mut PlatformTx<'_>,
    token: &SecretToken,
    now: Timestamp,
) -> Result<Option<(SignIn, Operator)>> {
    let found = tx.optional(
        across_tenants(
            "SELECT id, operator_id, workspace, how, address, browser, made_at, seen_at, ends_at
             FROM sign_ins WHERE hash = $1",
        ),
        params![token.hash()],
        read,
    )?;
    let Some(sign_in) = found.filter(|sign_in| sign_in.is_open(now)) else { return Ok(None) };
    let operator = operators::find(tx, sign_in.operator)?;
    Ok(operator.map(|operator| (sign_in, operator)))
}

/// Whether it should be written down that somebody was here.
pub fn should_record_seen(sign_in: &SignIn, now: Timestamp) -> bool {
    sign_in.seen_at < now && now.since(sign_in.seen_at) >= NOTED_EVERY
}

pub fn record_seen(tx: &mut PlatformTx<'_>, id: SignInId, now: Timestamp) -> Result<()> {
    tx.execute(
        across_tenants("UPDATE sign_ins SET seen_at = $2 WHERE id = $1 AND seen_at < $2"),
        params![id, now],
    )?;
    Ok(())
}

/// Which tenant's pages are open in a browser.
pub fn set_workspace(tx: &mut PlatformTx<'_>, id: SignInId, workspace: TenantId) -> Result<()> {
    tx.execute(across_tenants("UPDATE sign_ins SET workspace = $2 WHERE id = $1"), params![id, workspace])?;
    Ok(())
}

/// Gives a sign-in another token; the one before is good for nothing. None where it ended meanwhile.
pub fn rotate(tx: &mut PlatformTx<'_>, id: SignInId, random: &dyn Random) -> Result<Option<SecretToken>> {
    let token = SecretToken::random(random);
    let rows =
        tx.execute(across_tenants("UPDATE sign_ins SET hash = $2 WHERE id = $1"), params![id, token.hash()])?;
    Ok((rows > 0).then_some(token))
}

/// Those of somebody that are open, the last seen first.
pub fn list(tx: &mut PlatformTx<'_>, operator: OperatorId, now: Timestamp) -> Result<Vec<SignIn>> {
    let mut found = tx.all(
        across_tenants(
            "SELECT id, operator_id, workspace, how, address, browser, made_at, seen_at, ends_at
             FROM sign_ins WHERE operator_id = $1 ORDER BY seen_at DESC, id DESC",
        ),
        params![operator],
        read,
    )?;
    found.retain(|sign_in| sign_in.is_open(now));
    Ok(found)
}

/// Whether one of somebody's own is there still, for who writes by it: after the account is held
/// ([`operators::lock_if_password_unchanged`]), nobody ends it meanwhile.
pub fn exists(tx: &mut PlatformTx<'_>, operator: OperatorId, id: SignInId) -> Result<bool> {
    let found: Option<SignInId> = tx.optional(
        across_tenants("SELECT id FROM sign_ins WHERE operator_id = $1 AND id = $2"),
        params![operator, id],
        |row| row.get(0),
    )?;
    Ok(found.is_some())
}

/// Ends one of somebody's own. False where there is no such.
pub fn end(tx: &mut PlatformTx<'_>, operator: OperatorId, id: SignInId) -> Result<bool> {
    let rows = tx.execute(
        across_tenants("DELETE FROM sign_ins WHERE operator_id = $1 AND id = $2"),
        params![operator, id],
    )?;
    Ok(rows > 0)
}

/// Ends all of somebody's but one; says how many.
pub fn end_others(tx: &mut PlatformTx<'_>, operator: OperatorId, keep: SignInId) -> Result<u64> {
    Ok(tx.execute(
        across_tenants("DELETE FROM sign_ins WHERE operator_id = $1 AND id <> $2"),
        params![operator, keep],
    )?)
}

pub fn end_all(tx: &mut PlatformTx<'_>, operator: OperatorId) -> Result<u64> {
    Ok(tx.execute(across_tenants("DELETE FROM sign_ins WHERE operator_id = $1"), params![operator])?)
}

/// Remembers a browser in which somebody has signed in.
pub fn remember_browser(
    tx: &mut PlatformTx<'_>,
    random: &dyn Random,
    operator: OperatorId,
    now: Timestamp,
) -> Result<SecretToken> {
    let token = SecretToken::random(random);
    tx.execute(
        across_tenants("INSERT INTO known_browsers (hash, operator_id, ends_at) VALUES ($1, $2, $3)"),
        params![token.hash(), operator, now.plus(KNOWN)],
    )?;
    Ok(token)
}

/// Whether somebody has signed in from this browser before.
pub fn is_known_browser(
    tx: &mut PlatformTx<'_>,
    token: &SecretToken,
    operator: OperatorId,
    now: Timestamp,
) -> Result<bool> {
    let found: Option<OperatorId> = tx.optional(
        across_tenants("SELECT operator_id FROM known_browsers WHERE hash = $1 AND ends_at > $2"),
        params![token.hash(), now],
        |row| row.get(0),
    )?;
    Ok(found == Some(operator))
}

/// Removes what has ended; for the nightly job.
pub fn sweep(tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<u64> {
    tx.execute(across_tenants("DELETE FROM known_browsers WHERE ends_at <= $1"), params![now])?;
    Ok(tx.execute(
        across_tenants("DELETE FROM sign_ins WHERE ends_at <= $1 OR seen_at <= $2"),
        params![now, now.minus(IDLE)],
    )?)
}

fn read(row: &Row<'_>) -> munshi_store::Result<SignIn> {
    let how = match row.get::<String>("how")?.as_str() {
        "password" => SignInMethod::Password,
        "link" => SignInMethod::Link,
        "oidc" => SignInMethod::Oidc,
        other => return Err(munshi_store::Error::Decode(format!("unknown sign-in method {other}"))),
    };
    Ok(SignIn {
        id: row.get("id")?,
        operator: row.get("operator_id")?,
        workspace: row.get("workspace")?,
        how,
        address: row.get("address")?,
        browser: row.get("browser")?,
        made_at: row.get("made_at")?,
        seen_at: row.get("seen_at")?,
        ends_at: row.get("ends_at")?,
    })
}
