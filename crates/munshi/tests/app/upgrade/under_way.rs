//! What the old process was doing when it died.

use std::time::{Duration, Instant};

use munshi_test_support::PATIENCE;
use serde_json::json;

use super::fixture::UpgradedServer;

pub(super) fn goes_on_by_itself(served: &UpgradedServer) {
    let upgraded = &served.upgraded;
    let ends = |name: &str, run: &str| served.until_run(name, upgraded.run_id(run), "done");
    // A sale was booked before the process died, and the person's next message waited behind it.
    ends("vik", "vik");
    ends("vik", "queued");
    let said = served.texts("vik", upgraded.run_id("vik"));
    assert_eq!(said.len(), 4, "two messages and an answer to each: {said:?}");
    // An order went out and nobody knows whether it arrived: it goes out again under the same key.
    ends("gita", "gita");
    is_repeated_once_under_its_key(served, "order");
    // What can be looked up is looked up, and what can't be is never repeated: a person is asked.
    ends("pari", "pari");
    assert_eq!(upgraded.calls_elsewhere("parcel").len(), 1);
    ends("firoz", "firoz");
    assert_eq!(upgraded.calls_elsewhere("fax").len(), 1);
    assert_eq!(served.until_asked("Firoz", "post_fax")["kind"], "outcome");
    // Its turn had ended and left it to itself; the result is told in a run of its own.
    until(served, "a late result", || served.texts("lata", upgraded.run_id("lata")).len() == 3);
    is_repeated_once_under_its_key(served, "slow");
    // A yes was given when nobody was there to go on.
    ends("dev", "dev");
    // Anchors that their webhook has not taken yet.
    until(served, "anchors", || upgraded.count_anchors_sent() > 0);
}

fn is_repeated_once_under_its_key(served: &UpgradedServer, tool: &str) {
    let calls = served.upgraded.calls_elsewhere(tool);
    let [first, second] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!((&second["key"], &second["new"]), (&first["key"], &json!(false)), "{calls:?}");
}

/// A turn of a tenant that was paused meanwhile.
pub(super) fn waits_while_its_tenant_is_paused(served: &UpgradedServer) {
    let run = served.upgraded.run_id("omar");
    let shown = served.send_as("omar", &format!("GET /v1/runs/{run}"), None);
    assert!(!shown.body.contains("\"done\"") && !shown.body.contains("\"halted\""), "{}", shown.body);
    served.upgraded.installation.json(&["tenant", "resume", "sharma"]);
    served.until_run("omar", run, "done");
}

fn until(served: &UpgradedServer, what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what} never came\n{}", served.server.log());
        std::thread::sleep(Duration::from_millis(50));
    }
}
