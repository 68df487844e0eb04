//! `munshi host-key retire KID`

use std::time::Duration;

use clap::Args;
use munshi_identity::hosts;
use munshi_store::Tx;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};

use super::record_audit;
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::output::formatting::format_time;

const HOUR: Duration = Duration::from_secs(60 * 60);

#[derive(Debug, Args)]
pub(crate) struct HostKeyRetireArguments {
    /// Key id
    kid: String,
    /// Hours until it expires; 0 expires it at once
    #[arg(long, value_name = "HOURS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=720))]
    grace: u32,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &HostKeyRetireArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let retired = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?;
        let actor = arguments.operator.resolve_actor(context, &db, tenant.id).await?;
        let (kid, now) = (arguments.kid.clone(), context.now());
        let end = now.plus(HOUR.saturating_mul(arguments.grace));
        let unit = move |tx: &mut Tx<'_>| -> Result<_> {
            let missing = || {
                CommandFailure::not_found(format!("host key {kid} not found"))
                    .hint("`munshi host-key list` shows them all")
            };
            let retired = hosts::retire(tx, &kid, end)?.ok_or_else(missing)?;
            record_audit(tx, &actor, "host_key.retired", &retired, now)?;
            Ok(retired)
        };
        db.write(tenant.id, unit).await
    })?;
    context.output.print_result(&retired, |retired, _| {
        let end = retired.ends_at.map_or_else(String::new, |end| format!(" {} UTC", format_time(end)));
        format!("{} expires{end}.", retired.kid)
    })
}
