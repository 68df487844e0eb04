//! A phone's messages all at once: in the order they came, some hundred in a transaction, each with what came of it.
//!
//! Every message has a key of its own, so whoever breaks off begins again and nothing is booked twice.

use std::collections::BTreeMap;
use std::sync::Arc;

use munshi_store::{Db, Tx};
use munshi_types::{Ids, Money, TenantId, Timestamp, Zone};
use serde::{Serialize, Serializer};

use super::phone::{Message, Row};
use super::{Arrived, Consent, Outcome, Question, Told, is_sure, take};
use crate::books::{EntryKey, Writing};
use crate::error::{Error, Result};
use crate::sms::{Direction, Nothing};

/// So many messages share a transaction.
const TOGETHER: usize = 100;

/// What came of one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Taken {
    Booked {
        entry: i64,
    },
    /// The books had it.
    Known {
        entry: i64,
    },
    /// A person has to say: what was read, and what is in doubt.
    Question {
        kind: Direction,
        #[serde(serialize_with = "rupees")]
        amount: Money,
        counterparty: Option<String>,
        why: String,
        /// Nothing is in doubt but that it is more than the owner wants booked without being asked.
        is_only_large: bool,
    },
    Nothing {
        reason: Nothing,
        why: &'static str,
    },
    Unreadable {
        why: String,
    },
}

/// A row of the file with what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    pub row: u64,
    #[serde(flatten)]
    pub taken: Taken,
    /// The message, where a person has to look at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// How many messages ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    pub booked: u64,
    pub known: u64,
    pub questions: u64,
    pub nothing: u64,
    pub unreadable: u64,
    /// What came and went in what was booked, in rupees.
    #[serde(serialize_with = "rupees")]
    pub came_in: Money,
    #[serde(serialize_with = "rupees")]
    pub went_out: Money,
}

/// As decimal text, like every amount that is told of a message.
fn rupees<S: Serializer>(amount: &Money, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(amount)
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    #[serde(flatten)]
    pub count: Count,
    /// Why nothing was booked, and how often.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Every row, in the order of the file.
    pub lines: Vec<Line>,
    /// Whether anything was written.
    pub is_applied: bool,
}

/// Where messages go, and how.
#[derive(Clone, Debug)]
pub struct Import {
    pub db: Db,
    pub tenant: TenantId,
    pub zone: Zone,
    pub ids: Ids,
    pub now: Timestamp,
    pub mode: Mode,
    /// Rows to whose question a person has said yes.
    pub agreed: Arc<Vec<u64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Says what would happen, and undoes it.
    Rehearse,
    Apply,
}

/// Undoes a rehearsal's transaction with what it found.
enum Stop {
    Rehearsed(Vec<(Line, Money, Option<Direction>)>),
    Failed(Error),
}

impl From<munshi_store::Error> for Stop {
    fn from(error: munshi_store::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Takes all rows, and says after each transaction how many are done.
pub async fn import(into: &Import, mut rows: Vec<Row>, mut tell: impl FnMut(usize)) -> Result<Report> {
    let came = |row: &Row| row.message.as_ref().ok().and_then(|message| message.at);
    rows.sort_by_key(|row| (came(row), row.number));
    let mut report = Report { is_applied: into.mode == Mode::Apply, ..Report::default() };
    let all = rows.len();
    // What is undone is not seen by what follows, so a rehearsal is one transaction: then its report is the truth.
    let together = if into.mode == Mode::Apply { TOGETHER } else { all };
    let mut rows = rows.into_iter();
    loop {
        let some: Arc<Vec<Row>> = Arc::new(rows.by_ref().take(together).collect());
        if some.is_empty() {
            break;
        }
        let own = into.clone();
        let unit = move |tx: &mut Tx<'_>| -> std::result::Result<_, Stop> {
            let taken = some
                .iter()
                .map(|row| one(tx, &own, row))
                .collect::<Result<Vec<_>>>()
                .map_err(Stop::Failed)?;
            match own.mode {
                Mode::Apply => Ok(taken),
                Mode::Rehearse => Err(Stop::Rehearsed(taken)),
            }
        };
        let taken = match into.db.write(into.tenant, unit).await {
            Ok(taken) | Err(Stop::Rehearsed(taken)) => taken,
            Err(Stop::Failed(error)) => return Err(error),
        };
        taken.into_iter().try_for_each(|(line, amount, way)| report.add(line, amount, way))?;
        tell(all - rows.len());
    }
    report.lines.sort_by_key(|line| line.row);
    Ok(report)
}

/// One row by itself: what is wrong with it undoes nothing of the others. Only an ailing store ends the whole.
fn one(tx: &mut Tx<'_>, into: &Import, row: &Row) -> Result<(Line, Money, Option<Direction>)> {
    let unreadable = |why: String, text: Option<String>| {
        (Line { row: row.number, taken: Taken::Unreadable { why }, text }, Money::ZERO, None)
    };
    let message = match &row.message {
        Ok(message) => message,
        Err(why) => return Ok(unreadable(why.clone(), None)),
    };
    if message.is_sent {
        let (reason, why) = (Nothing::Other, "the phone's owner wrote it");
        return Ok((
            Line { row: row.number, taken: Taken::Nothing { reason, why }, text: None },
            Money::ZERO,
            None,
        ));
    }
    match tx.attempt(|tx| booked(tx, into, row.number, message)) {
        Ok(outcome) => Ok(lined(row.number, message, outcome)),
        Err(Error::Store(error)) if error.is_outage() || error.is_retryable() => Err(error.into()),
        Err(error) => Ok(unreadable(error.to_string(), Some(message.text.clone()))),
    }
}

fn booked(tx: &mut Tx<'_>, into: &Import, number: u64, message: &Message) -> Result<Outcome> {
    let at = message.at.unwrap_or(into.now);
    if at > into.now.plus(std::time::Duration::from_secs(86_400)) {
        return Err(Error::invalid(format!("{at} lies ahead: the phone's clock was wrong")));
    }
    let sender = message.sender.as_deref().unwrap_or_default();
    let when = message.at.map(|at| at.as_micros().to_be_bytes()).unwrap_or_default();
    let arrived = Arrived {
        key: EntryKey::of(&[b"message", sender.as_bytes(), &when, message.text.as_bytes()]),
        text: &message.text,
        sender: message.sender.as_deref(),
        at,
        told: if message.at.is_some() { Told::ByPhone } else { Told::ByPerson },
        by: None,
    };
    let writing = Writing { ids: &into.ids, now: into.now, zone: &into.zone };
    let consent = if into.agreed.contains(&number) { Consent::Given } else { Consent::Open };
    take(tx, &writing, &arrived, consent)
}

fn lined(row: u64, message: &Message, outcome: Outcome) -> (Line, Money, Option<Direction>) {
    let (mut amount, mut way) = (Money::ZERO, None);
    let mut text = None;
    let taken = match outcome {
        Outcome::Booked(booked) => {
            (amount, way) = (booked.payment.amount, Some(booked.payment.direction));
            Taken::Booked { entry: booked.entry.number }
        }
        Outcome::Known(entry) => Taken::Known { entry: entry.number },
        Outcome::Question(question) => {
            text = Some(message.text.clone());
            asked(&question)
        }
        Outcome::Nothing(reason) => Taken::Nothing { reason, why: reason.as_str() },
    };
    (Line { row, taken, text }, amount, way)
}

fn asked(question: &Question) -> Taken {
    let payment = &question.payment;
    let mut why: Vec<String> = Vec::new();
    if let Some(like) = &question.like {
        why.push(format!("it may be entry {}, which is of the same amount", like.number));
    } else if !is_sure(payment) {
        why.extend(payment.doubts.iter().map(|doubt| doubt.as_str().to_owned()));
    }
    let is_only_large = question.is_large && question.like.is_none() && is_sure(payment);
    if question.is_large {
        why.push("it is a large amount".to_owned());
    }
    let why = why.join("; ");
    Taken::Question {
        kind: payment.direction,
        amount: payment.amount,
        counterparty: payment.counterparty.clone(),
        why,
        is_only_large,
    }
}

impl Report {
    /// Takes over what came of some rows when they were taken again, after a person has answered.
    pub fn put(&mut self, again: Self) -> Result<()> {
        let is_again = |line: &Line| again.lines.iter().any(|other| other.row == line.row);
        let (before, kept): (Vec<Line>, Vec<Line>) = self.lines.drain(..).partition(is_again);
        self.lines = kept;
        let gone = u64::try_from(before.len()).unwrap_or(u64::MAX);
        self.count.questions = self.count.questions.saturating_sub(gone);
        self.count.came_in = self.count.came_in.plus(again.count.came_in)?;
        self.count.went_out = self.count.went_out.plus(again.count.went_out)?;
        for line in again.lines {
            self.add(line, Money::ZERO, None)?;
        }
        self.lines.sort_by_key(|line| line.row);
        Ok(())
    }

    fn add(&mut self, line: Line, amount: Money, way: Option<Direction>) -> Result<()> {
        match way {
            Some(Direction::Credit) => self.count.came_in = self.count.came_in.plus(amount)?,
            Some(Direction::Debit) => self.count.went_out = self.count.went_out.plus(amount)?,
            None => {}
        }
        let count = match &line.taken {
            Taken::Booked { .. } => &mut self.count.booked,
            Taken::Known { .. } => &mut self.count.known,
            Taken::Question { .. } => &mut self.count.questions,
            Taken::Nothing { why, .. } => {
                *self.reasons.entry(why).or_default() += 1;
                &mut self.count.nothing
            }
            Taken::Unreadable { .. } => &mut self.count.unreadable,
        };
        *count += 1;
        self.lines.push(line);
        Ok(())
    }
}
