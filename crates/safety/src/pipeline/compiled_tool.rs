//! A tool as the pipeline knows it: checked when it is installed, so that a call only has to be compared.

use std::sync::Arc;

use munshi_schema::Schema;
use munshi_types::{Autonomy, Conduct, Egress, SendArguments, ToolSpec, is_invisible};
use serde_json::{Map, Value, json};

use crate::audit::to_canonical_json;

/// Longer or deeper arguments are no honest call, and would cost more to look at than they are worth.
const LONGEST: usize = 64 * 1024;
const DEEPEST: usize = 24;
/// Up to here every program reads a whole number as it was written.
const LARGEST: f64 = 9_007_199_254_740_991.0;

/// A tool with its schema made ready.
#[derive(Debug)]
pub struct CompiledTool {
    pub spec: ToolSpec,
    pub connector: ToolConnector,
    /// The pack that brings it; none where a tenant's connector does.
    pub pack: Option<String>,
    schema: Arc<Schema>,
}

/// Who brings a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolConnector {
    pub name: String,
    pub origin: ConnectorOrigin,
    /// Whether it says what its tools do. One that does not stays at investigate.
    pub declares: bool,
    /// How it may be used unless the tenant says otherwise; only a built-in pack has one.
    pub conduct: Option<Conduct>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectorOrigin {
    /// A built-in pack: its tools work on our own tables, and what they are given leaves nowhere.
    BuiltIn,
    /// Somebody else's program or service.
    Foreign,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool {tool} can't be installed: {what}")]
pub struct InvalidTool {
    pub tool: String,
    pub what: String,
}

impl CompiledTool {
    /// Checks what a tool says of itself. Arguments it does not name are refused from here on.
    pub fn new(mut spec: ToolSpec, connector: ToolConnector) -> Result<Self, InvalidTool> {
        let tool = spec.name.to_string();
        let bad = |what: String| InvalidTool { tool: tool.clone(), what };
        if spec.name.pack().is_some() {
            return Err(bad("its own name must not name the pack".to_owned()));
        }
        let Some(top) = spec.parameters.as_object_mut() else {
            return Err(bad("its parameters are not a JSON Schema object".to_owned()));
        };
        if top.get("type") != Some(&json!("object")) {
            return Err(bad("its parameters must have the type object".to_owned()));
        }
        top.entry("additionalProperties").or_insert(json!(false));
        let schema = Schema::compile(&spec.parameters)
            .map_err(|error| bad(format!("its schema is invalid: {error}")))?;
        if let Some(what) = find_contradiction(&spec, &connector) {
            return Err(bad(what));
        }
        if spec.effect.writes() {
            spec.least_autonomy = spec.least_autonomy.max(Autonomy::Propose);
        }
        Ok(Self { spec, connector, pack: None, schema: Arc::new(schema) })
    }

    #[must_use]
    pub fn of_pack(self, pack: &str) -> Self {
        Self { pack: Some(pack.to_owned()), ..self }
    }

    /// What it is known by among all tools of the installation: `pack.tool`, and the bare name where a connector brings it.
    pub fn identity(&self) -> String {
        match &self.pack {
            Some(pack) => format!("{pack}.{}", self.spec.name),
            None => self.spec.name.to_string(),
        }
    }

    /// The same schema under another specification, which costs little: for worlds of thousands of tools.
    #[cfg(test)]
    pub(super) fn with_spec(&self, mut spec: ToolSpec, connector: ToolConnector) -> Option<Self> {
        spec.parameters = self.spec.parameters.clone();
        if find_contradiction(&spec, &connector).is_some() {
            return None;
        }
        if spec.effect.writes() {
            spec.least_autonomy = spec.least_autonomy.max(Autonomy::Propose);
        }
        Some(Self { spec, connector, pack: self.pack.clone(), schema: self.schema.clone() })
    }

    /// Why the arguments don't fit, if they don't; never with the values themselves.
    pub fn find_misfit(&self, arguments: &Value) -> Option<String> {
        if !arguments.is_object() {
            return Some("the arguments must be a JSON object".to_owned());
        }
        if size(arguments, DEEPEST).is_none_or(|size| size > LONGEST) {
            return Some(format!(
                "the arguments are longer than {LONGEST} bytes or deeper than {DEEPEST} levels"
            ));
        }
        if let Some(what) = find_unportable(arguments) {
            return Some(what.to_owned());
        }
        if let Some(misfit) = self.schema.find_violations(arguments, 1).first() {
            return Some(misfit.to_string());
        }
        let vague = scope_names(&self.spec.scope).find(|name| !is_plain(arguments.get(name)))?;
        Some(format!(
            "{vague} must be a plain text or number, without blanks around it or letters nobody sees"
        ))
    }

    /// Whether its schema has an argument of this name, at any depth.
    pub(super) fn has_argument(&self, argument: &str) -> bool {
        has_property(&self.spec.parameters, argument)
    }

    /// Whether what it is given leaves the house where nobody has allowed that for good.
    pub(super) fn sends_data_out(&self) -> bool {
        self.connector.origin == ConnectorOrigin::Foreign && self.spec.egress != Egress::Allow
    }

    /// How many names its schema has for arguments, at all depths.
    pub(super) fn count_names(&self) -> usize {
        count_properties(&self.spec.parameters)
    }

    /// Whether every call has this argument.
    pub(super) fn requires(&self, argument: &str) -> bool {
        let required = self.spec.parameters.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|name| name == argument))
    }

    /// Whether an argument of the call itself counts paise, by its declared form: whole numbers of money.
    pub(super) fn counts_paise(&self, argument: &str) -> bool {
        let property = self.spec.parameters.get("properties").and_then(|all| all.get(argument));
        property.is_some_and(|property| property["type"] == "integer" && property["format"] == "money")
    }

    /// Among how many that its schema lists a value of an argument of the call itself is one.
    pub(super) fn find_enum_size(&self, argument: &str, value: &Value) -> Option<usize> {
        let property = self.spec.parameters.get("properties").and_then(|all| all.get(argument))?;
        if property.get("const") == Some(value) {
            return Some(1);
        }
        property.get("enum")?.as_array().filter(|listed| listed.contains(value)).map(Vec::len)
    }

    /// Its scope for these arguments, each `{name}` filled so that no value can pass for a part or a pattern.
    pub fn render_scope(&self, arguments: &Value) -> String {
        let mut filled = String::with_capacity(self.spec.scope.len());
        let mut rest = self.spec.scope.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            push_escaped(arguments.get(name).unwrap_or(&Value::Null), &mut filled);
            rest = after;
        }
        filled.push_str(rest);
        filled
    }
}

/// The arguments a scope is made of.
fn scope_names(scope: &str) -> impl Iterator<Item = &str> {
    scope.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name)
}

/// Whether a value says what is touched to us as it does to the tool. One that is empty, wrapped or padded may mean the
/// same thing there as the plain one, and pass a deny of that here.
fn is_plain(value: Option<&Value>) -> bool {
    match value {
        Some(Value::String(text)) => !text.is_empty() && text.trim() == text && !has_invisible(text),
        Some(Value::Number(_) | Value::Bool(_)) => true,
        _ => false,
    }
}

/// Whether a text holds what is not seen; a joiner within an Indian word is.
fn has_invisible(text: &str) -> bool {
    let mut before = ' ';
    text.chars().any(|letter| {
        let stray = matches!(letter, '\u{200c}' | '\u{200d}') && !matches!(before, '\u{900}'..='\u{dff}');
        before = letter;
        stray || is_invisible(letter)
    })
}

/// What no two programs read alike: a NUL, which ends the text for some, and numbers past 2^53, which some round.
fn find_unportable(value: &Value) -> Option<&'static str> {
    let nul = |text: &str| text.contains('\0').then_some("a text holds a NUL character");
    match value {
        Value::Null | Value::Bool(_) => None,
        Value::String(text) => nul(text),
        Value::Number(number) => (!number.as_f64().is_some_and(|size| size.abs() <= LARGEST))
            .then_some("a number is past 2^53: give it as text"),
        Value::Array(items) => items.iter().find_map(find_unportable),
        Value::Object(inner) => {
            inner.iter().find_map(|(key, item)| nul(key).or_else(|| find_unportable(item)))
        }
    }
}

fn count_properties(schema: &Value) -> usize {
    match schema {
        Value::Array(items) => items.iter().map(count_properties).sum(),
        Value::Object(inner) => {
            let own = inner.get("properties").and_then(Value::as_object).map_or(0, Map::len);
            own + inner.values().map(count_properties).sum::<usize>()
        }
        _ => 0,
    }
}

fn has_property(schema: &Value, name: &str) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(|item| has_property(item, name)),
        Value::Object(inner) => {
            let own = inner.get("properties").and_then(Value::as_object);
            own.is_some_and(|own| own.contains_key(name))
                || inner.values().any(|item| has_property(item, name))
        }
        _ => false,
    }
}

/// Letters, digits, `_` and `-` as they are, everything else by its bytes. A number has one spelling: 7.0 is 7.
fn push_escaped(value: &Value, into: &mut String) {
    let text = match value {
        Value::String(text) => text.clone(),
        other => to_canonical_json(other),
    };
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') {
            into.push(char::from(byte));
        } else {
            into.push_str(&format!("%{byte:02X}"));
        }
    }
}

/// About how many bytes it would take to write down; none when it is too deep.
fn size(value: &Value, levels: usize) -> Option<usize> {
    let below = levels.checked_sub(1)?;
    Some(match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().try_fold(2, |sum, item| Some(sum + size(item, below)? + 1))?,
        Value::Object(inner) => {
            inner.iter().try_fold(2, |sum, (key, item)| Some(sum + key.len() + size(item, below)? + 4))?
        }
    })
}

/// What could carry words of its own beside a template: they would go out unseen by whoever authorised the template.
fn find_free_text(sending: &SendArguments, parameters: &Value) -> Option<String> {
    let template = sending.template.as_ref()?;
    let none = serde_json::Map::new();
    let named = parameters.get("properties").and_then(Value::as_object).unwrap_or(&none);
    if !named.contains_key(template) {
        return Some(format!("it sends the template named in {template}, which must be an argument"));
    }
    // Each of these could let in what `properties` does not show.
    let open = ["$schema", "$ref", "$dynamicRef", "patternProperties"];
    if parameters.get("additionalProperties") != Some(&json!(false))
        || open.iter().any(|word| parameters.get(word).is_some())
    {
        return Some("it sends by template, so `properties` must list all its arguments".to_owned());
    }
    let own = [template.as_str(), sending.to.as_str()];
    let free = named.iter().find(|(name, schema)| !own.contains(&name.as_str()) && !is_bound(schema));
    let (name, _) = free?;
    Some(format!(
        "it sends by template, so {name} can't be free text: make it a number, an enum or a string with the format date"
    ))
}

/// Whether a value is a number, a switch, one of a list, or a day.
fn is_bound(schema: &Value) -> bool {
    let figure = |kind: &Value| matches!(kind.as_str(), Some("number" | "integer" | "boolean" | "null"));
    let figures = match schema.get("type") {
        Some(Value::Array(kinds)) => !kinds.is_empty() && kinds.iter().all(figure),
        Some(kind) => figure(kind),
        None => false,
    };
    let day = schema.get("type") == Some(&json!("string")) && schema.get("format") == Some(&json!("date"));
    schema.get("$ref").is_none() && (figures || day || schema.get("enum").is_some_and(Value::is_array))
}

/// What a specification says that can't be at once.
fn find_contradiction(spec: &ToolSpec, connector: &ToolConnector) -> Option<String> {
    let writes = spec.effect.writes();
    let required = |name: &str| {
        let listed = spec.parameters.get("required").and_then(Value::as_array);
        listed.is_some_and(|names| names.iter().any(|known| known == name))
    };
    let mut parts = spec.scope.split('{');
    if parts.next().is_none_or(str::is_empty) {
        return Some("its scope must start with the module's name, such as ledger.sale.add".to_owned());
    }
    for part in parts {
        let Some((name, _)) = part.split_once('}') else {
            return Some("its scope has an unclosed {".to_owned());
        };
        if !required(name) {
            return Some(format!("its scope names {{{name}}}, which must be a required argument"));
        }
    }
    if let Some(sending) = &spec.sends {
        if !required(&sending.to) {
            return Some(format!("it sends to {}, which must be a required argument", sending.to));
        }
        if let Some(what) = find_free_text(sending, &spec.parameters) {
            return Some(what);
        }
    }
    if let Some(subject) = spec.subject.as_ref().filter(|subject| !required(subject)) {
        return Some(format!("it is about {subject}, which must be a required argument"));
    }
    let what = match () {
        () if (spec.dangerous || spec.destructive || spec.money || spec.sends.is_some()) && !writes => {
            "it only reads, so it can be neither dangerous nor destructive, move money or send"
        }
        () if spec.cacheable && (writes || spec.money) => "a tool that writes or moves money can't be cached",
        () if spec.cacheable && spec.is_volatile() => "a tool that reports money or stock can't be cached",
        () if spec.cacheable && spec.consent.is_some() => {
            "what it says is for whoever consented to it, so it can't be cached"
        }
        () if connector.origin == ConnectorOrigin::Foreign && spec.effect == munshi_types::Effect::Inside => {
            "only a built-in pack can write inside the transaction"
        }
        () if spec.transient && writes => "what it says is not kept, so it must only read",
        () if spec.transient && spec.cacheable => "what it says is not kept, so it can't be cached",
        () if spec.transient && spec.wait_at_most.is_some() => {
            "what it says is not kept, so a turn has to wait for it: it can't have a soft limit"
        }
        () if spec.transient && spec.dry_run => "it only reads and keeps nothing, so it has no dry run",
        () => return None,
    };
    Some(what.to_owned())
}
