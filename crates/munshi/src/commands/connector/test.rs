//! `munshi connector test NAME`, or of any server behind `--` or `--url`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use munshi_connectors::contract::{
    self, ConnectorFinding, ConnectorTest, ConnectorTestReport, ConnectorVerdict, WriteTestMode,
};
use munshi_connectors::{folder_of, logs_of, rows};
use munshi_types::{ConnectorName, TenantId};

use super::{ConnectorTransportArguments, missing};
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::failure::{Exit, Result};
use crate::output::TextStyler;
use crate::output::table::harmless;
use crate::wiring::database::ConfiguredDatabase;
use crate::wiring::gateway::database;
use crate::wiring::{connectors, vault};

#[derive(Debug, Args)]
pub(crate) struct ConnectorTestArguments {
    /// A connector that is declared; with COMMAND or --url, a name for any server
    #[arg(default_value = "tested")]
    name: ConnectorName,
    #[command(flatten)]
    reach: ConnectorTransportArguments,
    /// Call tools that write too, with the `try` arguments that connectors.toml gives them
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    of: TenantSelectorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: ConnectorTestArguments) -> Result<ExitCode> {
    let ConnectorTestArguments { name, reach, write, of } = arguments;
    let config = context.config()?;
    let writes = if write { WriteTestMode::Tried } else { WriteTestMode::Never };
    let scratch = connectors::folder(&config).join("tested");
    let trial = ConnectorTest {
        name: name.clone(),
        entry: munshi_connectors::declared::ConnectorEntry::default(),
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
                ConnectorTest { entry: reach.entry()?, confinement, ..trial }
            }
            false => {
                let db = ConfiguredDatabase::for_one_question(&config)?.open().await?;
                let tenant = of.find(&db).await?;
                let (_, mut declared) = db.read(tenant.id, rows::current).await?;
                let entry = declared.0.remove(&name).ok_or_else(|| missing(&name))?;
                let all = connectors::folder(&config);
                let (folder, logs) = (folder_of(&all, tenant.id, &name), logs_of(&all, tenant.id, &name));
                let confinement = connectors::confinement(&config, Some(db.clone()));
                let vault = vault::open(&config, db.clone(), context.clock.clone()).await?;
                let logins = Some(connectors::logins(&config, &db, &context.clock).await?);
                let vault = Some(vault);
                ConnectorTest { entry, tenant: tenant.id, vault, logins, folder, logs, confinement, ..trial }
            }
        };
        Ok(contract::test(&trial).await)
    })?;
    context.output.answer(&report, words)?;
    Ok(if report.passes() { ExitCode::SUCCESS } else { Exit::Refused.into() })
}

fn words(report: &ConnectorTestReport, painter: TextStyler) -> String {
    let ConnectorTestReport { connector, server, version, tools, undeclared, .. } = report;
    let title = match server.is_empty() && version.is_empty() {
        true => connector.to_string(),
        false => harmless(&format!("{connector}: {server} {version}, {tools} tools")),
    };
    let mut text = format!("{}\n", painter.bold(&title));
    for finding in &report.findings {
        text += &line(finding, painter);
    }
    let failed = report.findings.iter().filter(|finding| finding.verdict == ConnectorVerdict::Fail).count();
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

fn line(finding: &ConnectorFinding, painter: TextStyler) -> String {
    let mark = match finding.verdict {
        ConnectorVerdict::Pass => painter.good("pass   "),
        ConnectorVerdict::Doubtful => painter.doubtful("doubt  "),
        ConnectorVerdict::Fail => painter.bad("FAIL   "),
        ConnectorVerdict::Skipped => painter.dim("skipped"),
    };
    let mut text = format!("  {mark} {:<16} {}\n", finding.check, harmless(&finding.detail));
    if let Some(advice) = &finding.advice {
        text += &format!("          {:<16} {}\n", "", painter.dim(&format!("→ {}", harmless(advice))));
    }
    text
}
