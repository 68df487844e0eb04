//! Commands of operations that have no command written for them: made from what is declared.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use munshi_operations::{HOUSE, ListedOperation, list_operations};
use munshi_pack::PackRegistry;
use munshi_pack::operation::{OperationField, OperationScope, OperationShape, OperationSpec};
use munshi_wiring::failure::{CommandFailure, Result};
use serde_json::{Map, Value};
use utoipa::openapi::schema::{SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};

use super::operation_view;
use super::tenant::TenantSelectorArguments;
use super::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::sanitize_text;

/// Commands that are written by hand: their texts and shorthands are their own.
const WRITTEN: &[&str] = &[
    "approvals",
    "audit anchor",
    "audit export",
    "audit verify",
    "backup",
    "channel",
    "connector accept",
    "connector add",
    "connector list",
    "connector login",
    "connector logout",
    "connector logs",
    "connector remove",
    "connector test",
    "folder",
    "host-key",
    "jobs list",
    "jobs retry",
    "keeper-key add",
    "key",
    "models",
    "models capabilities",
    "operator",
    "person",
    "policy log",
    "policy show",
    "policy test",
    "stats",
    "tenant",
    "tier",
    "usage",
    "usage limit",
    "usage plan",
    "vault",
];
/// Words of those that an operation is behind under another name.
const RENAMED: &[(&str, &str)] = &[
    ("apply", "show"),
    ("audit", "tail"),
    ("backup", "show"),
    ("diff", "show"),
    ("export", "show"),
    ("models", "capabilities"),
    ("models", "show"),
    ("usage", "limit"),
    ("usage", "plan"),
];

fn made() -> impl Iterator<Item = ListedOperation> {
    list_operations(&[]).filter(|entry| !is_written(&entry.spec))
}

/// What packs bring, by the word behind the pack's name: one that shows something, one that changes it, or both.
struct PackVerb {
    pack: &'static str,
    word: &'static str,
    shows: Option<ListedOperation>,
    changes: Option<ListedOperation>,
}

fn list_pack_verbs(packs: &PackRegistry) -> Vec<PackVerb> {
    let mut verbs: Vec<PackVerb> = Vec::new();
    for entry in list_operations(&packs.operations).filter(ListedOperation::is_packs) {
        let Some((pack, word)) = entry.spec.command.split_once(' ') else { continue };
        let at = verbs.iter().position(|verb| (verb.pack, verb.word) == (pack, word));
        let at = at.unwrap_or_else(|| {
            verbs.push(PackVerb { pack, word, shows: None, changes: None });
            verbs.len() - 1
        });
        if let Some(verb) = verbs.get_mut(at) {
            let place = if entry.spec.writes() { &mut verb.changes } else { &mut verb.shows };
            *place = Some(entry);
        }
    }
    verbs
}

impl PackVerb {
    fn entries(&self) -> impl Iterator<Item = &ListedOperation> {
        self.changes.iter().chain(&self.shows)
    }

    /// Options that only a change has say that one is meant.
    fn select(&self, matches: &ArgMatches) -> Option<ListedOperation> {
        let shown = self.shows.map(|entry| entry.fields()).unwrap_or_default();
        let is_change = self.changes.filter(|entry| {
            let fields = entry.fields().into_iter();
            let mut own = fields.filter(|field| !shown.iter().any(|other| other.name == field.name));
            own.any(|field| matches.get_one::<String>(&field.name).is_some())
        });
        is_change.or(self.shows).or(self.changes)
    }
}

fn is_written(spec: &OperationSpec) -> bool {
    let words = format!("{} {}", spec.command, spec.verb);
    WRITTEN.iter().any(|written| *written == spec.command || *written == words)
}

/// The words of a search: they are typed one after another, as anywhere else.
const WORDS: &str = "q";

/// What can be typed, with a command for every operation.
pub(crate) fn add_to(own: Command) -> Command {
    made().fold(own, |all, entry| {
        let group = entry.spec.command;
        let all = match all.find_subcommand(group) {
            Some(_) => all,
            None => all.subcommand(build_group(group, format!("Look after {}", entry.spec.resource))),
        };
        all.mut_subcommand(group, |group| group.subcommand(build_command(entry.spec.verb, &[entry])))
    })
}

/// The same for what packs bring, beside their commands.
pub(crate) fn add_packs_to(own: Command, packs: &PackRegistry) -> Command {
    list_pack_verbs(packs).iter().fold(own, |all, verb| {
        let all = match all.find_subcommand(verb.pack) {
            Some(_) => all,
            None => all.subcommand(build_group(verb.pack, format!("Commands of the pack {}", verb.pack))),
        };
        let entries: Vec<ListedOperation> = verb.entries().copied().collect();
        all.mut_subcommand(verb.pack, |group| group.subcommand(build_command(verb.word, &entries)))
    })
}

fn build_group(name: &'static str, about: String) -> Command {
    Command::new(name).about(about).subcommand_required(true).arg_required_else_help(true)
}

/// One command for one operation, or for one that changes something and one that shows it.
fn build_command(word: &'static str, entries: &[ListedOperation]) -> Command {
    let about = entries.first().map(|entry| entry.spec.about).unwrap_or_default();
    let mut command = Command::new(word).about(about.trim_end_matches('.').to_owned());
    if entries.iter().any(|entry| entry.spec.needs.scope() != OperationScope::Installation) {
        command = TenantSelectorArguments::augment_args(command);
    }
    if entries.iter().any(|entry| !entry.spec.events().is_empty()) {
        command = OperatorArguments::augment_args(command);
    }
    let mut named: Vec<String> = Vec::new();
    for entry in entries {
        let in_path: Vec<&str> = entry.spec.path_fields().collect();
        let fields = entry.fields().into_iter().filter(|field| !named.contains(&field.name));
        let fields: Vec<OperationField> = fields.collect();
        named.extend(fields.iter().map(|field| field.name.clone()));
        command = command.args(fields.into_iter().map(|field| build_argument(field, &in_path)));
    }
    command
}

fn build_argument(field: OperationField, in_path: &[&str]) -> Arg {
    let is_positional = in_path.contains(&field.name.as_str());
    let arg = Arg::new(field.name.clone())
        .help(field.description.unwrap_or_default().trim_end_matches('.').to_owned());
    let arg = arg.value_name(field.name.to_uppercase());
    if field.name == WORDS {
        arg.value_name("WORD").num_args(1..).required(true)
    } else if is_positional {
        arg.required(true)
    } else {
        arg.long(field.name.replace('_', "-")).required(field.is_required)
    }
}

/// The operation that was typed, where its command was made from it.
pub(crate) fn find_typed<'m>(
    packs: &PackRegistry,
    matches: &'m ArgMatches,
) -> Option<(ListedOperation, &'m ArgMatches)> {
    let (group, of_group) = matches.subcommand()?;
    let (verb, of_verb) = of_group.subcommand()?;
    let own = made().find(|entry| entry.spec.command == group && entry.spec.verb == verb);
    let packs = list_pack_verbs(packs).into_iter().find(|one| (one.pack, one.word) == (group, verb));
    Some((own.or_else(|| packs?.select(of_verb))?, of_verb))
}

/// Whether what was typed is an operation, which a server can run too.
pub(crate) fn is_one(matches: &ArgMatches) -> bool {
    // A command without a verb shows something.
    let typed = matches.subcommand();
    let typed = typed.map(|(group, of)| (group, of.subcommand_name().unwrap_or("show")));
    typed.is_some_and(|(group, verb)| {
        RENAMED.contains(&(group, verb))
            || HOUSE.iter().any(|entry| entry.spec.command == group && entry.spec.verb == verb)
    })
}

pub(crate) fn run(context: &CommandContext, entry: &ListedOperation, matches: &ArgMatches) -> Result<()> {
    let usage = |error: clap::Error| CommandFailure::usage(error.to_string());
    let of = match entry.spec.needs.scope() {
        OperationScope::Installation => TenantSelectorArguments::none(),
        OperationScope::Tenant | OperationScope::Either => {
            TenantSelectorArguments::from_arg_matches(matches).map_err(usage)?
        }
    };
    let is_told = !entry.spec.events().is_empty();
    let operator = is_told.then(|| OperatorArguments::from_arg_matches(matches)).transpose();
    let operator = operator.map_err(usage)?;
    let mut input = Map::new();
    for field in entry.fields() {
        if let Some(words) = matches.get_many::<String>(&field.name) {
            let text = words.map(String::as_str).collect::<Vec<_>>().join(" ");
            input.insert(field.name.clone(), parse_value(&field, &text));
        }
    }
    let target = OperationTarget { of: &of, operator: operator.as_ref() };
    let view = context.run_entry(&target, entry, Value::Object(input))?;
    let shape: &OperationShape = entry;
    context.output.print_result(&view, |view, painter| match shape.render(view) {
        Some(words) => sanitize_text(&words),
        None => operation_view::render(shape, view, painter),
    })
}

/// A text that is no number stays one, and is refused as such.
fn parse_value(field: &OperationField, text: &str) -> Value {
    let RefOr::T(Schema::Object(object)) = &field.schema else { return Value::from(text) };
    match &object.schema_type {
        SchemaType::Type(Type::Integer) => {
            text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from)
        }
        SchemaType::Type(Type::Boolean) => {
            text.parse::<bool>().map_or_else(|_| Value::from(text), Value::from)
        }
        _ => Value::from(text),
    }
}
