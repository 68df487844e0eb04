//! What is put before a person of a bank's message: what was read in it, and whether the books may have it already.

use munshi_lang::format;
use munshi_pack::Scene;
use munshi_safety::pipeline::Concern;
use munshi_store::Tx;

use super::voice;
use crate::books::{Day, Entry, EntryKey};
use crate::error::Result;
use crate::messages::{self, Arrived, Looked, Question, is_sure};
use crate::sms::{Direction, Purse};
use crate::tools::other_side;

pub(super) fn concerns(tx: &mut Tx<'_>, scene: &Scene, text: &str) -> Result<Vec<Concern>> {
    let arrived = Arrived {
        key: EntryKey::of(&[b"looked at"]),
        text,
        sender: None,
        at: scene.now,
        told: messages::Told::ByPerson,
        by: None,
    };
    Ok(match messages::look(tx, &scene.zone, &arrived)? {
        Looked::Known(known) => vec![about("ledger-sms-seen", &known)],
        Looked::Payment(question) => asked(scene, &question),
        // The tool says why there is nothing.
        Looked::Nothing(_) => Vec::new(),
    })
}

fn asked(scene: &Scene, question: &Question) -> Vec<Concern> {
    let payment = &question.payment;
    let phrase = match (payment.purse, payment.direction) {
        (Some(Purse::Cash), Direction::Debit) => "ledger-sms-cash-out",
        (Some(Purse::Cash), Direction::Credit) => "ledger-sms-cash-in",
        (_, Direction::Credit) => "ledger-sms-in",
        (_, Direction::Debit) => "ledger-sms-out",
    };
    let name = question.party.as_ref().map_or_else(|| other_side(payment), |party| party.name.as_str());
    let slots =
        vec![("amount".to_owned(), format::rupees(payment.amount)), ("name".to_owned(), name.to_owned())];
    let mut found = vec![Concern { phrase: phrase.to_owned(), slots }];
    if !is_sure(payment) && payment.purse.is_none() {
        found.insert(0, Concern { phrase: "ledger-sms-guess".to_owned(), slots: Vec::new() });
    }
    let today = Day::of(scene.now, &scene.zone).to_date();
    if let Some(date) = payment.date.filter(|date| *date != today) {
        let slots = vec![("date".to_owned(), format::date(date, voice(scene)))];
        found.push(Concern { phrase: "ledger-dated".to_owned(), slots });
    }
    found.extend(question.like.as_ref().map(like));
    found
}

/// That an entry of nobody may be this payment of somebody's, and how to say so.
pub(super) fn whose(entry: &Entry, name: &str) -> Concern {
    let mut concern = about("ledger-sms-whose", entry);
    concern.slots.push(("name".to_owned(), name.to_owned()));
    concern
}

/// That an entry may be the same payment.
pub(super) fn like(entry: &Entry) -> Concern {
    about("ledger-sms-like", entry)
}

fn about(phrase: &str, entry: &Entry) -> Concern {
    let slots = vec![
        ("amount".to_owned(), format::rupees(entry.amount)),
        ("number".to_owned(), entry.number.to_string()),
    ];
    Concern { phrase: phrase.to_owned(), slots }
}
