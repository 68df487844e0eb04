//! Conversations that are searched, and a search that reads every message.

use std::time::Duration;

use munshi_conversations::messages;
use munshi_conversations::search::{
    FillScope, MessageHits, MessageSearch, SearchFiller, SearchQuery, search_messages,
};
use munshi_store::{Cursor, Tx};
use munshi_types::{Id, MessageId, PersonId, Random, SeededRandom, SessionId, Timestamp};

use crate::rows::support::{Shop, held};

pub(crate) const MEERA: &str = "+919812345678";
pub(crate) const RAJU: &str = "+919812345679";
pub(crate) const DAY: Duration = Duration::from_secs(86_400);
pub(crate) const WORDS: [&str; 12] =
    ["ramesh", "रमेश", "paise", "पैसे", "kal", "udhar", "1,500", "१५००", "அரிசி", "atta", "bill", "పాలు"];

pub(crate) fn make_text(random: &SeededRandom) -> String {
    let words = (0..=random.next_below(5)).map(|_| WORDS[usize::try_from(random.next_below(12)).unwrap()]);
    words.collect::<Vec<_>>().join(" ")
}

/// Some turns, of both, a second after the other.
pub(crate) async fn talk(shop: &Shop, random: &SeededRandom, turns: usize, from: usize) -> SessionId {
    let mut session = None;
    for number in from..from + turns {
        shop.test.clock.advance(Duration::from_secs(random.next_below(3)));
        let phone = if random.next_below(3) == 0 { RAJU } else { MEERA };
        let said = shop.say(phone, &format!("w{number}"), &make_text(random)).await;
        shop.answer(held(&said), &make_text(random)).await;
        session = Some(said.session);
    }
    session.unwrap()
}

pub(crate) fn filler(shop: &Shop) -> SearchFiller {
    SearchFiller { db: shop.test.db.clone(), clock: shop.test.clock.clone() }
}

pub(crate) async fn fill(shop: &Shop, scope: FillScope) -> usize {
    filler(shop).fill(shop.tenant, scope, || false).await.unwrap()
}

pub(crate) fn wanted(query: &str, limit: usize) -> MessageSearch {
    MessageSearch::new(SearchQuery::parse(query).unwrap(), limit, Timestamp::MAX)
}

pub(crate) async fn search(shop: &Shop, wanted: MessageSearch) -> MessageHits {
    shop.read(move |tx| search_messages(tx, &wanted)).await
}

/// All pages of it.
pub(crate) async fn search_all(shop: &Shop, mut wanted: MessageSearch) -> Vec<MessageId> {
    let mut found = Vec::new();
    loop {
        let page = search(shop, wanted.clone()).await;
        assert!(page.hits.len() <= wanted.limit);
        found.extend(page.hits.iter().map(|hit| hit.message));
        match page.next {
            Some(next) => wanted.before = next,
            None => return found,
        }
    }
}

/// The same by reading every message.
pub(crate) async fn scan(shop: &Shop, wanted: MessageSearch) -> Vec<MessageId> {
    shop.read(move |tx| scan_at(tx, &wanted)).await
}

pub(crate) fn scan_at(tx: &mut Tx<'_>, wanted: &MessageSearch) -> munshi_store::Result<Vec<MessageId>> {
    let ids: Vec<(MessageId, PersonId)> = tx.all(
        "SELECT m.id, s.person_id FROM messages m JOIN sessions s ON s.tenant_id = $1 AND s.id = m.session_id
             WHERE m.tenant_id = $1 ORDER BY m.said_at DESC, m.id DESC",
        &[],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let mut found = Vec::new();
    for (id, person) in ids {
        let message = messages::find(tx, id)?.unwrap();
        let position = Cursor { time: message.said_at, id: id.as_uuid() };
        let is_theirs = wanted.persons.as_ref().is_none_or(|persons| persons.contains(&person));
        let is_in_time = message.said_at >= wanted.since && position < wanted.before;
        if is_theirs && is_in_time && wanted.query.find_in(&message.text).is_some() {
            found.push(id);
        }
    }
    Ok(found)
}

pub(crate) async fn person_of(shop: &Shop, session: SessionId) -> PersonId {
    shop.read(move |tx| munshi_conversations::sessions::find(tx, session)).await.unwrap().person
}

/// Of texts in the index, and of rows that lead to them.
pub(crate) async fn count_indexed(shop: &Shop) -> (i64, i64) {
    let count = |tx: &mut Tx<'_>| {
        Ok((
            tx.one("SELECT COUNT(*) FROM search_documents WHERE tenant_id = $1", &[], |row| row.get(0))?,
            tx.one("SELECT COUNT(*) FROM search_postings WHERE tenant_id = $1", &[], |row| row.get(0))?,
        ))
    };
    shop.read(count).await
}

pub(crate) async fn compare_all(shop: &Shop, random: &SeededRandom) {
    for round in 0..12 {
        let query = match round % 3 {
            0 => make_text(random),
            1 => WORDS[usize::try_from(random.next_below(12)).unwrap()].to_owned(),
            _ => format!("\"{}\"", make_text(random)),
        };
        let limit = 1 + usize::try_from(random.next_below(9)).unwrap();
        let found = search_all(shop, wanted(&query, limit)).await;
        assert_eq!(found, scan(shop, wanted(&query, limit)).await, "{query}");
    }
}
