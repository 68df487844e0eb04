//! Texts of a tenant, as a crate above would keep them, and a search that reads all of them.

use std::collections::BTreeMap;

use munshi_index::{
    AddOutcome, IndexBatch, IndexDocument, IndexSearch, SearchQuery, TokenHasher, add, clear_next,
    find_state, list_hits,
};
use munshi_store::{Cursor, Result, Tx};
use munshi_test_support::TestDb;
use munshi_types::{DataKeyId, Id, PersonId, Random, SeededRandom, TenantId, Timestamp};
use uuid::Uuid;

/// Words of several scripts, some of which are spellings of one.
const WORDS: [&str; 24] = [
    "ramesh",
    "रमेश",
    "রমেশ",
    "ரமேஷ்",
    "paise",
    "पैसे",
    "kal",
    "कल",
    "udhar",
    "उधार",
    "1,500",
    "१५००",
    "1500.00",
    "atta",
    "ಅಕ್ಕಿ",
    "బియ్యం",
    "ਦੁੱਧ",
    "ദൂധ്",
    "ଚାଉଳ",
    "દૂધ",
    "Meera's",
    "李",
    "شکریہ",
    "bill",
];

#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) id: Uuid,
    pub(crate) at: Timestamp,
    pub(crate) person: Uuid,
    pub(crate) text: String,
}

impl Text {
    pub(crate) fn position(&self) -> Cursor {
        Cursor { time: self.at, id: self.id }
    }
}

/// So many texts that came one after the other, some at the same moment.
pub(crate) fn make_texts(test: &TestDb, random: &SeededRandom, count: u64, persons: &[Uuid]) -> Vec<Text> {
    let mut at = munshi_test_support::database::MORNING;
    let text = |at| Text {
        id: Id::as_uuid(test.ids.next::<PersonId>()),
        at,
        person: persons[pick(random, persons.len())],
        text: make_text(random, 9),
    };
    (0..count)
        .map(|_| {
            at = at.plus(std::time::Duration::from_secs(random.next_below(3)));
            text(at)
        })
        .collect()
}

pub(crate) fn make_text(random: &SeededRandom, most: u64) -> String {
    let words = (0..=random.next_below(most)).map(|_| WORDS[pick(random, WORDS.len())]);
    words.collect::<Vec<_>>().join(" ")
}

pub(crate) fn pick(random: &SeededRandom, of: usize) -> usize {
    usize::try_from(random.next_below(of as u64)).unwrap()
}

/// An index of this version.
pub(crate) async fn begin(test: &TestDb, tenant: TenantId) {
    while write(test, tenant, clear_next).await {}
}

/// The index's; of one that was never begun some other.
pub(crate) fn find_key(tx: &mut Tx<'_>) -> Result<DataKeyId> {
    match find_state(tx)? {
        Some(state) => Ok(state.key),
        None => tx.keyring()?.make_index_key(tx.tenant()),
    }
}

pub(crate) async fn add_texts(test: &TestDb, tenant: TenantId, texts: &[Text]) -> AddOutcome {
    let texts = texts.to_vec();
    write(test, tenant, move |tx| {
        let key = find_key(tx)?;
        let mut hasher = TokenHasher::new(key);
        let documents: Result<Vec<IndexDocument>> = texts
            .iter()
            .map(|text| {
                let tokens = hasher.hash_text(tx, &text.text, &[text.person])?;
                Ok(IndexDocument { id: text.id, at: text.at, tokens })
            })
            .collect();
        let filled = texts.last().map_or(Cursor::OLDEST, Text::position);
        let batch = IndexBatch { key, from: Cursor::OLDEST, to: filled, documents: documents? };
        add(tx, batch, |_, ids| Ok(ids.to_vec()))
    })
    .await
}

/// What is found by the index, page by page, and has the words.
pub(crate) async fn search(
    test: &TestDb,
    tenant: TenantId,
    texts: &BTreeMap<Uuid, Text>,
    (query, person): (&str, Option<Uuid>),
    least: usize,
) -> Vec<Uuid> {
    let (query, texts) = (SearchQuery::parse(query).unwrap(), texts.clone());
    let read = move |tx: &mut Tx<'_>| -> Result<Vec<Uuid>> {
        let mut hasher = TokenHasher::new(find_key(tx)?);
        let mut groups = hasher.hash_query(tx, &query)?;
        groups
            .extend(person.map(|person| hasher.hash_scope(tx, person).map(|token| vec![token])).transpose()?);
        let (mut found, mut before) = (Vec::new(), Cursor::START);
        loop {
            let window =
                list_hits(tx, &IndexSearch { groups: &groups, since: Timestamp::EPOCH, before }, least)?;
            assert!(window.hits.is_sorted_by(|one, next| one.position() > next.position()));
            assert!(window.hits.len() >= least || window.next.is_none());
            found.extend(window.hits.iter().map(|hit| hit.id));
            match window.next {
                Some(next) => before = next,
                None => break,
            }
        }
        found.retain(|id| texts.get(id).is_some_and(|text| query.find_in(&text.text).is_some()));
        Ok(found)
    };
    test.db.read(tenant, read).await.unwrap()
}

/// The same by reading every text.
pub(crate) fn scan(texts: &BTreeMap<Uuid, Text>, (query, person): (&str, Option<Uuid>)) -> Vec<Uuid> {
    let query = SearchQuery::parse(query).unwrap();
    let mut found: Vec<&Text> = texts
        .values()
        .filter(|text| {
            person.is_none_or(|person| text.person == person) && query.find_in(&text.text).is_some()
        })
        .collect();
    found.sort_by_key(|text| std::cmp::Reverse(text.position()));
    found.into_iter().map(|text| text.id).collect()
}

pub(crate) fn by_id(texts: &[Text]) -> BTreeMap<Uuid, Text> {
    texts.iter().map(|text| (text.id, text.clone())).collect()
}

pub(crate) async fn count(test: &TestDb, tenant: TenantId) -> (i64, i64, i64) {
    let read = |tx: &mut Tx<'_>| -> Result<(i64, i64, i64)> {
        Ok((
            tx.one("SELECT COUNT(*) FROM search_documents WHERE tenant_id = $1", &[], |row| row.get(0))?,
            tx.one("SELECT COUNT(*) FROM search_postings WHERE tenant_id = $1", &[], |row| row.get(0))?,
            tx.one("SELECT COUNT(*) FROM search_blocks WHERE tenant_id = $1", &[], |row| row.get(0))?,
        ))
    };
    test.db.read(tenant, read).await.unwrap()
}

pub(crate) async fn write<T: Send + 'static>(
    test: &TestDb,
    tenant: TenantId,
    unit: impl FnOnce(&mut Tx<'_>) -> Result<T> + Send + 'static,
) -> T {
    test.db.write(tenant, unit).await.unwrap()
}
