//! The settings: whether they can be read, and who else can read them.

use std::path::Path;

use munshi_config::{Config, Problems};

use super::finding::Finding;
use super::folder::is_open_to_others;

pub(super) fn broken(problems: &Problems) -> Vec<Finding> {
    let mut findings: Vec<Finding> = problems
        .iter()
        .map(|problem| {
            let text = problem.to_string();
            let detail = text.split("\n  hint: ").next().unwrap_or_default().to_owned();
            let hint =
                problem.hint.clone().unwrap_or_else(|| "mend it and run `munshi doctor` again".to_owned());
            Finding::fail("settings", detail, hint)
        })
        .collect();
    findings.push(Finding::warn("rest", "not looked at", "mend the settings first, then run this again"));
    findings
}

pub(super) fn examine(config: &Config, file: Option<&Path>) -> Vec<Finding> {
    let Some(file) = file else {
        return vec![Finding::ok("settings", "no file: defaults and variables only")];
    };
    let shown = file.display();
    if has_secret(config) && is_open_to_others(file) {
        let detail = format!("{shown} is good, but holds a secret that others on this machine can read");
        return vec![Finding::warn("settings", detail, format!("chmod 600 {shown}"))];
    }
    vec![Finding::ok("settings", format!("read {shown}"))]
}

/// Whether something is not shown: a password of the database, or what a model's server wants to see.
fn has_secret(config: &Config) -> bool {
    let url = config.store_url();
    config.store.owner_url.is_some()
        || url.to_string() != url.reveal()
        || config.models.iter().any(|model| model.key.is_some() || model.headers.is_some())
}
