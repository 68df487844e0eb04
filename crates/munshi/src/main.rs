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
//! 1. Write `commands/<noun>/<verb>.rs` with an `Arguments` struct and a `run` that takes a [`Context`].
//! 2. Name it in the enum and the `match` of `commands/mod.rs` (or its noun's).
//! 3. Give it a `--json` answer, a line in `docs/cli.md`, and a test that runs the built program.

mod arguments;
mod commands;
mod context;
mod failure;
mod output;
mod wiring;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::arguments::Arguments;
use crate::context::Context;
use crate::output::Output;

fn main() -> ExitCode {
    match Arguments::try_parse() {
        Ok(arguments) => run(arguments),
        Err(error) => unparsed(&error),
    }
}

fn run(arguments: Arguments) -> ExitCode {
    let output = Output::new(arguments.global.format(), arguments.global.paint());
    let context = Context::new(arguments.global.config, output);
    match commands::run(&context, arguments.command) {
        Ok(code) => code,
        Err(failure) => {
            context.output.failure(&failure);
            failure.exit.into()
        }
    }
}

/// Help and the version come this way too. Flags are not known yet, so `--json` is looked for by its name.
fn unparsed(error: &clap::Error) -> ExitCode {
    let json = std::env::args_os().skip(1).take_while(|word| word != "--").any(|word| word == "--json");
    match error.kind() {
        ErrorKind::DisplayVersion if json => output::version(),
        _ if json && error.use_stderr() => output::usage_problem(error),
        _ => {
            // Where even this can't be written, the code still tells.
            let _ = error.print();
        }
    }
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}
