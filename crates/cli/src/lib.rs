//! The command line: what can be typed, every command, and what is printed.
//!
//! A command is thin: it reads its arguments, asks a lower floor, and says what came of it, to a person or as JSON. Nothing
//! here depends on the web server, so that both are compiled side by side. What needs it is a [`ServerCommands`] of the binary.
//!
//! # Layout
//! - `arguments`: what can be typed; `commands`: one file per command
//! - [`server_commands`]: what commands need of the web server, such as `serve` and `demo`
//! - [`context`]: what every command is handed
//! - [`output`]: words, colour, tables, progress and questions
//!
//! Settings become parts in `munshi_wiring`, which has the failures with their exit codes too.
//!
//! # To add a command
//! 1. Write `commands/<noun>/<verb>.rs` with an `Arguments` struct and a `run` that takes a [`CommandContext`].
//! 2. Name it in the enum and the `match` of `commands/mod.rs` (or its noun's).
//! 3. Give it a `--json` answer, a line in `docs/cli.md`, and a test in `crates/munshi/tests` that runs the built program.

mod arguments;
mod commands;
pub mod context;
mod list_arguments;
mod operation_client;
pub mod output;
pub mod server_commands;

use std::process::ExitCode;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use munshi_pack::PackRegistry;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::packs;

pub use self::commands::chat::chat_with_binding;
pub use self::commands::doctor::{DoctorFinding, NAME_PROXY};

use self::arguments::{CliArguments, GlobalArguments};
use self::context::CommandContext;
use self::operation_client::ServerTarget;
use self::output::{ColourMode, CommandOutput, CommandOutputFormat};
use self::server_commands::ServerCommands;

/// Reads the words this process was started with, does what they say, and says what came of it.
pub fn run(server: &dyn ServerCommands) -> ExitCode {
    let (packs, all) = match build_cli() {
        Ok(typeable) => typeable,
        Err(failure) => {
            return report_failure(
                CommandOutput::new(CommandOutputFormat::Words, ColourMode::WhereItShows),
                &failure,
            );
        }
    };
    match all.try_get_matches() {
        Ok(matches) => run_typed(server, &packs, &matches),
        Err(error) => report_parse_error(&error),
    }
}

/// What packs bring, and everything that can be typed.
fn build_cli() -> Result<(Arc<PackRegistry>, clap::Command)> {
    let packs = packs::load_registry()?;
    let own = commands::operation::add_to(CliArguments::command());
    let all = commands::pack::add_to(own, &packs)?;
    let all = commands::operation::add_packs_to(all, &packs);
    Ok((packs, all))
}

fn run_typed(server: &dyn ServerCommands, packs: &PackRegistry, matches: &ArgMatches) -> ExitCode {
    let global = match GlobalArguments::from_arg_matches(matches) {
        Ok(global) => global,
        Err(error) => return report_parse_error(&error),
    };
    let output = CommandOutput::new(global.format(), global.colour_mode());
    // A connector's own `--server` is the address of its API.
    let is_ours = !commands::connector::has_own_server(matches);
    if !is_ours && global.server_key.is_some() {
        let failure = CommandFailure::usage("--server could be the service's address or that of a Munshi server")
            .hint("MUNSHI_KEY is set: use --base-url for the service's address, or unset it to work on this machine");
        return report_failure(output, &failure);
    }
    let url = global.server.as_ref().filter(|_| is_ours);
    let target = url.map(|url| ServerTarget::new(url, global.server_key.clone()));
    let target = match target.transpose() {
        Ok(target) => target,
        Err(failure) => return report_failure(output, &failure),
    };
    let context = CommandContext::new(global.config.clone(), target, output)
        .with_idempotency_key(global.idempotency_key.clone());
    let done = run_command(&context, server, packs, matches);
    done.unwrap_or_else(|parse_error_or_failure| match parse_error_or_failure {
        Ok(error) => report_parse_error(&error),
        Err(failure) => report_failure(context.output, &failure),
    })
}

/// The error of one that can't be read is clap's own.
fn run_command(
    context: &CommandContext,
    server: &dyn ServerCommands,
    packs: &PackRegistry,
    matches: &ArgMatches,
) -> Result<ExitCode, Result<clap::Error>> {
    if let Some((entry, of)) = commands::operation::find_typed(packs, matches) {
        return commands::operation::run(context, &entry, of).map(|()| ExitCode::SUCCESS).map_err(Err);
    }
    if !commands::operation::is_one(matches) {
        if context.server.is_some() {
            return Err(Err(CommandFailure::usage("this command works on the machine itself only")
                .hint("run it there, without --server and MUNSHI_SERVER")));
        }
        if context.has_idempotency_key() {
            return Err(Err(CommandFailure::usage("this command takes no --idempotency-key")
                .hint("leave it out; see docs/operations.md for those that do")));
        }
    }
    if let Some((command, of)) = commands::pack::find_typed_command(packs, matches) {
        return commands::pack::run(context, command, of).map(|()| ExitCode::SUCCESS).map_err(Err);
    }
    let arguments = CliArguments::from_arg_matches(matches).map_err(Ok)?;
    commands::run(context, arguments.command, server).map_err(Err)
}

fn report_failure(output: CommandOutput, failure: &CommandFailure) -> ExitCode {
    output.print_failure(failure);
    failure.exit.into()
}

/// Help and the version come this way too. Flags are not known yet, so `--json` is looked for by its name.
fn report_parse_error(error: &clap::Error) -> ExitCode {
    let json = std::env::args_os().skip(1).take_while(|word| word != "--").any(|word| word == "--json");
    match error.kind() {
        ErrorKind::DisplayVersion if json => output::print_version(),
        _ if json && error.use_stderr() => output::print_usage_error(error),
        _ => {
            // Where even this can't be written, the code still tells.
            let _ = error.print();
        }
    }
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}
