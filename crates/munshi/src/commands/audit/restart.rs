//! `munshi audit restart-anchors`

use clap::Args;
use munshi_jobs::JobQueue;
use munshi_types::{IdGenerator, TenantId};
use serde::Serialize;

use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::failure::Result;
use crate::output::ConfirmationPrompt;
use crate::wiring::audit;
use crate::wiring::database::ConfiguredDatabase;

#[derive(Debug, Args)]
pub(crate) struct AuditRestartAnchorsArguments {
    /// Don't ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    operator: OperatorArguments,
}

#[derive(Debug, Serialize)]
struct Restarted {
    /// Where the file before is now; null where there was none.
    aside: Option<String>,
}

pub(super) fn run(context: &CommandContext, arguments: &AuditRestartAnchorsArguments) -> Result<()> {
    let config = context.config()?;
    let about = "From now on nothing is compared with the file of anchors there was. \
                 First find out what became of it: `munshi audit verify`."
        .to_owned();
    ConfirmationPrompt { about, word: "restart", given: arguments.yes }.ask(&context.output)?;
    let database = ConfiguredDatabase::for_one_question(&config)?;
    let aside = context.block_on(async {
        let db = database.open().await?;
        let queue = JobQueue::new(context.clock.clone(), IdGenerator::system());
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
