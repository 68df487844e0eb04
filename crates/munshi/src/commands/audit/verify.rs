//! `munshi audit verify`

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use munshi_jobs::Queue;
use munshi_safety::audit::anchors::{Anchoring, Due};
use munshi_safety::audit::verify::{Chain, Survey, survey};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest};
use munshi_types::{Ids, TenantId};
use serde::Serialize;

use super::Whose;
use crate::context::Context;
use crate::failure::{Exit, Result};
use crate::output::Painter;
use crate::output::shown::count;
use crate::output::table::{Cell, Table, Tone};
use crate::wiring::audit;
use crate::wiring::database::Database;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    whose: Whose,
    /// Then anchor what is sound: write down outside the database how far it goes
    #[arg(long)]
    anchor: bool,
}

#[derive(Debug, Serialize)]
struct Verified {
    ok: bool,
    #[serde(flatten)]
    survey: Survey,
    /// How many anchors were written just now.
    anchored: usize,
    #[serde(skip)]
    names: BTreeMap<TenantId, String>,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<ExitCode> {
    let config = context.config()?;
    let database = Database::for_one_question(&config)?;
    let verified = context.block_on(async {
        let db = database.open().await?;
        let queue = Queue::new(context.clock.clone(), Ids::system());
        let anchoring = audit::anchoring(&config, db.clone(), queue, context.clock.clone())?;
        verify(&db, &anchoring, arguments).await
    })?;
    context.output.answer(&verified, words)?;
    Ok(if verified.ok { ExitCode::SUCCESS } else { Exit::Failed.into() })
}

async fn verify(db: &Db, anchoring: &Anchoring, arguments: &Arguments) -> Result<Verified> {
    let only = arguments.whose.named(db).await?;
    let survey = survey(db, only, &anchoring.anchors().await?).await?;
    let anchored = if arguments.anchor {
        let broken: Vec<TenantId> = survey.broken().map(|chain| chain.tenant).collect();
        anchoring.anchor(Due::Moved, &broken).await?.len()
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

fn words(verified: &Verified, painter: Painter) -> String {
    let survey = &verified.survey;
    let mut table = Table::new(&["WHOSE", "ENTRIES", "ANCHORS", ""]);
    for chain in &survey.chains {
        table.row([
            whose(verified, chain).into(),
            chain.entries.to_string().into(),
            chain.anchors.to_string().into(),
            match &chain.finding {
                None => Cell::new("sound", Tone::Good),
                Some(finding) => Cell::new(finding.to_string(), Tone::Bad),
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

fn whose(verified: &Verified, chain: &Chain) -> String {
    match verified.names.get(&chain.tenant) {
        Some(name) => name.clone(),
        None if chain.tenant == TenantId::PLATFORM => "(installation)".to_owned(),
        None => chain.tenant.to_string(),
    }
}
