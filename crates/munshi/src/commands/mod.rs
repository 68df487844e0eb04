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

use crate::context::CommandContext;
use crate::failure::Result;

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Try a shop with ninety days of books, in the browser and the terminal; nothing stays
    Demo(demo::DemoArguments),
    /// Run the server until it is told to stop
    Serve,
    /// Bring the database's tables to this version
    Migrate(migrate::MigrateArguments),
    /// Add, list, pause and archive tenants: the shops and businesses served here
    #[command(subcommand, arg_required_else_help = true)]
    Tenant(tenant::TenantCommand),
    /// Bring a tenant's humans, teams, agents, bindings and policy to what its folder says
    Apply(apply::ApplyArguments),
    /// Say what `apply` would change
    Diff(diff::TenantFolderArguments),
    /// Write a tenant's tiers and policy as files; applying them changes nothing
    Export(export::ExportArguments),
    /// Look at one human, team, agent or binding, and take it back to an older version
    #[command(subcommand, arg_required_else_help = true)]
    Tier(tier::TierCommand),
    /// See what a model would be told
    #[command(subcommand, arg_required_else_help = true)]
    Prompt(prompt::PromptCommand),
    /// Make tiers of what another program kept
    #[command(subcommand, arg_required_else_help = true)]
    Import(import::ImportCommand),
    /// Print the JSON schema of a tier's file or the policy, for editors
    Schema(schema::SchemaArguments),
    /// Say something to a binding, and hear its answer
    Ask(ask::AskArguments),
    /// Talk with a binding in the terminal
    Chat(chat::ChatArguments),
    /// Answer what agents ask before they act
    #[command(subcommand, arg_required_else_help = true)]
    Approvals(approvals::ApprovalCommand),
    /// The people of a tenant: who works there in which role, and whom it deals with
    #[command(subcommand, arg_required_else_help = true)]
    Person(person::PersonCommand),
    /// API keys: what lets programs in
    #[command(subcommand, arg_required_else_help = true)]
    Key(key::KeyCommand),
    /// Operators: who looks after tenants through the web, and links that let them in
    #[command(subcommand, arg_required_else_help = true)]
    Operator(operator::OperatorCommand),
    /// Keys with which a host's own server says who its visitors are
    #[command(subcommand, arg_required_else_help = true)]
    HostKey(host_key::HostKeyCommand),
    /// See what a tenant's policy says, said before, and would decide
    #[command(subcommand, arg_required_else_help = true)]
    Policy(policy::PolicyCommand),
    /// Other people's tools: add, test, watch and remove connectors
    #[command(subcommand, arg_required_else_help = true)]
    Connector(connector::ConnectorCommand),
    /// Look at background work, and run again what was given up
    #[command(subcommand, arg_required_else_help = true)]
    Jobs(jobs::JobCommand),
    /// Look at the record of what was done, and see that nobody changed it
    #[command(subcommand, arg_required_else_help = true)]
    Audit(audit::AuditCommand),
    /// Keep secrets, such as keys of other services, sealed
    #[command(subcommand, arg_required_else_help = true)]
    Vault(vault::VaultCommand),
    /// Copy the database to a file, also while the server runs (SQLite)
    Backup(backup::BackupArguments),
    /// Put a backup in the database's place (SQLite)
    Restore(restore::RestoreArguments),
    /// Examine the installation and say what to do
    Doctor,
    /// Read a sentence in eleven languages: its amounts, dates and names
    Understand(understand::UnderstandArguments),
    /// Read the messages of banks, UPI apps, cards and wallets
    #[command(subcommand, arg_required_else_help = true)]
    Sms(sms::SmsCommand),
    /// The models that are configured: how they are, what they cost, whether they answer
    Models(models::ModelsArguments),
    /// Ask a model, and see its answer as it comes
    Complete(complete::CompleteArguments),
    /// What tenants have used, what is left of their limits, and their plans
    Usage(usage::UsageArguments),
    /// How quick, how much, how dear and how well turns went, beside what they should be
    Stats(stats::StatsArguments),
    /// Show, check and explain the settings
    #[command(subcommand, arg_required_else_help = true)]
    Config(config::ConfigCommand),
    /// Print completions for a shell
    Completions(completions::ShellCompletionArguments),
}

pub(crate) fn run(context: &CommandContext, command: CliCommand) -> Result<ExitCode> {
    match command {
        CliCommand::Demo(arguments) => demo::run(context, &arguments),
        CliCommand::Serve => serve::run(context),
        CliCommand::Migrate(arguments) => migrate::run(context, &arguments),
        CliCommand::Tenant(command) => tenant::run(context, command),
        CliCommand::Apply(arguments) => apply::run(context, arguments),
        CliCommand::Diff(folder) => diff::run(context, &folder),
        CliCommand::Export(arguments) => export::run(context, &arguments),
        CliCommand::Tier(command) => tier::run(context, command),
        CliCommand::Prompt(command) => prompt::run(context, &command),
        CliCommand::Import(command) => import::run(context, command),
        CliCommand::Schema(arguments) => schema::run(context, &arguments),
        CliCommand::Ask(arguments) => ask::run(context, &arguments),
        CliCommand::Chat(arguments) => chat::run(context, &arguments),
        CliCommand::Approvals(command) => approvals::run(context, command),
        CliCommand::Person(command) => person::run(context, command),
        CliCommand::Key(command) => key::run(context, command),
        CliCommand::Operator(command) => operator::run(context, command),
        CliCommand::HostKey(command) => host_key::run(context, command),
        CliCommand::Policy(command) => policy::run(context, command),
        CliCommand::Connector(command) => return connector::run(context, command),
        CliCommand::Jobs(command) => jobs::run(context, command),
        CliCommand::Audit(command) => return audit::run(context, command),
        CliCommand::Vault(command) => vault::run(context, command),
        CliCommand::Backup(arguments) => backup::run(context, arguments),
        CliCommand::Restore(arguments) => restore::run(context, arguments),
        CliCommand::Doctor => return doctor::run(context),
        CliCommand::Understand(arguments) => understand::run(context, &arguments),
        CliCommand::Sms(command) => sms::run(context, &command),
        CliCommand::Models(arguments) => models::run(context, &arguments),
        CliCommand::Complete(arguments) => complete::run(context, &arguments),
        CliCommand::Usage(arguments) => usage::run(context, &arguments),
        CliCommand::Stats(arguments) => stats::run(context, &arguments),
        CliCommand::Config(command) => config::run(context, &command),
        CliCommand::Completions(arguments) => completions::run(context, &arguments),
    }
    .map(|()| ExitCode::SUCCESS)
}
