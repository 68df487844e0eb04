//! An installation of an earlier version, killed in the middle of its work: after the upgrade everything in it goes on.
//!
//! `tests/fixtures/upgrade/README.md` says how it was made and what is in it. Names of types and fields have changed since; names in
//! stored JSON must not. A renamed field with a default would load a tainted run as a clean one.

mod fixture;
mod killed;
mod planted;
mod sealed;
mod stored;
mod under_way;
mod waiting;

use std::time::{Duration, Instant};

use munshi_test_support::{DatabaseEngine, PATIENCE};
use serde_json::json;

use fixture::{UpgradedInstallation, UpgradedServer};

fn everything_goes_on(engine: DatabaseEngine) {
    let upgraded = UpgradedInstallation::copy(engine);
    let migrated = upgraded.installation.json(&["migrate"]);
    assert!(migrated.to_string().contains("0046_key_parents"), "{migrated}");
    stored::is_all_there(&upgraded);
    sealed::is_plain_before(&upgraded);

    let served = upgraded.serve();
    stored::lets_everybody_in(&served);
    under_way::goes_on_by_itself(&served);
    under_way::waits_while_its_tenant_is_paused(&served);
    waiting::is_still_asked_where_others_words_were_read(&served);
    waiting::is_done_once_after_a_yes(&served);
    waiting::is_answered_in_the_conversation(&served);
    waiting::takes_a_clients_result(&served);
    comes_to_rest(&served);
    sealed::is_sealed_while_served(&served);
}

/// In the end everything was done once, and nothing is held.
fn comes_to_rest(served: &UpgradedServer) {
    let upgraded = &served.upgraded;
    wait_until_quiet(served);
    let entries = [
        "credit_given 500.00 Ramesh Kumar",
        "credit_given 700.00 Ramesh Patel",
        "expense 107.00 milk",
        "expense 118.00 oil",
        "expense 129.00 paper",
        "expense 40.00 chai",
        "expense 41.00 tea",
        "expense 52.00 rent",
        "expense 60.00 chai",
        "expense 63.00 ink",
        "expense 74.00 rope",
        "expense 85.00 paint",
        "expense 96.00 salt",
        "payment_received 200.00 Ramesh Kumar",
        "sale 1200.00",
        "sale 1250.00",
        "sale 15000.00",
        "sale 16000.00",
        "stock_in 0.00 soap 12",
        "stock_in 0.00 soap 30",
    ];
    assert_eq!(upgraded.entries(), entries);
    assert_eq!(stored::count_reservations(upgraded), 0);
    stored::is_dead_letter_listed(upgraded);
    stored::is_sound(upgraded);
}

fn wait_until_quiet(served: &UpgradedServer) {
    let began = Instant::now();
    loop {
        let runs = served.send_as("asha", "GET /v1/runs?limit=100", None).json();
        assert_eq!(runs["next"], json!(null), "one page has them all");
        let mut open = runs["items"].as_array().unwrap().iter().filter(|run| run["ended_at"].is_null());
        let Some(run) = open.next() else { return };
        assert!(began.elapsed() < PATIENCE, "{run} never ends\n{}", served.server.log());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn everything_goes_on_on_sqlite() {
    everything_goes_on(DatabaseEngine::Sqlite);
}

#[test]
fn everything_goes_on_on_postgres() {
    everything_goes_on(DatabaseEngine::Postgres);
}
