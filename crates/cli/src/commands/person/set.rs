//! `munshi person set PERSON`

use std::str::FromStr;

use clap::Args;
use munshi_identity::Role;
use munshi_operations::persons::{SetPerson, SetPersonInput};
use munshi_types::ScopeGlob;
use munshi_wiring::failure::Result;

use super::mark_handles;
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct PersonSetArguments {
    /// Name, phone, e-mail, @handle or id
    person: String,
    #[command(flatten)]
    wish: Wish,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

/// What is to be different.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Wish {
    /// owner, admin, staff, viewer, or none for a contact
    #[arg(long)]
    role: Option<RoleOrNone>,
    /// New name
    #[arg(long)]
    name: Option<String>,
    /// Audiences they belong to, comma-separated; replaces the list, "" clears it
    #[arg(long, value_name = "TAGS")]
    tags: Option<String>,
    /// Scopes granted in addition to their role, such as ledger.*; "" clears them
    #[arg(long, value_name = "SCOPES", value_parser = parse_scopes)]
    opened: Option<Scopes>,
    /// Scopes denied regardless of their role; "" clears them
    #[arg(long, value_name = "SCOPES", value_parser = parse_scopes)]
    closed: Option<Scopes>,
    /// Their language, such as hi
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
    /// Phone number to add
    #[arg(long)]
    phone: Vec<String>,
    /// E-mail address to add
    #[arg(long)]
    email: Vec<String>,
    /// Handle to add
    #[arg(long)]
    handle: Vec<String>,
    /// Mark a person who left as back
    #[arg(long)]
    back: bool,
    /// Forget the browsers they used before, so that they sign in again
    #[arg(long)]
    forget_browsers: bool,
}

#[derive(Clone, Debug)]
struct Scopes(Vec<ScopeGlob>);

fn parse_scopes(text: &str) -> Result<Scopes, String> {
    let read = |item: String| item.parse().map_err(|error: munshi_types::ScopeGlobError| error.to_string());
    split_list(text).into_iter().map(read).collect::<Result<_, _>>().map(Scopes)
}

/// A list with commas; empty for none.
fn split_list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

#[derive(Clone, Copy, Debug)]
struct RoleOrNone(Option<Role>);

impl FromStr for RoleOrNone {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        text.parse()
            .map(|role| Self(Some(role)))
            .map_err(|_| format!("`{text}` is not a role: use owner, admin, staff, viewer or none"))
    }
}

pub(super) fn run(context: &CommandContext, arguments: PersonSetArguments) -> Result<()> {
    let PersonSetArguments { person, wish, of, operator } = arguments;
    let input = SetPersonInput {
        id: person,
        name: wish.name,
        language: wish.language,
        tags: wish.tags.as_deref().map(split_list),
        role: wish.role.map(|role| role.0),
        opened: wish.opened.map(|scopes| scopes.0),
        closed: wish.closed.map(|scopes| scopes.0),
        addresses: [wish.phone, wish.email, mark_handles(&wish.handle)].concat(),
        back: wish.back,
        forget_browsers: wish.forget_browsers,
    };
    let target = OperationTarget { of: &of, operator: Some(&operator) };
    let answer = context.run_operation::<SetPerson>(&target, &input)?;
    context.output.print_result(&answer, |answer, _| {
        let name = &answer.person.name;
        match answer.changed.as_slice() {
            [] => format!("{name} is unchanged."),
            changed => format!("Changed {} of {name}.", changed.join(", ")),
        }
    })
}
