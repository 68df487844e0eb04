//! A tenant's accounts at the providers by which messages leave and come.

mod add;
mod list;
mod remove;
mod rules;
mod setup;
mod test;
mod trial;
mod view;

pub use add::{AddChannel, AddChannelInput, AddedChannelView};
pub use list::ListChannels;
pub use remove::{ChannelInput, RemoveChannel, RemovedChannelView};
pub(crate) use rules::check_account;
pub use test::{ChannelStepView, ChannelTestView, TestChannel, TestChannelInput};
pub use view::ChannelView;

use munshi_channels::accounts::{ChannelAccountName, ChannelAccounts};
use munshi_channels::rows;
use munshi_pack::operation::OperationError;
use munshi_store::AdminTx;
use munshi_types::Timestamp;
use serde_json::json;

use crate::channel_errors::convert_channel_error;

pub(crate) const CHANGED: &str = "channels.changed";

/// Puts another list in force and tells the audit; gives its version.
fn save_accounts(
    tx: &mut AdminTx<'_, '_>,
    declared: &ChannelAccounts,
    by: &str,
    note: &str,
    now: Timestamp,
) -> Result<i64, OperationError> {
    let version = rows::save_accounts(tx, declared, by, note, now).map_err(convert_channel_error)?;
    tx.note(CHANGED, "channels", json!({ "version": version, "note": note }));
    Ok(version)
}

fn not_found(name: &ChannelAccountName) -> OperationError {
    OperationError::not_found("channel", name.as_str()).hint("`munshi channel list` shows them all.")
}
