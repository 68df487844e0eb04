//! The settings: whether they can be read, and who else can read them.

use std::path::Path;

use munshi_config::{Config, ConfigProblems};

use super::finding::DoctorFinding;
use super::folder::is_open_to_others;

pub(super) fn report_problems(problems: &ConfigProblems) -> Vec<DoctorFinding> {
    let mut findings: Vec<DoctorFinding> = problems
        .iter()
        .map(|problem| {
            let text = problem.to_string();
            let detail = text.split("\n  hint: ").next().unwrap_or_default().to_owned();
            let hint =
                problem.hint.clone().unwrap_or_else(|| "fix it and run `munshi doctor` again".to_owned());
            DoctorFinding::fail("settings", detail, hint)
        })
        .collect();
    findings.push(DoctorFinding::warn(
        "rest",
        "not checked",
        "fix the settings first, then run `munshi doctor` again",
    ));
    findings
}

/// What to do about a proxy whose word is not taken.
pub const NAME_PROXY: &str =
    "set web.proxies to the proxy's address, which is 127.0.0.1 if it runs on this machine";

pub(super) fn examine(config: &Config, file: Option<&Path>) -> Vec<DoctorFinding> {
    let mut findings = check_file(config, file);
    findings.extend(check_proxies(config));
    findings
}

/// Munshi itself speaks no TLS, and this machine alone reaches a loopback address: others come through a proxy.
fn check_proxies(config: &Config) -> Option<DoctorFinding> {
    let url = config.server.public_url.as_ref()?.reveal();
    let is_behind = url.starts_with("https://") || config.server.listen.ip().is_loopback();
    let is_unnamed = is_behind && config.web.proxies.is_empty();
    let detail =
        format!("{url} is behind a proxy missing from web.proxies: all clients count as one address");
    is_unnamed.then(|| DoctorFinding::warn("proxies", detail, NAME_PROXY))
}

fn check_file(config: &Config, file: Option<&Path>) -> Vec<DoctorFinding> {
    let Some(file) = file else {
        return vec![DoctorFinding::ok("settings", "no file: defaults and variables only")];
    };
    let shown = file.display();
    if has_secret(config) && is_open_to_others(file) {
        let detail = format!("{shown} contains a secret and is readable by other users");
        return vec![DoctorFinding::warn("settings", detail, format!("chmod 600 {shown}"))];
    }
    vec![DoctorFinding::ok("settings", format!("read {shown}"))]
}

/// Whether something is not shown: a password of the database, or what a model's server wants to see.
fn has_secret(config: &Config) -> bool {
    let url = config.store_url();
    config.store.owner_url.is_some()
        || url.to_string() != url.reveal()
        || config.models.iter().any(|model| model.key.is_some() || model.headers.is_some())
}
