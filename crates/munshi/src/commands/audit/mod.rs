//! `munshi audit …`: the record of what was done.

mod export;
mod restart;
mod tail;
mod verify;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use munshi_store::Db;
use munshi_store::tenants::{self, TENANTS};
use munshi_types::{TenantId, TenantName};

use crate::commands::tenant::missing;
use crate::context::CommandContext;
use crate::failure::Result;

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show the newest entries
    Tail(tail::AuditTailArguments),
    /// See that nothing was changed, removed or added since it was written
    Verify(verify::AuditVerifyArguments),
    /// Print every entry as a line of JSON
    Export(TenantScopeArguments),
    /// Begin another file of anchors, where the one before is gone or altered; it is put aside, and the audit says who did it
    RestartAnchors(restart::AuditRestartAnchorsArguments),
}

#[derive(Debug, Args)]
pub(crate) struct TenantScopeArguments {
    /// This tenant's; without it, the installation's own
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
}

impl TenantScopeArguments {
    pub(in crate::commands) fn installation() -> Self {
        Self { tenant: None }
    }

    /// The installation where no tenant was named.
    pub(in crate::commands) async fn find(&self, db: &Db) -> Result<TenantId> {
        Ok(self.named(db).await?.unwrap_or(TenantId::PLATFORM))
    }

    async fn named(&self, db: &Db) -> Result<Option<TenantId>> {
        let Some(name) = self.tenant.clone() else { return Ok(None) };
        let asked = name.clone();
        let found = db.platform(TENANTS).read(move |tx| tenants::find_by_name(tx, &asked)).await?;
        found.map(|tenant| Some(tenant.id)).ok_or_else(|| missing(&name))
    }
}

pub(super) fn run(context: &CommandContext, command: AuditCommand) -> Result<ExitCode> {
    match command {
        AuditCommand::Tail(arguments) => tail::run(context, &arguments),
        AuditCommand::Verify(arguments) => return verify::run(context, &arguments),
        AuditCommand::Export(whose) => export::run(context, &whose),
        AuditCommand::RestartAnchors(arguments) => restart::run(context, &arguments),
    }
    .map(|()| ExitCode::SUCCESS)
}
