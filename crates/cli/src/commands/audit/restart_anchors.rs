//! `munshi audit restart-anchors`

use clap::Args;
use munshi_jobs::JobQueue;
use munshi_types::{IdGenerator, TenantId};
use munshi_wiring::audit;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;

use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::output::ConfirmationPrompt;

#[derive(Debug, Args)]
pub(crate) struct AuditRestartAnchorsArguments {
    /// Skip the confirmation
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
    let about = "The audit log will no longer be verified against the current anchor file. \
                 Find out what happened to it first: `munshi audit verify`."
        .to_owned();
    ConfirmationPrompt { about, word: "restart", given: arguments.yes }.ask(&context.output)?;
    let database = ConfiguredDatabase::single_connection(&config)?;
    let aside = context.block_on(async {
        let db = database.open().await?;
        let queue = JobQueue::new(context.clock.clone(), IdGenerator::system());
        let actor = arguments.operator.resolve_actor(context, &db, TenantId::PLATFORM).await?;
        let anchoring = audit::build_anchor_service(&config, db, queue, context.clock.clone())?;
        Ok(anchoring.restart(actor).await?)
    })?;
    let restarted = Restarted { aside: aside.map(|path| path.display().to_string()) };
    context.output.print_result(&restarted, |restarted, _| match &restarted.aside {
        Some(aside) => format!("The next anchor starts a new file. The old one is {aside}."),
        None => "The next anchor starts a new file. There was no old one.".to_owned(),
    })
}
