//! When an account was heard last, and what was wrong with what came.

use munshi_store::{Result, RowId, SealedColumn, Tx, params};
use munshi_types::{DeliveryId, Timestamp};

use crate::accounts::ChannelAccountName;

const FAULT: SealedColumn = SealedColumn::new("channel_states", "fault");
const DETAIL: SealedColumn = SealedColumn::new("channel_arrivals", "detail");

/// How it stands with what comes by an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountHearing {
    /// When something came by it last; none where nothing did, or long ago.
    pub heard_at: Option<Timestamp>,
    /// Why its provider can't be asked, or what came last could not be taken in; none where all is well.
    pub fault: Option<String>,
}

/// What came by an account last, and how that and asking for more went.
pub fn load_hearing(tx: &mut Tx<'_>, account: &ChannelAccountName) -> Result<AccountHearing> {
    let (asked, came) = (load_state(tx, account)?, load_newest(tx, account)?);
    Ok(AccountHearing { heard_at: asked.heard_at.max(came.heard_at), fault: asked.fault.or(came.fault) })
}

fn load_state(tx: &mut Tx<'_>, account: &ChannelAccountName) -> Result<AccountHearing> {
    let found = tx.optional(
        "SELECT heard_at, fault FROM channel_states WHERE tenant_id = $1 AND account = $2",
        params![account.as_str()],
        |row| {
            let cell = FAULT.cell(RowId::named(&[account.as_str()]));
            Ok(AccountHearing { heard_at: row.get("heard_at")?, fault: row.get_sealed("fault", cell)? })
        },
    )?;
    Ok(found.unwrap_or_default())
}

fn load_newest(tx: &mut Tx<'_>, account: &ChannelAccountName) -> Result<AccountHearing> {
    let found = tx.optional(
        "SELECT id, state, detail, received_at FROM channel_arrivals
         WHERE tenant_id = $1 AND account = $2 ORDER BY received_at DESC LIMIT 1",
        params![account.as_str()],
        |row| {
            let id: DeliveryId = row.get("id")?;
            let is_failed = row.get::<String>("state")? == "failed";
            let detail = match is_failed {
                true => row.get_sealed::<Option<String>>("detail", DETAIL.cell(id))?,
                false => None,
            };
            Ok(AccountHearing { heard_at: Some(row.get("received_at")?), fault: detail })
        },
    )?;
    Ok(found.unwrap_or_default())
}
