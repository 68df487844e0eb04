//! `munshi audit verify`

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use munshi_jobs::JobQueue;
use munshi_safety::audit::anchors::{AnchorService, AnchorTrigger};
use munshi_safety::audit::verify::{AuditVerification, ChainVerification, survey};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest};
use munshi_types::{IdGenerator, TenantId};
use serde::Serialize;

use super::TenantScopeArguments;
use crate::context::CommandContext;
use crate::failure::{Exit, Result};
use crate::output::TextStyler;
use crate::output::shown::count;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};
use crate::wiring::audit;
use crate::wiring::database::ConfiguredDatabase;

#[derive(Debug, Args)]
pub(crate) struct AuditVerifyArguments {
    #[command(flatten)]
    whose: TenantScopeArguments,
    /// Then anchor what is sound: write down outside the database how far it goes
    #[arg(long)]
    anchor: bool,
}

#[derive(Debug, Serialize)]
struct Verified {
    ok: bool,
    #[serde(flatten)]
    survey: AuditVerification,
    /// How many anchors were written just now.
    anchored: usize,
    #[serde(skip)]
    names: BTreeMap<TenantId, String>,
}

pub(super) fn run(context: &CommandContext, arguments: &AuditVerifyArguments) -> Result<ExitCode> {
    let config = context.config()?;
    let database = ConfiguredDatabase::for_one_question(&config)?;
    let verified = context.block_on(async {
        let db = database.open().await?;
        let queue = JobQueue::new(context.clock.clone(), IdGenerator::system());
        let anchoring = audit::anchoring(&config, db.clone(), queue, context.clock.clone())?;
        verify(&db, &anchoring, arguments).await
    })?;
    context.output.answer(&verified, words)?;
    Ok(if verified.ok { ExitCode::SUCCESS } else { Exit::Failed.into() })
}

async fn verify(db: &Db, anchoring: &AnchorService, arguments: &AuditVerifyArguments) -> Result<Verified> {
    let only = arguments.whose.named(db).await?;
    let survey = survey(db, only, &anchoring.anchors().await?).await?;
    let anchored = if arguments.anchor {
        let broken: Vec<TenantId> = survey.broken().map(|chain| chain.tenant).collect();
        anchoring.anchor(AnchorTrigger::Moved, &broken).await?.len()
    } else {
        0
    };
    Ok(Verified { ok: survey.is_sound(), survey, anchored, names: names(db).await? })
}

async fn names(db: &Db) -> Result<BTreeMap<TenantId, String>> {
    let (mut names, mut after) = (BTreeMap::new(), None);
    loop {
        let request = PageRequest::new(after, PageRequest::LARGEST);
        let page = db.platform(TENANTS).read(move |tx| tenants::list(tx, &request)).await?;
        names.extend(page.items.into_iter().map(|tenant| (tenant.id, tenant.name.to_string())));
        after = page.next;
        if after.is_none() {
            return Ok(names);
        }
    }
}

fn words(verified: &Verified, painter: TextStyler) -> String {
    let survey = &verified.survey;
    let mut table = OutputTable::new(&["WHOSE", "ENTRIES", "ANCHORS", ""]);
    for chain in &survey.chains {
        table.row([
            whose(verified, chain).into(),
            chain.entries.to_string().into(),
            chain.anchors.to_string().into(),
            match &chain.finding {
                None => OutputTableCell::new("sound", OutputCellStyle::Good),
                Some(finding) => OutputTableCell::new(finding.to_string(), OutputCellStyle::Bad),
            },
        ]);
    }
    let mut text = table.render(painter);
    if let Some(flaw) = &survey.flaw {
        text += &format!("\nThe file of anchors was altered: line {}, {}.\n", flaw.line, flaw.what);
        text +=
            "Nothing is anchored until it is put back, or begun anew with `munshi audit restart-anchors`.\n";
    }
    if verified.anchored > 0 {
        text += &format!("\nWrote {}.\n", count(verified.anchored as u64, "anchor"));
    }
    text + if verified.ok { "\nNothing was changed.\n" } else { "\nSomebody changed what was written.\n" }
}

fn whose(verified: &Verified, chain: &ChainVerification) -> String {
    match verified.names.get(&chain.tenant) {
        Some(name) => name.clone(),
        None if chain.tenant == TenantId::PLATFORM => "(installation)".to_owned(),
        None => chain.tenant.to_string(),
    }
}
