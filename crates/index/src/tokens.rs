//! Words and scopes as keyed hashes, by the key of a tenant's index: equal words of two tenants have nothing in common, nor those
//! of an index and of one that took its place.

use std::collections::HashMap;

use munshi_store::{Result, Tx};
use munshi_types::DataKeyId;
use uuid::Uuid;

use crate::query::SearchQuery;
use crate::words::split_index_words;

const WORD: &str = "search word";
const SCOPE: &str = "search scope";
const LONG: &str = "search long";

/// More words of one text have no tokens: all of them would be rows of one transaction.
const MOST_WORDS: usize = 4_096;

/// Hashes words, each once: the texts of a batch share most of theirs.
#[derive(Debug)]
pub struct TokenHasher {
    key: DataKeyId,
    words: HashMap<String, i64>,
    scopes: HashMap<Uuid, i64>,
    long: Option<i64>,
}

impl TokenHasher {
    pub fn new(key: DataKeyId) -> Self {
        Self { key, words: HashMap::new(), scopes: HashMap::new(), long: None }
    }

    /// What a text is found by: its words, and the scopes it lies in. Sorted, each once. A text with too many words has the token
    /// of long texts instead of theirs: whoever looks for anything opens it.
    pub fn hash_text(&mut self, tx: &Tx<'_>, text: &str, scopes: &[Uuid]) -> Result<Vec<i64>> {
        let mut tokens = Vec::new();
        for form in split_index_words(text).into_iter().flat_map(|word| word.forms) {
            tokens.push(self.hash_form(tx, form)?);
        }
        tokens.sort_unstable();
        tokens.dedup();
        if tokens.len() > MOST_WORDS {
            tokens = vec![self.hash_long(tx)?];
        }
        for scope in scopes {
            tokens.push(self.hash_scope(tx, *scope)?);
        }
        tokens.sort_unstable();
        tokens.dedup();
        Ok(tokens)
    }

    /// Of which a text that has a query must have one each.
    pub fn hash_query(&mut self, tx: &Tx<'_>, query: &SearchQuery) -> Result<Vec<Vec<i64>>> {
        let long = self.hash_long(tx)?;
        let hash_forms = |forms: Vec<String>| {
            let tokens = forms.into_iter().map(|form| self.hash_form(tx, form));
            tokens.chain([Ok(long)]).collect()
        };
        query.list_required_forms().into_iter().map(hash_forms).collect()
    }

    /// Something that texts are of, such as a person.
    pub fn hash_scope(&mut self, tx: &Tx<'_>, scope: Uuid) -> Result<i64> {
        if let Some(known) = self.scopes.get(&scope) {
            return Ok(*known);
        }
        let token = shorten(tx.hash_by_key(self.key, SCOPE, scope.as_bytes())?);
        self.scopes.insert(scope, token);
        Ok(token)
    }

    fn hash_long(&mut self, tx: &Tx<'_>) -> Result<i64> {
        if let Some(known) = self.long {
            return Ok(known);
        }
        let token = shorten(tx.hash_by_key(self.key, LONG, &[])?);
        self.long = Some(token);
        Ok(token)
    }

    fn hash_form(&mut self, tx: &Tx<'_>, form: String) -> Result<i64> {
        if let Some(known) = self.words.get(&form) {
            return Ok(*known);
        }
        let token = shorten(tx.hash_by_key(self.key, WORD, form.as_bytes())?);
        self.words.insert(form, token);
        Ok(token)
    }
}

/// Two words of a tenant share a token about never, and what a token leads to is looked at anyway.
fn shorten(hash: [u8; 32]) -> i64 {
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    i64::from_be_bytes(first)
}
