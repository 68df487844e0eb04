//! `munshi completions SHELL`: a script for the shell, made from the commands themselves.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use munshi_wiring::failure::{CommandFailure, Result};
use serde_json::json;

use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct ShellCompletionArguments {
    /// Shell
    shell: Shell,
}

pub(super) fn run(context: &CommandContext, arguments: &ShellCompletionArguments) -> Result<()> {
    let mut script = Vec::new();
    let packs = munshi_wiring::packs::load_registry()?;
    let mut all = super::pack::add_to(crate::arguments::CliArguments::command(), &packs)?;
    clap_complete::generate(arguments.shell, &mut all, "munshi", &mut script);
    let script = String::from_utf8(script)
        .map_err(|_| CommandFailure::failed("the completions are not valid UTF-8"))?;
    let value = json!({ "shell": arguments.shell.to_string(), "script": script });
    context.output.print_result(&value, |_, _| script.clone())
}
