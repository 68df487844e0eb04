//! Whom a name means. One that may be two people's is asked about; one that nobody has becomes a new contact, and the
//! reply says so.

use munshi_lang::names::bare;
use munshi_lang::{Certainty, Directory};
use munshi_store::{Tx, params};
use munshi_tools::{Choice, Failure};
use munshi_types::Money;

use super::call::Call;
use crate::books::contacts::{self, Contact, NewContact};
use crate::books::{ContactId, Found};
use crate::error::Result;

/// Before a name that was picked as a new one from a list of choices.
const NEW: char = '+';

pub(crate) enum Whom {
    Known(Contact),
    /// Nobody has this name.
    New(String),
    /// The name may be each of these.
    Several(Vec<Contact>),
}

impl Whom {
    /// The one who is surely meant.
    pub(crate) const fn contact(&self) -> Option<&Contact> {
        match self {
            Self::Known(contact) => Some(contact),
            Self::New(_) | Self::Several(_) => None,
        }
    }
}

/// Whom an argument means: the id that was picked from choices, a name that is new for sure, or a name as it was said.
pub(crate) fn whom(tx: &mut Tx<'_>, said: &str) -> Result<Whom> {
    if let Ok(id) = said.parse::<ContactId>() {
        return contacts::get(tx, id).map(Whom::Known);
    }
    if let Some(name) = said.strip_prefix(NEW) {
        return Ok(Whom::New(name.trim().to_owned()));
    }
    let name = bare(said);
    let found = match contacts::find(tx, said)? {
        Found::Nobody if name != said => contacts::find(tx, name)?,
        found => found,
    };
    Ok(match found {
        Found::One(contact) => Whom::Known(contact),
        Found::Nobody => Whom::New(name.to_owned()),
        Found::Choices(several) => Whom::Several(several),
    })
}

/// A contact, and whether it is new in the books.
pub(crate) struct Party {
    pub(crate) contact: Contact,
    pub(crate) is_new: bool,
}

/// Whom an entry is for; somebody new is added.
pub(crate) fn party(tx: &mut Tx<'_>, call: &Call<'_>, said: &str) -> Result<Party, Failure> {
    let whom = whom(tx, said)?;
    party_of(tx, call, said, whom)
}

/// The same, where it was looked up whom the name means.
pub(crate) fn party_of(tx: &mut Tx<'_>, call: &Call<'_>, said: &str, whom: Whom) -> Result<Party, Failure> {
    match whom {
        Whom::Known(contact) => Ok(Party { contact, is_new: false }),
        Whom::New(name) => {
            let new = NewContact { name, ..NewContact::default() };
            let contact = contacts::add(tx, call.writing().ids, call.now, &new)?;
            Ok(Party { contact, is_new: true })
        }
        Whom::Several(several) => {
            let new = Choice::new(format!("{NEW}{said}"), format!("{NEW} {said}"));
            Err(Failure::several("person", choices(&several).chain([new]).collect()))
        }
    }
}

/// Whom a question is about; nobody is added.
pub(crate) fn known(tx: &mut Tx<'_>, said: &str) -> Result<Contact, Failure> {
    known_as(tx, "person", said)
}

/// The same, where it is another argument that says whom.
pub(crate) fn known_as(tx: &mut Tx<'_>, argument: &str, said: &str) -> Result<Contact, Failure> {
    match whom(tx, said)? {
        Whom::Known(contact) => Ok(contact),
        Whom::New(name) => Err(Failure::not_found(name)),
        Whom::Several(mut several) if several.len() == 1 => {
            several.pop().ok_or_else(|| Failure::not_found(said))
        }
        Whom::Several(several) => Err(Failure::several(argument, choices(&several).collect())),
    }
}

/// Names that a sentence is searched for.
const NAMES: i64 = 5_000;

/// The contacts that a sentence surely names, in the order it names them: each as it stands now, so that two names of
/// one contact give it twice.
pub(crate) fn mentioned(tx: &mut Tx<'_>, sentence: &str) -> Result<Vec<Contact>> {
    let known: Vec<(ContactId, String)> = tx.all(
        "SELECT DISTINCT subject_id, name FROM ledger_names WHERE tenant_id = $1 AND kind = 'contact'
         ORDER BY subject_id DESC, name LIMIT $2",
        params![NAMES],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let directory = Directory::new(known.iter().map(|(_, name)| name.as_str()));
    let mut named: Vec<(ContactId, Contact)> = Vec::new();
    for found in directory.find(sentence) {
        let mut meant = found.candidates.iter().filter_map(|one| known.get(one.contact)).map(|(id, _)| *id);
        let Some(first) = meant.next() else { continue };
        let is_sure = found.certainty == Certainty::Exact || meant.all(|id| id == first);
        if is_sure && named.iter().all(|(id, _)| *id != first) {
            named.push((first, contacts::get(tx, first)?));
        }
    }
    Ok(named.into_iter().map(|(_, contact)| contact).collect())
}

fn choices(several: &[Contact]) -> impl Iterator<Item = Choice> + '_ {
    several.iter().map(|contact| {
        let choice = Choice::new(contact.id.to_string(), contact.name.as_str());
        match (&contact.phone, contact.balance) {
            (Some(phone), _) => choice.with_detail(tail(phone)),
            (None, Money::ZERO) => choice,
            (None, balance) => choice.with_detail(munshi_lang::format::rupees(balance)),
        }
    })
}

/// The last digits of a number: enough to know it by, and not all of it.
fn tail(phone: &str) -> String {
    let start = phone.char_indices().rev().nth(3).map_or(0, |(at, _)| at);
    format!("…{}", phone.get(start..).unwrap_or_default())
}
