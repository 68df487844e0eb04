//! Whom a name means. One that may be two people's is asked about; one that nobody has becomes a new contact, and the
//! reply says so.

use munshi_lang::names::strip_case_words;
use munshi_lang::{Certainty, ContactDirectory};
use munshi_store::{Tx, params};
use munshi_tools::{ChoiceOption, ToolFailure};
use munshi_types::Money;

use super::call::LedgerToolCall;
use crate::books::contacts::{self, Contact, NewContact};
use crate::books::{ContactId, NameMatch};
use crate::error::Result;

/// Before a name that was picked as a new one from a list of choices.
const NEW: char = '+';

pub(crate) enum ContactMatch {
    Known(Contact),
    /// Nobody has this name.
    New(String),
    /// The name may be each of these.
    Several(Vec<Contact>),
}

impl ContactMatch {
    /// The one who is surely meant.
    pub(crate) const fn contact(&self) -> Option<&Contact> {
        match self {
            Self::Known(contact) => Some(contact),
            Self::New(_) | Self::Several(_) => None,
        }
    }
}

/// Whom an argument means: the id that was picked from choices, a name that is new for sure, or a name as it was said.
/// What was heard may have the name with more letters, which were taken for a case: সমীর is Samir, or Sami's.
pub(crate) fn match_contact(tx: &mut Tx<'_>, said: &str, heard: &str) -> Result<ContactMatch> {
    if let Ok(id) = said.parse::<ContactId>() {
        return contacts::get(tx, id).map(ContactMatch::Known);
    }
    if let Some(name) = said.strip_prefix(NEW) {
        return Ok(ContactMatch::New(name.trim().to_owned()));
    }
    let name = strip_case_words(said);
    let found = match contacts::find(tx, said)? {
        NameMatch::Nobody if name != said => contacts::find(tx, name)?,
        found => found,
    };
    let whole = match find_longer_form(said, heard) {
        Some(whole) => contacts::find(tx, whole)?.into_one(),
        None => None,
    };
    Ok(match (found, whole) {
        (NameMatch::Nobody, Some(whole)) => ContactMatch::Known(whole),
        (NameMatch::One(contact), Some(whole)) if contact.id != whole.id => {
            ContactMatch::Several(vec![whole, contact])
        }
        (NameMatch::One(contact), _) => ContactMatch::Known(contact),
        (NameMatch::Nobody, None) => ContactMatch::New(name.to_owned()),
        (NameMatch::Choices(several), _) => ContactMatch::Several(several),
    })
}

/// A name with the rest of the word that it begins, where what was heard has it so and nowhere by itself.
fn find_longer_form<'h>(said: &str, heard: &'h str) -> Option<&'h str> {
    let is_letter = |letter: char| !letter.is_whitespace() && !letter.is_ascii_punctuation() && letter != '।';
    let starts = |at: usize| heard.get(..at).is_some_and(|before| !before.ends_with(is_letter));
    let places = heard.match_indices(said).map(|(at, _)| at).filter(|at| starts(*at));
    let mut longer = None;
    for at in places {
        let rest = heard.get(at + said.len()..)?;
        match rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len()) {
            // "Ramesh ne Ram ko": it was said whole.
            0 => return None,
            more => longer = longer.or_else(|| heard.get(at..at + said.len() + more)),
        }
    }
    longer
}

/// A contact, and whether it is new in the books.
pub(crate) struct EntryParty {
    pub(crate) contact: Contact,
    pub(crate) is_new: bool,
}

/// Whom an entry is for; somebody new is added.
pub(crate) fn resolve_party(
    tx: &mut Tx<'_>,
    call: &LedgerToolCall<'_>,
    said: &str,
) -> Result<EntryParty, ToolFailure> {
    let whom = match_contact(tx, said, call.user_text())?;
    resolve_matched_party(tx, call, said, whom)
}

/// The same, where it was looked up whom the name means.
pub(crate) fn resolve_matched_party(
    tx: &mut Tx<'_>,
    call: &LedgerToolCall<'_>,
    said: &str,
    whom: ContactMatch,
) -> Result<EntryParty, ToolFailure> {
    match whom {
        ContactMatch::Known(contact) => Ok(EntryParty { contact, is_new: false }),
        ContactMatch::New(name) => {
            let new = NewContact { name, ..NewContact::default() };
            let contact = contacts::add(tx, call.booking_context().ids, call.now, &new)?;
            Ok(EntryParty { contact, is_new: true })
        }
        ContactMatch::Several(several) => {
            let new = ChoiceOption::new(format!("{NEW}{said}"), format!("{NEW} {said}"));
            Err(ToolFailure::ambiguous("person", choices(&several).chain([new]).collect()))
        }
    }
}

/// Whom a question is about; nobody is added.
pub(crate) fn resolve_contact(tx: &mut Tx<'_>, call: &LedgerToolCall<'_>) -> Result<Contact, ToolFailure> {
    resolve_contact_argument(tx, "person", (call.text("person").unwrap_or_default(), call.user_text()))
}

/// The same, where it is another argument that says whom.
pub(crate) fn resolve_contact_argument(
    tx: &mut Tx<'_>,
    argument: &str,
    (said, heard): (&str, &str),
) -> Result<Contact, ToolFailure> {
    match match_contact(tx, said, heard)? {
        ContactMatch::Known(contact) => Ok(contact),
        ContactMatch::New(name) => Err(ToolFailure::not_found(name)),
        ContactMatch::Several(mut several) if several.len() == 1 => {
            several.pop().ok_or_else(|| ToolFailure::not_found(said))
        }
        ContactMatch::Several(several) => Err(ToolFailure::ambiguous(argument, choices(&several).collect())),
    }
}

/// Names that a sentence is searched for.
const NAMES: i64 = 5_000;

/// The contacts that a sentence surely names, in the order it names them: each as it stands now, so that two names of
/// one contact give it twice.
pub(crate) fn list_mentioned(tx: &mut Tx<'_>, sentence: &str) -> Result<Vec<Contact>> {
    let known: Vec<(ContactId, String)> = tx.all(
        "SELECT DISTINCT subject_id, name FROM ledger_names WHERE tenant_id = $1 AND kind = 'contact'
         ORDER BY subject_id DESC, name LIMIT $2",
        params![NAMES],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let directory = ContactDirectory::new(known.iter().map(|(_, name)| name.as_str()));
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

fn choices(several: &[Contact]) -> impl Iterator<Item = ChoiceOption> + '_ {
    several.iter().map(|contact| {
        let choice = ChoiceOption::new(contact.id.to_string(), contact.name.as_str());
        match (&contact.phone, contact.balance) {
            (Some(phone), _) => choice.with_detail(mask_phone(phone)),
            (None, Money::ZERO) => choice,
            (None, balance) => choice.with_detail(munshi_lang::format::rupees(balance)),
        }
    })
}

/// The last digits of a number: enough to know it by, and not all of it.
fn mask_phone(phone: &str) -> String {
    let start = phone.char_indices().rev().nth(3).map_or(0, |(at, _)| at);
    format!("…{}", phone.get(start..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_longer_only_where_it_never_stands_by_itself() {
        assert_eq!(find_longer_form("সমী", "সমীর ৩০৫ টাকা দিল"), Some("সমীর"));
        assert_eq!(find_longer_form("Raju", "kal Rajuko, 50 diye"), Some("Rajuko"));
        for heard in ["Ramesh ne Ram ko 50 diye", "Ram's 50", "Param ko 50", "50 diye", ""] {
            assert_eq!(find_longer_form("Ram", heard), None, "{heard}");
        }
    }
}
