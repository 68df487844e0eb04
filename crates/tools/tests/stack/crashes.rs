//! kill -9 between intent and result, and between approval and act, for each kind of effect.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use munshi_safety::acts::ActState;
use munshi_safety::approvals::{self, ApprovalAnswerOutcome, ApprovalCoverage, ApprovalDecision as Said};
use munshi_store::{DatabaseAddress, Db, Migrations, StoreOptions};
use munshi_test_support::{DatabaseEngine, TestDb, memory_keyring, process};
use munshi_tools::{NoActJournal, ToolAnswer};
use munshi_types::{ActId, IdGenerator, SystemClock, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::stack::answers::answer_outcome;
use crate::stack::support::{Death, MIGRATIONS, Shop, World, notes};

/// What the child is to do before it dies.
#[derive(Serialize, Deserialize)]
struct Part {
    url: String,
    folder: PathBuf,
    tenant: TenantId,
    act: ActId,
    tool: String,
    /// `before`, `after`, or `approved`: dead as soon as the answer is stored.
    dies: String,
}

#[test]
fn the_child_acts_and_dies() {
    let Some(role) = process::role() else { return };
    let part: Part = serde_json::from_str(&role).unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let address: DatabaseAddress = part.url.parse().unwrap();
        let migrations = Migrations::new(&MIGRATIONS).unwrap();
        let options =
            StoreOptions { keyring: Some(memory_keyring(IdGenerator::system())), ..StoreOptions::default() };
        let db = Db::open(&address, &options, &migrations).await.unwrap();
        let death = match part.dies.as_str() {
            "before" => Death::Before,
            "after" => Death::After,
            _ => Death::Never,
        };
        let clock = Arc::new(SystemClock);
        let shop = Shop::of(db.clone(), part.tenant, clock, IdGenerator::system(), &part.folder, death).await;
        let mut want = shop.want(&part.tool, json!({ "text": "once" }));
        want.act = part.act;
        if part.dies == "approved" {
            let ToolAnswer::Waiting(approval) = shop.call(want).await else { panic!() };
            let (act_services, owner) = (shop.act_services.clone(), shop.owner.clone());
            let answered = db.write(part.tenant, move |tx| {
                let said = approvals::ApprovalAnswer {
                    who: &owner,
                    answer: Said::Yes,
                    shown: None,
                    covers: ApprovalCoverage::Act,
                    via: "test",
                    key: None,
                    source: munshi_safety::approvals::AnswerSource::Page,
                };
                approvals::answer(
                    tx,
                    &act_services,
                    approval.id,
                    &said,
                    munshi_types::Clock::now(&SystemClock),
                )
            });
            assert!(matches!(answered.await.unwrap(), ApprovalAnswerOutcome::Granted(_)));
            crate::stack::support::die();
        }
        shop.call(want).await;
    });
    panic!("the child outlived its part");
}

struct Scene {
    test: TestDb,
    shop: Shop,
    act: ActId,
}

/// Lets a child begin an act with this tool and die; then the world as a new process finds it.
async fn after_death(engine: DatabaseEngine, tool: &str, dies: &str) -> Scene {
    let test = TestDb::open(engine, &MIGRATIONS).await;
    let tenant = test.add_tenant("shop").await;
    let (folder, act) = (test.place.folder(), test.ids.next());
    let url = match engine {
        DatabaseEngine::Sqlite => format!("sqlite:{}", folder.join("munshi.db").display()),
        DatabaseEngine::Postgres => test.place.postgres_url("munshi_owner"),
    };
    let part =
        Part { url, folder: folder.clone(), tenant, act, tool: tool.to_owned(), dies: dies.to_owned() };
    let role = serde_json::to_string(&part).unwrap();
    let child = tokio::task::spawn_blocking(move || {
        process::build_child_command(concat!(module_path!(), "::the_child_acts_and_dies"), &role)
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap()
    });
    let output = child.await.unwrap();
    assert!(output.status.code().is_none(), "the child was not killed: {output:?}");
    // The child worked by the real clock; an hour later every lease is over.
    test.clock.set(munshi_types::Clock::now(&SystemClock).plus(Duration::from_secs(3600)));
    let shop =
        Shop::of(test.db.clone(), tenant, test.clock.clone(), test.ids.clone(), &folder, Death::Never).await;
    Scene { test, shop, act }
}

impl Scene {
    async fn sweep(&self) -> (u32, u32) {
        let swept = self.shop.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
        let again = self.shop.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
        assert_eq!(again, munshi_tools::ActSweepReport::default(), "a second sweep finds nothing");
        (swept.ended, swept.unknown)
    }

    async fn state(&self) -> Option<ActState> {
        self.shop.act(&self.test.db, self.act).await.map(|act| act.state)
    }

    fn effects(&self) -> usize {
        let keyed = World::at(&self.shop.folder, Death::Never, true).lines().len();
        keyed + World::at(&self.shop.folder, Death::Never, false).lines().len()
    }
}

/// Before or after its effect: the documented outcome of each kind.
async fn each_effect(engine: DatabaseEngine) {
    for dies in ["before", "after"] {
        for (tool, swept, state, effects) in [
            // Repeated under its key: once.
            ("book", (1, 0), ActState::Applied, 1),
            // Looked up, and repeated only where it had not happened: once.
            ("order", (1, 0), ActState::Applied, 1),
            // Nobody can tell: never repeated.
            ("fax", (0, 1), ActState::Unknown, usize::from(dies == "after")),
        ] {
            let scene = after_death(engine, tool, dies).await;
            assert_eq!(scene.state().await, Some(ActState::Intended), "{tool} {dies}");
            assert_eq!(scene.sweep().await, swept, "{tool} {dies}");
            assert_eq!(scene.state().await, Some(state), "{tool} {dies}");
            assert_eq!(scene.effects(), effects, "{tool} {dies}");
            if state == ActState::Unknown {
                assert!(matches!(scene.shop.resume(scene.act).await, ToolAnswer::Unknown { .. }));
                let said = if dies == "after" { Said::Yes } else { Said::No };
                let answered = answer_outcome(&scene.test, &scene.shop, said).await;
                assert!(
                    matches!(answered, ApprovalAnswerOutcome::Granted(_) | ApprovalAnswerOutcome::Refused(_)),
                    "{answered:?}"
                );
                let expected = if dies == "after" { ActState::Applied } else { ActState::Failed };
                assert_eq!(scene.state().await, Some(expected));
                assert_eq!(scene.effects(), effects, "an answer repeats nothing");
            }
        }
        // A read is simply done again.
        let scene = after_death(engine, "fetch", dies).await;
        assert_eq!(scene.sweep().await, (1, 0));
        assert_eq!(scene.state().await, Some(ActState::Applied));
        // A write of ours that did not commit left no trace, and can be proposed again.
        let scene = after_death(engine, "note", dies).await;
        assert_eq!(scene.state().await, None);
        assert_eq!(notes(&scene.test.db, scene.shop.tenant).await, 0);
        let mut want = scene.shop.want("note", json!({ "text": "once" }));
        want.act = scene.act;
        assert!(matches!(scene.shop.call(want.clone()).await, ToolAnswer::Done(_)));
        assert!(matches!(scene.shop.call(want).await, ToolAnswer::Done(_)));
        assert_eq!(notes(&scene.test.db, scene.shop.tenant).await, 1);
    }
}

/// Dead between the yes and the act: the yes is there, the act is done once when it is taken up.
async fn between_approval_and_act(engine: DatabaseEngine) {
    let scene = after_death(engine, "wipe", "approved").await;
    assert_eq!((scene.state().await, scene.effects()), (Some(ActState::Waiting), 0));
    // The yes was given by the real clock, an hour ago: it still holds.
    assert!(matches!(scene.shop.resume(scene.act).await, ToolAnswer::Done(_)));
    assert!(matches!(scene.shop.resume(scene.act).await, ToolAnswer::Done(_)));
    assert_eq!(scene.effects(), 1);
}

/// After a long stop the other side has forgotten the key, and what was meant may not be meant any more.
#[tokio::test(flavor = "multi_thread")]
async fn what_lay_too_long_is_not_repeated_even_under_its_key() {
    let scene = after_death(DatabaseEngine::Sqlite, "book", "before").await;
    scene.test.clock.advance(Duration::from_secs(7 * 3600));
    assert_eq!(scene.sweep().await, (0, 1));
    assert_eq!((scene.state().await, scene.effects()), (Some(ActState::Unknown), 0));
}

/// A policy that was tightened meanwhile counts.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_longer_open_is_not_repeated() {
    let scene = after_death(DatabaseEngine::Sqlite, "book", "after").await;
    let now = munshi_types::Clock::now(scene.test.clock.as_ref());
    scene.shop.set_policy(&scene.test.db, "most_autonomy = \"investigate\"\n", now).await;
    assert_eq!(scene.sweep().await, (0, 1));
    assert_eq!((scene.state().await, scene.effects()), (Some(ActState::Unknown), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_intent_and_result_on_sqlite() {
    each_effect(DatabaseEngine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_intent_and_result_on_postgres() {
    each_effect(DatabaseEngine::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_approval_and_act_on_sqlite() {
    between_approval_and_act(DatabaseEngine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_approval_and_act_on_postgres() {
    between_approval_and_act(DatabaseEngine::Postgres).await;
}
