//! Answering with a code.

use munshi_store::{Db, Row, Tx, params};
use munshi_types::{CodeId, TenantId, Timestamp};

use super::request::{SHOWN_ADDRESS, check_asker};
use super::text::{CodeHashInput, CodeKey, CodeText};
use super::{ATTEMPTS, CodePurpose};
use crate::address::ContactAddress;
use crate::error::Error;

/// What somebody says the code is.
#[derive(Clone, Debug)]
pub struct CodeAttempt {
    pub purpose: CodePurpose,
    /// Who asked for it; see [`CodeRequest`](super::CodeRequest).
    pub asker: String,
    /// As they wrote it.
    pub text: String,
}

/// What a right code has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeProof {
    pub code: CodeId,
    pub purpose: CodePurpose,
    pub address: ContactAddress,
}

/// None of them tells whether the address is known to the tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeVerification<T> {
    /// The code is used up, and what was to be done about it is done.
    Right(T),
    /// They may try so many times more.
    Wrong {
        left: u32,
    },
    /// Its time is over, or another was asked for since.
    Expired,
    Used,
    /// It was answered wrong too often and is good for nothing, even by the right digits.
    TooMany,
    /// No code was asked for here.
    NotAsked,
    /// These are not six digits. It counts as no attempt.
    NoCode,
}

/// Answers with a code, and does in the same transaction what follows from a right one, such as a merge.
///
/// It has a unit of its own on purpose: a wrong answer is counted before anybody hears of it, and no error of the
/// caller's can undo the count. If `when_right` fails, all is undone and the code can be used again.
pub async fn verify<T, E, F>(
    db: &Db,
    tenant: TenantId,
    key: &CodeKey,
    attempt: CodeAttempt,
    now: Timestamp,
    when_right: F,
) -> Result<CodeVerification<T>, E>
where
    F: FnOnce(&mut Tx<'_>, CodeProof) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: From<munshi_store::Error> + From<Error> + Send + 'static,
{
    check_asker(&attempt.asker)?;
    let Some(text) = CodeText::parse(&attempt.text) else { return Ok(CodeVerification::NoCode) };
    let key = key.clone();
    db.write(tenant, move |tx| match check_attempt(tx, &key, &attempt, &text, now)? {
        CodeVerification::Right(proven) => when_right(tx, proven).map(CodeVerification::Right),
        CodeVerification::Wrong { left } => Ok(CodeVerification::Wrong { left }),
        CodeVerification::Expired => Ok(CodeVerification::Expired),
        CodeVerification::Used => Ok(CodeVerification::Used),
        CodeVerification::TooMany => Ok(CodeVerification::TooMany),
        CodeVerification::NotAsked => Ok(CodeVerification::NotAsked),
        CodeVerification::NoCode => Ok(CodeVerification::NoCode),
    })
    .await
}

struct Stored {
    id: CodeId,
    address: ContactAddress,
    hash: Vec<u8>,
    attempts: u32,
    expires_at: Timestamp,
    used_at: Option<Timestamp>,
}

fn check_attempt(
    tx: &mut Tx<'_>,
    key: &CodeKey,
    attempt: &CodeAttempt,
    text: &CodeText,
    now: Timestamp,
) -> munshi_store::Result<CodeVerification<CodeProof>> {
    let Some(stored) = lock_current(tx, attempt, now)? else { return Ok(CodeVerification::NotAsked) };
    if stored.used_at.is_some() {
        return Ok(CodeVerification::Used);
    }
    if stored.attempts >= ATTEMPTS {
        return Ok(CodeVerification::TooMany);
    }
    if stored.expires_at <= now {
        return Ok(CodeVerification::Expired);
    }
    let Stored { id, address, .. } = stored;
    let purpose = attempt.purpose;
    let ties = CodeHashInput { tenant: tx.tenant(), id, purpose, asker: &attempt.asker, address: &address };
    let right = key.matches(ties, text, &stored.hash);
    tx.execute(
        "UPDATE one_time_codes SET attempts = attempts + 1, used_at = $3 WHERE tenant_id = $1 AND id = $2",
        params![id, right.then_some(now)],
    )?;
    if right {
        return Ok(CodeVerification::Right(CodeProof { code: id, purpose, address }));
    }
    let left = ATTEMPTS.saturating_sub(stored.attempts).saturating_sub(1);
    Ok(if left == 0 { CodeVerification::TooMany } else { CodeVerification::Wrong { left } })
}

/// The code that counts: the good one, or the newest where none is. Held until the transaction ends: of two answers at once the second sees what the first did.
fn lock_current(
    tx: &mut Tx<'_>,
    attempt: &CodeAttempt,
    now: Timestamp,
) -> munshi_store::Result<Option<Stored>> {
    tx.optional(
        (
            "SELECT id, kind, address, shown, hash, attempts, expires_at, used_at FROM one_time_codes
             WHERE tenant_id = $1 AND asker = $2 AND purpose = $3
             ORDER BY CASE WHEN used_at IS NULL AND expires_at > $4 THEN 0 ELSE 1 END, made_at DESC, id DESC LIMIT 1",
            "SELECT id, kind, address, shown, hash, attempts, expires_at, used_at FROM one_time_codes
             WHERE tenant_id = $1 AND asker = $2 AND purpose = $3
             ORDER BY CASE WHEN used_at IS NULL AND expires_at > $4 THEN 0 ELSE 1 END, made_at DESC, id DESC LIMIT 1 FOR UPDATE",
        ),
        params![attempt.asker, attempt.purpose.as_str(), now],
        read,
    )
}

fn read(row: &Row<'_>) -> munshi_store::Result<Stored> {
    let odd = |what: &str| munshi_store::Error::Decode(what.to_owned());
    let id = row.get("id")?;
    let shown: Option<String> = row.get_sealed("shown", SHOWN_ADDRESS.cell(id))?;
    let text = shown.map_or_else(|| row.get("address"), Ok)?;
    let address = ContactAddress::from_stored(&row.get::<String>("kind")?, text);
    Ok(Stored {
        id,
        address: address.ok_or_else(|| odd("a code has an unknown address kind"))?,
        hash: row.get("hash")?,
        attempts: u32::try_from(row.get::<i64>("attempts")?)
            .map_err(|_| odd("a code has an invalid attempt count"))?,
        expires_at: row.get("expires_at")?,
        used_at: row.get("used_at")?,
    })
}
