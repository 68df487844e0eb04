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

use std::sync::Arc;

use munshi_lang::{Language, Locale, Phrasebook, ScriptForm, format};
use munshi_pack::{Objection, PackCheck, PackTurnContext};
use munshi_safety::acts::Act;
use munshi_safety::pipeline::ActConcern;
use munshi_store::Tx;
use munshi_types::{Money, Timestamp, Zone};
use serde_json::Value;

use crate::books::LedgerDay;
use crate::books::contacts::Contact;
use crate::books::details;
use crate::error::{Error, Result};
use crate::tools::{
    BookingKind, ContactMatch, amount, contains_pack_tool, exceeds_balance, find_reminder_words, has_word,
    match_contact, other_day, resolve_pair, text, word_scope,
};
pub(crate) use change::recheck_correction as since_corrected;
use rules::BookingRequest;
pub(crate) use sms::LIKE;

const SEND_REMINDER: &str = "send_reminder";
/// What is asked about a reminder, and where in that its address stands.
const DRAFT: &str = "ledger-draft";
const ADDRESS: &str = "address";
/// What they owed then, in paise, where the words are ours.
const OWED: &str = "owed";

pub(crate) struct BookingCheck {
    /// The pack's own phrases, in which people are reminded.
    pub(crate) book: Arc<Phrasebook>,
}

impl PackCheck for BookingCheck {
    fn check_before_act(
        &self,
        tx: &mut Tx<'_>,
        scene: &PackTurnContext,
        tool: &str,
        arguments: &Value,
    ) -> munshi_store::Result<Vec<ActConcern>> {
        match concerns(tx, scene, &self.book, (tool, arguments)) {
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
        match act {
            (SEND_REMINDER, arguments) => {
                to_store_result(describe_reminder(tx, scene, &self.book, arguments))
            }
            act => to_store_result(change::describe_change(tx, scene, act, since)),
        }
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
    book: &Phrasebook,
    (tool, arguments): (&str, &Value),
) -> Result<Vec<ActConcern>> {
    let mut found = match (BookingKind::from_tool(tool), tool) {
        (Some(what), _) => check_booking(tx, scene, what, arguments)?,
        (None, "correct_last") => change::check_correction(tx, scene, arguments)?,
        (None, "cancel_last") => return change::check_cancel(tx, scene, arguments),
        (None, "sort_payment") => change::check_assignment(tx, scene, arguments)?,
        // The values alone are looked at, below: somebody has said them. What `remind_by_template` sends leaves at once, so that holds for
        // whom it goes to as well.
        (None, "set_limit" | "add_contact" | "shop_details" | "remind_by_template") => Vec::new(),
        // Merging is always asked about, with what each of them owes; so is a message, with what was read, and what is sent, with the
        // address that it goes to.
        (None, "merge_contacts") => return Ok(check_merge(tx, arguments)),
        (None, SEND_REMINDER) => {
            return Ok(describe_reminder(tx, scene, book, arguments)?.into_iter().collect());
        }
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

/// What would be sent, to the letter and to its end, and where to: that is what a yes is for. Without an address the tool refuses it, or
/// drafts it.
fn describe_reminder(
    tx: &mut Tx<'_>,
    scene: &PackTurnContext,
    book: &Phrasebook,
    arguments: &Value,
) -> Result<Option<ActConcern>> {
    let Some(said) = text(arguments, "person") else { return Ok(None) };
    let matched = match_contact(tx, said, &scene.message)?;
    let contact = matched.contact();
    let given = text(arguments, "words");
    let words = match (given, contact) {
        (Some(words), _) => words.to_owned(),
        (None, Some(contact)) if contact.balance > Money::ZERO => {
            find_reminder_words(tx, book, contact, resolve_locale(scene))?
        }
        (None, _) => return Ok(None),
    };
    let email =
        contact.map(|contact| details::get(tx, contact.id)).transpose()?.and_then(|known| known.email);
    let name = contact.map_or(said, |contact| contact.name.as_str());
    let named = email.as_ref().map_or_else(|| name.to_owned(), |email| format!("{name} <{email}>"));
    let mut slots = vec![("name".to_owned(), named), ("draft".to_owned(), words)];
    slots.extend(email.map(|email| (ADDRESS.to_owned(), email)));
    let owed = contact.filter(|_| given.is_none()).map(|contact| contact.balance.as_paise().to_string());
    slots.extend(owed.map(|owed| (OWED.to_owned(), owed)));
    Ok(Some(ActConcern { phrase: DRAFT.to_owned(), slots }))
}

/// The address that a reminder was asked about with. None where there was none.
pub(crate) fn find_agreed_address(agreed: &[ActConcern]) -> Option<&str> {
    find_agreed(agreed, ADDRESS)
}

/// The words of ours that a reminder was asked about with, where they owe the same still.
pub(crate) fn find_agreed_words<'a>(agreed: &'a [ActConcern], contact: &Contact) -> Option<&'a str> {
    let owed = find_agreed(agreed, OWED)?;
    find_agreed(agreed, "draft").filter(|_| owed == contact.balance.as_paise().to_string())
}

fn find_agreed<'a>(agreed: &'a [ActConcern], slot: &str) -> Option<&'a str> {
    let asked = agreed.iter().find(|concern| concern.phrase == DRAFT)?;
    asked.slots.iter().find(|(name, _)| name == slot).map(|(_, value)| value.as_str())
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
