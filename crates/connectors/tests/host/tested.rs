//! `munshi connector test`: what the contract's checks find.

use std::time::Instant;

use munshi_connectors::conformance::{self, ConnectorTestReport, ConnectorVerdict, WriteTestMode};
use munshi_test_support::PATIENCE;

use crate::behaving::sqlite;
use crate::real::{everything, filesystem, python};
use crate::support::{Shop, odd};

fn verdict(report: &ConnectorTestReport, check: &str) -> ConnectorVerdict {
    let found = report.findings.iter().find(|finding| finding.check == check);
    found.unwrap_or_else(|| panic!("no {check} in {report:#?}")).verdict
}

/// The contract has two seconds for a start, which a busy machine may take for itself: it is tried until it has them.
async fn started_in_time(shop: &Shop, file: &str) -> ConnectorTestReport {
    let begun = Instant::now();
    loop {
        let report = conformance::test(&shop.trial(file, WriteTestMode::Tried)).await;
        if verdict(&report, "initialize") == ConnectorVerdict::Pass || begun.elapsed() > PATIENCE {
            return report;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_keeps_the_contract_passes() {
    let shop = Shop::open(sqlite().await, "").await;
    let file = odd("odd", "good", None)
        + "[odd.tools.look]\neffect = \"read\"\n[odd.tools.environment]\neffect = \"read\"\n\
           [odd.tools.raw]\neffect = \"read\"\n[odd.tools.book]\ntry = { text = \"a room\" }\n";
    let report = started_in_time(&shop, &file).await;
    assert!(report.passes(), "{report:#?}");
    assert_eq!(report.undeclared, 0);
    for check in [
        "initialize",
        "tools_list",
        "scopes",
        "dangerous",
        "dry_run",
        "idempotency_key",
        "usable",
        "healthcheck",
        "large_result",
        "idempotency",
        "unknown_tool",
        "cancelled",
        "steady",
        "ends",
    ] {
        assert_eq!(verdict(&report, check), ConnectorVerdict::Pass, "{check} in {report:#?}");
    }
    let report = conformance::test(&shop.trial(&odd("odd", "good", None), WriteTestMode::Never)).await;
    assert_eq!(verdict(&report, "tools_list"), ConnectorVerdict::Doubtful);
    assert_eq!(verdict(&report, "idempotency"), ConnectorVerdict::Skipped);
    assert_eq!(report.undeclared, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_with_transient_tools_writes_is_not_kept() {
    let shop = Shop::open(sqlite().await, "").await;
    let (log, plain) = (shop.folder.join("tested.logs").join("log"), odd("odd", "telling", None));
    conformance::test(&shop.trial(&plain, WriteTestMode::Never)).await;
    let kept = std::fs::read_to_string(&log).unwrap();
    assert!(kept.contains("called look"), "{kept}");
    std::fs::remove_file(&log).unwrap();
    let transient = plain + "[odd.tools.look]\neffect = \"read\"\ntransient = true\n";
    conformance::test(&shop.trial(&transient, WriteTestMode::Never)).await;
    let kept = std::fs::read_to_string(&log).unwrap();
    assert!(kept.contains("transient") && !kept.contains("called"), "{kept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_breaks_the_contract_is_named() {
    let shop = Shop::open(sqlite().await, "").await;
    let liar = conformance::test(&shop.trial(&odd("odd", "liar", None), WriteTestMode::Never)).await;
    assert_eq!(verdict(&liar, "scopes"), ConnectorVerdict::Fail);
    assert!(!liar.passes());
    let gone =
        conformance::test(&shop.trial("[x]\ncommand = [\"no-such-program\"]\n", WriteTestMode::Never)).await;
    assert_eq!(gone.findings.len(), 1);
    assert_eq!(verdict(&gone, "initialize"), ConnectorVerdict::Fail);
    let advice = gone.findings[0].advice.clone().unwrap();
    let log = shop.folder.join("tested.logs").join("log").display().to_string();
    assert!(advice.ends_with(&log), "where that is: {advice}");
    let away =
        conformance::test(&shop.trial("[x]\nurl = \"http://127.0.0.1:9/mcp\"\n", WriteTestMode::Never)).await;
    let detail = &away.findings[0].detail;
    assert!(detail.contains("can't connect: ") && !detail.contains("::"), "in words: {detail}");
    let advice = away.findings[0].advice.clone().unwrap();
    assert!(
        advice.contains("the address is right") && !advice.contains("command"),
        "there is none: {advice}"
    );
    let file = odd("odd", "ill", None) + "[odd.tools.book]\ntry = { text = \"a room\" }\n";
    let ill = conformance::test(&shop.trial(&file, WriteTestMode::Tried)).await;
    assert_eq!(verdict(&ill, "healthcheck"), ConnectorVerdict::Fail);
    assert_eq!(verdict(&ill, "idempotency"), ConnectorVerdict::Doubtful, "to fail twice alike shows nothing");
    let crash = conformance::test(&shop.trial(&odd("odd", "crash", None), WriteTestMode::Never)).await;
    assert_eq!(verdict(&crash, "unknown_tool"), ConnectorVerdict::Fail, "{crash:#?}");
    let marks = ["(\"", "{ ", "::"];
    let unreadable =
        |finding: &&conformance::ConnectorFinding| marks.iter().any(|mark| finding.detail.contains(mark));
    assert_eq!(crash.findings.iter().find(unreadable), None, "words for people alone");
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_of_others_can_be_tested_as_they_are() {
    let test = sqlite().await;
    let folder = test.place.folder().canonicalize().unwrap();
    let shop = Shop::open(test, "").await;
    let time = python("time", "mcp_server_time", &[]);
    for file in [everything(), filesystem(&folder), time] {
        let report = conformance::test(&shop.trial(&file, WriteTestMode::Never)).await;
        assert!(report.tools > 0, "{report:#?}");
        for check in ["usable", "healthcheck", "unknown_tool", "steady", "ends"] {
            assert_eq!(verdict(&report, check), ConnectorVerdict::Pass, "{check} in {report:#?}");
        }
    }
}
