//! Acts that no turn has made.

use std::time::Duration;

use munshi_store::{JsonText, SealedBy, SealedColumn, Tx, params};
use munshi_types::ActId;
use serde_json::json;

use super::Installation;

const ARGUMENTS: SealedColumn = SealedColumn::new("acts", "arguments");
const PROPOSAL: SealedColumn = SealedColumn::new("acts", "proposal");

/// The same act once more, done and with a way back.
pub(crate) async fn add_undoable(house: &Installation, like: &str) -> String {
    let (id, like, until): (ActId, ActId, _) =
        (house.ids.next(), like.parse().unwrap(), house.now().plus(Duration::from_secs(3600)));
    let read = "SELECT arguments, proposal FROM acts WHERE tenant_id = $1 AND id = $2";
    let copy = "INSERT INTO acts (tenant_id, id, run_id, binding_id, person_id, session_id, tool, connector, effect, arguments, proposal,
                  digest, state, attempt, began_at, ended_at, undo, undo_until)
                SELECT tenant_id, $2, run_id, binding_id, person_id, session_id, tool, connector, effect, $6, $7, digest,
                  'applied', attempt, began_at, began_at, $4, $5 FROM acts WHERE tenant_id = $1 AND id = $3";
    let undo = JsonText::of(&json!({ "tool": "no_such_tool", "arguments": {} })).unwrap();
    let unit = move |tx: &mut Tx<'_>| {
        // What is sealed opens in its own row alone, so it is sealed anew for the copy.
        let (arguments, proposal): (JsonText, JsonText) = tx.one(read, params![like], |row| {
            Ok((row.get_sealed(0, ARGUMENTS.cell(like))?, row.get_sealed(1, PROPOSAL.cell(like))?))
        })?;
        let arguments = tx.seal_written(SealedBy::Tenant, ARGUMENTS.cell(id), &arguments)?;
        let proposal = tx.seal_written(SealedBy::Tenant, PROPOSAL.cell(id), &proposal)?;
        tx.execute(copy, params![id, like, undo, until, arguments, proposal])
    };
    assert_eq!(house.db.write(house.shop.tenant, unit).await.unwrap(), 1);
    id.to_string()
}
