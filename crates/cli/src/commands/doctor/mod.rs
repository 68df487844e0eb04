//! `munshi doctor`: examines the installation, whatever state it is in, and says what to do.
//!
//! # Layout
//! - `finding`: one line of the report
//! - `settings`, `folder`, `models`, `database`, `access`, `consents`, `connectors`, `clock`: what is looked at, each on its own; none may stop the others.
//!   The port is looked at by the binary, which has the server
//!
//! To add a check: a file with a function that returns findings, and its line in [`examine`].

mod access;
mod clock;
mod connectors;
mod consents;
mod database;
mod finding;
mod folder;
mod models;
mod settings;

use std::process::ExitCode;

use munshi_config::Config;
use munshi_wiring::failure::{Exit, Result};
use serde::Serialize;

pub use self::finding::DoctorFinding;
pub use self::settings::NAME_PROXY;

use self::finding::DoctorLevel;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_count;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};
use crate::server_commands::ServerCommands;

#[derive(Debug, Serialize)]
struct Report {
    /// Whether nothing failed; warnings don't count.
    ok: bool,
    version: &'static str,
    findings: Vec<DoctorFinding>,
}

pub(super) fn run(context: &CommandContext, server: &dyn ServerCommands) -> Result<ExitCode> {
    let findings = context.block_on(async { Ok(examine(context, server).await) })?;
    let ok = findings.iter().all(|finding| finding.level != DoctorLevel::Fail);
    let report = Report { ok, version: env!("CARGO_PKG_VERSION"), findings };
    context.output.print_result(&report, render_text)?;
    Ok(if ok { ExitCode::SUCCESS } else { Exit::Failed.into() })
}

async fn examine(context: &CommandContext, server: &dyn ServerCommands) -> Vec<DoctorFinding> {
    let sources = context.sources();
    let config = match Config::load(&sources) {
        Ok(config) => config,
        Err(problems) => return settings::report_problems(&problems),
    };
    let mut findings = settings::examine(&config, sources.file());
    findings.extend(folder::examine(&config));
    findings.extend(models::examine(&config));
    let (about_database, db) = database::examine(&config).await;
    findings.extend(about_database);
    if let Some(db) = &db {
        findings.extend(access::examine(db, context.now()).await);
        findings.extend(consents::examine(db, context.now()).await);
    }
    findings.push(connectors::examine(&config, db.as_ref()).await);
    findings.push(clock::examine(context.now(), db.as_ref()).await);
    findings.push(server.examine_port(&config).await);
    findings
}

fn render_text(report: &Report, painter: TextStyler) -> String {
    let mut table = OutputTable::new(&[]);
    for finding in &report.findings {
        let (word, tone) = match finding.level {
            DoctorLevel::Ok => ("ok", OutputCellStyle::Good),
            DoctorLevel::Warn => ("warn", OutputCellStyle::Doubtful),
            DoctorLevel::Fail => ("FAIL", OutputCellStyle::Bad),
        };
        table.add_row([
            OutputTableCell::new(word, tone),
            finding.name.into(),
            finding.detail.as_str().into(),
        ]);
        if let Some(hint) = &finding.hint {
            table.add_row([
                "".into(),
                "".into(),
                OutputTableCell::new(format!("→ {hint}"), OutputCellStyle::Dim),
            ]);
        }
    }
    format!("{}\n{}\n", table.render(painter).trim_start_matches('\n'), verdict(report))
}

fn verdict(report: &Report) -> String {
    let of =
        |level: DoctorLevel| report.findings.iter().filter(|finding| finding.level == level).count() as u64;
    match (of(DoctorLevel::Fail), of(DoctorLevel::Warn)) {
        (0, 0) => "No problems found.".to_owned(),
        (0, warnings) => format!("Munshi can run; {}.", format_count(warnings, "warning")),
        (failures, _) => format!("{} to fix before Munshi can run well.", format_count(failures, "problem")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_reads_well() {
        let report = |findings: Vec<DoctorFinding>| {
            let ok = findings.iter().all(|finding| finding.level != DoctorLevel::Fail);
            render_text(&Report { ok, version: "1.2.3", findings }, TextStyler::Plain)
        };
        let pages = [
            report(vec![DoctorFinding::ok("settings", "defaults and variables only")]),
            report(vec![
                DoctorFinding::ok("settings", "read munshi.toml"),
                DoctorFinding::warn("disk", "300 MiB free", "make room"),
                DoctorFinding::fail("database", "the database is damaged: x", "restore a backup"),
            ]),
        ];
        insta::assert_snapshot!(pages.join("---\n"));
    }
}
