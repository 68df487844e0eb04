//! Known numbers and addresses, found in one pass over a text.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, Input, MatchKind};

use super::compact::squeeze;
use super::kind::PiiKind;

/// Shorter values than this point at nobody.
const SHORT: usize = 4;

/// Values of a list. It may go on from another that stays as it is: both are one then, in which the values of the first stand before the
/// others.
#[derive(Clone, Default)]
pub(super) struct KnownValues {
    /// Shared by all that go on from it.
    base: Arc<ValueIndex>,
    added: Arc<ValueIndex>,
}

#[derive(Default)]
struct ValueIndex {
    finder: Option<AhoCorasick>,
    /// Of each value its kind, and how it is stored.
    stored: Vec<(PiiKind, String)>,
}

/// A known value in the letters and digits of a text.
#[derive(Clone)]
pub(super) struct KnownValueMatch<'v> {
    pub range: Range<usize>,
    pub stored: &'v (PiiKind, String),
}

impl KnownValues {
    pub(super) fn new<'v>(values: impl IntoIterator<Item = &'v (PiiKind, String)>) -> Self {
        Self { base: Arc::new(ValueIndex::new(values)), added: Arc::default() }
    }

    /// The same with more values behind those it has, as if it was made of all of them.
    pub(super) fn with_values<'v>(&'v self, values: impl IntoIterator<Item = &'v (PiiKind, String)>) -> Self {
        let added = self.added.stored.iter().chain(values);
        Self { base: self.base.clone(), added: Arc::new(ValueIndex::new(added)) }
    }

    pub(super) fn len(&self) -> usize {
        self.base.stored.len() + self.added.stored.len()
    }

    /// The values in a text of letters and digits alone, none over another: which begins first counts, of those the longest, and of
    /// two alike the one that stands first.
    pub(super) fn find(&self, bytes: &[u8]) -> Vec<KnownValueMatch<'_>> {
        let lists = [&*self.base, &*self.added];
        let mut next = lists.map(|list| list.find_from(bytes, 0));
        let mut found = Vec::new();
        loop {
            let first = next.iter().flatten().min_by_key(|one| (one.range.start, Reverse(one.range.end)));
            let Some(first) = first.cloned() else { return found };
            for (list, next) in lists.iter().zip(&mut next) {
                if next.as_ref().is_some_and(|one| one.range.start < first.range.end) {
                    *next = list.find_from(bytes, first.range.end);
                }
            }
            found.push(first);
        }
    }
}

impl ValueIndex {
    fn new<'v>(values: impl IntoIterator<Item = &'v (PiiKind, String)>) -> Self {
        let known =
            values.into_iter().map(|(kind, value)| (to_lookup_key(*kind, value), (*kind, value.clone())));
        let (keys, stored): (Vec<String>, Vec<_>) = known.filter(|(key, _)| key.len() >= SHORT).unzip();
        let finder = match keys.is_empty() {
            true => None,
            false => AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&keys).ok(),
        };
        Self { finder, stored }
    }

    fn find_from(&self, bytes: &[u8], from: usize) -> Option<KnownValueMatch<'_>> {
        let found = self.finder.as_ref()?.find(Input::new(bytes).range(from..))?;
        Some(KnownValueMatch { range: found.range(), stored: self.stored.get(found.pattern().as_usize())? })
    }
}

/// What two spellings of one value share.
pub(crate) fn to_lookup_key(kind: PiiKind, value: &str) -> String {
    let plain = squeeze(value);
    if kind != PiiKind::Phone {
        return plain;
    }
    let digits: String = plain.chars().filter(char::is_ascii_digit).collect();
    // With or without the country, the exchange's nought or both.
    let national = digits.len().checked_sub(10).and_then(|from| digits.split_at_checked(from));
    match national {
        Some(("91" | "0" | "0091" | "", local)) => local.to_owned(),
        _ => digits,
    }
}
