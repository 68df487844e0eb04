//! What a person should confirm before something is booked. The rules for a new entry are in `rules`, those for one that
//! is changed in `change`, what was read in a bank's message in `sms`, and whether anybody said it in `grounding`. What must
//! agree afterwards is in `post_write`, what a reply may say in `reply`, how a reply says that it wrote in `claim`, and the
//! figures of both in `figures`.

mod change;
mod claim;
mod figures;
mod grounding;
mod post_write;
mod reply;
mod rules;
mod sms;

use munshi_lang::{Language, Locale, ScriptForm, format};
use munshi_pack::{Objection, PackCheck, PackTurnContext};
use munshi_safety::acts::Act;
use munshi_safety::pipeline::ActConcern;
use munshi_store::Tx;
use munshi_types::{Money, Timestamp, Zone};
use serde_json::Value;

use crate::books::LedgerDay;
use crate::books::contacts::Contact;
use crate::error::{Error, Result};
use crate::tools::{
    BookingKind, ContactMatch, amount, contains_pack_tool, exceeds_balance, has_word, match_contact,
    other_day, resolve_pair, text, word_scope,
};
pub(crate) use change::recheck_correction as since_corrected;
use rules::BookingRequest;
pub(crate) use sms::LIKE;

pub(crate) struct BookingCheck;

impl PackCheck for BookingCheck {
    fn check_before_act(
        &self,
        tx: &mut Tx<'_>,
        scene: &PackTurnContext,
        tool: &str,
        arguments: &Value,
    ) -> munshi_store::Result<Vec<ActConcern>> {
        match concerns(tx, scene, tool, arguments) {
            Ok(concerns) => Ok(concerns),
            Err(Error::Store(error)) => Err(error),
            // What can't be booked is refused by the tool, which says why.
            Err(_) => Ok(Vec::new()),
        }
    }

    fn describe_target(
        &self,
        tx: &mut Tx<'_>,
        scene: &PackTurnContext,
        act: (&str, &Value),
        since: Option<Timestamp>,
    ) -> munshi_store::Result<Option<ActConcern>> {
        to_store_result(change::describe_change(tx, scene, act, since))
    }

    fn on_refused(&self, tx: &mut Tx<'_>, act: &Act, now: Timestamp) -> munshi_store::Result<()> {
        to_store_result(sms::record_refusal(tx, act, now))
    }

    fn check_after_act(
        &self,
        tx: &mut Tx<'_>,
        _: &PackTurnContext,
        _: &str,
        result: &Value,
    ) -> munshi_store::Result<Option<Objection>> {
        to_store_result(post_write::mismatch(tx, result))
    }

    fn check_reply(&self, scene: &PackTurnContext, draft: &str, results: &[Value]) -> Vec<Objection> {
        if !contains_pack_tool(&scene.tools) {
            return Vec::new();
        }
        let found = [
            reply::find_unwritten_claim(scene, draft, results),
            reply::find_unfounded_amount(scene, draft, results),
        ];
        found.into_iter().flatten().collect()
    }
}

/// What went wrong in the books, as the store's own.
fn to_store_result<T>(done: Result<T>) -> munshi_store::Result<T> {
    done.map_err(|error| match error {
        Error::Store(error) => error,
        other => munshi_store::Error::Decode(other.to_string()),
    })
}

fn concerns(
    tx: &mut Tx<'_>,
    scene: &PackTurnContext,
    tool: &str,
    arguments: &Value,
) -> Result<Vec<ActConcern>> {
    let mut found = match (BookingKind::from_tool(tool), tool) {
        (Some(what), _) => check_booking(tx, scene, what, arguments)?,
        (None, "correct_last") => change::check_correction(tx, scene, arguments)?,
        (None, "cancel_last") => return change::check_cancel(tx, scene, arguments),
        (None, "sort_payment") => change::check_assignment(tx, scene, arguments)?,
        (None, "set_limit" | "add_contact" | "shop_details") => Vec::new(),
        // Merging is always asked about, with what each of them owes; so is a message, with what was read.
        (None, "merge_contacts") => return Ok(check_merge(tx, arguments)),
        (None, "book_sms") => {
            let text = text(arguments, "text").unwrap_or_default();
            return sms::concerns(tx, scene, text);
        }
        _ => return Ok(Vec::new()),
    };
    // A program that calls a tool by itself has no conversation, and is confirmed anyway.
    if !scene.message.is_empty() {
        found.extend(grounding::find_unsaid(tx, scene, arguments)?);
    }
    Ok(found)
}

fn check_booking(
    tx: &mut Tx<'_>,
    scene: &PackTurnContext,
    what: BookingKind,
    arguments: &Value,
) -> Result<Vec<ActConcern>> {
    let whom = text(arguments, "person").map(|said| match_contact(tx, said, &scene.message)).transpose()?;
    let contact = whom.as_ref().and_then(ContactMatch::contact);
    match parse_request((scene.now, &scene.zone), (what, arguments, contact)) {
        // The tool refuses it, whatever they confirm before.
        Some(wish) if needs_owner(tx, scene, &wish)? => Ok(Vec::new()),
        Some(wish) => rules::concerns(tx, scene, &wish),
        None => Ok(Vec::new()),
    }
}

/// Whether it would make a debt that only the owner's word makes, and somebody else wants it.
fn needs_owner(tx: &mut Tx<'_>, scene: &PackTurnContext, wish: &BookingRequest<'_>) -> Result<bool> {
    let balance = wish.contact.as_ref().map_or(Money::ZERO, |contact| contact.balance);
    let is_new = wish.name.is_some() && exceeds_balance(wish.what, balance, wish.amount)?;
    Ok(is_new && !has_word(tx, &scene.principal, word_scope(wish.what))?)
}

/// What a tool's arguments ask for; none where the tool will refuse it and say why.
fn parse_request<'a>(
    (now, zone): (Timestamp, &Zone),
    (what, arguments, contact): (BookingKind, &'a Value, Option<&Contact>),
) -> Option<BookingRequest<'a>> {
    let amount = amount(arguments)?;
    let day = other_day(arguments, LedgerDay::of(now, zone)).ok()?;
    let happened_at = day.map_or(now, |day| day.noon(zone));
    let (name, mode) = (text(arguments, "person"), text(arguments, "mode"));
    Some(BookingRequest {
        what,
        amount,
        day,
        happened_at,
        contact: contact.cloned(),
        name,
        mode,
        instead: None,
    })
}

/// What has come up since an act was looked at and asked about: somebody else may have told of the same meanwhile, or
/// used up the limit. Whoever calls holds the books.
pub(crate) fn recheck_booking(
    tx: &mut Tx<'_>,
    (asked_at, zone): (Timestamp, &Zone),
    (what, arguments, contact): (BookingKind, &Value, Option<&Contact>),
    agreed: &[ActConcern],
) -> Result<Option<ActConcern>> {
    let Some(wish) = parse_request((asked_at, zone), (what, arguments, contact)) else { return Ok(None) };
    Ok(rules::find_unagreed(rules::list_volatile_concerns(tx, &wish)?, agreed))
}

/// Merging can't be undone.
fn check_merge(tx: &mut Tx<'_>, arguments: &Value) -> Vec<ActConcern> {
    let Ok(pair) = resolve_pair(tx, arguments) else { return Vec::new() };
    let shown = |contact: &Contact| format!("{} ({})", contact.name, format::rupees(contact.balance));
    let slots = vec![("other".to_owned(), shown(&pair.goes)), ("name".to_owned(), shown(&pair.stays))];
    vec![ActConcern { phrase: "ledger-merge-ask".to_owned(), slots }]
}

/// The language and letters of whoever is asked.
fn resolve_locale(scene: &PackTurnContext) -> Locale {
    let known = scene.language.as_ref().and_then(|code| Some((code.language()?, code.is_latin())));
    let (language, is_latin) = known.unwrap_or((Language::English, true));
    Locale::new(language, if is_latin { ScriptForm::Latin } else { ScriptForm::Native })
}
