//! One call of a tool: who asks, in which words, and what the arguments say.

use std::sync::Arc;

use munshi_safety::acts::{self, Permit};
use munshi_store::Tx;
use munshi_tools::Failure;
use munshi_types::{Clock, Id, Ids, Money, PersonId, Timestamp, Zone};
use serde_json::Value;

use crate::books::{Act, Day, EntryKey, Means, NewEntry, Said, Source, Writing};
use crate::error::Error;

/// What every tool has at hand.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Ids,
}

/// What was said is kept in the books up to this many letters.
const MOST_WORDS: usize = 500;

pub(crate) struct Call<'c> {
    desk: &'c Desk,
    arguments: &'c Value,
    pub(crate) key: EntryKey,
    pub(crate) now: Timestamp,
    pub(crate) zone: Zone,
    pub(crate) by: Option<PersonId>,
    words: String,
    /// A check wanted it confirmed, and a person did.
    pub(crate) is_confirmed: bool,
}

impl Desk {
    pub(crate) fn call<'c>(&'c self, permit: &'c Permit, tx: &mut Tx<'_>) -> Result<Call<'c>, Failure> {
        let act =
            acts::find(tx, permit.act()).map_err(|error| Failure::for_now("store", error.to_string()))?;
        let rests_on = act.map(|act| act.rests_on);
        let words = rests_on.as_ref().map(|on| on.taint.own_words.join("\n")).unwrap_or_default();
        // An act with concerns comes here only by somebody's yes.
        let is_confirmed = rests_on.as_ref().is_some_and(|on| !on.concerns.is_empty());
        let caller = rests_on.map(|on| on.caller);
        Ok(Call {
            desk: self,
            arguments: permit.arguments(),
            key: EntryKey::new(permit.act().as_uuid()),
            now: self.clock.now(),
            by: caller.as_ref().and_then(|caller| caller.principal.person),
            zone: caller.map(|caller| caller.zone).unwrap_or_default(),
            words: words.chars().take(MOST_WORDS).collect(),
            is_confirmed,
        })
    }
}

impl Call<'_> {
    pub(crate) fn writing(&self) -> Writing<'_> {
        Writing { ids: &self.desk.ids, now: self.now, zone: &self.zone }
    }

    pub(crate) fn today(&self) -> Day {
        Day::of(self.now, &self.zone)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        text(self.arguments, name)
    }

    pub(crate) fn amount(&self) -> Result<Money, Failure> {
        amount(self.arguments).ok_or_else(|| Failure::surely("bad_amount", "say the amount in whole paise"))
    }

    pub(crate) fn number(&self, name: &str) -> Option<String> {
        self.arguments.get(name).filter(|value| value.is_number()).map(ToString::to_string)
    }

    pub(crate) fn means(&self) -> Means {
        match self.text("mode") {
            None | Some("cash") => Means::Cash,
            Some(_) => Means::Bank,
        }
    }

    /// The entry as it will stand in the books.
    pub(crate) fn entry(&self, act: Act) -> NewEntry {
        let said = Said { by: self.by, ..Said::new(Source::Owner, self.words.as_str(), self.now) };
        NewEntry { key: self.key, act, said }
    }
}

pub(crate) fn text<'a>(arguments: &'a Value, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

pub(crate) fn amount(arguments: &Value) -> Option<Money> {
    arguments.get("amount").and_then(Value::as_i64).map(Money::from_paise)
}

/// What the books refuse, as a tool says it.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Store(_) => return store(error),
            Error::Missing { .. } => "not_found",
            Error::KeyTaken { .. } => "key_taken",
            Error::AlreadyCancelled { .. } => "already_cancelled",
            Error::Money(_) | Error::Phone(_) | Error::Invalid(_) | Error::File(_) => "not_booked",
        };
        Self::surely(code, error.to_string())
    }
}

fn store(error: Error) -> Failure {
    match error {
        Error::Store(error) => error.into(),
        other => Failure::surely("not_booked", other.to_string()),
    }
}
