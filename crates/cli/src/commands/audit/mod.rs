//! `munshi audit …`: the record of what was done.

mod export;
mod restart_anchors;
mod tail;
mod verify;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use munshi_store::Db;
use munshi_types::{TenantId, TenantName};
use munshi_wiring::failure::Result;

use crate::commands::tenant::{TenantSelectorArguments, get_by_name};
use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show the newest entries
    Tail(tail::AuditTailArguments),
    /// Verify that no entry was changed, removed or added
    Verify(verify::AuditVerifyArguments),
    /// Print every entry as a line of JSON
    Export(export::AuditExportArguments),
    /// Start a new anchor file if the current one is lost or altered. The old one is kept; the audit log records who did it
    RestartAnchors(restart_anchors::AuditRestartAnchorsArguments),
}

#[derive(Debug, Args)]
pub(crate) struct TenantScopeArguments {
    /// Tenant. Default: the installation itself
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
}

impl TenantScopeArguments {
    pub(in crate::commands) fn installation() -> Self {
        Self { tenant: None }
    }

    pub(in crate::commands) fn selector(&self) -> TenantSelectorArguments {
        TenantSelectorArguments::named(self.tenant.clone())
    }

    /// The installation where no tenant was named.
    pub(in crate::commands) async fn find(&self, db: &Db) -> Result<TenantId> {
        match &self.tenant {
            Some(name) => Ok(get_by_name(db, name).await?.id),
            None => Ok(TenantId::PLATFORM),
        }
    }
}

pub(super) fn run(context: &CommandContext, command: AuditCommand) -> Result<ExitCode> {
    match command {
        AuditCommand::Tail(arguments) => tail::run(context, &arguments),
        AuditCommand::Verify(arguments) => return verify::run(context, &arguments),
        AuditCommand::Export(arguments) => export::run(context, &arguments),
        AuditCommand::RestartAnchors(arguments) => restart_anchors::run(context, &arguments),
    }
    .map(|()| ExitCode::SUCCESS)
}
