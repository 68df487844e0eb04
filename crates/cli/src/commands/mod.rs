//! Every command, one file each.

mod apply;
mod approvals;
mod ask;
mod audit;
mod backup;
mod channel;
pub(crate) mod chat;
mod complete;
mod completions;
mod config;
pub(crate) mod connector;
mod diff;
pub(crate) mod doctor;
mod export;
mod host_key;
mod import;
mod jobs;
mod keeper_key;
mod key;
mod migrate;
mod models;
pub(crate) mod operation;
mod operation_view;
mod operator;
pub(crate) mod pack;
mod person;
mod policy;
mod prompt;
mod restore;
mod schema;
mod sms;
mod stats;
pub(crate) mod tenant;
mod tier;
mod understand;
mod usage;
pub(crate) mod vault;

use std::process::ExitCode;

use clap::Subcommand;
use munshi_wiring::failure::Result;

use crate::context::CommandContext;
use crate::server_commands::{DemoArguments, ServerCommands};

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Try a demo shop with 90 days of data, in the browser and the terminal
    Demo(DemoArguments),
    /// Run the server
    Serve,
    /// Migrate the database schema to this version
    Migrate(migrate::MigrateArguments),
    /// Manage tenants: the shops and businesses served here
    #[command(subcommand, arg_required_else_help = true)]
    Tenant(tenant::TenantCommand),
    /// Apply a tenant's folder: humans, teams, agents, bindings and policy
    Apply(apply::ApplyArguments),
    /// Show what `apply` would change
    Diff(diff::TenantFolderArguments),
    /// Export a tenant's tiers and policy as files
    Export(export::ExportArguments),
    /// Inspect and roll back humans, teams, agents and bindings
    #[command(subcommand, arg_required_else_help = true)]
    Tier(tier::TierCommand),
    /// Inspect the prompt sent to a model
    #[command(subcommand, arg_required_else_help = true)]
    Prompt(prompt::PromptCommand),
    /// Import tiers from another program
    #[command(subcommand, arg_required_else_help = true)]
    Import(import::ImportCommand),
    /// Print the JSON schema of a tier file or the policy
    Schema(schema::SchemaArguments),
    /// Send a message to a binding and print the answer
    Ask(ask::AskArguments),
    /// Chat with a binding in the terminal
    Chat(chat::ChatArguments),
    /// List and answer approval requests of agents
    #[command(subcommand, arg_required_else_help = true)]
    Approvals(approvals::ApprovalCommand),
    /// Manage a tenant's people: staff with their roles, and contacts
    #[command(subcommand, arg_required_else_help = true)]
    Person(person::PersonCommand),
    /// Manage API keys
    #[command(subcommand, arg_required_else_help = true)]
    Key(key::KeyCommand),
    /// Keys of whoever keeps this installation, for `--server`
    #[command(subcommand, arg_required_else_help = true)]
    KeeperKey(keeper_key::KeeperKeyCommand),
    /// Manage operators, who administer tenants on the web, and their sign-in links
    #[command(subcommand, arg_required_else_help = true)]
    Operator(operator::OperatorCommand),
    /// Manage keys that verify a host's visitor tokens
    #[command(subcommand, arg_required_else_help = true)]
    HostKey(host_key::HostKeyCommand),
    /// Show and test a tenant's policy
    #[command(subcommand, arg_required_else_help = true)]
    Policy(policy::PolicyCommand),
    /// Manage the accounts by which messages come in and leave, such as a WhatsApp number
    #[command(subcommand, arg_required_else_help = true)]
    Channel(channel::ChannelCommand),
    /// Manage connectors to third-party tools
    #[command(subcommand, arg_required_else_help = true)]
    Connector(connector::ConnectorCommand),
    /// List background jobs and retry dead ones
    #[command(subcommand, arg_required_else_help = true)]
    Jobs(jobs::JobCommand),
    /// Show and verify the audit log
    #[command(subcommand, arg_required_else_help = true)]
    Audit(audit::AuditCommand),
    /// Manage encrypted secrets, such as API keys of other services
    #[command(subcommand, arg_required_else_help = true)]
    Vault(vault::VaultCommand),
    /// Back up the database, even while the server runs (SQLite)
    Backup(backup::BackupArguments),
    /// Restore the database from a backup (SQLite)
    Restore(restore::RestoreArguments),
    /// Diagnose the installation
    Doctor,
    /// Extract amounts, dates and names from a sentence in eleven languages
    Understand(understand::UnderstandArguments),
    /// Parse SMS of banks, UPI apps, cards and wallets
    #[command(subcommand, arg_required_else_help = true)]
    Sms(sms::SmsCommand),
    /// List and test the configured models, with health and prices
    Models(models::ModelsArguments),
    /// Send a prompt to a model and stream the answer
    Complete(complete::CompleteArguments),
    /// Show tenants' usage, limits and plans
    Usage(usage::UsageArguments),
    /// Latency, volume, cost and outcome of turns, against targets
    Stats(stats::StatsArguments),
    /// Show and validate the settings
    #[command(subcommand, arg_required_else_help = true)]
    Config(config::ConfigCommand),
    /// Print shell completions
    Completions(completions::ShellCompletionArguments),
}

pub(crate) fn run(
    context: &CommandContext,
    command: CliCommand,
    server: &dyn ServerCommands,
) -> Result<ExitCode> {
    match command {
        CliCommand::Demo(arguments) => server.demo(context, &arguments),
        CliCommand::Serve => server.serve(context),
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
        CliCommand::KeeperKey(command) => keeper_key::run(context, command),
        CliCommand::Operator(command) => operator::run(context, command),
        CliCommand::HostKey(command) => host_key::run(context, command),
        CliCommand::Policy(command) => policy::run(context, command),
        CliCommand::Channel(command) => return channel::run(context, command),
        CliCommand::Connector(command) => return connector::run(context, command, server),
        CliCommand::Jobs(command) => jobs::run(context, command),
        CliCommand::Audit(command) => return audit::run(context, command),
        CliCommand::Vault(command) => vault::run(context, command),
        CliCommand::Backup(arguments) => backup::run(context, arguments),
        CliCommand::Restore(arguments) => restore::run(context, arguments),
        CliCommand::Doctor => return doctor::run(context, server),
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
