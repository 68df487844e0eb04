//! The models: whether they can be used as the settings name them. Nothing is asked over the network.

use munshi_config::{Config, ConfigProblem};

use super::finding::DoctorFinding;
use crate::output::shown::count;
use crate::wiring::models::GatewayModels;

pub(super) fn examine(config: &Config) -> Vec<DoctorFinding> {
    let models = match GatewayModels::of(config) {
        Ok(models) => models,
        Err(problems) => {
            return problems.iter().map(|problem| finding(problem, DoctorFinding::fail)).collect();
        }
    };
    if models.warnings.is_empty() {
        let detail = match config.models.list.len() {
            0 => "offline only: no other is configured".to_owned(),
            others => format!("{} configured", count(others as u64, "model")),
        };
        return vec![DoctorFinding::ok("models", detail)];
    }
    models.warnings.iter().map(|warning| finding(warning, DoctorFinding::warn)).collect()
}

fn finding(
    problem: &ConfigProblem,
    level: fn(&'static str, String, String) -> DoctorFinding,
) -> DoctorFinding {
    let hint = problem.hint.clone().unwrap_or_else(|| "mend it and run `munshi doctor` again".to_owned());
    let text = problem.to_string();
    level("models", text.split("\n  hint: ").next().unwrap_or_default().to_owned(), hint)
}
