//! `munshi connector test NAME`, or of any server behind `--` or `--url`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use munshi_connectors::contract::{self, Finding, Report, Trial, Verdict, Writes};
use munshi_connectors::{folder_of, logs_of, rows};
use munshi_types::{ConnectorName, TenantId};

use super::{Reach, missing};
use crate::commands::tenant::Of;
use crate::context::Context;
use crate::failure::{Exit, Result};
use crate::output::Painter;
use crate::output::table::harmless;
use crate::wiring::database::Database;
use crate::wiring::gateway::database;
use crate::wiring::{connectors, vault};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A connector that is declared; with COMMAND or --url, a name for any server
    #[arg(default_value = "tested")]
    name: ConnectorName,
    #[command(flatten)]
    reach: Reach,
    /// Call tools that write too, with the `try` arguments that connectors.toml gives them
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    of: Of,
}

pub(super) fn run(context: &Context, arguments: Arguments) -> Result<ExitCode> {
    let Arguments { name, reach, write, of } = arguments;
    let config = context.config()?;
    let writes = if write { Writes::Tried } else { Writes::Never };
    let scratch = connectors::folder(&config).join("tested");
    let trial = Trial {
        name: name.clone(),
        entry: munshi_connectors::declared::Entry::default(),
        tenant: TenantId::PLATFORM,
        vault: None,
        logins: None,
        logs: scratch.with_extension("logs"),
        folder: scratch,
        basics: connectors::basics(),
        confinement: connectors::confinement(&config, None),
        allowed: connectors::allowed(&config),
        inside: BTreeMap::new(),
        clock: context.clock.clone(),
        writes,
    };
    let report = context.block_on(async {
        let trial = match reach.is_given() {
            true => {
                let confinement = connectors::confinement(&config, database(&config).await?);
                Trial { entry: reach.entry()?, confinement, ..trial }
            }
            false => {
                let db = Database::for_one_question(&config)?.open().await?;
                let tenant = of.find(&db).await?;
                let (_, mut declared) = db.read(tenant.id, rows::current).await?;
                let entry = declared.0.remove(&name).ok_or_else(|| missing(&name))?;
                let all = connectors::folder(&config);
                let (folder, logs) = (folder_of(&all, tenant.id, &name), logs_of(&all, tenant.id, &name));
                let confinement = connectors::confinement(&config, Some(db.clone()));
                let vault = vault::open(&config, db.clone(), context.clock.clone()).await?;
                let logins = Some(connectors::logins(&config, &db, &context.clock).await?);
                let vault = Some(vault);
                Trial { entry, tenant: tenant.id, vault, logins, folder, logs, confinement, ..trial }
            }
        };
        Ok(contract::test(&trial).await)
    })?;
    context.output.answer(&report, words)?;
    Ok(if report.passes() { ExitCode::SUCCESS } else { Exit::Refused.into() })
}

fn words(report: &Report, painter: Painter) -> String {
    let Report { connector, server, version, tools, undeclared, .. } = report;
    let title = match server.is_empty() && version.is_empty() {
        true => connector.to_string(),
        false => harmless(&format!("{connector}: {server} {version}, {tools} tools")),
    };
    let mut text = format!("{}\n", painter.bold(&title));
    for finding in &report.findings {
        text += &line(finding, painter);
    }
    let failed = report.findings.iter().filter(|finding| finding.verdict == Verdict::Fail).count();
    text += &match (failed, undeclared) {
        _ if report.findings.len() == 1 => "It was not opened, so nothing else was looked at.\n".to_owned(),
        (0, 0) => "It keeps the contract.\n".to_owned(),
        (0, count) => format!(
            "It works, but it is UNSAFE: nobody says what {count} of its tools do, so they only look.\n"
        ),
        (failed, _) => format!("It breaks the contract in {failed} of {} checks.\n", report.findings.len()),
    };
    text
}

fn line(finding: &Finding, painter: Painter) -> String {
    let mark = match finding.verdict {
        Verdict::Pass => painter.good("pass   "),
        Verdict::Doubtful => painter.doubtful("doubt  "),
        Verdict::Fail => painter.bad("FAIL   "),
        Verdict::Skipped => painter.dim("skipped"),
    };
    let mut text = format!("  {mark} {:<16} {}\n", finding.check, harmless(&finding.detail));
    if let Some(advice) = &finding.advice {
        text += &format!("          {:<16} {}\n", "", painter.dim(&format!("→ {}", harmless(advice))));
    }
    text
}
