//! `munshi operator …`: who looks after tenants through the web.

mod invitations;
mod invite;
mod link;
mod list;
mod prove;
mod remove;
mod role;
mod withdraw;

use clap::Subcommand;
use munshi_config::Config;
use munshi_identity::SecretToken;
use munshi_identity::keys::ApiKeyRecord;
use munshi_identity::operators::{self, Operator};
use munshi_safety::audit::{self, AuditActor, AuditEvent, NewAuditEntry};
use munshi_store::PlatformTx;
use munshi_types::{IdGenerator, TenantId, Timestamp};
use munshi_wiring::account;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;
use serde_json::{Value, json};

use crate::context::CommandContext;
use crate::output::formatting::format_time;

#[derive(Debug, Subcommand)]
pub(crate) enum OperatorCommand {
    /// Create a one-time link for the first operator or one who is locked out
    Link(link::OperatorLinkArguments),
    /// Create a one-time link that invites somebody as operator of a tenant
    Invite(invite::OperatorInviteArguments),
    /// Withdraw the invitations of an e-mail
    Withdraw(withdraw::OperatorWithdrawArguments),
    /// List operators and their roles, or open invitations
    List(list::OperatorListArguments),
    /// Change or remove an operator's role in a tenant
    Role(role::OperatorRoleArguments),
    /// Confirm that an account's e-mail belongs to its holder. The first time, its password and sign-ins are revoked
    Prove(prove::OperatorProveArguments),
    /// Delete an operator's account permanently
    Remove(remove::OperatorRemoveArguments),
}

pub(super) fn run(context: &CommandContext, command: OperatorCommand) -> Result<()> {
    match command {
        OperatorCommand::Link(arguments) => link::run(context, &arguments),
        OperatorCommand::Invite(arguments) => invite::run(context, &arguments),
        OperatorCommand::Withdraw(arguments) => withdraw::run(context, &arguments),
        OperatorCommand::List(arguments) => list::run(context, &arguments),
        OperatorCommand::Role(arguments) => role::run(context, &arguments),
        OperatorCommand::Prove(arguments) => prove::run(context, &arguments),
        OperatorCommand::Remove(arguments) => remove::run(context, &arguments),
    }
}

/// A link, the one time.
#[derive(Debug, Serialize)]
struct Shown {
    link: String,
    ends_at: Timestamp,
}

impl Shown {
    fn new(config: &Config, token: &SecretToken, ends_at: Timestamp) -> Self {
        let base = account::base_url(config, config.server.listen);
        Self { link: account::link(&base, token), ends_at }
    }

    fn print_result(&self, context: &CommandContext, about: &str) -> Result<()> {
        context.output.print_result(self, |shown, painter| {
            format!(
                "{about} It works once, until {} UTC, and is not shown again:\n\n  {}\n",
                format_time(shown.ends_at),
                painter.bold(&shown.link)
            )
        })
    }
}

/// Who does it and when.
struct Telling {
    actor: AuditActor,
    ids: IdGenerator,
    now: Timestamp,
}

impl Telling {
    /// Last in the transaction: in the chain of the installation, and of the tenants it concerns.
    fn record(
        &self,
        tx: &mut PlatformTx<'_>,
        tenants: &[TenantId],
        event: &str,
        subject: String,
        payload: Value,
    ) -> Result<()> {
        let event: AuditEvent = event.parse()?;
        let entry = NewAuditEntry { actor: self.actor.clone(), event, subject, payload };
        let mut chains = [tenants, &[TenantId::PLATFORM]].concat();
        // In one order, so that no two wait for each other.
        chains.sort_unstable();
        chains.dedup();
        for chain in chains {
            tx.as_tenant(chain, |tx| audit::append(tx, &entry, self.now, &self.ids).map(|_| ()))?;
        }
        Ok(())
    }
}

/// The keys that went with a role, in words.
fn render_revoked_keys(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!(" The keys they created are revoked: {}.", names.join(", ")),
    }
}

impl Telling {
    /// Keys that went with the role of whoever made them.
    fn record_revoked_keys(
        &self,
        tx: &mut PlatformTx<'_>,
        tenant: TenantId,
        keys: &[ApiKeyRecord],
    ) -> Result<()> {
        for key in keys {
            let payload = json!({ "name": key.name, "why": "its maker lost the role that made it" });
            self.record(tx, &[tenant], "api_key.revoked", key.id.to_string(), payload)?;
        }
        Ok(())
    }
}

fn find(tx: &mut PlatformTx<'_>, email: &str) -> Result<Operator> {
    operators::find_by_email(tx, email)?.ok_or_else(|| {
        CommandFailure::not_found(format!("operator {email} not found"))
            .hint("`munshi operator list` shows them all")
    })
}
