//! A binding as each part of its people has it.

use std::collections::BTreeMap;

use munshi_types::tier::{Agent, Binding, Human, SliceCandidate, Team, TierKind, TierName, TierRef};

use super::{PlannedTenant, StoredTenantState, TierTitle};
use crate::draft::{Tier, TierBody, TierDraft};
use crate::merge::{self, MergedAgent};

/// A version that a slice holds on to.
pub(crate) type TierVersionPin = (TierTitle, u32);

/// The three tiers that some of a binding's people meet.
pub(super) struct BindingArm {
    /// Where it was written: empty for the binding itself, `slices[0].` and so on for its slices.
    pub(super) path: String,
    /// The slice's name; none for the binding itself.
    pub(super) slice: Option<String>,
    pub(super) human: TierRef,
    pub(super) team: TierRef,
    pub(super) agent: TierRef,
}

impl BindingArm {
    /// Its three tiers, each with its kind and where it was written.
    pub(super) fn tiers(&self) -> [(TierKind, String, &TierRef); 3] {
        let of =
            [(TierKind::Human, &self.human), (TierKind::Team, &self.team), (TierKind::Agent, &self.agent)];
        of.map(|(kind, tier)| (kind, format!("{}{kind}", self.path), tier))
    }
}

/// Itself first, then with what a slice puts in its place. Another binding that a slice leads to is checked by itself.
pub(super) fn arms(binding: &Binding) -> Vec<BindingArm> {
    let now = |name: &TierName| TierRef { name: name.clone(), version: None };
    let arm = |path: String, slice, [human, team, agent]: [Option<&TierRef>; 3]| BindingArm {
        path,
        slice,
        human: human.cloned().unwrap_or_else(|| now(&binding.human)),
        team: team.cloned().unwrap_or_else(|| now(&binding.team)),
        agent: agent.cloned().unwrap_or_else(|| now(&binding.agent)),
    };
    let slices = binding.slices.iter().enumerate().filter_map(|(at, slice)| match &slice.candidate {
        SliceCandidate::Binding(_) => None,
        SliceCandidate::Tiers { human, team, agent } => {
            let tiers = [human.as_ref(), team.as_ref(), agent.as_ref()];
            Some(arm(format!("slices[{at}]."), Some(slice.name.to_string()), tiers))
        }
    });
    std::iter::once(arm(String::new(), None, [None; 3])).chain(slices).collect()
}

/// The versions that bindings hold on to, to be read before the plan is made.
pub(crate) fn list_pins<'a>(bodies: impl Iterator<Item = &'a TierBody>) -> Vec<TierVersionPin> {
    let bindings = bodies.filter_map(|body| Tier::read(TierKind::Binding, body).ok());
    let pinned = bindings.flat_map(|tier| match tier {
        Tier::Binding(binding) => arms(&binding),
        _ => Vec::new(),
    });
    let named = pinned.flat_map(|arm| arm.tiers().map(|(kind, _, tier)| (kind, tier.clone())));
    named.filter_map(|(kind, tier)| Some(((kind, tier.name), tier.version?))).collect()
}

/// The tiers of arms, as they would be.
pub(super) struct PlannedTiers<'a> {
    pub(super) after: &'a PlannedTenant,
    pub(super) state: &'a StoredTenantState,
    pub(super) agents: &'a BTreeMap<TierName, MergedAgent>,
}

impl PlannedTiers<'_> {
    /// As it was written, at the version that is meant.
    pub(super) fn body(&self, kind: TierKind, tier: &TierRef) -> Option<&TierBody> {
        match tier.version {
            Some(version) => self.state.pinned.get(&((kind, tier.name.clone()), version)),
            None => self.after.get(kind, &tier.name).map(|draft| &draft.body),
        }
    }

    pub(super) fn human(&self, tier: &TierRef) -> Option<Human> {
        match Tier::read(TierKind::Human, self.body(TierKind::Human, tier)?) {
            Ok(Tier::Human(human)) => Some(human),
            _ => None,
        }
    }

    pub(super) fn team(&self, tier: &TierRef) -> Option<Team> {
        match Tier::read(TierKind::Team, self.body(TierKind::Team, tier)?) {
            Ok(Tier::Team(team)) => Some(team),
            _ => None,
        }
    }

    /// With what it extends, which is in force whatever its own version.
    pub(super) fn agent(&self, tier: &TierRef) -> Option<Agent> {
        if tier.version.is_none() {
            return Some(self.agents.get(&tier.name)?.agent.clone());
        }
        let find = |name: &TierName| self.after.get(TierKind::Agent, name).map(|draft| &draft.body);
        let chain = merge::resolve_chain(&tier.name, self.body(TierKind::Agent, tier)?, find).ok()?;
        merge::merge(&chain).ok().map(|merged| merged.agent)
    }

    /// Every arm of every active binding, with the binding's draft.
    pub(super) fn arms(&self) -> impl Iterator<Item = (&TierDraft, BindingArm)> {
        self.after.drafts_of_kind(TierKind::Binding).flat_map(|draft| {
            let read = match Tier::read(draft.kind, &draft.body) {
                Ok(Tier::Binding(binding)) => arms(&binding),
                _ => Vec::new(),
            };
            read.into_iter().map(move |arm| (draft, arm))
        })
    }
}
