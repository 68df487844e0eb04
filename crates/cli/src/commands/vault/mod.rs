//! `munshi vault …`: secrets, kept sealed.

mod list;
mod remove;
mod rotate;
mod rotate_tenant;
mod set;

use std::sync::Arc;

use clap::{Args, Subcommand};
use munshi_safety::audit::{AuditActor, AuditActorKind, contains_phone, pseudonymise_phones};
use munshi_safety::vault::{SecretRef, Vault, VaultAuditContext};
use munshi_store::Db;
use munshi_types::TenantId;
use munshi_wiring::failure::Result;
use munshi_wiring::vault;

use super::audit::TenantScopeArguments;
use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum VaultCommand {
    /// Store a secret; its value is read from standard input, never from the command line
    Set(set::VaultSetArguments),
    /// List the names of secrets; values are never shown
    List(list::VaultListArguments),
    /// Remove a secret
    Remove(remove::VaultRemoveArguments),
    /// Rotate the vault's key; run it again if it was interrupted
    Rotate(OperatorArguments),
    /// Rotate a tenant's key in the store of keys; run it again if it was interrupted
    RotateTenant(rotate_tenant::VaultRotateTenantArguments),
}

/// Author, for the audit log.
#[derive(Debug, Args)]
pub(crate) struct OperatorArguments {
    /// Author, for the audit log
    #[arg(long = "as", value_name = "NAME", env = "USER", hide_env = true, default_value = "somebody")]
    operator: String,
}

impl OperatorArguments {
    /// For what is done without anybody having typed it.
    pub(crate) fn new(operator: &str) -> Self {
        Self { operator: operator.to_owned() }
    }

    fn actor(&self) -> AuditActor {
        AuditActor::new(AuditActorKind::Operator, self.operator.as_str())
    }

    /// As the tenant's audit knows them: who gives a phone is named by its pseudonym there.
    pub(crate) async fn resolve_actor(
        &self,
        context: &CommandContext,
        db: &Db,
        tenant: TenantId,
    ) -> Result<AuditActor> {
        if !contains_phone(&self.operator) {
            return Ok(self.actor());
        }
        let vault = vault::open(&context.config()?, db.clone(), Arc::clone(&context.clock)).await?;
        Ok(self.build_audit_context(context, &vault, tenant).await?.actor)
    }

    async fn build_audit_context(
        &self,
        context: &CommandContext,
        vault: &Vault,
        tenant: TenantId,
    ) -> Result<VaultAuditContext> {
        let now = context.now();
        if !contains_phone(&self.operator) {
            return Ok(VaultAuditContext { actor: self.actor(), now });
        }
        let key = vault.pseudonym_key(tenant, now).await?;
        let actor = AuditActor::new(AuditActorKind::Operator, pseudonymise_phones(&key, &self.operator));
        Ok(VaultAuditContext { actor, now })
    }
}

pub(super) fn run(context: &CommandContext, command: VaultCommand) -> Result<()> {
    match command {
        VaultCommand::Set(arguments) => set::run(context, &arguments),
        VaultCommand::List(whose) => list::run(context, &whose),
        VaultCommand::Remove(arguments) => remove::run(context, &arguments),
        VaultCommand::Rotate(operator) => rotate::run(context, &operator),
        VaultCommand::RotateTenant(arguments) => rotate_tenant::run(context, &arguments),
    }
}

/// `razorpay.key`, or as it is written elsewhere, `vault:razorpay.key`.
fn parse_name(text: &str) -> std::result::Result<SecretRef, String> {
    SecretRef::from_name(text.strip_prefix("vault:").unwrap_or(text)).map_err(|error| error.to_string())
}
