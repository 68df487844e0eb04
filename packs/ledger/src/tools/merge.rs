//! Two names that are one person's.

use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{ToolFailure, ToolOutput, WriteToolHandler};
use serde_json::Value;

use super::call::text;
use super::contact_match;
use super::result::LedgerToolResult;
use crate::books::contacts::{self, Contact};

pub(crate) struct MergeContactsTool;

impl WriteToolHandler for MergeContactsTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let pair = resolve_pair(tx, permit.arguments())?;
        let kept = contacts::merge(tx, pair.goes.id, pair.stays.id)?;
        let told = LedgerToolResult::default().with("other", pair.goes.name.as_str()).phrase("merged");
        Ok(told.contact(&kept)?.build())
    }

    fn read_back(
        &self,
        permit: &Permit,
        _: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let [one, other] = resolve_contacts(tx, permit.arguments())?;
        Ok((one.id != other.id).then(|| "they are two in the books all the same".to_owned()))
    }
}

/// Who stays under their name, and whose name leads there from now on.
pub(crate) struct ContactPair {
    pub(crate) stays: Contact,
    pub(crate) goes: Contact,
}

/// Whoever has been in the books longer stays, in whichever order they were named.
pub(crate) fn resolve_pair(tx: &mut Tx<'_>, arguments: &Value) -> Result<ContactPair, ToolFailure> {
    let mut both = resolve_contacts(tx, arguments)?;
    both.sort_by_key(|contact| (contact.made_at, contact.id));
    let [stays, goes] = both;
    if stays.id == goes.id {
        let what = format!("{} is one contact in the books already", stays.name);
        return Err(ToolFailure::permanent("ledger_merge_same", what));
    }
    Ok(ContactPair { stays, goes })
}

fn resolve_contacts(tx: &mut Tx<'_>, arguments: &Value) -> Result<[Contact; 2], ToolFailure> {
    if let Some(sentence) = text(arguments, "text") {
        let who =
            || ToolFailure::permanent("ledger_merge_who", "say the two names as they stand in the books");
        return <[Contact; 2]>::try_from(contact_match::list_mentioned(tx, sentence)?).map_err(|_| who());
    }
    let mut known = |name: &str| {
        let said = text(arguments, name).unwrap_or_default();
        contact_match::resolve_contact_argument(tx, name, (said, ""))
    };
    Ok([known("first")?, known("second")?])
}
