//! `munshi completions SHELL`: a script for the shell, made from the commands themselves.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use serde_json::json;

use crate::context::Context;
use crate::failure::{Failure, Result};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Which shell
    shell: Shell,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    let mut script = Vec::new();
    let house = crate::wiring::packs::house()?;
    let mut all = super::pack::add_to(crate::arguments::Arguments::command(), &house)?;
    clap_complete::generate(arguments.shell, &mut all, "munshi", &mut script);
    let script =
        String::from_utf8(script).map_err(|_| Failure::failed("the completions are not plain text"))?;
    let value = json!({ "shell": arguments.shell.to_string(), "script": script });
    context.output.answer(&value, |_, _| script.clone())
}
