//! One call of a tool: who asks, in which words, and what the arguments say.

use std::sync::Arc;

use munshi_identity::Principal;
use munshi_lang::{Locale, Phrasebook, PlaceholderValue, ScriptForm, detect};
use munshi_pack::outgoing::OutboxReader;
use munshi_safety::acts::{self, Permit};
use munshi_safety::approvals;
use munshi_safety::pipeline::ActConcern;
use munshi_store::Tx;
use munshi_tools::ToolFailure;
use munshi_types::{
    ActId, BindingId, Clock, Id, IdGenerator, Language, Money, PersonId, Random, TenantId, Timestamp, Zone,
};
use serde_json::Value;

use super::assign_payment::UnsortedPaymentQuery;
use super::book::BookingKind;
use crate::books::contacts::Contact;
use crate::books::{
    BookingContext, EntryKey, EntryProvenance, LedgerDay, LedgerEntrySource, NewLedgerEntry, PaymentMeans,
    ShopTransaction,
};
use crate::check;
use crate::error::Error;

/// What every tool has at hand.
#[derive(Clone)]
pub(crate) struct LedgerServices {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdGenerator,
    pub(crate) random: Arc<dyn Random>,
    /// The pack's own phrases.
    pub(crate) book: Arc<Phrasebook>,
    /// Tells what can be sent, and what came of it. None where nobody knows.
    pub(crate) outbox: Option<Arc<dyn OutboxReader>>,
}

/// Something that happened longer ago than this is not written down by a sentence: a file can bring it.
const OLDEST_DAYS: i64 = 366;
/// What was said is kept in the books up to this many letters.
const MOST_WORDS: usize = 500;

pub(crate) struct LedgerToolCall<'c> {
    desk: &'c LedgerServices,
    arguments: &'c Value,
    pub(crate) tenant: TenantId,
    pub(super) act: ActId,
    pub(crate) key: EntryKey,
    pub(crate) now: Timestamp,
    /// When it was first asked for, which may be long before somebody said yes to it.
    pub(crate) asked_at: Timestamp,
    pub(crate) zone: Zone,
    pub(crate) by: Option<PersonId>,
    /// Through which binding it was asked for.
    pub(super) binding: Option<BindingId>,
    /// Who asked, with their role.
    pub(super) who: Option<Principal>,
    words: String,
    /// What a check wanted confirmed, and a person did.
    pub(crate) agreed: Vec<ActConcern>,
}

impl LedgerServices {
    pub(crate) fn load_call<'c>(
        &'c self,
        permit: &'c Permit,
        tx: &mut Tx<'_>,
    ) -> Result<LedgerToolCall<'c>, ToolFailure> {
        let act = acts::find(tx, permit.act())
            .map_err(|error| ToolFailure::transient("store", error.to_string()))?;
        let now = self.clock.now();
        let asked_at = act.as_ref().map_or(now, |act| act.began_at);
        let rests_on = act.map(|act| act.rests_on);
        let words = rests_on.as_ref().map(|on| on.taint.own_words.join("\n")).unwrap_or_default();
        // An act with concerns comes here only by somebody's yes.
        let agreed = rests_on.as_ref().map(|on| on.concerns.clone()).unwrap_or_default();
        let caller = rests_on.map(|on| on.caller);
        Ok(LedgerToolCall {
            desk: self,
            arguments: permit.arguments(),
            tenant: permit.tenant(),
            act: permit.act(),
            key: EntryKey::new(permit.act().as_uuid()),
            now,
            asked_at,
            binding: caller.as_ref().and_then(|caller| caller.binding),
            by: caller.as_ref().and_then(|caller| caller.principal.person),
            zone: caller.as_ref().map(|caller| caller.zone.clone()).unwrap_or_default(),
            who: caller.map(|caller| caller.principal),
            words: words.chars().take(MOST_WORDS).collect(),
            agreed,
        })
    }
}

impl LedgerToolCall<'_> {
    pub(crate) fn booking_context(&self) -> BookingContext<'_> {
        BookingContext { ids: &self.desk.ids, now: self.now, zone: &self.zone }
    }

    pub(crate) fn today(&self) -> LedgerDay {
        LedgerDay::of(self.now, &self.zone)
    }

    /// What the person said in this turn.
    pub(crate) fn user_text(&self) -> &str {
        &self.words
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        text(self.arguments, name)
    }

    pub(crate) fn amount(&self) -> Result<Money, ToolFailure> {
        amount(self.arguments)
            .ok_or_else(|| ToolFailure::permanent("bad_amount", "say the amount in whole paise"))
    }

    /// The amount, where one was said.
    pub(crate) fn given_amount(&self) -> Option<Money> {
        amount(self.arguments).filter(|amount| *amount > Money::ZERO)
    }

    pub(crate) fn number(&self, name: &str) -> Option<String> {
        self.arguments.get(name).filter(|value| value.is_number()).map(ToString::to_string)
    }

    pub(crate) fn entry_number(&self) -> Option<i64> {
        entry_number(self.arguments)
    }

    pub(crate) fn means(&self) -> PaymentMeans {
        match self.text("mode") {
            None | Some("cash") => PaymentMeans::Cash,
            Some(_) => PaymentMeans::Bank,
        }
    }

    /// The day it is about, where that is another than today: the one that was said, or the one it was said on.
    pub(crate) fn other_day(&self) -> Result<Option<LedgerDay>, ToolFailure> {
        let said_on = LedgerDay::of(self.asked_at, &self.zone);
        let day = self.requested_day()?.unwrap_or(said_on);
        Ok(Some(day).filter(|day| *day != self.today()))
    }

    fn requested_day(&self) -> Result<Option<LedgerDay>, ToolFailure> {
        parse_past_day(self.arguments, LedgerDay::of(self.asked_at, &self.zone))
    }

    /// When it happened: at noon of the day that was said, or when it was said, however late somebody agreed to it. A
    /// clock that was put back since makes nothing happen in the future.
    pub(crate) fn happened_at(&self) -> Result<Timestamp, ToolFailure> {
        Ok(self.requested_day()?.map_or(self.asked_at.min(self.now), |day| day.noon(&self.zone)))
    }

    /// The entry that a question named, by the phrase it was asked with.
    pub(crate) fn agreed_entry(&self, phrase: &str) -> Option<i64> {
        self.agreed.iter().find(|concern| concern.phrase == phrase).and_then(parse_concern_number)
    }

    /// Whether somebody was asked before it was done.
    pub(crate) fn has_approval(&self, tx: &mut Tx<'_>) -> Result<bool, ToolFailure> {
        let asked = approvals::find_by_act(tx, self.act);
        Ok(asked.map_err(|error| ToolFailure::transient("store", error.to_string()))?.is_some())
    }

    /// Fails where the books have changed since the act was looked at so that a person would have to be asked: somebody
    /// else told of the same, or the limit is used up. Whoever calls holds the books.
    pub(crate) fn ensure_unchanged(
        &self,
        tx: &mut Tx<'_>,
        what: BookingKind,
        contact: Option<&Contact>,
    ) -> Result<(), ToolFailure> {
        let when = (self.asked_at.min(self.now), &self.zone);
        match check::recheck_booking(tx, when, (what, self.arguments, contact), &self.agreed)? {
            None => Ok(()),
            Some(found) => Err(build_changed_failure(&found.phrase)),
        }
    }

    /// The entry as it will stand in the books.
    pub(crate) fn new_entry(&self, act: ShopTransaction) -> Result<NewLedgerEntry, ToolFailure> {
        self.happened_at().map(|when| self.new_entry_at(act, when))
    }

    pub(crate) fn new_entry_at(&self, act: ShopTransaction, when: Timestamp) -> NewLedgerEntry {
        let said = EntryProvenance {
            by: self.by,
            ..EntryProvenance::new(LedgerEntrySource::Owner, self.words.as_str(), when)
        };
        NewLedgerEntry { key: self.key, act, said }
    }

    /// Which payment of nobody is meant.
    pub(crate) fn unsorted_query(&self) -> UnsortedPaymentQuery<'_> {
        UnsortedPaymentQuery { arguments: self.arguments, now: self.now, voice: self.locale() }
    }

    /// The language and letters that the person wrote in.
    pub(crate) fn locale(&self) -> Locale {
        let found = detect(&self.words);
        found.map_or(Locale::new(Language::English, ScriptForm::Latin), |found| {
            Locale::new(found.language, found.form())
        })
    }

    /// The pack's own phrases.
    pub(super) fn book(&self) -> &Phrasebook {
        &self.desk.book
    }

    /// A phrase of the pack's own, for somebody else or within a list.
    pub(crate) fn phrase(
        &self,
        voice: Locale,
        name: &str,
        fills: &[(&str, PlaceholderValue<'_>)],
    ) -> Result<String, ToolFailure> {
        let said = self.desk.book.render(&format!("ledger-{name}"), voice, fills);
        said.map_err(|error| ToolFailure::permanent("no_phrase", error.to_string()))
    }

    pub(crate) fn random(&self) -> &dyn Random {
        self.desk.random.as_ref()
    }
}

/// The number of an entry that a concern names.
pub(crate) fn parse_concern_number(concern: &ActConcern) -> Option<i64> {
    let (_, number) = concern.slots.iter().find(|(name, _)| name == "number")?;
    number.parse().ok()
}

/// What the person agreed to is no longer what it was.
pub(crate) fn build_changed_failure(what: &str) -> ToolFailure {
    let detail =
        format!("the books have changed since ({what}), and nothing was written: have it said again");
    ToolFailure::permanent("ledger_since", detail)
}

/// The day that the arguments name, where it is not today. One to come, or too long ago, can't be written.
pub(crate) fn parse_past_day(arguments: &Value, today: LedgerDay) -> Result<Option<LedgerDay>, ToolFailure> {
    let Some(said) = text(arguments, "date") else { return Ok(None) };
    let bad = |what: String| ToolFailure::permanent("ledger_bad_day", what);
    let day: LedgerDay =
        said.parse().map_err(|_| bad(format!("{said} is no day: write it as 2026-11-15")))?;
    match today.days_since(day) {
        0 => Ok(None),
        1..=OLDEST_DAYS => Ok(Some(day)),
        _ => Err(bad(format!("{day} is to come, or more than {OLDEST_DAYS} days ago"))),
    }
}

pub(crate) fn text<'a>(arguments: &'a Value, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// The number of an entry that the arguments name.
pub(crate) fn entry_number(arguments: &Value) -> Option<i64> {
    let said = || text(arguments, "entry").and_then(|said| said.trim_start_matches('#').parse().ok());
    arguments.get("entry").and_then(Value::as_i64).or_else(said)
}

pub(crate) fn amount(arguments: &Value) -> Option<Money> {
    arguments.get("amount").and_then(Value::as_i64).map(Money::from_paise)
}

/// What the books refuse, as a tool says it.
impl From<Error> for ToolFailure {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Store(_) => return convert_store_error(error),
            Error::Missing { .. } => "not_found",
            Error::KeyTaken { .. } => "key_taken",
            Error::AlreadyCancelled { .. } => "already_cancelled",
            Error::NoRate { .. } => "ledger_no_rate",
            Error::BadRate(_) => "ledger_bad_rate",
            Error::BadGstin(_) => "ledger_bad_gstin",
            Error::NoSeller { .. } => "ledger_no_seller",
            Error::Money(_) | Error::Phone(_) | Error::Invalid(_) | Error::File(_) => "not_booked",
        };
        Self::permanent(code, error.to_string())
    }
}

fn convert_store_error(error: Error) -> ToolFailure {
    match error {
        Error::Store(error) => error.into(),
        other => ToolFailure::permanent("not_booked", other.to_string()),
    }
}
