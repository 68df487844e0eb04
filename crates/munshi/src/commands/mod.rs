//! Every command, one file each.

mod apply;
mod approvals;
mod ask;
mod audit;
mod backup;
mod chat;
mod complete;
mod completions;
mod config;
mod connector;
mod demo;
mod diff;
mod doctor;
mod export;
mod host_key;
mod import;
mod jobs;
mod key;
mod migrate;
mod models;
mod operator;
pub(crate) mod pack;
mod person;
mod policy;
mod prompt;
mod restore;
mod schema;
pub(crate) mod serve;
mod sms;
mod stats;
mod tenant;
mod tier;
mod understand;
mod usage;
mod vault;

use std::process::ExitCode;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Result;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Try a shop with ninety days of books, in the browser and the terminal; nothing stays
    Demo(demo::Arguments),
    /// Run the server until it is told to stop
    Serve,
    /// Bring the database's tables to this version
    Migrate(migrate::Arguments),
    /// Add, list, pause and archive tenants: the shops and businesses served here
    #[command(subcommand, arg_required_else_help = true)]
    Tenant(tenant::Command),
    /// Bring a tenant's humans, teams, agents, bindings and policy to what its folder says
    Apply(apply::Arguments),
    /// Say what `apply` would change
    Diff(diff::Folder),
    /// Write a tenant's tiers and policy as files; applying them changes nothing
    Export(export::Arguments),
    /// Look at one human, team, agent or binding, and take it back to an older version
    #[command(subcommand, arg_required_else_help = true)]
    Tier(tier::Command),
    /// See what a model would be told
    #[command(subcommand, arg_required_else_help = true)]
    Prompt(prompt::Command),
    /// Make tiers of what another program kept
    #[command(subcommand, arg_required_else_help = true)]
    Import(import::Command),
    /// Print the JSON schema of a tier's file or the policy, for editors
    Schema(schema::Arguments),
    /// Say something to a binding, and hear its answer
    Ask(ask::Arguments),
    /// Talk with a binding in the terminal
    Chat(chat::Arguments),
    /// Answer what agents ask before they act
    #[command(subcommand, arg_required_else_help = true)]
    Approvals(approvals::Command),
    /// The people of a tenant: who works there in which role, and whom it deals with
    #[command(subcommand, arg_required_else_help = true)]
    Person(person::Command),
    /// API keys: what lets programs in
    #[command(subcommand, arg_required_else_help = true)]
    Key(key::Command),
    /// Operators: who looks after tenants through the web, and links that let them in
    #[command(subcommand, arg_required_else_help = true)]
    Operator(operator::Command),
    /// Keys with which a host's own server says who its visitors are
    #[command(subcommand, arg_required_else_help = true)]
    HostKey(host_key::Command),
    /// See what a tenant's policy says, said before, and would decide
    #[command(subcommand, arg_required_else_help = true)]
    Policy(policy::Command),
    /// Other people's tools: add, test, watch and remove connectors
    #[command(subcommand, arg_required_else_help = true)]
    Connector(connector::Command),
    /// Look at background work, and run again what was given up
    #[command(subcommand, arg_required_else_help = true)]
    Jobs(jobs::Command),
    /// Look at the record of what was done, and see that nobody changed it
    #[command(subcommand, arg_required_else_help = true)]
    Audit(audit::Command),
    /// Keep secrets, such as keys of other services, sealed
    #[command(subcommand, arg_required_else_help = true)]
    Vault(vault::Command),
    /// Copy the database to a file, also while the server runs (SQLite)
    Backup(backup::Arguments),
    /// Put a backup in the database's place (SQLite)
    Restore(restore::Arguments),
    /// Examine the installation and say what to do
    Doctor,
    /// Read a sentence in eleven languages: its amounts, dates and names
    Understand(understand::Arguments),
    /// Read the messages of banks, UPI apps, cards and wallets
    #[command(subcommand, arg_required_else_help = true)]
    Sms(sms::Command),
    /// The models that are configured: how they are, what they cost, whether they answer
    Models(models::Arguments),
    /// Ask a model, and see its answer as it comes
    Complete(complete::Arguments),
    /// What tenants have used, what is left of their limits, and their plans
    Usage(usage::Arguments),
    /// How quick, how much, how dear and how well turns went, beside what they should be
    Stats(stats::Arguments),
    /// Show, check and explain the settings
    #[command(subcommand, arg_required_else_help = true)]
    Config(config::Command),
    /// Print completions for a shell
    Completions(completions::Arguments),
}

pub(crate) fn run(context: &Context, command: Command) -> Result<ExitCode> {
    match command {
        Command::Demo(arguments) => demo::run(context, &arguments),
        Command::Serve => serve::run(context),
        Command::Migrate(arguments) => migrate::run(context, &arguments),
        Command::Tenant(command) => tenant::run(context, command),
        Command::Apply(arguments) => apply::run(context, arguments),
        Command::Diff(folder) => diff::run(context, &folder),
        Command::Export(arguments) => export::run(context, &arguments),
        Command::Tier(command) => tier::run(context, command),
        Command::Prompt(command) => prompt::run(context, &command),
        Command::Import(command) => import::run(context, command),
        Command::Schema(arguments) => schema::run(context, &arguments),
        Command::Ask(arguments) => ask::run(context, &arguments),
        Command::Chat(arguments) => chat::run(context, &arguments),
        Command::Approvals(command) => approvals::run(context, command),
        Command::Person(command) => person::run(context, command),
        Command::Key(command) => key::run(context, command),
        Command::Operator(command) => operator::run(context, command),
        Command::HostKey(command) => host_key::run(context, command),
        Command::Policy(command) => policy::run(context, command),
        Command::Connector(command) => return connector::run(context, command),
        Command::Jobs(command) => jobs::run(context, command),
        Command::Audit(command) => return audit::run(context, command),
        Command::Vault(command) => vault::run(context, command),
        Command::Backup(arguments) => backup::run(context, arguments),
        Command::Restore(arguments) => restore::run(context, arguments),
        Command::Doctor => return doctor::run(context),
        Command::Understand(arguments) => understand::run(context, &arguments),
        Command::Sms(command) => sms::run(context, &command),
        Command::Models(arguments) => models::run(context, &arguments),
        Command::Complete(arguments) => complete::run(context, &arguments),
        Command::Usage(arguments) => usage::run(context, &arguments),
        Command::Stats(arguments) => stats::run(context, &arguments),
        Command::Config(command) => config::run(context, &command),
        Command::Completions(arguments) => completions::run(context, &arguments),
    }
    .map(|()| ExitCode::SUCCESS)
}
