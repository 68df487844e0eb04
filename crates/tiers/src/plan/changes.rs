//! The difference between what is stored and what is wanted, field by field.

use std::collections::{BTreeMap, BTreeSet};

use munshi_types::tier::{TierKind, TierName, TierStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::{StoredTenantState, StoredTier, VanishedTierPolicy};
use crate::draft::{Tier, TierBody, TierDraft};
use crate::error::Result;
use crate::merge::MergedAgent;
use crate::token_counts::{TierTokenCounts, count_tier_tokens};

/// What happens to a tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TierAction {
    Create,
    Update,
    /// Brought back from the archive, changed or not.
    Restore,
    Archive,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TierChange {
    pub kind: TierKind,
    pub name: TierName,
    pub action: TierAction,
    /// The version in force before.
    pub from: Option<u32>,
    /// The version in force afterwards.
    pub to: u32,
    pub tokens: TierTokenCounts,
    pub fields: Vec<FieldChange>,
    /// The new version's content; none where no version is made.
    #[serde(skip)]
    pub(crate) body: Option<TierBody>,
}

/// One value that differs. A text of several lines is told line by line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldChange {
    pub key: String,
    pub before: Option<Value>,
    pub after: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<DiffLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffLine {
    Added(String),
    Removed(String),
    /// Told for orientation.
    Same(String),
}

pub(super) fn list(
    state: &StoredTenantState,
    wanted: &[TierDraft],
    vanished: VanishedTierPolicy,
    agents: &BTreeMap<TierName, MergedAgent>,
) -> Result<Vec<TierChange>> {
    let mut changes = Vec::new();
    for draft in wanted {
        let stored = state.tiers.get(&(draft.kind, draft.name.clone()));
        changes.extend(diff_draft(draft, stored, agents)?);
    }
    let named: BTreeSet<_> = wanted.iter().map(|draft| (draft.kind, draft.name.clone())).collect();
    if vanished == VanishedTierPolicy::Archive {
        let gone = state
            .tiers
            .iter()
            .filter(|(title, tier)| tier.status == TierStatus::Active && !named.contains(*title));
        changes.extend(gone.map(|(_, tier)| build_archive_change(tier)));
    }
    changes.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
    Ok(changes)
}

fn diff_draft(
    draft: &TierDraft,
    stored: Option<&StoredTier>,
    agents: &BTreeMap<TierName, MergedAgent>,
) -> Result<Option<TierChange>> {
    let (action, from, to, before) = match stored {
        None => (TierAction::Create, None, 1, None),
        Some(tier) => {
            let is_same = tier.body == draft.body;
            let action = match tier.status {
                TierStatus::Active if is_same => return Ok(None),
                TierStatus::Active => TierAction::Update,
                TierStatus::Archived => TierAction::Restore,
            };
            let to = if is_same { tier.version } else { tier.latest + 1 };
            (action, Some(tier.version), to, Some(&tier.body))
        }
    };
    // An agent is counted with what it extends: that is what goes into the prompt.
    let tier = match agents.get(&draft.name).filter(|_| draft.kind == TierKind::Agent) {
        Some(merged) => Tier::Agent(merged.agent.clone()),
        None => Tier::read(draft.kind, &draft.body)?,
    };
    let fields = before.map(|before| diff_fields(before, &draft.body)).unwrap_or_default();
    let is_new = before.is_none_or(|before| *before != draft.body);
    Ok(Some(TierChange {
        kind: draft.kind,
        name: draft.name.clone(),
        action,
        from,
        to,
        tokens: count_tier_tokens(&tier),
        fields,
        body: is_new.then(|| draft.body.clone()),
    }))
}

fn build_archive_change(tier: &StoredTier) -> TierChange {
    TierChange {
        kind: tier.kind,
        name: tier.name.clone(),
        action: TierAction::Archive,
        from: Some(tier.version),
        to: tier.version,
        tokens: tier.tokens.clone(),
        fields: Vec::new(),
        body: None,
    }
}

/// Every value that differs, by path; lists are one value.
pub fn diff_fields(before: &TierBody, after: &TierBody) -> Vec<FieldChange> {
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    flatten(before, "", &mut old);
    flatten(after, "", &mut new);
    let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differing = paths.into_iter().filter(|path| old.get(*path) != new.get(*path));
    differing
        .map(|path| {
            let (before, after) = (old.get(path).cloned(), new.get(path).cloned());
            FieldChange {
                key: path.clone(),
                lines: diff_lines(before.as_ref(), after.as_ref()),
                before,
                after,
            }
        })
        .collect()
}

fn flatten(body: &TierBody, path: &str, out: &mut BTreeMap<String, Value>) {
    for (key, value) in body {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value {
            Value::Object(inner) if !inner.is_empty() => flatten(inner, &path, out),
            value => {
                out.insert(path, value.clone());
            }
        }
    }
}

/// Line by line where either text has more than one line, with a line of what stays around each change.
fn diff_lines(before: Option<&Value>, after: Option<&Value>) -> Vec<DiffLine> {
    let text =
        |value: Option<&Value>| value.map_or(Some(String::new()), |value| value.as_str().map(str::to_owned));
    let (Some(before), Some(after)) = (text(before), text(after)) else { return Vec::new() };
    if !before.contains('\n') && !after.contains('\n') {
        return Vec::new();
    }
    let diff = TextDiff::from_lines(before.as_str(), after.as_str());
    let mut lines = Vec::new();
    for group in diff.grouped_ops(1) {
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let text = change.value().trim_end_matches('\n').to_owned();
            lines.push(match change.tag() {
                ChangeTag::Insert => DiffLine::Added(text),
                ChangeTag::Delete => DiffLine::Removed(text),
                ChangeTag::Equal => DiffLine::Same(text),
            });
        }
    }
    lines
}
