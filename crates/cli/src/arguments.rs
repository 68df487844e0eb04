//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser};

use crate::commands::CliCommand;
use crate::output::{ColourMode, CommandOutputFormat};

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  failed, or `doctor` found something broken
  2  invalid command line
  3  invalid settings
  4  database unavailable: unreachable, full, damaged or busy
  5  not found
  6  already exists
  7  refused: in use by another process, not allowed, or not confirmed
  8  database schema does not match this version: see `munshi migrate`
  9  invalid files in a tenant's folder
  10 `ask` got no answer: the turn was halted

Munshi runs without settings. `munshi config example` lists them all.";

/// Munshi gives every shop and business its own AI agent.
#[derive(Debug, Parser)]
#[command(name = "munshi", version, after_help = EXIT_CODES, disable_help_subcommand = true)]
#[command(subcommand_required = true, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct CliArguments {
    #[command(flatten)]
    pub(crate) global: GlobalArguments,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

#[derive(Debug, Args)]
pub(crate) struct GlobalArguments {
    /// Settings file [default: munshi.toml here, in your config folder or in /etc/munshi]
    #[arg(long, global = true, value_name = "FILE", env = "MUNSHI_CONFIG", hide_env_values = true)]
    pub(crate) config: Option<PathBuf>,
    /// Run the command on this server instead of the local database, with the key in MUNSHI_KEY
    #[arg(long, global = true, value_name = "URL", env = "MUNSHI_SERVER", hide_env_values = true)]
    pub(crate) server: Option<String>,
    /// API key for --server
    #[arg(long, global = true, value_name = "KEY", env = "MUNSHI_KEY", hide = true, hide_env_values = true)]
    pub(crate) server_key: Option<String>,
    /// Carry a change out once, however often the command is run with this key
    #[arg(long, global = true, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
    /// Print output and errors as JSON
    #[arg(long, global = true)]
    json: bool,
    /// Disable colour, as NO_COLOR does
    #[arg(long, global = true)]
    no_color: bool,
}

impl GlobalArguments {
    pub(crate) fn format(&self) -> CommandOutputFormat {
        if self.json { CommandOutputFormat::Json } else { CommandOutputFormat::Words }
    }

    pub(crate) fn colour_mode(&self) -> ColourMode {
        if self.no_color || self.json { ColourMode::Never } else { ColourMode::WhereItShows }
    }
}
