//! What the store knows of accounts whose providers are asked.

use munshi_jobs::JobQueue;
use munshi_store::{
    PlatformScope, PlatformTx, Result, RowId, SealedBy, SealedCell, SealedColumn, SealedText, Tx,
    across_tenants, params,
};
use munshi_types::tier::Channel;
use munshi_types::{IdGenerator, LeaseId, TenantId, Timestamp};

use crate::accounts::{ChannelAccount, ChannelAccountName, ChannelAccounts};
use crate::incoming::rows::{StoredArrivals, store};
use crate::link::PolledEvents;

/// Finding the accounts of every tenant that are asked.
pub const CHANNEL_LISTENING: PlatformScope = PlatformScope::new("channel_listening");

const CURSOR: SealedColumn = SealedColumn::new("channel_states", "cursor");
const FAULT: SealedColumn = SealedColumn::new("channel_states", "fault");

/// One account of one tenant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ListenedAccount {
    pub tenant: TenantId,
    pub name: ChannelAccountName,
}

/// Where an account's provider was asked last, as whoever holds it reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListenState {
    pub cursor: Option<String>,
    pub fault: Option<String>,
}

/// How an account that is asked fares, for whoever looks after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelHearing {
    /// Whether its provider is asked; else it tells by itself.
    pub listens: bool,
    /// When its provider was asked with success last, as far as something came of it.
    pub heard_at: Option<Timestamp>,
    /// What is wrong with it, and since when.
    pub fault: Option<(String, Timestamp)>,
}

fn cursor_cell(account: &ChannelAccountName) -> SealedCell {
    CURSOR.cell(RowId::named(&[account.as_str()]))
}

fn fault_cell(account: &ChannelAccountName) -> SealedCell {
    FAULT.cell(RowId::named(&[account.as_str()]))
}

/// How an account is heard; none where it never is by asking.
pub fn load_hearing(tx: &mut Tx<'_>, account: &ChannelAccountName) -> Result<Option<ChannelHearing>> {
    tx.optional(
        "SELECT listens, heard_at, fault, fault_at FROM channel_states WHERE tenant_id = $1 AND account = $2",
        params![account.as_str()],
        |row| {
            let fault: Option<String> = row.get_sealed("fault", fault_cell(account))?;
            Ok(ChannelHearing {
                listens: row.get("listens")?,
                heard_at: row.get("heard_at")?,
                fault: fault.zip(row.get("fault_at")?),
            })
        },
    )
}

/// Gives each account that may be asked its row, and takes it from those that are gone. Whoever asks one that has changed lets go of it,
/// so that it is asked as it is now.
pub(crate) fn follow_accounts(
    tx: &mut Tx<'_>,
    before: &ChannelAccounts,
    declared: &ChannelAccounts,
) -> Result<()> {
    let gone = before.0.iter().filter(|(name, account)| {
        account.may_be_asked() && !declared.0.get(*name).is_some_and(ChannelAccount::may_be_asked)
    });
    for (name, _) in gone {
        tx.execute(
            "DELETE FROM channel_states WHERE tenant_id = $1 AND account = $2",
            params![name.as_str()],
        )?;
    }
    for (name, account) in declared.0.iter().filter(|(_, account)| account.may_be_asked()) {
        let known = before.0.get(name);
        if known == Some(account) {
            continue;
        }
        // Another provider's cursor says nothing.
        let is_same_kind = known.is_some_and(|known| known.kind == account.kind);
        tx.execute(
            "INSERT INTO channel_states (tenant_id, account, listens) VALUES ($1, $2, TRUE)
             ON CONFLICT (tenant_id, account) DO UPDATE SET listens = TRUE, holder = NULL, held_until = NULL,
               fault = NULL, fault_at = NULL,
               cursor = CASE WHEN $3 THEN channel_states.cursor ELSE NULL END",
            params![name.as_str(), is_same_kind],
        )?;
    }
    Ok(())
}

/// Accounts that nobody asks.
pub(super) fn list_unclaimed(
    tx: &mut PlatformTx<'_>,
    most: u16,
    now: Timestamp,
) -> Result<Vec<ListenedAccount>> {
    let found = tx.all(
        across_tenants(
            "SELECT s.tenant_id, s.account FROM channel_states s JOIN tenants t ON t.id = s.tenant_id
             WHERE s.listens = TRUE AND (s.held_until IS NULL OR s.held_until <= $1) AND t.status <> 'archived'
             ORDER BY s.tenant_id, s.account LIMIT $2",
        ),
        params![now, i64::from(most)],
        |row| Ok((row.get("tenant_id")?, row.get("account")?)),
    )?;
    Ok(read_names(found))
}

/// Accounts that were told of by their providers when somebody looked last.
pub(super) fn list_silent(tx: &mut PlatformTx<'_>) -> Result<Vec<ListenedAccount>> {
    let found = tx.all(
        across_tenants(
            "SELECT tenant_id, account FROM channel_states WHERE listens = FALSE ORDER BY tenant_id, account",
        ),
        &[],
        |row| Ok((row.get("tenant_id")?, row.get("account")?)),
    )?;
    Ok(read_names(found))
}

/// A name that is none is nobody's account.
fn read_names(found: Vec<(TenantId, String)>) -> Vec<ListenedAccount> {
    let named =
        found.into_iter().map(|(tenant, name)| Some(ListenedAccount { tenant, name: name.parse().ok()? }));
    named.flatten().collect()
}

/// True where it is ours now.
pub(super) fn claim(
    tx: &mut PlatformTx<'_>,
    of: &ListenedAccount,
    holder: LeaseId,
    (now, until): (Timestamp, Timestamp),
) -> Result<bool> {
    let claimed = tx.execute(
        across_tenants(
            "UPDATE channel_states SET holder = $1, held_until = $2
             WHERE tenant_id = $3 AND account = $4 AND listens = TRUE AND (held_until IS NULL OR held_until <= $5)",
        ),
        params![holder, until, of.tenant, of.name.as_str(), now],
    )?;
    Ok(claimed == 1)
}

/// Holds on to what is ours, and says what that is.
pub(super) fn renew(
    tx: &mut PlatformTx<'_>,
    holder: LeaseId,
    until: Timestamp,
) -> Result<Vec<ListenedAccount>> {
    tx.execute(
        across_tenants("UPDATE channel_states SET held_until = $1 WHERE holder = $2"),
        params![until, holder],
    )?;
    let found = tx.all(
        across_tenants("SELECT tenant_id, account FROM channel_states WHERE holder = $1 AND listens = TRUE"),
        params![holder],
        |row| Ok((row.get("tenant_id")?, row.get("account")?)),
    )?;
    Ok(read_names(found))
}

/// Lets go of all that is ours.
pub(super) fn release_all(tx: &mut PlatformTx<'_>, holder: LeaseId) -> Result<()> {
    tx.execute(
        across_tenants("UPDATE channel_states SET holder = NULL, held_until = NULL WHERE holder = $1"),
        params![holder],
    )?;
    Ok(())
}

/// Lets go of one.
pub(super) fn release(tx: &mut Tx<'_>, account: &ChannelAccountName, holder: LeaseId) -> Result<()> {
    tx.execute(
        "UPDATE channel_states SET holder = NULL, held_until = NULL
         WHERE tenant_id = $1 AND account = $2 AND holder = $3",
        params![account.as_str(), holder],
    )?;
    Ok(())
}

/// Notes whether the provider has to be asked. Whoever asked it lets go.
pub(super) fn set_listens(tx: &mut Tx<'_>, account: &ChannelAccountName, listens: bool) -> Result<()> {
    tx.execute(
        "UPDATE channel_states SET listens = $3, holder = NULL, held_until = NULL, fault = NULL, fault_at = NULL
         WHERE tenant_id = $1 AND account = $2 AND listens <> $3",
        params![account.as_str(), listens],
    )?;
    Ok(())
}

/// None where it is not ours any more.
pub(super) fn load_held(
    tx: &mut Tx<'_>,
    account: &ChannelAccountName,
    holder: LeaseId,
) -> Result<Option<ListenState>> {
    tx.optional(
        "SELECT cursor, fault FROM channel_states WHERE tenant_id = $1 AND account = $2 AND holder = $3",
        params![account.as_str(), holder],
        |row| {
            Ok(ListenState {
                cursor: row.get_sealed("cursor", cursor_cell(account))?,
                fault: row.get_sealed("fault", fault_cell(account))?,
            })
        },
    )
}

/// What is stored with, and for whom.
pub(super) struct HeardBy<'a> {
    pub queue: &'a JobQueue,
    pub ids: &'a IdGenerator,
    pub account: &'a ChannelAccountName,
    pub channel: Channel,
    pub holder: LeaseId,
    pub now: Timestamp,
}

/// Stores what was heard with its jobs, and moves the cursor behind it. None, and nothing stored, where the account is not ours any more.
pub(super) fn store_heard(
    tx: &mut Tx<'_>,
    by: &HeardBy<'_>,
    heard: &PolledEvents,
) -> munshi_jobs::Result<Option<StoredArrivals>> {
    let cursor = match &heard.next {
        Some(next) => Some(tx.seal(SealedBy::Tenant, cursor_cell(by.account), next)?),
        None => None,
    };
    let cursor = cursor.map(SealedText::into_text);
    // First of all: whoever claims the account meanwhile waits for this, and goes on from here.
    let is_ours = tx.execute(
        "UPDATE channel_states SET cursor = COALESCE($4, cursor), heard_at = $5, fault = NULL, fault_at = NULL
         WHERE tenant_id = $1 AND account = $2 AND holder = $3",
        params![by.account.as_str(), by.holder, cursor, by.now],
    )?;
    if is_ours == 0 {
        return Ok(None);
    }
    store(tx, (by.queue, by.ids), (by.account, by.channel), &heard.events, by.now).map(Some)
}

/// Notes what is wrong with it.
pub(super) fn note_fault(
    tx: &mut Tx<'_>,
    account: &ChannelAccountName,
    holder: LeaseId,
    fault: &str,
    now: Timestamp,
) -> Result<()> {
    let sealed = tx.seal(SealedBy::Tenant, fault_cell(account), fault)?.into_text();
    tx.execute(
        "UPDATE channel_states SET fault = $4, fault_at = $5 WHERE tenant_id = $1 AND account = $2 AND holder = $3",
        params![account.as_str(), holder, sealed, now],
    )?;
    Ok(())
}
