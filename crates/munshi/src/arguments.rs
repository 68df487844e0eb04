//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser};

use crate::commands::CliCommand;
use crate::output::{ColourMode, CommandOutputFormat};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  failed, or `doctor` found something broken
  2  the command line is wrong
  3  the settings are wrong
  4  the database can't be used: unreachable, full, damaged or busy
  5  what was named is not there
  6  what was named is already there
  7  refused: in use by another, not allowed here, or not confirmed
  8  the database's tables don't fit this version: see `munshi migrate`
  9  the files of a tenant's folder are wrong
  10 `ask` got an excuse: the turn was halted

Munshi runs without settings. `munshi config example` shows every one there is.";

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
    /// The settings file; without it, munshi.toml here, in your config folder or in /etc/munshi
    #[arg(long, global = true, value_name = "FILE", env = "MUNSHI_CONFIG", hide_env_values = true)]
    pub(crate) config: Option<PathBuf>,
    /// Answer in JSON, errors too
    #[arg(long, global = true)]
    json: bool,
    /// Write without colour; NO_COLOR does the same
    #[arg(long, global = true)]
    no_color: bool,
}

impl GlobalArguments {
    pub(crate) fn format(&self) -> CommandOutputFormat {
        if self.json { CommandOutputFormat::Json } else { CommandOutputFormat::Words }
    }

    pub(crate) fn paint(&self) -> ColourMode {
        if self.no_color || self.json { ColourMode::Never } else { ColourMode::WhereItShows }
    }
}
