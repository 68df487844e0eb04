//! Nobody answers in time: somebody above is asked, once, and then the act is dropped.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use munshi_identity::{Person, Principal, Role, persons};
use munshi_safety::acts::{ActDecision, ActState};
use munshi_safety::approvals::{
    self, Approval, ApprovalAnswerOutcome, ApprovalCoverage, ApprovalDecision as Said, ApprovalExpiry,
    ApprovalExpiryOutcome,
};
use munshi_safety::pipeline::ActConcern;
use munshi_store::Tx;
use munshi_store::tenants::{TENANTS, set_status};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_tools::{ActJournal, ActSweepReport, NoActJournal, ToolAnswer};
use munshi_types::{Clock, PersonId, TenantStatus};
use serde_json::json;

use crate::stack::support::{MIGRATIONS, Shop, events};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// A turn that remembers what it was told.
#[derive(Default)]
struct Told(Mutex<Vec<ApprovalExpiry>>);

impl ActJournal for Told {
    fn record_decision(&self, _: &mut Tx<'_>, _: &ActDecision) -> munshi_store::Result<()> {
        Ok(())
    }

    fn record_answer(&self, _: &mut Tx<'_>, _: &ToolAnswer) -> munshi_store::Result<()> {
        Ok(())
    }

    fn record_expiry(&self, _: &mut Tx<'_>, expiry: &ApprovalExpiry) -> munshi_store::Result<()> {
        self.0.lock().unwrap().push(expiry.clone());
        Ok(())
    }
}

impl Told {
    fn last(&self) -> ApprovalExpiry {
        self.0.lock().unwrap().last().unwrap().clone()
    }
}

async fn hire(shop: &Shop, test: &TestDb, name: &'static str, role: Role) -> Principal {
    test.clock.advance(Duration::from_secs(1));
    let (ids, now) = (shop.ids.clone(), test.clock.now());
    let hired = test.db.write(shop.tenant, move |tx| -> Result<Principal, munshi_store::Error> {
        let person = Person { role: Some(role), ..Person::new(&ids, name, now) };
        persons::upsert(tx, &person)?;
        Ok(person.principal(tx))
    });
    hired.await.unwrap()
}

/// Waits for an approver, or for whoever asked where only a check found something.
async fn waiting(shop: &Shop, name: &str, who: &Principal) -> Approval {
    let mut want = shop.want(name, json!({ "text": "a" }));
    want.caller.principal = who.clone();
    if name == "note" {
        want.concerns = vec![ActConcern { phrase: "ask-large-amount".to_owned(), slots: Vec::new() }];
    }
    match shop.call(want).await {
        ToolAnswer::Waiting(approval) => *approval,
        other => panic!("not waiting: {other:?}"),
    }
}

async fn yes(shop: &Shop, test: &TestDb, approval: &Approval, who: &Principal) -> ApprovalAnswerOutcome {
    let (act_services, id, who, now) =
        (shop.act_services.clone(), approval.id, who.clone(), test.clock.now());
    let answered = test.db.write(shop.tenant, move |tx| {
        let said = approvals::ApprovalAnswer {
            who: &who,
            answer: Said::Yes,
            shown: None,
            covers: ApprovalCoverage::Act,
            via: "test",
            key: None,
            source: munshi_safety::approvals::AnswerSource::Page,
        };
        approvals::answer(tx, &act_services, id, &said, now)
    });
    answered.await.unwrap()
}

async fn sweep(shop: &Shop, journal: &Arc<Told>) -> (u32, u32) {
    let ActSweepReport { escalated, expired, .. } = shop.dispatcher.sweep(journal.clone()).await.unwrap();
    (escalated, expired)
}

fn ids(people: &[&Principal]) -> Vec<PersonId> {
    people.iter().map(|who| who.person.unwrap()).collect()
}

on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    async fn the_owner_is_asked_when_no_admin_answers_and_then_it_is_dropped(test: TestDb) {
        let shop = Shop::open(&test).await;
        let admin = hire(&shop, &test, "Meena", Role::Admin).await;
        let (approval, told) = (waiting(&shop, "wipe", &shop.staff).await, Arc::new(Told::default()));
        test.clock.advance(DAY - Duration::from_secs(1));
        assert_eq!(sweep(&shop, &told).await, (0, 0), "there is time yet");
        test.clock.advance(Duration::from_secs(1));
        assert_eq!(sweep(&shop, &told).await, (1, 0));
        let first = told.last();
        assert_eq!(first.outcome, ApprovalExpiryOutcome::Escalated(ids(&[&shop.owner])));
        assert_eq!((first.asked, first.approval.asked_by), (ids(&[&admin]), shop.staff.person));
        assert_eq!((first.approval.act, first.approval.expires_at), (approval.act, test.clock.now().plus(DAY)));
        assert_eq!(first.approval.escalated_to, Some(ids(&[&shop.owner])));
        assert_eq!(first.approval.escalated_at, Some(test.clock.now()));
        assert_eq!(sweep(&shop, &told).await, (0, 0), "once");
        assert_eq!(shop.act(&test.db, approval.act).await.unwrap().state, ActState::Waiting);
        test.clock.advance(DAY);
        assert_eq!(sweep(&shop, &told).await, (0, 1));
        let last = told.last();
        assert_eq!((last.outcome, last.asked), (ApprovalExpiryOutcome::Dropped, ids(&[&admin, &shop.owner])));
        assert_eq!(last.approval.state, approvals::ApprovalStatus::Expired);
        assert!(matches!(shop.resume(approval.act).await, ToolAnswer::Dropped { .. }));
        assert_eq!(sweep(&shop, &told).await, (0, 0));
        assert_eq!(told.0.lock().unwrap().len(), 2);
        let told = events(&test.db, shop.tenant).await;
        assert_eq!(told, ["approval.asked", "act.rehearsed", "approval.escalated", "approval.expired"]);
    }

    async fn a_yes_in_the_second_period_counts(test: TestDb) {
        let (shop, told) = (Shop::open(&test).await, Arc::new(Told::default()));
        let approval = waiting(&shop, "note", &shop.staff).await;
        test.clock.advance(DAY);
        assert!(matches!(yes(&shop, &test, &approval, &shop.staff).await, ApprovalAnswerOutcome::Expired));
        assert_eq!(sweep(&shop, &told).await, (1, 0));
        let first = told.last();
        assert_eq!((first.asked, first.outcome), (ids(&[&shop.staff]), ApprovalExpiryOutcome::Escalated(ids(&[&shop.owner]))));
        test.clock.advance(DAY / 2);
        assert!(matches!(yes(&shop, &test, &approval, &shop.owner).await, ApprovalAnswerOutcome::Granted(_)));
        assert!(matches!(shop.resume(approval.act).await, ToolAnswer::Done(_)));
        test.clock.advance(DAY * 2);
        assert_eq!(sweep(&shop, &told).await, (0, 0));
    }

    async fn owners_have_nobody_above_and_an_unused_yes_goes_nowhere(test: TestDb) {
        let (shop, told) = (Shop::open(&test).await, Arc::new(Told::default()));
        let own = waiting(&shop, "wipe", &shop.owner).await;
        let granted = waiting(&shop, "note", &shop.staff).await;
        assert!(matches!(yes(&shop, &test, &granted, &shop.staff).await, ApprovalAnswerOutcome::Granted(_)));
        test.clock.advance(DAY);
        assert_eq!(sweep(&shop, &told).await, (0, 2));
        for approval in [own, granted] {
            assert_eq!(shop.act(&test.db, approval.act).await.unwrap().state, ActState::Dropped);
        }
    }

    async fn several_above_are_asked_with_the_owner_first(test: TestDb) {
        let (shop, told) = (Shop::open(&test).await, Arc::new(Told::default()));
        let admin = hire(&shop, &test, "Meena", Role::Admin).await;
        let second = hire(&shop, &test, "Latha", Role::Owner).await;
        waiting(&shop, "note", &shop.staff).await;
        test.clock.advance(DAY);
        assert_eq!(sweep(&shop, &told).await, (1, 0));
        assert_eq!(told.last().outcome, ApprovalExpiryOutcome::Escalated(ids(&[&shop.owner, &second, &admin])));
    }

    async fn what_waits_in_a_paused_tenant_waits_with_it_and_an_archived_one_asks_nobody(test: TestDb) {
        let (shop, told) = (Shop::open(&test).await, Arc::new(Told::default()));
        let tenant = shop.tenant;
        for _ in 0..2 {
            waiting(&shop, "note", &shop.staff).await;
        }
        test.clock.advance(DAY);
        for (status, swept) in [(TenantStatus::Paused, (0, 0)), (TenantStatus::Archived, (0, 2))] {
            test.db.platform(TENANTS).write(move |tx| munshi_test_support::administer_platform(tx, |tx| set_status(tx, tenant, status))).await.unwrap();
            assert_eq!(sweep(&shop, &told).await, swept, "{status:?}");
        }
    }

    async fn two_sweeps_at_once_escalate_once(test: TestDb) {
        let shop = Shop::open(&test).await;
        waiting(&shop, "note", &shop.staff).await;
        test.clock.advance(DAY);
        let sweep = || shop.dispatcher.sweep(Arc::new(NoActJournal));
        let (one, other) = tokio::join!(sweep(), sweep());
        assert_eq!(one.unwrap().escalated + other.unwrap().escalated, 1);
        let told = events(&test.db, shop.tenant).await;
        assert_eq!(told.iter().filter(|event| *event == "approval.escalated").count(), 1);
    }
}
