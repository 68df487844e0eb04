//! Whom a turn knows: made once when a tenant's contacts change, read for every text.

use std::fmt;

use munshi_lang::names::known_names::KnownNameFinder;
use munshi_types::TenantId;

use super::compact::CompactText;
use super::kind::{PiiKind, PiiMatch};
use super::known_values::KnownValues;
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
    /// How many they are.
    entities: u32,
    spotter: KnownNameFinder,
    values: KnownValues,
    /// What there was to hide in the last texts, for whom this is the first list.
    memo: PiiScanCache<MaskSpan>,
}

/// Digits alone below this may be an amount.
const LONG: usize = 9;

impl KnownEntities {
    pub fn new(tenant: TenantId, entities: &[ProtectedEntity]) -> Self {
        Self::from_all(tenant, &entities.iter().collect::<Vec<_>>())
    }

    pub(super) fn from_all(tenant: TenantId, entities: &[&ProtectedEntity]) -> Self {
        Self {
            tenant,
            entities: count(entities),
            spotter: KnownNameFinder::new(names_of(entities, 0)),
            values: KnownValues::new(values_of(entities)),
            memo: PiiScanCache::default(),
        }
    }

    /// The same with more entities behind those it has, as if it was made of all of them. The work is that of the new ones.
    pub(super) fn with_entities(&self, entities: &[&ProtectedEntity]) -> Self {
        Self {
            tenant: self.tenant,
            entities: self.entities.saturating_add(count(entities)),
            spotter: self.spotter.with_names(names_of(entities, self.entities)),
            values: self.values.with_values(values_of(entities)),
            memo: PiiScanCache::default(),
        }
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
        let compact = CompactText::new(text);
        let found = self.values.find(&compact.bytes).into_iter();
        found
            .filter_map(|one| {
                let range = compact.range(one.range.start, one.range.end);
                let said = compact.bytes.get(one.range)?;
                let whole =
                    said.len() >= LONG || !said.iter().all(u8::is_ascii_digit) || stands_alone(text, &range);
                whole.then_some((PiiMatch { kind: one.stored.0, range }, one.stored))
            })
            .collect()
    }
}

fn count(entities: &[&ProtectedEntity]) -> u32 {
    u32::try_from(entities.len()).unwrap_or(u32::MAX)
}

/// Their names, each with the place of whose it is, where so many stand before them.
fn names_of<'e>(entities: &'e [&ProtectedEntity], before: u32) -> impl Iterator<Item = (u32, &'e str)> {
    let owners = entities.iter().zip(before..);
    owners.flat_map(|(entity, owner)| entity.names.iter().map(move |name| (owner, name.as_str())))
}

fn values_of<'e>(entities: &'e [&ProtectedEntity]) -> impl Iterator<Item = &'e (PiiKind, String)> {
    entities.iter().flat_map(|entity| &entity.values)
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
            .field("values", &self.values.len())
            .finish_non_exhaustive()
    }
}
