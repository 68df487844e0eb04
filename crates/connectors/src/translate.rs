//! A connector's list of tools as tools of ours: what each does is what somebody vouches for, and else the worst.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use munshi_tools::{ConnectorOrigin, EffectCertainty, ToolConnector, ToolHandler, ToolRegistry};
use munshi_types::{
    ConnectorName, ConsentPurposeName, Effect, Egress, Reach, ToolName, ToolSpec, is_invisible,
};
use serde_json::{Map, Value, json};

use crate::entries::{ConnectorEntry, ToolDeclaration};
use crate::manifest::{ConnectorManifest, ManifestTool, ManifestToolHints, SkippedTool};
use crate::names::tool_name;
use crate::remote_tool::RemoteTool;
use crate::transport::ConnectorHandle;

/// In letters.
const LONGEST_DESCRIPTION: usize = 1_500;
/// A turn waits at least so long for a server that sets its own soft limit, in seconds: which of its answers come late is
/// not the server's to choose.
const LEAST_SOFT: u16 = 5;
/// The arguments that a tool takes for a key and for only saying what it would do, where it does not name them.
pub(crate) const KEY: &[&str] = &["idempotency_key", "idempotencyKey"];
pub(crate) const DRY_RUN: &[&str] = &["dry_run", "dryRun"];

/// A connector and its list, with whether somebody has looked at that list.
pub(crate) struct TranslationSource<'a> {
    pub name: &'a ConnectorName,
    pub entry: &'a ConnectorEntry,
    pub manifest: &'a ConnectorManifest,
    pub accepted: ManifestAcceptance,
    pub link: Arc<ConnectorHandle>,
}

/// Whether the list of tools is one that somebody has looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ManifestAcceptance {
    Yes,
    /// It changed, and nobody has looked: its tools only look.
    Held,
}

/// What became of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TranslationSummary {
    pub tools: usize,
    /// Nobody vouches for what these do.
    pub undeclared: usize,
    pub left_out: Vec<SkippedTool>,
    /// Of those that people have to agree to.
    pub purposes: BTreeMap<String, ConsentPurposeName>,
}

/// Adds a connector's tools to those of its tenant.
pub(crate) fn add_tools(
    source: &TranslationSource<'_>,
    registry: &mut ToolRegistry,
    always: &mut BTreeSet<ToolName>,
    is_taken: &dyn Fn(&ToolName) -> bool,
) -> TranslationSummary {
    let mut outcome =
        TranslationSummary { left_out: source.manifest.left_out.clone(), ..TranslationSummary::default() };
    for (remote, listed) in &source.manifest.tools {
        let own = source.entry.tools.get(remote);
        if own.is_some_and(|own| own.off) {
            continue;
        }
        let taken = |name: &ToolName| is_taken(name) || registry.has_name(name.as_str());
        let added = tool_name(source.name, remote, taken)
            .ok_or_else(|| "its name is already used by another tool".to_owned())
            .and_then(|name| translate_tool(source, remote, listed, name))
            .and_then(|(spec, connector, body)| {
                let told = (spec.name.clone(), connector.declares, spec.consent.clone());
                registry.add(spec, connector, body).map(|()| told).map_err(|bad| bad.what)
            });
        match added {
            Ok((name, declares, purpose)) => {
                outcome.tools += 1;
                outcome.purposes.extend(purpose.map(|purpose| (name.to_string(), purpose)));
                outcome.undeclared += usize::from(!declares);
                if own.is_some_and(|own| own.always) {
                    always.insert(name);
                }
            }
            Err(why) => outcome.left_out.push(SkippedTool { tool: remote.clone(), why }),
        }
    }
    outcome
}

/// The operator's word, then the server's, then the worst; a server's word never takes back what its own hints say.
struct Said<'a> {
    own: Option<&'a ToolDeclaration>,
    theirs: Option<&'a ToolDeclaration>,
    hints: ManifestToolHints,
}

impl Said<'_> {
    fn find_declared<T>(&self, of: impl Fn(&ToolDeclaration) -> Option<T>) -> Option<T> {
        self.own.and_then(&of).or_else(|| self.theirs.and_then(&of))
    }

    fn soft_seconds(&self) -> Option<u16> {
        let theirs = || self.theirs.and_then(|said| said.soft_seconds).map(|soft| soft.max(LEAST_SOFT));
        self.own.and_then(|own| own.soft_seconds).or_else(theirs)
    }

    /// A risk is there if anybody says so, unless the operator says it is not.
    fn has_risk(&self, of: impl Fn(&ToolDeclaration) -> Option<bool>, hinted: bool) -> bool {
        match self.own.and_then(&of) {
            Some(said) => said,
            None => hinted || self.theirs.and_then(&of).unwrap_or(false),
        }
    }

    /// Whether a failed result may have done it all the same.
    fn certainty_of_failure(&self) -> EffectCertainty {
        match self.find_declared(|said| said.all_or_nothing) {
            Some(true) => EffectCertainty::No,
            Some(false) | None => EffectCertainty::Maybe,
        }
    }

    /// What it does, and whether somebody vouches for it.
    fn resolve_effect(&self, has_key: bool) -> (Effect, bool) {
        if let Some(effect) = self.own.and_then(|own| own.effect) {
            return (effect, true);
        }
        let hints_at_writing = self.hints.read_only == Some(false) || self.hints.destructive == Some(true);
        match self.theirs.and_then(|theirs| theirs.effect) {
            // One of the two is a lie; which, a person has to say.
            Some(Effect::Read) if hints_at_writing => (Effect::Once, false),
            Some(Effect::Inside) => (Effect::Once, false),
            Some(Effect::Keyed) if !has_key && self.hints.idempotent != Some(true) => (Effect::Once, true),
            Some(Effect::Checked) if self.find_declared(|said| said.look_up.clone()).is_none() => {
                (Effect::Once, true)
            }
            Some(effect) => (effect, true),
            None if self.hints.read_only == Some(true) => (Effect::Read, false),
            None => (Effect::Once, false),
        }
    }
}

fn translate_tool(
    source: &TranslationSource<'_>,
    remote: &str,
    listed: &ManifestTool,
    name: ToolName,
) -> Result<(ToolSpec, ToolConnector, ToolHandler), String> {
    let said =
        Said { own: source.entry.tools.get(remote), theirs: listed.declared.as_ref(), hints: listed.hints };
    let mut parameters = listed.schema.clone();
    let key = find_argument(&parameters, said.find_declared(|said| said.key.clone()), KEY);
    let dry_run = find_argument(&parameters, said.find_declared(|said| said.dry_run.clone()), DRY_RUN);
    let (effect, declares) = said.resolve_effect(key.is_some());
    // Keys and rehearsals are ours to give: the model does not see them.
    let key = key.filter(|_| effect.writes());
    let dry_run = dry_run.filter(|_| effect.writes());
    for hidden in key.iter().chain(&dry_run) {
        remove_property(&mut parameters, hidden);
    }
    let parameters = normalize_schema(parameters)?;
    let writes = effect.writes();
    let timeout = said.find_declared(|said| said.timeout_seconds).unwrap_or(source.entry.timeout_seconds);
    let scope =
        said.find_declared(|said| said.scope.clone()).unwrap_or_else(|| remote_scope(&name, source.name));
    let mut spec = ToolSpec {
        parameters,
        effect,
        reach: said.own.and_then(|own| own.reach).unwrap_or(Reach::Owner),
        least_autonomy: said.find_declared(|said| said.least_autonomy).unwrap_or_default(),
        money: writes && said.has_risk(|said| said.money, false),
        sends: said.find_declared(|said| said.sends.clone()).filter(|_| writes),
        dangerous: writes && said.has_risk(|said| said.dangerous, false),
        destructive: writes && said.has_risk(|said| said.destructive, listed.hints.destructive == Some(true)),
        dry_run: dry_run.is_some(),
        timeout: Duration::from_secs(u64::from(timeout)),
        wait_at_most: said
            .soft_seconds()
            .filter(|soft| *soft < timeout)
            .map(|soft| Duration::from_secs(u64::from(soft))),
        phrases: said
            .find_declared(|said| (!said.words.is_empty()).then(|| said.words.clone()))
            .unwrap_or_default(),
        ..ToolSpec::read_only(
            name,
            build_description(&said, remote, listed),
            format!("{}.{scope}", source.name),
        )
    };
    // What is told of money and stock goes by its words alone, so a server's own word is not enough.
    let cacheable = said.own.and_then(|own| own.cacheable).unwrap_or(false);
    spec.cacheable = !writes && cacheable && !spec.is_volatile();
    let declares = declares && source.accepted == ManifestAcceptance::Yes;
    // A stranger's word about itself opens nothing: the operator has to have declared the tool.
    let is_vouched_for =
        source.accepted == ManifestAcceptance::Yes && said.own.is_some_and(|own| own.effect.is_some());
    spec.egress = source.entry.egress.unwrap_or(match listed.hints.open_world {
        Some(false) if is_vouched_for => Egress::Allow,
        _ => Egress::Ask,
    });
    restrict_use(&mut spec, &said, source.entry);
    let connector = ToolConnector {
        name: source.name.to_string(),
        origin: ConnectorOrigin::Foreign,
        declares,
        conduct: None,
    };
    let look_up = said.find_declared(|said| said.look_up.clone());
    let far = RemoteTool {
        link: source.link.clone(),
        remote: remote.to_owned(),
        key,
        dry_run,
        look_up,
        fails: said.certainty_of_failure(),
        timeout: spec.timeout,
    };
    Ok((spec, connector, ToolHandler::Remote(Arc::new(far))))
}

/// What is done with its results, and what people have to agree to first.
fn restrict_use(spec: &mut ToolSpec, said: &Said<'_>, entry: &ConnectorEntry) {
    spec.shows = entry.shows;
    spec.transient = is_transient(entry, said.own, said.theirs);
    if spec.transient {
        // A turn waits for it to its end, and nothing of it is told again.
        (spec.wait_at_most, spec.cacheable) = (None, false);
    }
    // An operator's purpose takes the place of the server's, and nobody takes one away.
    let own = said.own.and_then(|own| own.consent.clone()).or_else(|| entry.consent.clone());
    spec.consent = own.or_else(|| said.theirs.and_then(|theirs| theirs.consent.clone()));
    // Whom a tool is about stays so whoever names the purpose: else the caller's own consent would do to look up anybody.
    let subject = said.find_declared(|said| said.subject.clone());
    spec.subject = subject.filter(|_| spec.consent.is_some());
    // What was told to somebody who agreed is told to nobody else.
    spec.cacheable &= spec.consent.is_none();
}

/// Whether nothing of what a tool says is kept. The operator may take back what the server says of itself; anybody may ask for it.
fn is_transient(
    entry: &ConnectorEntry,
    own: Option<&ToolDeclaration>,
    theirs: Option<&ToolDeclaration>,
) -> bool {
    let own = own.and_then(|own| own.transient).or(entry.transient.then_some(true));
    own.unwrap_or_else(|| theirs.and_then(|theirs| theirs.transient).unwrap_or(false))
}

/// Whether that is so of any tool of a list.
pub(crate) fn has_transient(entry: &ConnectorEntry, manifest: &ConnectorManifest) -> bool {
    let mut tools = manifest.tools.iter();
    tools.any(|(name, listed)| is_transient(entry, entry.tools.get(name), listed.declared.as_ref()))
}

/// The tool's own part of its name: `write_file` of `files_write_file`.
fn remote_scope(name: &ToolName, connector: &ConnectorName) -> String {
    let own = name.as_str().strip_prefix(connector.as_str()).unwrap_or(name.as_str());
    own.trim_start_matches('_').to_owned()
}

/// For the model: bounded, in letters that are seen.
fn build_description(said: &Said<'_>, remote: &str, listed: &ManifestTool) -> String {
    let text = said.own.and_then(|own| own.description.as_deref()).unwrap_or(&listed.description);
    let clean: String = text
        .chars()
        .filter(|letter| !is_invisible(*letter) || *letter == '\n')
        .take(LONGEST_DESCRIPTION)
        .collect();
    if clean.trim().is_empty() { format!("{remote} (its maker says no more)") } else { clean }
}

/// The argument that was named, or else the usual one, where the schema has it.
pub(crate) fn find_argument(
    schema: &Map<String, Value>,
    named: Option<String>,
    usual: &[&str],
) -> Option<String> {
    let arguments = schema.get("properties")?.as_object()?;
    let mut names =
        named.map_or_else(|| usual.iter().map(|name| (*name).to_owned()).collect(), |name| vec![name]);
    names.retain(|name| arguments.contains_key(name));
    names.into_iter().next()
}

fn remove_property(schema: &mut Map<String, Value>, name: &str) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove(name);
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|known| known != name);
    }
}

/// The schema as providers and our own check take it, or why not.
fn normalize_schema(mut schema: Map<String, Value>) -> Result<Value, String> {
    // Which draft it is written in matters to no word we check, and an unknown one would be looked for on the network.
    schema.remove("$schema");
    schema.entry("type").or_insert(json!("object"));
    schema.entry("properties").or_insert(json!({}));
    let schema = Value::Object(schema);
    match foreign_reference(&schema) {
        Some(reference) => {
            Err(format!("its schema references another document ({reference}): it must be self-contained"))
        }
        None => Ok(schema),
    }
}

fn foreign_reference(schema: &Value) -> Option<String> {
    match schema {
        Value::Array(items) => items.iter().find_map(foreign_reference),
        Value::Object(fields) => fields.iter().find_map(|(key, value)| match value {
            Value::String(to) if matches!(key.as_str(), "$ref" | "$dynamicRef") && !to.starts_with('#') => {
                Some(to.clone())
            }
            value => foreign_reference(value),
        }),
        _ => None,
    }
}

#[cfg(test)]
#[path = "translate_tests.rs"]
mod tests;
