//! The rules for what changes an entry: another amount in its place, or somebody whose it is. They are those of a new
//! entry, and what it was before is said.

use std::time::Duration;

use munshi_identity::persons;
use munshi_lang::{format, yes_no};
use munshi_pack::{EarlierSpeaker, PackTurnContext};
use munshi_safety::approvals;
use munshi_safety::pipeline::ActConcern;
use munshi_store::Tx;
use munshi_types::{Id, Money, Timestamp};
use serde_json::Value;

use super::resolve_locale;
use super::rules::{self, BookingRequest, concern};
use crate::books::{LedgerEntry, LedgerEntryKind, Quantity, contacts, dedup, entry, items, profile};
use crate::error::Result;
use crate::tools::{
    BookingKind, CANCEL_ASK, CANCEL_SCOPE, CORRECT_ASK, CORRECT_SCOPE, ContactMatch, EntrySelector,
    UnsortedPaymentQuery, amount, entry_number, find_selected_entry, has_word, match_contact, text, unsorted,
};

const CANCEL: &str = "cancel_last";
const CORRECT: &str = "correct_last";
/// So many letters of what was said are shown.
const LETTERS: usize = 60;
/// So far around a payment another one of the same person is asked about.
const AROUND: Duration = Duration::from_secs(24 * 3600);

/// What was written longer ago than this is named before it is changed: the person may think of another one.
const FRESH: Duration = Duration::from_secs(3600);

/// Which entry would be changed, in every question about it.
pub(super) fn describe_change(
    tx: &mut Tx<'_>,
    scene: &PackTurnContext,
    (tool, arguments): (&str, &Value),
    since: Option<Timestamp>,
) -> Result<Option<ActConcern>> {
    if !matches!(tool, CANCEL | CORRECT) {
        return Ok(None);
    }
    let Some(entry) = find_target_entry(tx, scene, (tool, arguments), since)? else { return Ok(None) };
    match (tool, amount(arguments)) {
        (CANCEL, _) => build_cancel_concern(tx, scene, &entry).map(Some),
        (_, Some(amount)) => Ok(Some(build_correction_concern(&entry, amount))),
        (_, None) => Ok(None),
    }
}

/// The entry that somebody wants changed.
fn find_target_entry(
    tx: &mut Tx<'_>,
    scene: &PackTurnContext,
    (tool, arguments): (&str, &Value),
    until: Option<Timestamp>,
) -> Result<Option<LedgerEntry>> {
    let who = &scene.principal;
    let may_all = has_word(tx, who, if tool == CANCEL { CANCEL_SCOPE } else { CORRECT_SCOPE })?;
    find_selected_entry(
        tx,
        &EntrySelector { by: who.person, may_all, number: entry_number(arguments), until },
    )
}

/// Whether nobody has to ask which one is meant: it is the last of the one who speaks.
fn is_own_last(scene: &PackTurnContext, entry: &LedgerEntry, arguments: &Value) -> bool {
    entry_number(arguments).is_none() && entry.said_by == scene.principal.person
}

/// Taking back an entry.
pub(super) fn check_cancel(
    tx: &mut Tx<'_>,
    scene: &PackTurnContext,
    arguments: &Value,
) -> Result<Vec<ActConcern>> {
    let Some(entry) = find_target_entry(tx, scene, (CANCEL, arguments), None)? else { return Ok(Vec::new()) };
    let is_large = entry.amount > profile::get(tx)?.confirm_above;
    let is_sure = is_own_last(scene, &entry, arguments) && is_fresh(&entry, scene);
    if is_sure && !is_large && !is_proposed_since(tx, scene, &entry)? {
        return Ok(Vec::new());
    }
    let asked = build_cancel_concern(tx, scene, &entry)?;
    Ok(if is_agreed(scene, &asked) { Vec::new() } else { vec![asked] })
}

/// Whether the message is a yes to a question that named this very entry.
fn is_agreed(scene: &PackTurnContext, asked: &ActConcern) -> bool {
    let what = asked.slots.iter().find(|(name, _)| name == "what").map(|(_, what)| what);
    let last = scene.before.last().filter(|last| last.by == EarlierSpeaker::Persona);
    let is_named = last.zip(what).is_some_and(|(last, what)| last.text.contains(what));
    is_named && yes_no::classify_reply(&scene.message) == yes_no::YesNoAnswer::Yes
}

/// Who, how much, when and in which words.
fn build_cancel_concern(tx: &mut Tx<'_>, scene: &PackTurnContext, entry: &LedgerEntry) -> Result<ActConcern> {
    let name =
        entry.contact.map(|contact| contacts::get(tx, contact)).transpose()?.map(|contact| contact.name);
    let moved = match entry.amount {
        Money::ZERO => entry::movements(tx, entry.id)?,
        _ => Vec::new(),
    };
    let mut what: Vec<String> = name.into_iter().collect();
    if entry.amount > Money::ZERO {
        what.push(format::rupees(entry.amount));
    }
    for one in moved {
        let item = items::get(tx, one.item)?;
        let size = Quantity::from_thousandths(one.quantity.as_thousandths().abs());
        what.push(format!("{size} {} {}", item.unit, item.name));
    }
    what.extend(writer(tx, scene, entry)?);
    what.extend(Some(words(entry)).filter(|words| !words.is_empty()).map(|words| format!("“{words}”")));
    let slots = [
        ("number", entry.number.to_string()),
        ("date", format::date(entry.day.to_date(), resolve_locale(scene))),
        ("what", what.join(", ")),
    ];
    Ok(ActConcern {
        phrase: CANCEL_ASK.to_owned(),
        slots: slots.map(|(name, value)| (name.to_owned(), value)).to_vec(),
    })
}

/// Who wrote it, where that is somebody else.
fn writer(tx: &mut Tx<'_>, scene: &PackTurnContext, entry: &LedgerEntry) -> Result<Option<String>> {
    let Some(by) = entry.said_by.filter(|by| Some(*by) != scene.principal.person) else { return Ok(None) };
    let person =
        persons::find_living(tx, by).map_err(|error| munshi_store::Error::Decode(error.to_string()))?;
    Ok(person.map(|person| person.name))
}

/// Another amount in the place of an entry.
pub(super) fn check_correction(
    tx: &mut Tx<'_>,
    scene: &PackTurnContext,
    arguments: &Value,
) -> Result<Vec<ActConcern>> {
    let Some(amount) = amount(arguments) else { return Ok(Vec::new()) };
    let Some(wrong) = find_target_entry(tx, scene, (CORRECT, arguments), None)? else {
        return Ok(Vec::new());
    };
    let Some(wish) = build_correction_request(tx, &wrong, amount)? else { return Ok(Vec::new()) };
    let mut found = rules::concerns(tx, scene, &wish)?;
    let is_sure = is_own_last(scene, &wrong, arguments) && is_fresh(&wrong, scene);
    if !found.is_empty() || !is_sure || is_proposed_since(tx, scene, &wrong)? {
        found.insert(0, build_correction_concern(&wrong, amount));
    }
    Ok(found)
}

/// An entry with another amount; none of what has no amount of its own.
fn build_correction_request<'a>(
    tx: &mut Tx<'_>,
    wrong: &'a LedgerEntry,
    amount: Money,
) -> Result<Option<BookingRequest<'a>>> {
    let Some(what) = BookingKind::from_kind(wrong.kind) else { return Ok(None) };
    let contact = wrong.contact.map(|contact| contacts::get(tx, contact)).transpose()?;
    let (happened_at, mode) = (wrong.happened_at, Some("cash"));
    Ok(Some(BookingRequest {
        what,
        amount,
        day: None,
        happened_at,
        name: None,
        contact,
        mode,
        instead: Some(wrong),
    }))
}

/// What has come up since a correction was looked at and asked about. Whoever calls holds the books.
pub(crate) fn recheck_correction(
    tx: &mut Tx<'_>,
    wrong: &LedgerEntry,
    amount: Money,
    agreed: &[ActConcern],
) -> Result<Option<ActConcern>> {
    let Some(wish) = build_correction_request(tx, wrong, amount)? else { return Ok(None) };
    Ok(rules::find_unagreed(rules::list_volatile_concerns(tx, &wish)?, agreed))
}

fn is_fresh(entry: &LedgerEntry, scene: &PackTurnContext) -> bool {
    entry.made_at.plus(FRESH) >= scene.now
}

/// Whether something waits for a yes that was proposed after the entry: that may be what is corrected.
fn is_proposed_since(tx: &mut Tx<'_>, scene: &PackTurnContext, wrong: &LedgerEntry) -> Result<bool> {
    let pending = approvals::list_pending(tx, scene.session.as_uuid())
        .map_err(|error| munshi_store::Error::Decode(error.to_string()))?;
    Ok(pending.iter().any(|one| one.asked_at >= wrong.made_at && one.expires_at > scene.now))
}

/// What stands there, and what would.
fn build_correction_concern(wrong: &LedgerEntry, amount: Money) -> ActConcern {
    let slots = [
        ("number", wrong.number.to_string()),
        ("words", words(wrong)),
        ("amount", format::rupees(amount)),
        ("old-amount", format::rupees(wrong.amount)),
    ];
    let slots = slots.map(|(name, value)| (name.to_owned(), value)).to_vec();
    ActConcern { phrase: CORRECT_ASK.to_owned(), slots }
}

/// In which words an entry was said, as far as they tell which one it is.
fn words(entry: &LedgerEntry) -> String {
    let mut words: String = entry.words.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = words.char_indices().nth(LETTERS) {
        words.truncate(cut);
        words.push('…');
    }
    words
}

/// Somebody whose a payment was.
pub(super) fn check_assignment(
    tx: &mut Tx<'_>,
    scene: &PackTurnContext,
    arguments: &Value,
) -> Result<Vec<ActConcern>> {
    let wish = UnsortedPaymentQuery { arguments, now: scene.now, voice: resolve_locale(scene) };
    // What can't be found, or may be several, is asked about by the tool.
    let Ok(payment) = unsorted(tx, &wish) else { return Ok(Vec::new()) };
    let Some(person) = text(arguments, "person") else { return Ok(Vec::new()) };
    let ContactMatch::Known(contact) = match_contact(tx, person, &scene.message)? else {
        return Ok(Vec::new());
    };
    let what =
        if payment.kind == LedgerEntryKind::PaymentMade { BookingKind::Paid } else { BookingKind::Received };
    if let Some(act) = what.minimal_transaction(payment.amount, Some(contact.id)) {
        for other in dedup::list_payments_near(tx, &act, payment.happened_at, AROUND)? {
            let whose = other.contact.map(|whose| contacts::get(tx, whose)).transpose()?;
            if other.id != payment.id && whose.is_some_and(|whose| whose.id == contact.id) {
                return Ok(vec![concern("ask-duplicate", &[("amount", payment.amount)], Some(&contact))]);
            }
        }
    }
    let wish = BookingRequest {
        what,
        amount: payment.amount,
        day: None,
        happened_at: payment.happened_at,
        contact: Some(contact),
        name: Some(person),
        mode: Some("cash"),
        instead: Some(&payment),
    };
    rules::concerns(tx, scene, &wish)
}
