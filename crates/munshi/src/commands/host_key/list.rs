//! `munshi host-key list`

use clap::Args;
use munshi_identity::hosts::{self, Holds, HostKey};
use munshi_types::Timestamp;

use crate::commands::tenant::Of;
use crate::context::Context;
use crate::failure::Result;
use crate::output::Painter;
use crate::output::shown::moment;
use crate::output::table::{Cell, Table, Tone};
use crate::wiring::database::Database;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    of: Of,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    let database = Database::for_one_question(&context.config()?)?;
    let keys = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find(&db).await?;
        Ok(db.read(tenant.id, hosts::list).await?)
    })?;
    let now = context.now();
    context.output.answer(&keys, |keys, painter| words(keys, now, painter))
}

fn words(keys: &Vec<HostKey>, now: Timestamp, painter: Painter) -> String {
    if keys.is_empty() {
        return "No host has a key yet. `munshi host-key add KID --secret NAME` adds one.".to_owned();
    }
    let mut table = Table::new(&["KID", "HOST", "STATE", "ALGORITHM", "FROM", "ADDED (UTC)", "ENDS (UTC)"]);
    for key in keys {
        let live = key.is_live(now);
        let from = match key.holds {
            Holds::Secret => format!("vault:{}", key.value),
            Holds::Public => "a public key".to_owned(),
            Holds::Address => key.value.clone(),
        };
        table.row([
            key.kid.as_str().into(),
            key.host.as_str().into(),
            if live { Cell::new("good", Tone::Good) } else { Cell::new("ended", Tone::Dim) },
            key.algorithm.as_str().into(),
            from.into(),
            moment(key.added_at).into(),
            key.ends_at.map_or_else(|| "-".to_owned(), moment).into(),
        ]);
    }
    table.render(painter)
}
