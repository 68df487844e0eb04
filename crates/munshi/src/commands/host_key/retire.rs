//! `munshi host-key retire KID`

use std::time::Duration;

use clap::Args;
use munshi_identity::hosts;
use munshi_store::Tx;

use super::tell;
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::output::shown::moment;
use crate::wiring::database::ConfiguredDatabase;

const HOUR: Duration = Duration::from_secs(60 * 60);

#[derive(Debug, Args)]
pub(crate) struct HostKeyRetireArguments {
    /// Which one
    kid: String,
    /// It is good for so many hours longer; 0 ends it at once
    #[arg(long, value_name = "HOURS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=720))]
    grace: u32,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &HostKeyRetireArguments) -> Result<()> {
    let database = ConfiguredDatabase::for_one_question(&context.config()?)?;
    let retired = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?;
        let actor = arguments.operator.known_in(context, &db, tenant.id).await?;
        let (kid, now) = (arguments.kid.clone(), context.now());
        let end = now.plus(HOUR.saturating_mul(arguments.grace));
        let unit = move |tx: &mut Tx<'_>| -> Result<_> {
            let missing = || {
                CommandFailure::not_found(format!("there is no key called {kid}"))
                    .hint("`munshi host-key list` shows them all")
            };
            let retired = hosts::retire(tx, &kid, end)?.ok_or_else(missing)?;
            tell(tx, &actor, "host_key.retired", &retired, now)?;
            Ok(retired)
        };
        db.write(tenant.id, unit).await
    })?;
    context.output.answer(&retired, |retired, _| {
        let end = retired.ends_at.map_or_else(String::new, |end| format!(" {} UTC", moment(end)));
        format!("{} ends{end}.", retired.kid)
    })
}
