//! Whom a turn knows: made once when a tenant's contacts change, read for every text.

use std::fmt;

use aho_corasick::{AhoCorasick, MatchKind};
use munshi_lang::names::known_names::KnownNameFinder;
use munshi_types::TenantId;

use super::compact::{CompactText, squeeze};
use super::kind::{PiiKind, PiiMatch};
use super::mask::MaskSpan;
use super::scan_cache::PiiScanCache;

/// Somebody or something whose name and numbers no cloud model may see.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProtectedEntity {
    /// The name and its aliases, in any scripts; the first is how it is stored.
    pub names: Vec<String>,
    pub values: Vec<(PiiKind, String)>,
}

/// Known entities, ready to be found.
pub struct KnownEntities {
    tenant: TenantId,
    spotter: KnownNameFinder,
    values: Option<AhoCorasick>,
    /// Of each value its kind, and how it is stored.
    stored: Vec<(PiiKind, String)>,
    /// What there was to hide in the last texts, for whom this is the first list.
    memo: PiiScanCache<MaskSpan>,
}

/// Digits alone below this may be an amount.
const LONG: usize = 9;

/// Shorter values than this point at nobody.
const SHORT: usize = 4;

impl KnownEntities {
    pub fn new(tenant: TenantId, entities: &[ProtectedEntity]) -> Self {
        let names = entities
            .iter()
            .zip(0u32..)
            .flat_map(|(entity, owner)| entity.names.iter().map(move |name| (owner, name.as_str())));
        let mut keys: Vec<String> = Vec::new();
        let mut stored: Vec<(PiiKind, String)> = Vec::new();
        for (kind, value) in entities.iter().flat_map(|entity| &entity.values) {
            let key = to_lookup_key(*kind, value);
            if key.len() >= SHORT {
                keys.push(key);
                stored.push((*kind, value.clone()));
            }
        }
        let values = if keys.is_empty() {
            None
        } else {
            AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&keys).ok()
        };
        Self { tenant, spotter: KnownNameFinder::new(names), values, stored, memo: PiiScanCache::default() }
    }

    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    pub(crate) fn name_finder(&self) -> &KnownNameFinder {
        &self.spotter
    }

    pub(super) fn scan_cache(&self) -> &PiiScanCache<MaskSpan> {
        &self.memo
    }

    /// The known values in a text, however they are spaced.
    pub(crate) fn find_values(&self, text: &str) -> Vec<(PiiMatch, &(PiiKind, String))> {
        let Some(values) = &self.values else { return Vec::new() };
        let compact = CompactText::new(text);
        values
            .find_iter(&compact.bytes)
            .filter_map(|one| {
                let stored = self.stored.get(one.pattern().as_usize())?;
                let range = compact.range(one.start(), one.end());
                let said = compact.bytes.get(one.start()..one.end())?;
                let whole =
                    said.len() >= LONG || !said.iter().all(u8::is_ascii_digit) || stands_alone(text, &range);
                whole.then_some((PiiMatch { kind: stored.0, range }, stored))
            })
            .collect()
    }
}

/// Whether a few digits are written in one piece and are no part of a larger number.
fn stands_alone(text: &str, range: &std::ops::Range<usize>) -> bool {
    use munshi_lang::token::{digit_value, is_unseen};
    let inside = text
        .get(range.clone())
        .unwrap_or_default()
        .chars()
        .all(|letter| digit_value(letter).is_some() || is_unseen(letter));
    let counts = |letter: char| digit_value(letter).is_some() || matches!(letter, ',' | '.' | '₹' | '$');
    let before = text.get(..range.start).and_then(|front| front.chars().next_back()).is_some_and(counts);
    let after = text
        .get(range.end..)
        .and_then(|rest| rest.chars().next())
        .is_some_and(|letter| digit_value(letter).is_some());
    inside && !before && !after
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

impl fmt::Debug for ProtectedEntity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProtectedEntity")
            .field("names", &self.names.len())
            .field("values", &self.values.len())
            .finish()
    }
}

impl fmt::Debug for KnownEntities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownEntities")
            .field("tenant", &self.tenant)
            .field("values", &self.stored.len())
            .finish_non_exhaustive()
    }
}
