//! Sends a reminder by mail in a template's words, which the owner has authorised for all contacts of the books.
//!
//! Nobody sees the words before they leave, so they are the template's own and no others: made here, when they are sent. Where somebody had
//! to be asked, since the policy does not authorise it or the day's share is used up, they have not seen the words: then it is refused, and
//! `send_reminder` has them approved.

use munshi_safety::acts::Permit;
use munshi_safety::{approvals, policy};
use munshi_store::Tx;
use munshi_tools::{ToolFailure, ToolOutput, WriteToolHandler};

use super::call::{LedgerServices, LedgerToolCall};
use super::contact_match;
use super::remind::{ensure_not_reminded, ensure_owes, render_reminder, resolve_locale};
use super::send_reminder::{find_address, find_unkept, send};
use crate::books::details;

const TOOL: &str = "remind_by_template";
/// What the policy calls everybody in the books.
const CONTACTS: &str = "contacts";

pub(crate) struct TemplateReminderTool(pub(crate) LedgerServices);

impl WriteToolHandler for TemplateReminderTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let contact = contact_match::resolve_contact(tx, &call)?;
        ensure_owes(&contact)?;
        ensure_not_reminded(tx, (&self.0, &contact), call.now)?;
        ensure_authorised(tx, &call)?;
        let voice = resolve_locale(tx, &call, &contact)?;
        let words = render_reminder(tx, &call, &contact, voice)?;
        let known = details::get(tx, contact.id)?;
        let address = find_address(&contact, &known)?;
        send(tx, (&self.0, &call), (&contact, known), (&address, &words))
    }

    fn read_back(
        &self,
        _: &Permit,
        done: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        find_unkept(done, tx)
    }
}

/// By the policy of now, whatever it was when the act was decided.
fn ensure_authorised(tx: &mut Tx<'_>, call: &LedgerToolCall<'_>) -> Result<(), ToolFailure> {
    let store = |error: munshi_safety::Error| ToolFailure::transient("store", error.to_string());
    let (_, policy) = policy::load_current(tx).map_err(store)?;
    let template = call.text("template").unwrap_or_default();
    let is_authorised = policy
        .messages
        .iter()
        .any(|one| one.tool.bare() == TOOL && one.template == template && one.audience == CONTACTS);
    let was_asked = approvals::find_by_act(tx, call.act).map_err(store)?.is_some();
    if is_authorised && !was_asked {
        return Ok(());
    }
    let what = "the owner has not authorised this reminder, or no more of them for today: draft it, and send it with \
                send_reminder, so that its words are approved";
    Err(ToolFailure::permanent("ledger_not_authorised", what))
}
