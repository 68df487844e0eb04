//! `munshi audit restart-anchors`

use clap::Args;
use munshi_jobs::Queue;
use munshi_types::{Ids, TenantId};
use serde::Serialize;

use crate::commands::vault::Operator;
use crate::context::Context;
use crate::failure::Result;
use crate::output::Confirm;
use crate::wiring::audit;
use crate::wiring::database::Database;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Don't ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    operator: Operator,
}

#[derive(Debug, Serialize)]
struct Restarted {
    /// Where the file before is now; null where there was none.
    aside: Option<String>,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    let config = context.config()?;
    let about = "From now on nothing is compared with the file of anchors there was. \
                 First find out what became of it: `munshi audit verify`."
        .to_owned();
    Confirm { about, word: "restart", given: arguments.yes }.ask(&context.output)?;
    let database = Database::for_one_question(&config)?;
    let aside = context.block_on(async {
        let db = database.open().await?;
        let queue = Queue::new(context.clock.clone(), Ids::system());
        let actor = arguments.operator.known_in(context, &db, TenantId::PLATFORM).await?;
        let anchoring = audit::anchoring(&config, db, queue, context.clock.clone())?;
        Ok(anchoring.restart(actor).await?)
    })?;
    let restarted = Restarted { aside: aside.map(|path| path.display().to_string()) };
    context.output.answer(&restarted, |restarted, _| match &restarted.aside {
        Some(aside) => format!("The next anchor begins another file. The one before is {aside}."),
        None => "The next anchor begins another file. There was none.".to_owned(),
    })
}
