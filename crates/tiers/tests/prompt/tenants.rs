//! The ready bindings: that every file reads, that they fit their budgets, and that they hold together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use munshi_tiers::contract;
use munshi_tiers::prompt::{Cast, Tiers};
use munshi_types::tier::{Agent, Binding, Destination, Human, Team, TierKind};
use serde::de::DeserializeOwned;

use super::scene::sentence;

/// A tenant's folder.
pub(crate) struct Tenant {
    pub(crate) humans: BTreeMap<String, Human>,
    pub(crate) teams: BTreeMap<String, Team>,
    pub(crate) agents: BTreeMap<String, Agent>,
    pub(crate) bindings: BTreeMap<String, Binding>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tenants")
}

pub(crate) fn tenant(name: &str) -> Tenant {
    let root = root().join(name);
    Tenant {
        humans: read(&root, TierKind::Human, Some("soul")),
        teams: read(&root, TierKind::Team, Some("sops")),
        agents: read(&root, TierKind::Agent, None),
        bindings: read(&root, TierKind::Binding, None),
    }
}

fn read<T: DeserializeOwned>(root: &Path, kind: TierKind, prose: Option<&str>) -> BTreeMap<String, T> {
    let folder = root.join(kind.folder());
    let mut tables: BTreeMap<String, toml::Table> = BTreeMap::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let table = match prose {
            None => text.parse::<toml::Table>(),
            Some(key) => {
                let (front, rest) = text.strip_prefix("+++\n").unwrap().split_once("\n+++\n").unwrap();
                front.parse::<toml::Table>().map(|mut table| {
                    table.insert(key.to_owned(), rest.trim_start_matches('\n').trim_end_matches('\n').into());
                    table
                })
            }
        };
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        tables.insert(name, table.unwrap_or_else(|error| panic!("{}: {error}", path.display())));
    }
    let merged = tables.iter().map(|(name, table)| (name.clone(), extended(table, &tables)));
    merged
        .map(|(name, table)| {
            let tier =
                table.try_into().unwrap_or_else(|error| panic!("{}/{name}: {error}", folder.display()));
            (name, tier)
        })
        .collect()
}

/// With what it extends: its own keys win, guardrails are added.
fn extended(table: &toml::Table, all: &BTreeMap<String, toml::Table>) -> toml::Table {
    let Some(base) = table.get("extends").and_then(toml::Value::as_str) else { return table.clone() };
    let mut merged = extended(&all[base], all);
    for (key, value) in table {
        match (merged.get_mut(key), value) {
            (Some(toml::Value::Array(known)), toml::Value::Array(more)) if key == "guardrails" => {
                known.extend(more.clone());
            }
            (Some(toml::Value::Table(known)), toml::Value::Table(more)) => known.extend(more.clone()),
            _ => {
                merged.insert(key.clone(), value.clone());
            }
        }
    }
    merged
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
    let folders = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let mut found = BTreeSet::new();
    for folder in folders.filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        found.extend(tenant(&name).bindings.into_keys().map(|binding| (name.clone(), binding)));
    }
    let wanted: BTreeSet<_> = CATALOGUE.iter().map(|(t, b)| ((*t).to_owned(), (*b).to_owned())).collect();
    assert_eq!(found, wanted);
}

#[test]
fn every_binding_fits_its_budgets() {
    for (name, binding) in CATALOGUE {
        let tenant = tenant(name);
        let binding = &tenant.bindings[binding];
        let agent = &tenant.agents[binding.agent.as_str()];
        let cast = Cast::new(
            &Tiers {
                human: &tenant.humans[binding.human.as_str()],
                team: &tenant.teams[binding.team.as_str()],
                agent,
                installed: &[],
            },
            sentence,
        );
        let sizes = [TierKind::Human, TierKind::Team, TierKind::Agent].map(|tier| cast.tokens(tier));
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
            assert_eq!(
                contract::tools(team, agent).len(),
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
                };
                assert!(there, "{name}/{team}: {}", way.to);
            }
        }
        let of_humans = tenant.humans.values().flat_map(|human| &human.guardrails);
        let of_teams = tenant.teams.values().flat_map(|team| &team.guardrails);
        let of_agents = tenant.agents.values().flat_map(|agent| &agent.guardrails);
        for rule in of_humans.chain(of_teams).chain(of_agents) {
            assert!(sentence(rule).is_some(), "{name}: there is no guardrail {}", rule.id);
        }
    }
}
