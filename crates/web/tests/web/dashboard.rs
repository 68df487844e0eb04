//! The dashboard asks only for metrics that exist.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::web::support::{Running, get};

const DASHBOARD: &str = include_str!("../../../../docs/operations/dashboards/overview.json");

/// Counted by crates that this one does not know.
const OF_OTHERS: [&str; 12] = [
    "munshi_jobs_ready",
    "munshi_jobs_running",
    "munshi_jobs_dead",
    "munshi_jobs_finished_total",
    "munshi_store_units_total",
    "munshi_store_commit_seconds_bucket",
    "munshi_turns_total",
    "munshi_turn_seconds_bucket",
    "munshi_turns_degraded_total",
    "munshi_turn_violations_total",
    "munshi_turn_tokens_total",
    "munshi_turn_cost_microdollars_total",
];

/// Every `munshi_…` word of the text.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("munshi_")).collect()
}

#[tokio::test]
async fn every_metric_of_the_dashboard_exists_and_every_one_of_ours_is_shown() {
    let server = Running::start().await;
    get(server.address, "/healthz", "").await;
    let text = get(server.address, "/metrics", "").await;
    let samples: Vec<&str> = text.text().lines().filter(|line| !line.starts_with('#')).collect();
    let served: BTreeSet<&str> = samples.iter().flat_map(|line| names(line)).collect();

    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let asked: String = dashboard["panels"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|panel| panel["targets"].as_array().into_iter().flatten())
        .map(|target| format!("{} ", target["expr"].as_str().unwrap()))
        .collect();
    let asked = names(&asked);
    for name in &asked {
        assert!(served.contains(name) || OF_OTHERS.contains(name), "nobody counts {name}");
    }
    for name in served.iter().filter(|name| !name.ends_with("_sum") && !name.ends_with("_count")) {
        assert!(asked.contains(name), "{name} is on no panel");
    }
}
