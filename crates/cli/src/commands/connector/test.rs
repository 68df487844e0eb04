//! `munshi connector test NAME`, or of any server behind `--` or `--url`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use munshi_connectors::conformance::{
    self, ConnectorFinding, ConnectorTest, ConnectorTestReport, ConnectorVerdict, WriteTestMode,
};
use munshi_connectors::{build_folder_path, build_logs_path, rows};
use munshi_types::{ConnectorName, TenantId};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{Exit, Result};
use munshi_wiring::gateway::open_existing_database;
use munshi_wiring::{connectors, vault};

use super::{ConnectorTransportArguments, not_found_failure};
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::table::sanitize_line;

#[derive(Debug, Args)]
pub(crate) struct ConnectorTestArguments {
    /// Declared connector; with COMMAND or --url, any name
    #[arg(default_value = "tested")]
    name: ConnectorName,
    #[command(flatten)]
    reach: ConnectorTransportArguments,
    /// Also call write tools, with the `try` arguments of connectors.toml
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
        entry: munshi_connectors::entries::ConnectorEntry::default(),
        tenant: TenantId::PLATFORM,
        vault: None,
        logins: None,
        logs: scratch.with_extension("logs"),
        folder: scratch,
        basics: connectors::collect_base_environment(),
        confinement: connectors::confinement(&config, None),
        allowed: connectors::build_allowed_hosts(&config),
        inside: BTreeMap::new(),
        clock: context.clock.clone(),
        writes,
    };
    let report = context.block_on(async {
        let trial = match reach.is_given() {
            true => {
                let confinement = connectors::confinement(&config, open_existing_database(&config).await?);
                ConnectorTest { entry: reach.entry()?, confinement, ..trial }
            }
            false => {
                let db = ConfiguredDatabase::single_connection(&config)?.open().await?;
                let tenant = of.find(&db).await?;
                let (_, mut declared) = db.read(tenant.id, rows::load_entries).await?;
                let entry = declared.0.remove(&name).ok_or_else(|| not_found_failure(&name))?;
                let all = connectors::folder(&config);
                let (folder, logs) =
                    (build_folder_path(&all, tenant.id, &name), build_logs_path(&all, tenant.id, &name));
                let confinement = connectors::confinement(&config, Some(db.clone()));
                let vault = vault::open(&config, db.clone(), context.clock.clone()).await?;
                let logins = Some(connectors::build_logins(&config, &db, &context.clock).await?);
                let vault = Some(vault);
                ConnectorTest { entry, tenant: tenant.id, vault, logins, folder, logs, confinement, ..trial }
            }
        };
        Ok(conformance::test(&trial).await)
    })?;
    context.output.print_result(&report, render_text)?;
    Ok(if report.passes() { ExitCode::SUCCESS } else { Exit::Refused.into() })
}

fn render_text(report: &ConnectorTestReport, painter: TextStyler) -> String {
    let ConnectorTestReport { connector, server, version, tools, undeclared, .. } = report;
    let title = match server.is_empty() && version.is_empty() {
        true => connector.to_string(),
        false => sanitize_line(&format!("{connector}: {server} {version}, {tools} tools")),
    };
    let mut text = format!("{}\n", painter.bold(&title));
    for finding in &report.findings {
        text += &line(finding, painter);
    }
    let failed = report.findings.iter().filter(|finding| finding.verdict == ConnectorVerdict::Fail).count();
    text += &match (failed, undeclared) {
        _ if report.findings.len() == 1 => "The connection failed, so no other check ran.\n".to_owned(),
        (0, 0) => "All contract checks passed.\n".to_owned(),
        (0, count) => {
            format!("It works, but is UNSAFE: {count} of its tools are undeclared, so they are read-only.\n")
        }
        (failed, _) => format!("{failed} of {} contract checks failed.\n", report.findings.len()),
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
    let mut text = format!("  {mark} {:<16} {}\n", finding.check, sanitize_line(&finding.detail));
    if let Some(advice) = &finding.advice {
        text += &format!("          {:<16} {}\n", "", painter.dim(&format!("→ {}", sanitize_line(advice))));
    }
    text
}
