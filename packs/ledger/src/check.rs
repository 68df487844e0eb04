//! What a person should confirm before something is booked. The rules for a new entry are in `rules`, those for one that
//! is changed in `change`, what was read in a bank's message in `message`, and whether anybody said it in `said`. What must
//! agree afterwards is in `after`, what a reply may say in `reply`, how a reply says that it wrote in `claim`, and the
//! figures of both in `figures`.

mod after;
mod change;
mod claim;
mod figures;
mod message;
mod reply;
mod rules;
mod said;

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
    BookingKind, ContactMatch, amount, has_any, has_word, is_beyond, other_day, pair, text, whom, word_scope,
};
pub(crate) use change::since as since_corrected;
pub(crate) use message::LIKE;
use rules::BookingRequest;

pub(crate) struct BookingCheck;

impl PackCheck for BookingCheck {
    fn before(
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

    fn named(
        &self,
        tx: &mut Tx<'_>,
        scene: &PackTurnContext,
        act: (&str, &Value),
        since: Option<Timestamp>,
    ) -> munshi_store::Result<Option<ActConcern>> {
        kept(change::named(tx, scene, act, since))
    }

    fn refused(&self, tx: &mut Tx<'_>, act: &Act, now: Timestamp) -> munshi_store::Result<()> {
        kept(message::refused(tx, act, now))
    }

    fn after(
        &self,
        tx: &mut Tx<'_>,
        _: &PackTurnContext,
        _: &str,
        result: &Value,
    ) -> munshi_store::Result<Option<Objection>> {
        kept(after::mismatch(tx, result))
    }

    fn reply(&self, scene: &PackTurnContext, draft: &str, results: &[Value]) -> Vec<Objection> {
        if !has_any(&scene.tools) {
            return Vec::new();
        }
        let found = [reply::unwritten(scene, draft, results), reply::unfounded(scene, draft, results)];
        found.into_iter().flatten().collect()
    }
}

/// What went wrong in the books, as the store's own.
fn kept<T>(done: Result<T>) -> munshi_store::Result<T> {
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
    let mut found = match (BookingKind::of_tool(tool), tool) {
        (Some(what), _) => booking(tx, scene, what, arguments)?,
        (None, "correct_last") => change::correcting(tx, scene, arguments)?,
        (None, "cancel_last") => return change::cancelling(tx, scene, arguments),
        (None, "sort_payment") => change::sorting(tx, scene, arguments)?,
        (None, "set_limit" | "add_contact" | "shop_details") => Vec::new(),
        // Merging is always asked about, with what each of them owes; so is a message, with what was read.
        (None, "merge_contacts") => return Ok(merging(tx, arguments)),
        (None, "book_sms") => {
            let text = text(arguments, "text").unwrap_or_default();
            return message::concerns(tx, scene, text);
        }
        _ => return Ok(Vec::new()),
    };
    // A program that calls a tool by itself has no conversation, and is confirmed anyway.
    if !scene.message.is_empty() {
        found.extend(said::unsaid(tx, scene, arguments)?);
    }
    Ok(found)
}

fn booking(
    tx: &mut Tx<'_>,
    scene: &PackTurnContext,
    what: BookingKind,
    arguments: &Value,
) -> Result<Vec<ActConcern>> {
    let whom = text(arguments, "person").map(|said| whom(tx, said, &scene.message)).transpose()?;
    let contact = whom.as_ref().and_then(ContactMatch::contact);
    match wish((scene.now, &scene.zone), (what, arguments, contact)) {
        // The tool refuses it, whatever they confirm before.
        Some(wish) if is_owners(tx, scene, &wish)? => Ok(Vec::new()),
        Some(wish) => rules::concerns(tx, scene, &wish),
        None => Ok(Vec::new()),
    }
}

/// Whether it would make a debt that only the owner's word makes, and somebody else wants it.
fn is_owners(tx: &mut Tx<'_>, scene: &PackTurnContext, wish: &BookingRequest<'_>) -> Result<bool> {
    let balance = wish.contact.as_ref().map_or(Money::ZERO, |contact| contact.balance);
    let is_new = wish.name.is_some() && is_beyond(wish.what, balance, wish.amount)?;
    Ok(is_new && !has_word(tx, &scene.principal, word_scope(wish.what))?)
}

/// What a tool's arguments ask for; none where the tool will refuse it and say why.
fn wish<'a>(
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
pub(crate) fn since(
    tx: &mut Tx<'_>,
    (asked_at, zone): (Timestamp, &Zone),
    (what, arguments, contact): (BookingKind, &Value, Option<&Contact>),
    agreed: &[ActConcern],
) -> Result<Option<ActConcern>> {
    let Some(wish) = wish((asked_at, zone), (what, arguments, contact)) else { return Ok(None) };
    Ok(rules::unagreed(rules::changing(tx, &wish)?, agreed))
}

/// Merging can't be undone.
fn merging(tx: &mut Tx<'_>, arguments: &Value) -> Vec<ActConcern> {
    let Ok(pair) = pair(tx, arguments) else { return Vec::new() };
    let shown = |contact: &Contact| format!("{} ({})", contact.name, format::rupees(contact.balance));
    let slots = vec![("other".to_owned(), shown(&pair.goes)), ("name".to_owned(), shown(&pair.stays))];
    vec![ActConcern { phrase: "ledger-merge-ask".to_owned(), slots }]
}

/// The language and letters of whoever is asked.
fn voice(scene: &PackTurnContext) -> Locale {
    let known = scene.language.as_ref().and_then(|code| Some((code.language()?, code.is_latin())));
    let (language, is_latin) = known.unwrap_or((Language::English, true));
    Locale::new(language, if is_latin { ScriptForm::Latin } else { ScriptForm::Native })
}
