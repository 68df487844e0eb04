//! What every connector promises, as checks that anybody can run on any MCP server: `munshi connector test`.
//!
//! # Layout
//! - [`ConnectorTest`]: a connector to be tested; [`ConnectorTestReport`], [`ConnectorFinding`]: what came of it
//! - `manifest_checks`: what can be seen in its list of tools; `call_checks`: what only calling shows; `sample`: arguments to call with
//!
//! # To add a check
//! A function in `manifest_checks` or `call_checks` that gives a [`ConnectorFinding`], and its line in the list there.

mod call_checks;
mod manifest_checks;
mod sample;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use munshi_safety::vault::Vault;
use munshi_types::{Clock, ConnectorName, TenantId};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::confine::Confinement;
use crate::entries::{ConnectorEntry, ToolDeclaration};
use crate::error::Error;
use crate::login::ConnectorLogins;
use crate::manifest::{ConnectorManifest, ManifestTool};
use crate::translate::{self, KEY, find_argument};
use crate::transport::logs::{self, ConnectorLog};
use crate::transport::{ConnectorConnection, ConnectorOpenRequest, ConnectorServices, InProcessConnector};
use munshi_http::AllowedHosts;
use munshi_mcp::HandshakeMode;

/// How long the first handshake may take.
const PROMPT: Duration = Duration::from_secs(2);
/// How long it has to end when its line is closed.
const ENDING: Duration = Duration::from_secs(10);

/// A connector to be tested.
pub struct ConnectorTest {
    pub name: ConnectorName,
    pub entry: ConnectorEntry,
    pub tenant: TenantId,
    pub vault: Option<Vault>,
    /// Lets us in where somebody has logged in.
    pub logins: Option<ConnectorLogins>,
    /// Its own folder, and that of its log.
    pub folder: PathBuf,
    pub logs: PathBuf,
    pub basics: Vec<(OsString, OsString)>,
    pub confinement: Confinement,
    pub allowed: AllowedHosts,
    pub inside: BTreeMap<String, Arc<dyn InProcessConnector>>,
    pub clock: Arc<dyn Clock>,
    pub writes: WriteTestMode,
}

/// Whether tools that write may be called, with the arguments declared for that (`try`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteTestMode {
    Never,
    Tried,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectorVerdict {
    Pass,
    /// It can be used, within limits that the words name.
    Doubtful,
    Fail,
    /// It could not be seen; the words say what would show it.
    Skipped,
}

/// One check and what it found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConnectorFinding {
    pub check: &'static str,
    pub verdict: ConnectorVerdict,
    pub detail: String,
    /// What its author, or the operator, can do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl ConnectorFinding {
    fn new(check: &'static str, verdict: ConnectorVerdict, detail: impl Into<String>) -> Self {
        Self { check, verdict, detail: detail.into(), advice: None }
    }

    fn pass(check: &'static str, detail: impl Into<String>) -> Self {
        Self::new(check, ConnectorVerdict::Pass, detail)
    }

    fn skipped(check: &'static str, detail: impl Into<String>) -> Self {
        Self::new(check, ConnectorVerdict::Skipped, detail)
    }

    fn with_advice(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }

    /// Pass where nothing is wrong, and else this with the names of what is.
    fn from_violations(
        check: &'static str,
        wrong: &[String],
        (good, bad): (&str, &str),
        verdict: ConnectorVerdict,
        advice: &str,
    ) -> Self {
        match wrong {
            [] => Self::pass(check, good),
            wrong => Self::new(check, verdict, format!("{bad}: {}", join_names(wrong))).with_advice(advice),
        }
    }
}

/// The first few by name.
fn join_names(names: &[String]) -> String {
    let shown = names.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(5) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// What came of a trial.
#[derive(Clone, Debug, Serialize)]
pub struct ConnectorTestReport {
    pub connector: ConnectorName,
    pub server: String,
    pub version: String,
    pub manifest: String,
    pub tools: usize,
    /// Nobody vouches for what these do.
    pub undeclared: usize,
    pub findings: Vec<ConnectorFinding>,
}

impl ConnectorTestReport {
    /// Whether no check failed.
    pub fn passes(&self) -> bool {
        self.findings.iter().all(|finding| finding.verdict != ConnectorVerdict::Fail)
    }
}

/// One tool with everything that is said of it.
struct Said<'a> {
    name: &'a str,
    listed: &'a ManifestTool,
    own: Option<&'a ToolDeclaration>,
}

impl Said<'_> {
    fn find_declared<T>(&self, of: impl Fn(&ToolDeclaration) -> Option<T>) -> Option<T> {
        self.own.and_then(&of).or_else(|| self.listed.declared.as_ref().and_then(&of))
    }

    /// Whether it may be called without changing anything: somebody says so, and nobody otherwise.
    fn is_read_only(&self) -> bool {
        match self.find_declared(|said| said.effect) {
            Some(effect) => !effect.writes(),
            None => self.listed.hints.read_only == Some(true),
        }
    }

    /// The argument that takes its key.
    fn key(&self) -> Option<String> {
        find_argument(&self.listed.schema, self.find_declared(|said| said.key.clone()), KEY)
    }
}

fn collect_tools<'a>(entry: &'a ConnectorEntry, manifest: &'a ConnectorManifest) -> Vec<Said<'a>> {
    let tool =
        |(name, listed): (&'a String, &'a ManifestTool)| Said { name, listed, own: entry.tools.get(name) };
    manifest.tools.iter().map(tool).collect()
}

/// Starts the connector, looks at it, calls what only looks, and stops it.
pub async fn test(trial: &ConnectorTest) -> ConnectorTestReport {
    let way = ConnectorServices {
        vault: trial.vault.clone(),
        basics: trial.basics.clone(),
        confinement: trial.confinement.clone(),
        allowed: trial.allowed.clone(),
        logins: trial.logins.clone(),
        inside: trial.inside.clone(),
        tasks: TaskTracker::new(),
    };
    let report = run_checks(trial, &way).await;
    // Its last words are what people look for in its log.
    way.tasks.close();
    if tokio::time::timeout(ENDING, way.tasks.wait()).await.is_err() {
        tracing::debug!("connector streams left open by a child process");
    }
    report
}

async fn run_checks(trial: &ConnectorTest, way: &ConnectorServices) -> ConnectorTestReport {
    let log = ConnectorLog::new(Some(trial.logs.clone()), trial.clock.clone());
    let mut opening = ConnectorOpenRequest {
        way,
        tenant: trial.tenant,
        entry: &trial.entry,
        pass: way.build_credential(trial.tenant, &trial.name, &trial.entry),
        home: trial.folder.clone(),
        log,
        greeting: HandshakeMode::Newest,
    };
    let mut report = ConnectorTestReport {
        connector: trial.name.clone(),
        server: String::new(),
        version: String::new(),
        manifest: String::new(),
        tools: 0,
        undeclared: 0,
        findings: Vec::new(),
    };
    let mut opened = opening.open().await;
    if matches!(opened, Err(Error::Unreachable(_))) {
        // As its supervisor would: one that is slow or old may break over the newer greeting.
        opening.greeting = HandshakeMode::Older;
        opened = opening.open().await.or(opened);
    }
    let (ConnectorConnection { session, manifest, took }, scrubber) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            report.findings.push(report_open_failure(trial, &error));
            return report;
        }
    };
    // Before anything is called, as where it is used.
    if translate::has_transient(&trial.entry, &manifest) {
        opening.log.withhold_output(&scrubber).await;
    }
    report.findings.push(check_initialize(took));
    (report.server, report.version) = (manifest.server.clone(), manifest.version.clone());
    (report.manifest, report.tools) = (manifest.hash.clone(), manifest.tools.len());
    let tools = collect_tools(&trial.entry, &manifest);
    report.undeclared = tools.iter().filter(|tool| tool.find_declared(|said| said.effect).is_none()).count();
    report.findings.extend(manifest_checks::run(trial, &manifest, &tools));
    report.findings.extend(call_checks::run(trial, &session, &manifest, &tools).await);
    report.findings.push(check_confinement(trial, way).await);
    let begun = Instant::now();
    session.close(ENDING).await;
    report.findings.push(check_shutdown(begun.elapsed()));
    report
}

fn report_open_failure(trial: &ConnectorTest, error: &Error) -> ConnectorFinding {
    let finding = ConnectorFinding::new("initialize", ConnectorVerdict::Fail, error.to_string());
    match (error, trial.entry.command.is_empty()) {
        // These say themselves what to do.
        (Error::WantsLogin(_) | Error::Invalid(_), _) => finding,
        (_, false) => {
            let log = trial.logs.join(logs::FILE);
            let advice = format!("run the command by hand; its output is in {}", log.display());
            finding.with_advice(advice)
        }
        (_, true) => finding.with_advice("check that the address is right and reachable from this machine"),
    }
}

fn check_initialize(took: Duration) -> ConnectorFinding {
    let detail = format!("handshake and tool list took {} ms", took.as_millis());
    match took <= PROMPT {
        true => ConnectorFinding::pass("initialize", detail),
        false => ConnectorFinding::new("initialize", ConnectorVerdict::Fail, detail).with_advice(
            "answer within 2 s: load after the handshake, and install packages instead of fetching them at every start",
        ),
    }
}

async fn check_confinement(trial: &ConnectorTest, way: &ConnectorServices) -> ConnectorFinding {
    const ADVICE: &str = "run Munshi on Linux 6.2 or newer with Landlock";
    let doubtful = |detail: &str| {
        ConnectorFinding::new("confined", ConnectorVerdict::Doubtful, detail).with_advice(ADVICE)
    };
    match (trial.entry.command.is_empty(), way.confines(&trial.entry), way.confinement.is_whole) {
        (true, ..) => ConnectorFinding::skipped("confined", "not a program on this machine"),
        (_, true, true) => {
            let limited = "access is limited to its own folder and the paths in connectors.toml";
            let detail = match way.confinement.find_reachable_sockets().await.describe() {
                None => limited.to_owned(),
                Some(open) => format!("{limited}, except for {open}"),
            };
            ConnectorFinding::pass("confined", detail)
        }
        (_, true, false) => doubtful("reads are limited, but it can truncate files by path"),
        (_, false, _) => doubtful("it can read everything that Munshi can"),
    }
}

fn check_shutdown(took: Duration) -> ConnectorFinding {
    let detail = format!("exited {} ms after its standard input closed", took.as_millis());
    match took < ENDING {
        true => ConnectorFinding::pass("ends", detail),
        false => ConnectorFinding::new("ends", ConnectorVerdict::Fail, "the program had to be killed")
            .with_advice("exit when standard input closes, or on SIGTERM"),
    }
}
