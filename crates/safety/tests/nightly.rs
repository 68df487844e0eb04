//! What is done by the clock: verifying, anchoring, sending anchors on, and telling when something is wrong.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{anchoring, append, by_force, by_force_keeping_triggers, chain, entries, filled};
use async_trait::async_trait;
use munshi_jobs::{JobQueue, JobRegistry, JobRunner, JobRunnerOptions};
use munshi_safety::audit::anchors::{AnchorService, AnchorTrigger, AnchorWebhook};
use munshi_safety::audit::{self, AuditEntry, ChainHash};
use munshi_store::MIGRATIONS;
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{SystemRandom, TenantId};
use serde_json::Value;

/// Refuses the first letter and keeps the others.
#[derive(Debug, Default)]
struct Letterbox {
    tries: AtomicUsize,
    letters: Mutex<Vec<String>>,
}

#[async_trait]
impl AnchorWebhook for Letterbox {
    async fn send(&self, body: &str) -> Result<(), String> {
        if self.tries.fetch_add(1, Ordering::SeqCst) == 0 {
            return Err("not now".to_owned());
        }
        self.letters.lock().unwrap().push(body.to_owned());
        Ok(())
    }
}

async fn runner(test: &TestDb, anchoring: AnchorService) -> JobRunner {
    let mut registry = JobRegistry::default();
    audit::install(&mut registry, &Arc::new(anchoring));
    audit::set_schedules(&test.db, test.clock.as_ref()).await.unwrap();
    let queue = JobQueue::new(test.clock.clone(), test.ids.clone());
    JobRunner::new(test.db.clone(), &queue, Arc::new(SystemRandom), registry, JobRunnerOptions::default())
}

/// Lets a night go by, minute by minute where it matters.
async fn a_night(test: &TestDb, runner: &JobRunner) {
    for _ in 0..3 {
        test.clock.advance(Duration::from_secs(8 * 3600));
        runner.drain().await.unwrap();
        test.clock.advance(Duration::from_secs(120));
        runner.drain().await.unwrap();
    }
}

fn of_event<'e>(entries: &'e [AuditEntry], event: &str) -> Vec<&'e AuditEntry> {
    entries.iter().filter(|entry| entry.event == event).collect()
}

on_both_engines! {
    with [MIGRATIONS, munshi_jobs::MIGRATIONS, munshi_safety::MIGRATIONS];

    async fn every_night_all_is_verified_and_anchored(test: TestDb) {
        let tenant = chain(&test, "shop", 3).await;
        let runner = runner(&test, anchoring(&test, 1000)).await;
        a_night(&test, &runner).await;
        let platform = entries(&test, TenantId::PLATFORM).await;
        let verified = of_event(&platform, "audit.verified");
        assert_eq!(verified.len(), 1, "{platform:?}");
        let anchors = anchoring(&test, 1000).anchors().await.unwrap();
        assert_eq!(anchors.flaw, None);
        assert!(anchors.list.iter().any(|anchor| (anchor.tenant, anchor.seq) == (tenant, 3)), "{anchors:?}");
        a_night(&test, &runner).await;
        let platform = entries(&test, TenantId::PLATFORM).await;
        assert_eq!(of_event(&platform, "audit.verified").len(), 2);
        assert_eq!(of_event(&platform, "audit.broken").len(), 0);
    }

    async fn what_is_found_at_night_is_written_down_and_not_anchored(test: TestDb) {
        let (broken, sound) = (chain(&test, "broken", 4).await, chain(&test, "sound", 2).await);
        let text = "UPDATE audit_entries SET subject = 'x' WHERE seq = 2 AND tenant_id = $1";
        by_force(&test, &filled(text, &[support::uuid(&test, broken)]));
        let runner = runner(&test, anchoring(&test, 1000)).await;
        a_night(&test, &runner).await;
        let platform = entries(&test, TenantId::PLATFORM).await;
        let found = of_event(&platform, "audit.broken");
        let payload: Value = serde_json::from_str(&found[0].payload).unwrap();
        assert_eq!(payload["broken"][0]["tenant"], broken.to_string());
        assert_eq!(payload["broken"][0]["finding"]["seq"], 2);
        let anchors = anchoring(&test, 1000).anchors().await.unwrap().list;
        assert!(anchors.iter().any(|anchor| anchor.tenant == sound));
        assert!(!anchors.iter().any(|anchor| anchor.tenant == broken));
    }

    async fn a_chain_that_has_grown_is_anchored_within_a_minute(test: TestDb) {
        let tenant = chain(&test, "shop", 9).await;
        let runner = runner(&test, anchoring(&test, 10)).await;
        let anchored = async || {
            let list = anchoring(&test, 10).anchors().await.unwrap().list;
            list.iter().filter(|anchor| anchor.tenant == tenant).map(|anchor| anchor.seq).collect::<Vec<_>>()
        };
        test.clock.advance(Duration::from_secs(61));
        runner.drain().await.unwrap();
        assert_eq!(anchored().await, [0; 0]);
        append(&test, tenant, 10).await.unwrap();
        for _ in 0..3 {
            test.clock.advance(Duration::from_secs(61));
            runner.drain().await.unwrap();
        }
        assert_eq!(anchored().await, [10], "once, until there are ten more");
    }

    async fn a_chain_that_is_broken_is_not_anchored_by_the_minute(test: TestDb) {
        let (tenant, sound) = (chain(&test, "shop", 10).await, chain(&test, "sound", 10).await);
        let runner = runner(&test, anchoring(&test, 10)).await;
        let anchored = async |tenant: TenantId| {
            let list = anchoring(&test, 10).anchors().await.unwrap().list;
            list.iter().filter(|anchor| anchor.tenant == tenant).map(|anchor| anchor.seq).collect::<Vec<_>>()
        };
        let minute = async || {
            test.clock.advance(Duration::from_secs(61));
            runner.drain().await.unwrap();
        };
        minute().await;
        assert_eq!((anchored(tenant).await, anchored(sound).await), (vec![10], vec![10]));
        // The entry that was anchored last, and one after it.
        for bad in [10, 15] {
            for number in 11..=20 {
                append(&test, tenant, number).await.unwrap();
                append(&test, sound, number).await.unwrap();
            }
            let text = "UPDATE audit_entries SET subject = $3 WHERE seq = $2 AND tenant_id = $1";
            let values = |word: &str| [support::uuid(&test, tenant), bad.to_string(), format!("'{word}'")];
            by_force_keeping_triggers(&test, &filled(text, &values("x")));
            minute().await;
            assert_eq!(anchored(tenant).await, [10], "entry {bad} was changed");
            by_force_keeping_triggers(&test, &filled(text, &values("ledger.add")));
        }
        minute().await;
        assert_eq!(anchored(tenant).await, [10, 30], "mended, it is anchored again");
        assert_eq!(anchored(sound).await, [10, 20, 30]);
    }

    async fn anchors_are_sent_on_until_they_are_taken(test: TestDb) {
        let tenant = chain(&test, "shop", 2).await;
        let letters = Arc::new(Letterbox::default());
        let anchoring = anchoring(&test, 1000).with_webhook(Some(letters.clone()));
        let made = anchoring.anchor(AnchorTrigger::Moved, &[]).await.unwrap();
        let runner = runner(&test, anchoring).await;
        runner.drain().await.unwrap();
        assert!(letters.letters.lock().unwrap().is_empty(), "it was refused");
        test.clock.advance(Duration::from_secs(30));
        runner.drain().await.unwrap();
        let body: Value = serde_json::from_str(&letters.letters.lock().unwrap()[0]).unwrap();
        let anchor = &body["anchors"][0];
        assert_eq!((&anchor["tenant"], &anchor["seq"]), (&tenant.to_string().into(), &2.into()));
        assert_eq!(anchor["hash"].as_str().unwrap().parse::<ChainHash>().unwrap(), made[0].hash);
        assert_eq!(anchor["link"], made[0].link.to_string());
    }
}
