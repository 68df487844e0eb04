//! The ready bindings: that every file reads, that they fit their budgets, and that they hold together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use munshi_tiers::merge::merge;
use munshi_tiers::prompt::{PromptTiers, StaticPrompt};
use munshi_tiers::{Tier, TierBody, TierDraft, build_rule_set, files, precedence};
use munshi_types::tier::{Agent, Binding, Destination, Human, Team, TierKind, TierName};

/// A tenant's folder.
#[derive(Default)]
pub(crate) struct Tenant {
    pub(crate) humans: BTreeMap<String, Human>,
    pub(crate) teams: BTreeMap<String, Team>,
    /// With all that they extend.
    pub(crate) agents: BTreeMap<String, Agent>,
    pub(crate) bindings: BTreeMap<String, Binding>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tenants")
}

pub(crate) fn tenant(name: &str) -> Tenant {
    let folders = files::read(&root().join(name), None).unwrap_or_else(|error| panic!("{error}"));
    let drafts = &folders[0].drafts;
    let mut tenant = Tenant::default();
    for draft in drafts {
        let name = draft.name.to_string();
        match Tier::read(draft.kind, &draft.body).unwrap() {
            Tier::Human(human) => drop(tenant.humans.insert(name, human)),
            Tier::Team(team) => drop(tenant.teams.insert(name, team)),
            Tier::Agent(_) => drop(tenant.agents.insert(name, merge(&chain(draft, drafts)).unwrap().agent)),
            Tier::Binding(binding) => drop(tenant.bindings.insert(name, binding)),
        }
    }
    tenant
}

/// The agent and those it extends, the farthest first.
fn chain<'a>(agent: &'a TierDraft, drafts: &'a [TierDraft]) -> Vec<(TierName, &'a TierBody)> {
    let base = agent.body.get("extends").and_then(|name| name.as_str());
    let is_base = |draft: &&TierDraft| draft.kind == TierKind::Agent && Some(draft.name.as_str()) == base;
    let mut line = drafts.iter().find(is_base).map(|base| chain(base, drafts)).unwrap_or_default();
    line.push((agent.name.clone(), &agent.body));
    line
}

pub(crate) const CATALOGUE: [(&str, &str); 12] = [
    ("saathi", "pro-work"),
    ("saathi", "business-work"),
    ("saathi", "pro-concierge"),
    ("saathi", "business-concierge"),
    ("rangoli", "shop"),
    ("chiguru", "fans"),
    ("taalam", "fans"),
    ("janani", "clinic-desk"),
    ("janani", "patient-line"),
    ("janani", "marketing-desk"),
    ("nyayapatra", "legal-notice"),
    ("makkal", "citizens"),
];

#[test]
fn the_catalogue_is_all_there_is_and_all_of_it_reads() {
    let folders = files::read(&root(), None).unwrap_or_else(|error| panic!("{error}"));
    let bindings = folders.iter().flat_map(|folder| {
        let of_kind = folder.drafts.iter().filter(|draft| draft.kind == TierKind::Binding);
        of_kind.map(|draft| (folder.tenant.to_string(), draft.name.to_string()))
    });
    let found: BTreeSet<_> = bindings.collect();
    let wanted: BTreeSet<_> = CATALOGUE.iter().map(|(t, b)| ((*t).to_owned(), (*b).to_owned())).collect();
    assert_eq!(found, wanted);
}

#[test]
fn every_binding_fits_its_budgets() {
    for (name, binding) in CATALOGUE {
        let tenant = tenant(name);
        let binding = &tenant.bindings[binding];
        let agent = &tenant.agents[binding.agent.as_str()];
        let human = &tenant.humans[binding.human.as_str()];
        let team = &tenant.teams[binding.team.as_str()];
        let static_prompt = StaticPrompt::new(&PromptTiers { human, team, agent, installed: &[] });
        let sizes = [TierKind::Human, TierKind::Team, TierKind::Agent].map(|tier| static_prompt.tokens(tier));
        let budgets = agent.limits.budgets();
        assert!(sizes[0] <= budgets.human, "{name} {}: {sizes:?}", binding.human);
        assert!(sizes[1] <= budgets.team, "{name} {}: {sizes:?}", binding.team);
        assert!(sizes[2] <= budgets.agent, "{name} {}: {sizes:?}", binding.agent);
    }
}

#[test]
fn a_persona_has_a_soul_a_flaw_and_things_it_never_does() {
    for name in CATALOGUE.map(|(tenant, _)| tenant) {
        for (human, body) in tenant(name).humans {
            assert!(body.soul.len() > 600 && !body.flaw.is_empty() && body.nevers.len() >= 3, "{human}");
            assert!(!body.voice.phrases.is_empty() && !body.voice.avoids.is_empty(), "{human}");
            let rules: Vec<&str> = body.guardrails.iter().map(|rule| rule.id.as_str()).collect();
            assert!(rules.contains(&"never-human") && rules.contains(&"admits-ai"), "{human}");
        }
    }
}

#[test]
fn what_is_named_is_there() {
    let mut keys = BTreeSet::new();
    for name in CATALOGUE.map(|(tenant, _)| tenant).into_iter().collect::<BTreeSet<_>>() {
        let tenant = tenant(name);
        for (binding, body) in &tenant.bindings {
            let team = &tenant.teams[body.team.as_str()];
            assert!(tenant.humans.contains_key(body.human.as_str()), "{name}/{binding}");
            assert!(team.members.contains(&body.human), "{name}/{binding}");
            let agent = &tenant.agents[body.agent.as_str()];
            let human = &tenant.humans[body.human.as_str()];
            build_rule_set(human, team, agent).unwrap_or_else(|error| panic!("{name}/{binding}: {error}"));
            assert_eq!(
                precedence::select_tools(team, agent).len(),
                team.tools.as_ref().unwrap().len(),
                "{name}/{binding}"
            );
            for key in &body.keys {
                assert!(keys.insert(key.clone()), "{key} leads to two bindings");
            }
        }
        for (team, body) in &tenant.teams {
            for way in &body.handoffs {
                let there = match &way.to {
                    Destination::Team(to) => tenant.teams.contains_key(to.as_str()) && to.as_str() != team,
                    Destination::Binding(to) => tenant.bindings.contains_key(to.as_str()),
                    Destination::Person => true,
                };
                assert!(there, "{name}/{team}: {}", way.to);
            }
        }
    }
}
