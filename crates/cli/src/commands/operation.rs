//! Commands of operations that have no command written for them: made from what is declared.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use munshi_operations::{HOUSE, HouseServices};
use munshi_pack::operation::{OperationEntry, OperationField, OperationScope, OperationSpec};
use munshi_wiring::failure::{CommandFailure, Result};
use serde_json::{Map, Value};
use utoipa::openapi::schema::{SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};

use super::operation_view;
use super::tenant::TenantSelectorArguments;
use super::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

type Entry = OperationEntry<HouseServices>;

/// Commands that are written by hand: their texts and shorthands are their own.
const WRITTEN: &[&str] = &[
    "approvals",
    "audit anchor",
    "audit export",
    "audit verify",
    "backup",
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

fn made() -> impl Iterator<Item = &'static Entry> {
    HOUSE.iter().filter(|entry| !is_written(&entry.spec))
}

fn is_written(spec: &OperationSpec) -> bool {
    let words = format!("{} {}", spec.command, spec.verb);
    WRITTEN.iter().any(|written| *written == spec.command || *written == words)
}

/// What can be typed, with a command for every operation.
pub(crate) fn add_to(own: Command) -> Command {
    made().fold(own, |all, entry| {
        let group = entry.spec.command;
        let all = match all.find_subcommand(group) {
            Some(_) => all,
            None => {
                let about = format!("Look after {}", entry.spec.resource);
                all.subcommand(
                    Command::new(group).about(about).subcommand_required(true).arg_required_else_help(true),
                )
            }
        };
        all.mut_subcommand(group, |group| group.subcommand(build_command(entry)))
    })
}

fn build_command(entry: &'static Entry) -> Command {
    let about = entry.spec.about.trim_end_matches('.').to_owned();
    let command = Command::new(entry.spec.verb).about(about);
    let command = match entry.spec.needs.scope() {
        OperationScope::Installation => command,
        OperationScope::Tenant | OperationScope::Either => TenantSelectorArguments::augment_args(command),
    };
    let is_told = !entry.spec.events().is_empty();
    let command = if is_told { OperatorArguments::augment_args(command) } else { command };
    let in_path: Vec<&str> = entry.spec.path_fields().collect();
    command.args(entry.fields().into_iter().map(|field| build_argument(field, &in_path)))
}

fn build_argument(field: OperationField, in_path: &[&str]) -> Arg {
    let is_positional = in_path.contains(&field.name.as_str());
    let arg = Arg::new(field.name.clone())
        .help(field.description.unwrap_or_default().trim_end_matches('.').to_owned());
    let arg = arg.value_name(field.name.to_uppercase());
    if is_positional {
        arg.required(true)
    } else {
        arg.long(field.name.replace('_', "-")).required(field.is_required)
    }
}

/// The operation that was typed, where its command was made from it.
pub(crate) fn find_typed(matches: &ArgMatches) -> Option<(&'static Entry, &ArgMatches)> {
    let (group, of_group) = matches.subcommand()?;
    let (verb, of_verb) = of_group.subcommand()?;
    let entry = made().find(|entry| entry.spec.command == group && entry.spec.verb == verb)?;
    Some((entry, of_verb))
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

pub(crate) fn run(context: &CommandContext, entry: &'static Entry, matches: &ArgMatches) -> Result<()> {
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
        if let Some(text) = matches.get_one::<String>(&field.name) {
            input.insert(field.name.clone(), parse_value(&field, text));
        }
    }
    let target = OperationTarget { of: &of, operator: operator.as_ref() };
    let view = context.run_entry(&target, entry, Value::Object(input))?;
    context.output.print_result(&view, |view, painter| operation_view::render(entry, view, painter))
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
