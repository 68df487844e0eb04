//! `munshi connector test NAME`, or of any server behind `--` or `--url`.

use std::process::ExitCode;

use clap::Args;
use munshi_connectors::conformance::{self, ConnectorTest, ConnectorVerdict, WriteTestMode};
use munshi_operations::connectors::{
    ConnectorFindingView, ConnectorTestView, TestConnector, TestConnectorInput,
};
use munshi_types::ConnectorName;
use munshi_wiring::connectors;
use munshi_wiring::failure::{CommandFailure, Exit, Result};
use munshi_wiring::gateway::open_existing_database;

use super::ConnectorTransportArguments;
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
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
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: ConnectorTestArguments) -> Result<ExitCode> {
    let ConnectorTestArguments { name, reach, write, of, operator } = arguments;
    let report = match reach.is_given() {
        true => test_undeclared(context, name, reach, write)?,
        false => {
            let target = OperationTarget { of: &of, operator: Some(&operator) };
            context
                .run_operation::<TestConnector>(&target, &TestConnectorInput { name, write: Some(write) })?
        }
    };
    context.output.print_result(&report, render_text)?;
    Ok(if report.count_failures() == 0 { ExitCode::SUCCESS } else { Exit::Refused.into() })
}

/// Any server, which belongs to no tenant: started and asked from this machine alone, with and without a database.
fn test_undeclared(
    context: &CommandContext,
    name: ConnectorName,
    reach: ConnectorTransportArguments,
    write: bool,
) -> Result<ConnectorTestView> {
    if context.server.is_some() {
        return Err(CommandFailure::usage("a server tests only connectors that are declared there")
            .hint("declare it with `munshi connector add` first, or leave --server out"));
    }
    let entry = reach.into_input(context, name.clone())?.into_entry()?;
    let config = context.config()?;
    let writes = if write { WriteTestMode::Tried } else { WriteTestMode::Never };
    context.block_on(async {
        let db = open_existing_database(&config).await?;
        let prepared = connectors::build_test(&config, name, db, context.clock.clone());
        Ok(conformance::test(&ConnectorTest { entry, writes, ..prepared }).await.into())
    })
}

fn render_text(report: &ConnectorTestView, painter: TextStyler) -> String {
    let ConnectorTestView { connector, server, version, tools, undeclared, .. } = report;
    let title = match server.is_empty() && version.is_empty() {
        true => connector.to_string(),
        false => sanitize_line(&format!("{connector}: {server} {version}, {tools} tools")),
    };
    let mut text = format!("{}\n", painter.bold(&title));
    for finding in &report.findings {
        text += &line(finding, painter);
    }
    let failed = report.count_failures();
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

fn line(finding: &ConnectorFindingView, painter: TextStyler) -> String {
    let mark = match finding.verdict {
        ConnectorVerdict::Pass => painter.good("pass   "),
        ConnectorVerdict::Doubtful => painter.doubtful("doubt  "),
        ConnectorVerdict::Fail => painter.bad("FAIL   "),
        ConnectorVerdict::Skipped => painter.dim("skipped"),
    };
    let mut text =
        format!("  {mark} {:<16} {}\n", sanitize_line(&finding.check), sanitize_line(&finding.detail));
    if let Some(advice) = &finding.advice {
        text += &format!("          {:<16} {}\n", "", painter.dim(&format!("→ {}", sanitize_line(advice))));
    }
    text
}
