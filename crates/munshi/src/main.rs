//! The `munshi` binary: every command, and the wiring of every part.
//!
//! This is the one place that names engines, packs and channels. A command is thin: it reads its arguments, asks a
//! lower floor, and says what came of it, to a person or as JSON.
//!
//! # Layout
//! - `arguments`: what can be typed; `commands`: one file per command
//! - `wiring`: settings turned into a store, a runner, a server and its readiness; the lock; all migrations
//! - `output`: words, colour, tables, progress and questions; `failure`: what goes wrong, with its exit code
//!
//! # To add a command
//! 1. Write `commands/<noun>/<verb>.rs` with an `Arguments` struct and a `run` that takes a [`CommandContext`].
//! 2. Name it in the enum and the `match` of `commands/mod.rs` (or its noun's).
//! 3. Give it a `--json` answer, a line in `docs/cli.md`, and a test that runs the built program.

mod arguments;
mod commands;
mod context;
mod failure;
mod output;
mod wiring;

use std::process::ExitCode;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use munshi_pack::PackRegistry;

use crate::arguments::{CliArguments, GlobalArguments};
use crate::context::CommandContext;
use crate::failure::CommandFailure;
use crate::output::{ColourMode, CommandOutput, CommandOutputFormat};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = run_launcher() {
        return code;
    }
    let (house, all) = match build_cli() {
        Ok(typeable) => typeable,
        Err(failure) => {
            return report_failure(
                CommandOutput::new(CommandOutputFormat::Words, ColourMode::WhereItShows),
                &failure,
            );
        }
    };
    match all.try_get_matches() {
        Ok(matches) => run(&house, &matches),
        Err(error) => report_parse_error(&error),
    }
}

/// Where we are to become a connector's program, confined: that comes before anything of ours.
#[allow(
    clippy::disallowed_methods,
    reason = "the child's environment is passed on, and holds no setting of ours"
)]
fn run_launcher() -> Option<ExitCode> {
    munshi_connectors::confine::launcher::run(std::env::args_os(), std::env::vars_os())
}

/// What packs bring, and everything that can be typed.
fn build_cli() -> failure::Result<(Arc<PackRegistry>, clap::Command)> {
    let house = wiring::packs::load_registry()?;
    let all = commands::pack::add_to(CliArguments::command(), &house)?;
    Ok((house, all))
}

fn run(house: &PackRegistry, matches: &ArgMatches) -> ExitCode {
    let global = match GlobalArguments::from_arg_matches(matches) {
        Ok(global) => global,
        Err(error) => return report_parse_error(&error),
    };
    let context =
        CommandContext::new(global.config.clone(), CommandOutput::new(global.format(), global.colour_mode()));
    let done = match commands::pack::find_typed_command(house, matches) {
        Some((command, of)) => commands::pack::run(&context, command, of).map(|()| ExitCode::SUCCESS),
        None => match CliArguments::from_arg_matches(matches) {
            Ok(arguments) => commands::run(&context, arguments.command),
            Err(error) => return report_parse_error(&error),
        },
    };
    done.unwrap_or_else(|failure| report_failure(context.output, &failure))
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
