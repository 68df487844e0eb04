//! A phone's messages all at once: in the order they came, some hundred in a transaction, each with what came of it.
//!
//! Every message has a key of its own, so whoever breaks off begins again and nothing is booked twice.

use std::collections::BTreeMap;
use std::sync::Arc;

use munshi_sms::{NonPaymentReason, PaymentDirection};
use munshi_store::{Db, Tx};
use munshi_types::{IdGenerator, Money, TenantId, Timestamp, Zone};
use serde::{Serialize, Serializer};

use super::phone::{PhoneBackupRow, PhoneSms};
use super::{IncomingSms, PaymentQuestion, SmsConsent, SmsOutcome, SmsTimeSource, book, is_sure};
use crate::books::{BookingContext, EntryKey};
use crate::error::{Error, Result};

/// So many messages share a transaction.
const TOGETHER: usize = 100;

/// What came of one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum SmsImportOutcome {
    Booked {
        entry: i64,
    },
    /// The books had it.
    Known {
        entry: i64,
    },
    /// A person has to say: what was read, and what is in doubt.
    Question {
        kind: PaymentDirection,
        #[serde(serialize_with = "rupees")]
        amount: Money,
        counterparty: Option<String>,
        why: String,
        /// Nothing is in doubt but that it is more than the owner wants booked without being asked.
        is_only_large: bool,
    },
    Nothing {
        reason: NonPaymentReason,
        why: &'static str,
    },
    Unreadable {
        why: String,
    },
}

/// A row of the file with what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SmsImportLine {
    pub row: u64,
    #[serde(flatten)]
    pub taken: SmsImportOutcome,
    /// The message, where a person has to look at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// How many messages ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SmsImportTotals {
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
pub struct SmsImportReport {
    #[serde(flatten)]
    pub count: SmsImportTotals,
    /// Why nothing was booked, and how often.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Every row, in the order of the file.
    pub lines: Vec<SmsImportLine>,
    /// Whether anything was written.
    pub is_applied: bool,
}

/// Where messages go, and how.
#[derive(Clone, Debug)]
pub struct SmsImport {
    pub db: Db,
    pub tenant: TenantId,
    pub zone: Zone,
    pub ids: IdGenerator,
    pub now: Timestamp,
    pub mode: SmsImportMode,
    /// Rows to whose question a person has said yes.
    pub agreed: Arc<Vec<u64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmsImportMode {
    /// Says what would happen, and undoes it.
    Rehearse,
    Apply,
}

/// Undoes a rehearsal's transaction with what it found.
enum Stop {
    Rehearsed(Vec<(SmsImportLine, Money, Option<PaymentDirection>)>),
    Failed(Error),
}

impl From<munshi_store::Error> for Stop {
    fn from(error: munshi_store::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Takes all rows, and says after each transaction how many are done.
pub async fn import(
    into: &SmsImport,
    mut rows: Vec<PhoneBackupRow>,
    mut tell: impl FnMut(usize),
) -> Result<SmsImportReport> {
    let came = |row: &PhoneBackupRow| row.message.as_ref().ok().and_then(|message| message.at);
    rows.sort_by_key(|row| (came(row), row.number));
    let mut report =
        SmsImportReport { is_applied: into.mode == SmsImportMode::Apply, ..SmsImportReport::default() };
    let all = rows.len();
    // What is undone is not seen by what follows, so a rehearsal is one transaction: then its report is the truth.
    let together = if into.mode == SmsImportMode::Apply { TOGETHER } else { all };
    let mut rows = rows.into_iter();
    loop {
        let some: Arc<Vec<PhoneBackupRow>> = Arc::new(rows.by_ref().take(together).collect());
        if some.is_empty() {
            break;
        }
        let own = into.clone();
        let unit = move |tx: &mut Tx<'_>| -> std::result::Result<_, Stop> {
            let taken = some
                .iter()
                .map(|row| import_row(tx, &own, row))
                .collect::<Result<Vec<_>>>()
                .map_err(Stop::Failed)?;
            match own.mode {
                SmsImportMode::Apply => Ok(taken),
                SmsImportMode::Rehearse => Err(Stop::Rehearsed(taken)),
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
fn import_row(
    tx: &mut Tx<'_>,
    into: &SmsImport,
    row: &PhoneBackupRow,
) -> Result<(SmsImportLine, Money, Option<PaymentDirection>)> {
    let unreadable = |why: String, text: Option<String>| {
        (
            SmsImportLine { row: row.number, taken: SmsImportOutcome::Unreadable { why }, text },
            Money::ZERO,
            None,
        )
    };
    let message = match &row.message {
        Ok(message) => message,
        Err(why) => return Ok(unreadable(why.clone(), None)),
    };
    if message.is_sent {
        let (reason, why) = (NonPaymentReason::Other, "the phone's owner wrote it");
        return Ok((
            SmsImportLine { row: row.number, taken: SmsImportOutcome::Nothing { reason, why }, text: None },
            Money::ZERO,
            None,
        ));
    }
    match tx.attempt(|tx| book_row(tx, into, row.number, message)) {
        Ok(outcome) => Ok(build_line(row.number, message, outcome)),
        Err(Error::Store(error)) if error.is_outage() || error.is_retryable() => Err(error.into()),
        Err(error) => Ok(unreadable(error.to_string(), Some(message.text.clone()))),
    }
}

fn book_row(tx: &mut Tx<'_>, into: &SmsImport, number: u64, message: &PhoneSms) -> Result<SmsOutcome> {
    let at = message.at.unwrap_or(into.now);
    if at > into.now.plus(std::time::Duration::from_secs(86_400)) {
        return Err(Error::invalid(format!("{at} lies ahead: the phone's clock was wrong")));
    }
    let sender = message.sender.as_deref().unwrap_or_default();
    let when = message.at.map(|at| at.as_micros().to_be_bytes()).unwrap_or_default();
    let arrived = IncomingSms {
        key: EntryKey::from_parts(&[b"message", sender.as_bytes(), &when, message.text.as_bytes()]),
        text: &message.text,
        sender: message.sender.as_deref(),
        at,
        told: if message.at.is_some() { SmsTimeSource::ByPhone } else { SmsTimeSource::ByPerson },
        by: None,
    };
    let writing = BookingContext { ids: &into.ids, now: into.now, zone: &into.zone };
    let consent = if into.agreed.contains(&number) { SmsConsent::Given } else { SmsConsent::Open };
    book(tx, &writing, &arrived, consent)
}

fn build_line(
    row: u64,
    message: &PhoneSms,
    outcome: SmsOutcome,
) -> (SmsImportLine, Money, Option<PaymentDirection>) {
    let (mut amount, mut way) = (Money::ZERO, None);
    let mut text = None;
    let taken = match outcome {
        SmsOutcome::Booked(booked) => {
            (amount, way) = (booked.payment.amount, Some(booked.payment.direction));
            SmsImportOutcome::Booked { entry: booked.entry.number }
        }
        SmsOutcome::Known(entry) => SmsImportOutcome::Known { entry: entry.number },
        SmsOutcome::Question(question) => {
            text = Some(message.text.clone());
            question_outcome(&question)
        }
        SmsOutcome::Nothing(reason) => SmsImportOutcome::Nothing { reason, why: reason.as_str() },
    };
    (SmsImportLine { row, taken, text }, amount, way)
}

fn question_outcome(question: &PaymentQuestion) -> SmsImportOutcome {
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
    SmsImportOutcome::Question {
        kind: payment.direction,
        amount: payment.amount,
        counterparty: payment.counterparty.clone(),
        why,
        is_only_large,
    }
}

impl SmsImportReport {
    /// Takes over what came of some rows when they were taken again, after a person has answered.
    pub fn replace_rows(&mut self, again: Self) -> Result<()> {
        let is_again = |line: &SmsImportLine| again.lines.iter().any(|other| other.row == line.row);
        let (before, kept): (Vec<SmsImportLine>, Vec<SmsImportLine>) =
            self.lines.drain(..).partition(is_again);
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

    fn add(&mut self, line: SmsImportLine, amount: Money, way: Option<PaymentDirection>) -> Result<()> {
        match way {
            Some(PaymentDirection::Credit) => self.count.came_in = self.count.came_in.plus(amount)?,
            Some(PaymentDirection::Debit) => self.count.went_out = self.count.went_out.plus(amount)?,
            None => {}
        }
        let count = match &line.taken {
            SmsImportOutcome::Booked { .. } => &mut self.count.booked,
            SmsImportOutcome::Known { .. } => &mut self.count.known,
            SmsImportOutcome::Question { .. } => &mut self.count.questions,
            SmsImportOutcome::Nothing { why, .. } => {
                *self.reasons.entry(why).or_default() += 1;
                &mut self.count.nothing
            }
            SmsImportOutcome::Unreadable { .. } => &mut self.count.unreadable,
        };
        *count += 1;
        self.lines.push(line);
        Ok(())
    }
}
