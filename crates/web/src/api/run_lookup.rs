//! A turn, for a key that may hear of it.

use munshi_conversations::runs::{self, RunView};
use munshi_server::error::ApiError;
use munshi_types::RunId;

use super::access::AuthorizedCaller;
use super::turn_errors::convert_turn_error;

/// The run, if it is the tenant's, of a binding that the key reaches, and for its eyes.
pub(crate) async fn load_run(key: &AuthorizedCaller, id: RunId) -> Result<RunView, ApiError> {
    let found = key.api.db.read(key.tenant(), move |tx| runs::find(tx, id)).await?;
    let missing = || convert_turn_error(munshi_conversations::Error::NoRun);
    let run = found.map(RunView::from).ok_or_else(missing)?;
    // Somebody who may only chat hears their own turns.
    let own = key.caller.principal.person;
    let is_theirs =
        own.is_none_or(|person| Some(person) == run.person) || key.caller.principal.role().is_some();
    if is_theirs && key.reaches(run.binding) { Ok(run) } else { Err(missing()) }
}
