//! `policy.toml` in a tenant's folder, applied with its tiers.

use std::collections::BTreeSet;
use std::sync::Arc;

use munshi_config::Config;
use munshi_llm::ModelTarget;
use munshi_llm::gateway::ModelRoute;
use munshi_operations::folders::{CONNECTORS_FILE, POLICY_FILE};
use munshi_safety::policy::{self, DataResidency, Policy};
use munshi_store::Tx;
use munshi_tiers::{
    Authorship, Error, ExtensionBodies, ExtensionChange, FolderExtension, FolderProblem, Result, TierBody,
};
use munshi_toml::find_nearest;
use munshi_tools::ToolRegistry;
use munshi_types::{TenantPacks, ToolName};
use serde_json::Value;

use crate::channels::ChannelsFile;
use crate::connectors::ConnectorsFile;
use crate::consents::{UndeclaredPurpose, list_of_packs};
use crate::failure;
use crate::models::GatewayModels;

/// The files of a tenant's folder that are no tiers.
pub fn build_folder_extensions(config: &Config) -> failure::Result<Vec<Arc<dyn FolderExtension>>> {
    let registry = crate::tools::registry()?;
    let protected = crate::connectors::list_protected_paths(config);
    let connectors = ConnectorsFile { registry: registry.clone(), protected };
    // Settings whose models can't be used say so themselves; a policy is no worse for it.
    let models = GatewayModels::from_config(config).map(|models| models.targets).unwrap_or_default();
    Ok(vec![
        Arc::new(connectors),
        Arc::new(ChannelsFile),
        Arc::new(PolicyFile {
            registry,
            packs: crate::packs::list_names(),
            models,
            most_files_mb: config.blobs.tenant_mb,
        }),
    ])
}

struct PolicyFile {
    /// For what a policy may name.
    registry: ToolRegistry,
    packs: BTreeSet<String>,
    /// Those of this installation.
    models: Vec<ModelTarget>,
    /// How much of files this installation permits a tenant.
    most_files_mb: usize,
}

impl PolicyFile {
    fn has_tool(&self, name: &str) -> bool {
        name.parse().is_ok_and(|name: ToolName| self.registry.list_meant(&name).next().is_some())
    }
}

/// The packs that a policy lists.
fn read_packs(body: &TierBody) -> TenantPacks {
    let listed = body.get("packs").and_then(Value::as_array);
    let names = |listed: &Vec<Value>| {
        TenantPacks::only(listed.iter().filter_map(Value::as_str).map(ToOwned::to_owned))
    };
    listed.map(names).unwrap_or_default()
}

impl std::fmt::Debug for PolicyFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(POLICY_FILE)
    }
}

impl FolderExtension for PolicyFile {
    fn file_name(&self) -> &'static str {
        POLICY_FILE
    }

    fn noun(&self) -> &'static str {
        "policy"
    }

    fn read(&self, file: &str, text: &str) -> Result<TierBody, Vec<FolderProblem>> {
        let wrong = |problem: FolderProblem| {
            vec![problem.hint("docs/policy.md lists every key; `munshi schema policy` prints the schema")]
        };
        let policy = policy::parse_file(text)
            .map_err(|slip| wrong(FolderProblem::in_file(file, slip.what).at_position(slip.position)))?;
        for message in &policy.messages {
            let meant = self.registry.list_meant(&message.tool).filter_map(|tool| tool.known.pack.as_deref());
            let packs: Vec<&str> = meant.filter(|pack| policy.packs.has(pack)).collect();
            if packs.len() > 1 {
                let what = format!("several packs have a tool called {}: {}", message.tool, packs.join(", "));
                let full: Vec<String> = packs.iter().map(|pack| format!("{pack}.{}", message.tool)).collect();
                let hint = format!("write {}", full.join(" or "));
                return Err(vec![FolderProblem::in_file(file, what).hint(hint)]);
            }
        }
        policy::to_minimal_map(&policy)
            .map_err(|error| wrong(FolderProblem::in_file(file, error.to_string())))
    }

    fn warnings(&self, body: &TierBody, beside: &ExtensionBodies) -> Vec<String> {
        let declared =
            beside.get(CONNECTORS_FILE).into_iter().flat_map(|file| file.keys().map(String::as_str));
        let known: Vec<&str> =
            self.registry.all().map(|tool| tool.known.connector.name.as_str()).chain(declared).collect();
        let connectors =
            body.get("connectors").and_then(Value::as_object).into_iter().flat_map(|map| map.keys());
        let connectors = connectors.filter(|name| !known.contains(&name.as_str())).map(|name| {
            format!(
                "policy.toml names connector {name}, which is not installed; the rule has no effect until it is"
            )
        });
        let tools = body.get("messages").and_then(Value::as_array).into_iter().flatten();
        let tools = tools.filter_map(|message| message.get("tool")?.as_str());
        let tools = tools.filter(|tool| !self.has_tool(tool)).map(|tool| {
            format!(
                "policy.toml names tool {tool}, which is not installed; the rule has no effect until it is"
            )
        });
        let packs = read_packs(body);
        let packs: Vec<String> = packs
            .listed()
            .filter(|pack| !self.packs.contains(*pack))
            .map(|pack| {
                let meant = find_nearest(pack, self.packs.iter().map(String::as_str));
                let hint = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
                format!("policy.toml lists pack {pack}, which is not installed{hint}")
            })
            .collect();
        let policy: Policy = serde_json::from_value(Value::Object(body.clone())).unwrap_or_default();
        let undeclared = list_of_packs(&self.registry, &policy);
        let undeclared = undeclared.iter().map(UndeclaredPurpose::describe);
        let most = self.most_files_mb;
        let quota = policy.files.quota_mb.filter(|megabytes| *megabytes as usize > most).map(|megabytes| {
            format!(
                "policy.toml: files.quota_mb is {megabytes}, and this installation permits {most} (blobs.tenant_mb); the lower counts"
            )
        });
        let warnings = connectors.chain(tools).chain(packs).chain(undeclared).chain(quota);
        warnings.chain(self.list_residency_warnings(body)).collect()
    }

    fn packs(&self, body: &TierBody) -> Option<TenantPacks> {
        Some(read_packs(body))
    }

    fn load_stored(&self, tx: &mut Tx<'_>) -> Result<(i64, TierBody)> {
        let (version, policy) = policy::load_current(tx).map_err(convert_safety_error)?;
        Ok((version, policy::to_minimal_map(&policy).map_err(convert_safety_error)?))
    }

    fn write(&self, tx: &mut Tx<'_>, change: &ExtensionChange, by: &Authorship) -> Result<()> {
        let policy: Policy = serde_json::from_value(Value::Object(change.body.clone()))
            .map_err(|error| Error::Unreadable(format!("can't store the policy: {error}")))?;
        policy::apply(tx, &policy, &by.author, &by.note, by.made_at).map_err(convert_safety_error)?;
        Ok(())
    }

    fn event(&self) -> &'static str {
        "policy.changed"
    }
}

impl PolicyFile {
    /// Names that no model here has, and a policy that leaves none.
    fn list_residency_warnings(&self, body: &TierBody) -> Vec<String> {
        let said = body.get("residency").cloned().unwrap_or_default();
        let Ok(said) = serde_json::from_value::<DataResidency>(said) else { return Vec::new() };
        let elsewhere = || self.models.iter().filter(|model| !model.is_local());
        let own = self.models.iter().map(|model| model.name.as_str());
        let names: Vec<&str> = own.chain(elsewhere().map(|model| model.price_provider.as_str())).collect();
        let places: Vec<&str> = elsewhere().map(|model| model.residency.as_str()).collect();
        let unknown = |key: &str, word: &String, known: &[&str]| {
            let words = format!("policy.toml: residency.{key} names {word}, which no model here has");
            let known = known.iter().copied().filter(|name| !name.is_empty());
            match find_nearest(word, known) {
                Some(near) => format!("{words}: did you mean {near}?"),
                None => format!("{words}; it has no effect until one has"),
            }
        };
        let mut warnings = Vec::new();
        for (key, given, known) in [("providers", &said.providers, &names), ("places", &said.places, &places)]
        {
            let odd = given.iter().flatten().filter(|word| !known.contains(&word.as_str()));
            warnings.extend(odd.map(|word| unknown(key, word, known)));
        }
        let route = said.restrict(ModelRoute::default());
        if said != DataResidency::default()
            && elsewhere().next().is_some()
            && !elsewhere().any(|model| route.permits(model))
        {
            warnings.push(
                "policy.toml: residency permits no model here except offline; without offline on a route, \
                 nobody gets an answer"
                    .to_owned(),
            );
        }
        warnings
    }
}

fn convert_safety_error(error: munshi_safety::Error) -> Error {
    match error {
        munshi_safety::Error::Store(error) => Error::Store(error),
        other => Error::Unreadable(other.to_string()),
    }
}
