//! What a person should confirm before something is booked: a large amount, an unusual one, credit over the limit, the
//! same thing twice, a day long ago, two contacts that become one, and what a bank's message was read as (`message`). What
//! must agree afterwards is in `after`, what a reply may say in `reply`, and how a reply says that it wrote in `claim`.

mod after;
mod claim;
mod message;
mod reply;

use std::time::Duration;

use munshi_lang::{Form, Language, Voice, format};
use munshi_pack::{Check, Objection, Scene};
use munshi_safety::pipeline::Concern;
use munshi_store::Tx;
use munshi_types::Money;
use serde_json::Value;

use crate::books::contacts::Contact;
use crate::books::dedup::{self, Seen, Windows};
use crate::books::{Act, Day, Entry, Source, contacts, habits, profile};
use crate::error::{Error, Result};
use crate::tools::{What, Whom, amount, other_day, pair, text, whom};

/// Fewer entries than this say nothing of what is usual.
const ENOUGH: i64 = 5;
/// So many times what is usual is asked about.
const FAR: i64 = 4;
/// Something that happened longer ago than this is asked about: a wrong month is a common slip.
const LONG_AGO_DAYS: i64 = 31;
/// Two customers often pay the same; one that is named seldom does so twice.
const NAMED: Duration = Duration::from_secs(15 * 60);
const UNNAMED: Duration = Duration::from_secs(2 * 60);
/// So long after a bank's message the owner may still speak of the payment.
const TOLD: Duration = Duration::from_secs(24 * 3600);

pub(crate) struct Careful;

impl Check for Careful {
    fn before(
        &self,
        tx: &mut Tx<'_>,
        scene: &Scene,
        tool: &str,
        arguments: &Value,
    ) -> munshi_store::Result<Vec<Concern>> {
        let found = match (What::of_tool(tool), amount(arguments), text(arguments, "text")) {
            _ if tool == "merge_contacts" => return Ok(merging(tx, arguments)),
            (Some(what), Some(amount), _) => {
                let Ok(day) = day(scene, arguments) else { return Ok(Vec::new()) };
                let by_bank = text(arguments, "mode").is_some_and(|mode| mode != "cash");
                let person = text(arguments, "person");
                concerns(tx, scene, &Wish { what, amount, day, person, by_bank })
            }
            (None, _, Some(text)) if tool == "book_sms" => message::concerns(tx, scene, text),
            _ => return Ok(Vec::new()),
        };
        match found {
            Ok(concerns) => Ok(concerns),
            Err(Error::Store(error)) => Err(error),
            // What can't be booked is refused by the tool, which says why.
            Err(_) => Ok(Vec::new()),
        }
    }

    fn after(
        &self,
        tx: &mut Tx<'_>,
        _: &Scene,
        _: &str,
        result: &Value,
    ) -> munshi_store::Result<Option<Objection>> {
        after::mismatch(tx, result).map_err(|error| match error {
            Error::Store(error) => error,
            other => munshi_store::Error::Decode(other.to_string()),
        })
    }

    fn reply(&self, scene: &Scene, draft: &str, results: &[Value]) -> Vec<Objection> {
        let found = [reply::unwritten(scene, draft, results), reply::unfounded(scene, draft, results)];
        found.into_iter().flatten().collect()
    }
}

/// The day that is said, where it is another than today; what can't be written is refused by the tool, which says why.
fn day(scene: &Scene, arguments: &Value) -> std::result::Result<Option<Day>, munshi_tools::Failure> {
    other_day(arguments, Day::of(scene.now, &scene.zone))
}

/// Merging can't be undone, so it is always asked about, with what each of them owes.
fn merging(tx: &mut Tx<'_>, arguments: &Value) -> Vec<Concern> {
    let Ok(pair) = pair(tx, arguments) else { return Vec::new() };
    let shown = |contact: &Contact| format!("{} ({})", contact.name, format::rupees(contact.balance));
    let slots = vec![("other".to_owned(), shown(&pair.goes)), ("name".to_owned(), shown(&pair.stays))];
    vec![Concern { phrase: "ledger-merge-ask".to_owned(), slots }]
}

/// The language and letters of whoever is asked.
fn voice(scene: &Scene) -> Voice {
    let known = scene.language.as_ref().and_then(|code| Some((code.language()?, code.is_latin())));
    let (language, is_latin) = known.unwrap_or((Language::English, true));
    Voice::new(language, if is_latin { Form::Latin } else { Form::Native })
}

/// What is to be booked, as it was asked for.
struct Wish<'a> {
    what: What,
    amount: Money,
    /// Another day than today.
    day: Option<Day>,
    person: Option<&'a str>,
    /// It was said that it went by UPI, card or cheque.
    by_bank: bool,
}

fn concerns(tx: &mut Tx<'_>, scene: &Scene, wish: &Wish<'_>) -> Result<Vec<Concern>> {
    let Wish { what, amount, day, person, .. } = *wish;
    let contact = match person.map(|said| whom(tx, said)).transpose()? {
        Some(Whom::Known(contact)) => Some(contact),
        Some(Whom::New(_) | Whom::Several(_)) | None => None,
    };
    let mut found = Vec::new();
    if let Some(day) = day.filter(|day| Day::of(scene.now, &scene.zone).after(*day) > LONG_AGO_DAYS) {
        let slots = vec![("date".to_owned(), format::date(day.to_date(), voice(scene)))];
        found.push(Concern { phrase: "ledger-old-day".to_owned(), slots });
    }
    if amount > profile::get(tx)?.confirm_above {
        found.push(concern("ask-large-amount", &[("amount", amount)], None));
    } else if let Some(contact) = &contact
        && is_unusual(tx, contact, what, amount)?
    {
        found.push(concern("ask-unusual-amount", &[("amount", amount)], Some(contact)));
    }
    if let (What::CreditGiven, Some(contact)) = (what, &contact)
        && let (Some(_), Some(limit)) = (contact.over_limit(amount)?, contact.limit)
    {
        found.push(concern("ledger-over-limit", &[("limit", limit)], Some(contact)));
    }
    if let Some(told) = told_by_bank(tx, scene, wish, contact.as_ref())? {
        found.push(match (&contact, told.contact, person) {
            (Some(contact), Some(_), _) => concern("ask-duplicate", &[("amount", amount)], Some(contact)),
            (Some(contact), None, _) => message::whose(&told, &contact.name),
            (None, None, Some(name)) => message::whose(&told, name),
            _ => message::like(&told),
        });
    } else if (person.is_none() || contact.is_some())
        && is_again(tx, scene, (what, amount, day), contact.as_ref())?
    {
        let phrase = if contact.is_some() { "ask-duplicate" } else { "ledger-again" };
        found.push(concern(phrase, &[("amount", amount)], contact.as_ref()));
    }
    Ok(found)
}

fn concern(phrase: &str, amounts: &[(&str, Money)], contact: Option<&Contact>) -> Concern {
    let amounts = amounts.iter().map(|(name, amount)| ((*name).to_owned(), format::rupees(*amount)));
    let name = contact.map(|contact| ("name".to_owned(), contact.name.clone()));
    Concern { phrase: phrase.to_owned(), slots: amounts.chain(name).collect() }
}

/// Far above or below what half of the latest entries with this contact are between.
fn is_unusual(tx: &mut Tx<'_>, contact: &Contact, what: What, amount: Money) -> Result<bool> {
    let Some(side) = what.kind().side() else { return Ok(false) };
    let habit = habits::of(tx, contact.id, side)?;
    let (Some(low), Some(high)) = (habit.low, habit.high) else { return Ok(false) };
    Ok(habit.seen >= ENOUGH && (amount > high.times(FAR)? || amount.times(FAR)? < low))
}

/// Whether the same was written a short while ago.
fn is_again(
    tx: &mut Tx<'_>,
    scene: &Scene,
    (what, amount, day): (What, Money, Option<Day>),
    contact: Option<&Contact>,
) -> Result<bool> {
    let party = contact.map(|contact| contact.id);
    let Some(act) = what.plain(amount, party) else { return Ok(false) };
    let window = if party.is_some() { NAMED } else { UNNAMED };
    let happened_at = day.map_or(scene.now, |day| day.noon(&scene.zone));
    let seen = Seen { act: &act, words: "", fingerprint: None, happened_at, now: scene.now };
    let alike = dedup::look(tx, &seen, Windows { words: window, amount: window })?;
    Ok(alike.is_some_and(|alike| {
        let entry = alike.entry();
        entry.kind == what.kind() && entry.contact.is_some() == party.is_some()
    }))
}

/// The entry of a bank's message that may be this payment: of the same person, or of nobody yet. The owner speaks of it
/// some time after.
fn told_by_bank(
    tx: &mut Tx<'_>,
    scene: &Scene,
    wish: &Wish<'_>,
    contact: Option<&Contact>,
) -> Result<Option<Entry>> {
    let is_payment = matches!(wish.what, What::Received | What::Paid);
    let is_paid_for = wish.by_bank && matches!(wish.what, What::Sale | What::Purchase | What::Expense);
    let party = contact.map(|contact| contact.id);
    let Some(act) = wish.what.plain(wish.amount, party).filter(|_| is_payment || is_paid_for) else {
        return Ok(None);
    };
    let happened_at = wish.day.map_or(scene.now, |day| day.noon(&scene.zone));
    for entry in dedup::payments(tx, &act, happened_at, TOLD)? {
        let whose =
            entry.contact.map(|contact| contacts::get(tx, contact)).transpose()?.map(|whose| whose.id);
        if entry.source == Source::Sms && (whose.is_none() || whose == party) {
            return Ok(Some(entry));
        }
    }
    Ok(None)
}

impl What {
    /// The act with nothing but the amount and the person; it is looked at and never booked.
    fn plain(self, amount: Money, party: Option<crate::books::ContactId>) -> Option<Act> {
        use crate::books::{Lent, Means, Settled};
        let (settled, means, lines) = (Settled::Now(Means::Cash), Means::Cash, Vec::new());
        Some(match self {
            Self::Sale => Act::Sale { amount, settled, party, lines },
            Self::Purchase => Act::Purchase { amount, settled, party, lines },
            Self::Expense => Act::Expense { amount, category: "expense".to_owned(), settled, party },
            Self::CreditGiven => Act::CreditGiven { party: party?, amount, lent: Lent::Goods, lines },
            Self::CreditTaken => Act::CreditTaken { party: party?, amount, lent: Lent::Goods, lines },
            Self::Received => Act::PaymentReceived { party, amount, means },
            Self::Paid => Act::PaymentMade { party, amount, means },
        })
    }
}
