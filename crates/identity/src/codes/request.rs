//! Asking for a code.

use std::time::Duration;

use munshi_store::{SealedBy, SealedColumn, Tx, params};
use munshi_types::{CodeId, IdGenerator, Random, Timestamp};

use super::text::{CodeHashInput, CodeKey, CodeText};
use super::{CodePurpose, DAY, LIFE, PER_ADDRESS, PER_ADDRESS_DAY, PER_ASKER, PER_TENANT, SPAN};
use crate::address::ContactAddress;
use crate::error::{Error, Result};
use crate::persons::AddressKey;

pub(crate) const SHOWN_ADDRESS: SealedColumn = SealedColumn::new("one_time_codes", "shown");

/// Longer than any id of a conversation or sign-in.
const LONGEST_ASKER: usize = 200;

/// Codes are kept for a day after they were made: so long they are counted, and for whoever looks into abuse.
const KEPT: Duration = DAY;

/// Who wants which address proved, and what for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeRequest {
    pub purpose: CodePurpose,
    /// The conversation or sign-in that asks, by an id that others can't guess.
    pub asker: String,
    pub address: ContactAddress,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeRequestOutcome {
    /// Send it, and commit. What was asked for before, for this purpose, is good for nothing now.
    Made(NewCode),
    /// Nothing was made. The same for every address, known or not.
    TooMany { again_at: Timestamp },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCode {
    pub id: CodeId,
    pub text: CodeText,
    pub expires_at: Timestamp,
}

/// Makes a code, unless the address, the asker or the tenant has had too many. It leaves through an outbox in this transaction, so
/// that none is counted that was never sent.
pub fn request(
    tx: &mut Tx<'_>,
    key: &CodeKey,
    ids: &IdGenerator,
    random: &dyn Random,
    wish: &CodeRequest,
    now: Timestamp,
) -> Result<CodeRequestOutcome> {
    check_asker(&wish.asker)?;
    lock_requesters(tx, wish, now)?;
    if let Some(again_at) = find_retry_time(tx, wish, now)? {
        return Ok(CodeRequestOutcome::TooMany { again_at });
    }
    tx.execute(
        "UPDATE one_time_codes SET expires_at = $4
         WHERE tenant_id = $1 AND asker = $2 AND purpose = $3 AND used_at IS NULL AND expires_at > $4",
        params![wish.asker, wish.purpose.as_str(), now],
    )?;
    let new = NewCode { id: ids.next(), text: CodeText::random(random), expires_at: now.plus(LIFE) };
    let CodeRequest { purpose, asker, address } = wish;
    let ties = CodeHashInput { tenant: tx.tenant(), id: new.id, purpose: *purpose, asker, address };
    let found_by = AddressKey::of(tx, address)?;
    let mailbox = AddressKey::of(tx, &address.mailbox())?.hashed;
    // Whose it is, if anybody's, is not known here.
    let shown = tx.seal(SealedBy::Tenant, SHOWN_ADDRESS.cell(new.id), address.as_str())?;
    tx.execute(
        "INSERT INTO one_time_codes
           (tenant_id, id, purpose, asker, kind, address, hash, attempts, made_at, expires_at, shown, mailbox)
         VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10, $11)",
        params![
            new.id,
            purpose.as_str(),
            asker,
            found_by.kind,
            found_by.hashed,
            key.hash(ties, &new.text),
            now,
            new.expires_at,
            shown,
            mailbox
        ],
    )?;
    Ok(CodeRequestOutcome::Made(new))
}

/// Takes back a code that surely reached nobody: it counts for nobody.
pub fn withdraw(tx: &mut Tx<'_>, code: CodeId) -> munshi_store::Result<()> {
    tx.execute("DELETE FROM one_time_codes WHERE tenant_id = $1 AND id = $2", params![code])?;
    Ok(())
}

pub(super) fn check_asker(asker: &str) -> Result<()> {
    let fits = (1..=LONGEST_ASKER).contains(&asker.len()) && !asker.chars().any(char::is_control);
    if fits {
        Ok(())
    } else {
        Err(Error::Invalid("the id of a code's requester must be 1 to 200 bytes long".to_owned()))
    }
}

/// Holds the mailbox's row and the asker's until the transaction ends, always in the same order.
fn lock_requesters(tx: &mut Tx<'_>, wish: &CodeRequest, now: Timestamp) -> Result<()> {
    let address = AddressKey::of(tx, &wish.address.mailbox())?;
    let mut whose = [render_asker(&wish.asker), format!("{} {}", address.kind, address.hashed)];
    whose.sort();
    for one in whose {
        tx.execute(
            "INSERT INTO code_turns (tenant_id, whose, asked_at) VALUES ($1, $2, $3)
             ON CONFLICT (tenant_id, whose) DO UPDATE SET asked_at = excluded.asked_at",
            params![one, now],
        )?;
    }
    Ok(())
}

/// When the next may be asked for, if not now.
fn find_retry_time(tx: &mut Tx<'_>, wish: &CodeRequest, now: Timestamp) -> Result<Option<Timestamp>> {
    let since = now.minus(SPAN);
    let address = AddressKey::of(tx, &wish.address)?;
    let mailbox = AddressKey::of(tx, &wish.address.mailbox())?.hashed;
    let of_day: Vec<Timestamp> = tx.all(
        "SELECT made_at FROM one_time_codes
         WHERE tenant_id = $1 AND kind = $2 AND (address IN ($3, $4) OR mailbox = $7) AND made_at > $5
         ORDER BY made_at DESC LIMIT $6",
        params![address.kind, address.hashed, address.plain, now.minus(DAY), PER_ADDRESS_DAY, mailbox],
        |row| row.get(0),
    )?;
    let of_address: Vec<Timestamp> =
        of_day.iter().copied().filter(|at| *at > since).take(PER_ADDRESS as usize).collect();
    let of_asker: Vec<Timestamp> = tx.all(
        "SELECT made_at FROM one_time_codes WHERE tenant_id = $1 AND asker = $2 AND made_at > $3
         ORDER BY made_at DESC LIMIT $4",
        params![wish.asker, since, PER_ASKER],
        |row| row.get(0),
    )?;
    let of_tenant: Vec<Timestamp> = tx.all(
        "SELECT made_at FROM one_time_codes WHERE tenant_id = $1 AND purpose = $2 AND made_at > $3
         ORDER BY made_at DESC LIMIT $4",
        params![wish.purpose.as_str(), since, PER_TENANT],
        |row| row.get(0),
    )?;
    let full = |times: &[Timestamp], most: u32, span: Duration| {
        let oldest = times.last().filter(|_| times.len() >= most as usize);
        oldest.map(|oldest| oldest.plus(span))
    };
    let of_hour = full(&of_address, PER_ADDRESS, SPAN).max(full(&of_asker, PER_ASKER, SPAN));
    let of_hour = of_hour.max(full(&of_tenant, PER_TENANT, SPAN));
    Ok(of_hour.max(full(&of_day, PER_ADDRESS_DAY, DAY)))
}

/// Removes the codes that a conversation or sign-in asked for, with what counts them: whose it was is forgotten.
pub fn delete_of_asker(tx: &mut Tx<'_>, asker: &str) -> munshi_store::Result<u64> {
    tx.execute(
        "DELETE FROM code_turns WHERE tenant_id = $1 AND (whose = $2 OR whose IN (
           SELECT c.kind || ' ' || COALESCE(c.mailbox, c.address) FROM one_time_codes c WHERE c.tenant_id = $1 AND c.asker = $3))",
        params![render_asker(asker), asker],
    )?;
    tx.execute("DELETE FROM one_time_codes WHERE tenant_id = $1 AND asker = $2", params![asker])
}

fn render_asker(asker: &str) -> String {
    format!("asker {asker}")
}

/// Removes what is older than a day, in a unit of its own; says how many codes. For the nightly job of each tenant.
pub fn sweep(tx: &mut Tx<'_>, now: Timestamp) -> Result<u64> {
    let before = now.minus(KEPT);
    tx.execute(
        (
            "DELETE FROM code_turns WHERE tenant_id = $1 AND asked_at < $2",
            "DELETE FROM code_turns WHERE tenant_id = $1 AND whose IN (
               SELECT whose FROM code_turns WHERE tenant_id = $1 AND asked_at < $2 FOR UPDATE SKIP LOCKED)",
        ),
        params![before],
    )?;
    Ok(tx.execute(
        (
            "DELETE FROM one_time_codes WHERE tenant_id = $1 AND made_at < $2",
            "DELETE FROM one_time_codes WHERE tenant_id = $1 AND id IN (
               SELECT id FROM one_time_codes WHERE tenant_id = $1 AND made_at < $2 FOR UPDATE SKIP LOCKED)",
        ),
        params![before],
    )?)
}
