//! `munshi ledger check`: every kept figure worked out again from the entries.

use async_trait::async_trait;
use munshi_pack::{PackCommand, PackCommandCall, PackCommandError};
use serde_json::json;

use crate::books::{balances, verify};

pub(super) struct CheckBooksCommand;

#[async_trait]
impl PackCommand for CheckBooksCommand {
    fn name(&self) -> &'static str {
        "check"
    }

    fn about(&self) -> &'static str {
        "Recompute every balance, day and stock level from the entries, and report the first mismatch"
    }

    async fn run(&self, call: PackCommandCall<'_>) -> Result<(), PackCommandError> {
        let standing = call.db.read(call.tenant, balances::load_totals).await?;
        let finding = call.db.read(call.tenant, verify).await?;
        if let Some(finding) = finding {
            let hint = "nothing was changed; keep a backup and report a bug";
            return Err(PackCommandError::new(finding.to_string()).hint(hint));
        }
        let words = format!("{} entries: all figures match", standing.entries);
        call.out.print_result(&json!({ "entries": standing.entries, "sound": true }), &words)
    }
}
