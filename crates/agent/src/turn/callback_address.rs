//! Where somebody is called back who asked for a person while nobody was there.

use munshi_conversations::messages::{Message, MessageSpeaker};
use munshi_conversations::reach::preferences::to_place;
use munshi_conversations::sessions::Session;
use munshi_conversations::{Result, human_requests, runs};
use munshi_identity::{ContactAddress, ContactAddressKind, persons};
use munshi_store::Tx;
use munshi_types::ReplyAddress;

use super::Turn;
use super::prepare::PreparedTurn;

/// So many of their messages are looked through, the newest first.
const MOST: usize = 10;

/// Where the channel reaches them, else an address that they have proved, a phone before an e-mail, else what they wrote of themselves.
pub(super) fn find(
    tx: &mut Tx<'_>,
    session: &Session,
    given: Option<&ReplyAddress>,
) -> Result<Option<ReplyAddress>> {
    if session.reply_to.is_some() {
        return Ok(session.reply_to.clone());
    }
    let mut own = persons::list_addresses(tx, session.person)?;
    own.sort_by_key(|address| address.kind() != ContactAddressKind::Phone);
    Ok(own.iter().find_map(to_place).or_else(|| given.cloned()))
}

/// The address that the person wrote last in this conversation.
pub(super) fn find_given(prepared: &PreparedTurn) -> Option<ReplyAddress> {
    let earlier = prepared.history.iter().filter(|said| said.speaker == MessageSpeaker::Person);
    read_newest(prepared.own.iter().rev().chain(earlier.rev()).take(MOST))
}

fn read_newest<'a>(mut written: impl Iterator<Item = &'a Message>) -> Option<ReplyAddress> {
    written.find_map(|said| to_place(&read_address(&said.text)?))
}

impl Turn {
    /// Whoever is to be called back may say only later where: it is kept with their request, if nothing was known before.
    pub(super) async fn keep_callback_address(&self) -> Result<()> {
        let prepared = &self.setup.prepared;
        let is_awaiting = prepared.session.active.as_ref().is_some_and(|active| active.awaits_person);
        if !is_awaiting || self.setup.run.kind != runs::MESSAGE {
            return Ok(());
        }
        let Some(given) = read_newest(prepared.own.iter().rev()) else { return Ok(()) };
        let (session, now) = (prepared.session.clone(), self.setup.engine.clock.now());
        let keep = move |tx: &mut Tx<'_>| -> Result<()> {
            Ok(human_requests::note_callback_address(tx, &session, (&given, now))?)
        };
        self.setup.engine.db.write(self.setup.tenant(), keep).await
    }
}

/// A phone number or an e-mail in somebody's words.
fn read_address(text: &str) -> Option<ContactAddress> {
    read_phone(text).or_else(|| read_email(text))
}

fn read_email(text: &str) -> Option<ContactAddress> {
    let is_around = |c: char| !c.is_ascii_alphanumeric();
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '<' | '>' | '(' | ')'));
    words
        .filter(|word| word.contains('@'))
        .find_map(|word| ContactAddress::email(word.trim_matches(is_around)).ok())
}

/// Only what looks like a phone: a number of an order or an amount is none.
fn read_phone(text: &str) -> Option<ContactAddress> {
    let runs = text.split(|c: char| !(c.is_ascii_digit() || matches!(c, '+' | '-' | ' ' | '(' | ')')));
    runs.map(str::trim).find_map(|run| {
        let digits: String = run.chars().filter(char::is_ascii_digit).collect();
        let national = match digits.len() {
            12 => digits.strip_prefix("91").unwrap_or_default(),
            11 => digits.strip_prefix('0').unwrap_or_default(),
            _ => digits.as_str(),
        };
        let is_mobile = national.len() == 10 && national >= "6";
        let is_abroad = run.starts_with('+') && digits.len() >= 8;
        match (is_abroad, is_mobile) {
            (true, _) => ContactAddress::phone(run).ok(),
            (false, true) => ContactAddress::phone(national).ok(),
            (false, false) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_in_somebodys_words() {
        let read = |text: &str| read_address(text).map(|address| address.as_str().to_owned());
        for text in [
            "Call me on 98123 45678 please",
            "mera number 09812345678 hai",
            "+91-98123-45678",
            "919812345678, after six",
        ] {
            assert_eq!(read(text).as_deref(), Some("+919812345678"), "{text}");
        }
        assert_eq!(read("reach me at +1 (415) 555-0100.").as_deref(), Some("+14155550100"));
        assert_eq!(read("Write to Meera@Shop.example, please.").as_deref(), Some("meera@shop.example"));
        for text in ["order 4471 of 15-11-2026", "I paid 12000", "at 5@home", "bill 20261115123456"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
