//! The models: whether they can be used as the settings name them. Nothing is asked over the network.

use munshi_config::{Config, ConfigProblem};
use munshi_wiring::models::GatewayModels;

use super::finding::DoctorFinding;
use crate::output::formatting::format_count;

pub(super) fn examine(config: &Config) -> Vec<DoctorFinding> {
    let models = match GatewayModels::from_config(config) {
        Ok(models) => models,
        Err(problems) => {
            return problems.iter().map(|problem| finding(problem, DoctorFinding::fail)).collect();
        }
    };
    if models.warnings.is_empty() {
        let detail = match config.models.list.len() {
            0 => "offline only: no other model is configured".to_owned(),
            others => format!("{} configured", format_count(others as u64, "model")),
        };
        return vec![DoctorFinding::ok("models", detail)];
    }
    models.warnings.iter().map(|warning| finding(warning, DoctorFinding::warn)).collect()
}

fn finding(
    problem: &ConfigProblem,
    level: fn(&'static str, String, String) -> DoctorFinding,
) -> DoctorFinding {
    let hint = problem.hint.clone().unwrap_or_else(|| "fix it and run `munshi doctor` again".to_owned());
    let text = problem.to_string();
    level("models", text.split("\n  hint: ").next().unwrap_or_default().to_owned(), hint)
}
