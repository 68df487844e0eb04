//! `munshi audit verify`

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use munshi_jobs::JobQueue;
use munshi_safety::audit::anchors::{AnchorService, AnchorTrigger};
use munshi_safety::audit::verify::{AuditVerification, ChainVerification, verify_chains};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest};
use munshi_types::{IdGenerator, TenantId};
use munshi_wiring::audit;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{Exit, Result};
use serde::Serialize;

use super::TenantScopeArguments;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_count;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct AuditVerifyArguments {
    #[command(flatten)]
    whose: TenantScopeArguments,
    /// Then anchor every valid chain: store its length and hash outside the database
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
    let database = ConfiguredDatabase::single_connection(&config)?;
    let verified = context.block_on(async {
        let db = database.open().await?;
        let queue = JobQueue::new(context.clock.clone(), IdGenerator::system());
        let anchoring = audit::build_anchor_service(&config, db.clone(), queue, context.clock.clone())?;
        verify(&db, &anchoring, arguments).await
    })?;
    context.output.print_result(&verified, render_text)?;
    Ok(if verified.ok { ExitCode::SUCCESS } else { Exit::Failed.into() })
}

async fn verify(db: &Db, anchoring: &AnchorService, arguments: &AuditVerifyArguments) -> Result<Verified> {
    let only = arguments.whose.resolve_named(db).await?;
    let survey = verify_chains(db, only, &anchoring.anchors().await?).await?;
    let anchored = if arguments.anchor {
        let broken: Vec<TenantId> = survey.broken_chains().map(|chain| chain.tenant).collect();
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

fn render_text(verified: &Verified, painter: TextStyler) -> String {
    let survey = &verified.survey;
    let mut table = OutputTable::new(&["WHOSE", "ENTRIES", "ANCHORS", ""]);
    for chain in &survey.chains {
        table.add_row([
            format_owner(verified, chain).into(),
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
        text += &format!("\nThe anchor file was altered: line {}, {}.\n", flaw.line, flaw.what);
        text += "Anchoring stops until you restore it or run `munshi audit restart-anchors`.\n";
    }
    if verified.anchored > 0 {
        text += &format!("\nWrote {}.\n", format_count(verified.anchored as u64, "anchor"));
    }
    text + if verified.ok { "\nThe audit log is intact.\n" } else { "\nThe audit log was tampered with.\n" }
}

fn format_owner(verified: &Verified, chain: &ChainVerification) -> String {
    match verified.names.get(&chain.tenant) {
        Some(name) => name.clone(),
        None if chain.tenant == TenantId::PLATFORM => "(installation)".to_owned(),
        None => chain.tenant.to_string(),
    }
}
