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
        "Work every balance, day and stock out again from the entries, and name the first that is wrong"
    }

    async fn run(&self, call: PackCommandCall<'_>) -> Result<(), PackCommandError> {
        let standing = call.db.read(call.tenant, balances::standing).await?;
        let finding = call.db.read(call.tenant, verify).await?;
        if let Some(finding) = finding {
            let hint = "nothing was changed; keep a backup, and report it";
            return Err(PackCommandError::new(finding.to_string()).hint(hint));
        }
        let words = format!("{} entries: every figure follows from them", standing.entries);
        call.out.answer(&json!({ "entries": standing.entries, "sound": true }), &words)
    }
}
