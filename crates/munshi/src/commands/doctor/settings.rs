//! The settings: whether they can be read, and who else can read them.

use std::path::Path;

use munshi_config::{Config, ConfigProblems};

use super::finding::DoctorFinding;
use super::folder::is_open_to_others;

pub(super) fn broken(problems: &ConfigProblems) -> Vec<DoctorFinding> {
    let mut findings: Vec<DoctorFinding> = problems
        .iter()
        .map(|problem| {
            let text = problem.to_string();
            let detail = text.split("\n  hint: ").next().unwrap_or_default().to_owned();
            let hint =
                problem.hint.clone().unwrap_or_else(|| "mend it and run `munshi doctor` again".to_owned());
            DoctorFinding::fail("settings", detail, hint)
        })
        .collect();
    findings.push(DoctorFinding::warn(
        "rest",
        "not looked at",
        "mend the settings first, then run this again",
    ));
    findings
}

/// What to do about a proxy whose word is not taken.
pub(super) const NAME_PROXY: &str =
    "set web.proxies to the proxy's address: 127.0.0.1 where it runs on this machine";

pub(super) fn examine(config: &Config, file: Option<&Path>) -> Vec<DoctorFinding> {
    let mut findings = about_file(config, file);
    findings.extend(about_proxies(config));
    findings
}

/// Munshi itself speaks no TLS, and this machine alone reaches a loopback address: others come through a proxy.
fn about_proxies(config: &Config) -> Option<DoctorFinding> {
    let url = config.server.public_url.as_ref()?.reveal();
    let is_behind = url.starts_with("https://") || config.server.listen.ip().is_loopback();
    let is_unnamed = is_behind && config.web.proxies.is_empty();
    let detail =
        format!("people open {url} through a proxy that web.proxies does not name: all count as one address");
    is_unnamed.then(|| DoctorFinding::warn("proxies", detail, NAME_PROXY))
}

fn about_file(config: &Config, file: Option<&Path>) -> Vec<DoctorFinding> {
    let Some(file) = file else {
        return vec![DoctorFinding::ok("settings", "no file: defaults and variables only")];
    };
    let shown = file.display();
    if has_secret(config) && is_open_to_others(file) {
        let detail = format!("{shown} is good, but holds a secret that others on this machine can read");
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
