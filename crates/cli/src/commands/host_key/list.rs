//! `munshi host-key list`

use clap::Args;
use munshi_identity::hosts::{self, HostKey, HostKeyValueKind};
use munshi_types::Timestamp;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct HostKeyListArguments {
    #[command(flatten)]
    of: TenantSelectorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &HostKeyListArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let keys = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find(&db).await?;
        Ok(db.read(tenant.id, hosts::list).await?)
    })?;
    let now = context.now();
    context.output.print_result(&keys, |keys, painter| render_text(keys, now, painter))
}

fn render_text(keys: &Vec<HostKey>, now: Timestamp, painter: TextStyler) -> String {
    if keys.is_empty() {
        return "No host keys yet. Add one with `munshi host-key add KID --secret NAME`.".to_owned();
    }
    let mut table =
        OutputTable::new(&["KID", "HOST", "STATE", "ALGORITHM", "FROM", "ADDED (UTC)", "EXPIRES (UTC)"]);
    for key in keys {
        let live = key.is_live(now);
        let from = match key.holds {
            HostKeyValueKind::Secret => format!("vault:{}", key.value),
            HostKeyValueKind::Public => "public key".to_owned(),
            HostKeyValueKind::Address => key.value.clone(),
        };
        table.add_row([
            key.kid.as_str().into(),
            key.host.as_str().into(),
            if live {
                OutputTableCell::new("good", OutputCellStyle::Good)
            } else {
                OutputTableCell::new("ended", OutputCellStyle::Dim)
            },
            key.algorithm.as_str().into(),
            from.into(),
            format_time(key.added_at).into(),
            key.ends_at.map_or_else(|| "-".to_owned(), format_time).into(),
        ]);
    }
    table.render(painter)
}
