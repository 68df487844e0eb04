//! Which addresses lead where.

use std::collections::BTreeMap;

use munshi_types::tier::{RoutingKey, TierKind, TierName};

use super::{After, State};
use crate::draft::{Draft, Tier};
use crate::problem::Problem;

/// Every address of every active binding, and those that can't lead where they are wanted.
pub(super) fn check(after: &After, state: &State) -> (BTreeMap<RoutingKey, TierName>, Vec<Problem>) {
    let mut keys: BTreeMap<RoutingKey, TierName> = BTreeMap::new();
    let mut problems = Vec::new();
    for draft in after.of_kind(TierKind::Binding) {
        for (at, key) in keys_of(draft).into_iter().enumerate() {
            let path = format!("keys[{at}]");
            if state.taken.contains(&key) {
                let problem = draft.problem(&path, format!("{key} already leads to another tenant"));
                problems.push(
                    problem.hint("an address leads to one binding of all tenants: take it out there first"),
                );
            }
            match keys.get(&key) {
                Some(other) if *other == draft.name => {
                    problems.push(
                        draft.problem(&path, format!("{key} is written twice")).hint("keep one of the two"),
                    );
                }
                Some(other) => {
                    let problem = draft.problem(&path, format!("{key} already leads to binding {other}"));
                    problems
                        .push(problem.hint("an address leads to one binding: take it out of one of them"));
                }
                None => {
                    keys.insert(key, draft.name.clone());
                }
            }
        }
    }
    (keys, problems)
}

/// The addresses that drafts want, to be looked up before the plan is made.
pub(crate) fn wanted(drafts: &[Draft]) -> Vec<RoutingKey> {
    drafts.iter().filter(|draft| draft.kind == TierKind::Binding).flat_map(keys_of).collect()
}

fn keys_of(draft: &Draft) -> Vec<RoutingKey> {
    match Tier::read(draft.kind, &draft.body) {
        Ok(Tier::Binding(binding)) => binding.keys,
        _ => Vec::new(),
    }
}
