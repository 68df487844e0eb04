//! What a pack brings, through a small real one: on both engines, through the whole pipeline.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod clockwork;
mod deliveries;
mod doors;
mod guide;
mod pack;
mod refused;
mod refused_doors;
mod rounds;
mod sealed_rows;
mod services;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use munshi_identity::{Person, Principal, Role, persons};
use munshi_lang::{Language, Locale, ScriptForm};
use munshi_pack::operation::{IdempotencyKey, OperationCaller, OperationErrorCode, PackCall, PackServices};
use munshi_pack::{
    AlertSeverity, HeartbeatTick, PackArgumentValues, PackCommandCall, PackCommandError, PackCommandOutput,
    PackPageBody, PackPageRequest, PackReading, PackRegistry, PackTurnContext,
};
use munshi_safety::acts::ActServices;
use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_safety::budget::{BudgetGovernor, BudgetSettings};
use munshi_safety::pipeline::{ActCaller, CallerAudience, ProposalMode, Taint};
use munshi_store::PlatformTx;
use munshi_store::tenants::{self, TENANTS};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_tools::{FailureHint, NoActJournal, ToolAnswer, ToolCallRequest, ToolDispatcher};
use munshi_types::tier::Channel;
use munshi_types::{Autonomy, Clock, Conduct, SystemRandom, Tenant, TenantId, Zone};
use serde_json::{Value, json};

use crate::deliveries::Starter;
use crate::pack::{Board, all};

struct Shop {
    house: PackRegistry,
    dispatcher: ToolDispatcher,
    tenant: TenantId,
    owner: Principal,
}

impl Shop {
    async fn open(test: &TestDb) -> Self {
        let house = PackRegistry::install_all(&[Arc::new(Board::new(test.clock.clone()))]).unwrap();
        let act_services = ActServices::new(
            test.ids.clone(),
            BudgetGovernor::new(BudgetSettings::default(), test.ids.clone()),
        );
        let registry = Arc::new(house.tools.clone());
        let dispatcher =
            ToolDispatcher::new(test.db.clone(), Arc::new(act_services), registry, test.clock.clone());
        let tenant = test.add_tenant("house").await;
        let person = Person { role: Some(Role::Owner), ..Person::new(&test.ids, "Asha", test.clock.now()) };
        let id = person.id;
        test.db.write(tenant, move |tx| persons::upsert(tx, &person)).await.unwrap();
        Self { house, dispatcher, tenant, owner: Principal::member(tenant, id, Role::Owner) }
    }

    fn want(&self, test: &TestDb, name: &str, arguments: Value) -> ToolCallRequest {
        let all: Vec<_> = "board.*".parse().into_iter().collect();
        ToolCallRequest {
            act: test.ids.next(),
            name: name.to_owned(),
            arguments,
            offered: true,
            wanted: ProposalMode::Act,
            caller: ActCaller {
                principal: self.owner.clone(),
                door: CallerAudience::Private,
                binding: None,
                run: None,
                session: None,
                zone: Zone::default(),
                language: None,
                background: false,
                key: None,
                ceiling: None,
            },
            agent: Arc::new(Conduct {
                autonomy: Autonomy::Act,
                read: all.clone(),
                write: all,
                ..Conduct::default()
            }),
            taint: Taint::default(),
            concerns: Vec::new(),
        }
    }

    async fn call(&self, test: &TestDb, name: &str, arguments: Value) -> ToolAnswer {
        let want = self.want(test, name, arguments);
        self.dispatcher.call(want, Arc::new(NoActJournal)).await.unwrap()
    }

    async fn pin(&self, test: &TestDb, title: &str, text: &str) -> Value {
        let answer = self.call(test, "pin_notice", json!({ "title": title, "text": text })).await;
        let ToolAnswer::Done(seen) = answer else { panic!("{answer:?}") };
        seen.value
    }

    fn scene(&self, test: &TestDb, message: &str) -> PackTurnContext {
        build_scene(test, self.owner.clone(), message)
    }

    fn visit(&self, test: &TestDb, rest: &str) -> PackPageRequest {
        PackPageRequest {
            principal: self.owner.clone(),
            rest: rest.to_owned(),
            query: Vec::new(),
            language: None,
            now: test.clock.now(),
            zone: Zone::default(),
            form: None,
        }
    }
}

fn build_scene(test: &TestDb, principal: Principal, message: &str) -> PackTurnContext {
    PackTurnContext {
        principal,
        door: CallerAudience::Private,
        binding: test.ids.next(),
        session: test.ids.next(),
        channel: Channel::Web,
        language: None,
        message: message.to_owned(),
        before: std::sync::Arc::default(),
        standing: std::sync::Arc::default(),
        tools: std::sync::Arc::default(),
        packs: munshi_types::TenantPacks::default(),
        now: test.clock.now(),
        zone: Zone::default(),
        query: Arc::default(),
    }
}

#[derive(Default)]
struct Heard(Vec<(Value, String)>);

impl PackCommandOutput for Heard {
    fn print_result(&mut self, value: &Value, words: &str) -> Result<(), PackCommandError> {
        self.0.push((value.clone(), words.to_owned()));
        Ok(())
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_jobs::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_safety::MIGRATIONS,
          munshi_pack::MIGRATIONS, pack::MIGRATIONS];

    async fn a_tool_hands_work_over_in_the_transaction_of_its_act(test: TestDb) {
        let shop = Shop::open(&test).await;
        let starter = Arc::new(Starter { ids: test.ids.clone(), begun: Mutex::default(), acts: Mutex::default() });
        shop.house.tool_runs.connect(starter.clone());
        let want = shop.want(&test, "remind_me", json!({ "title": "Rent", "text": "It is due" }));
        let act = want.act;
        let answer = shop.dispatcher.call(want, Arc::new(NoActJournal)).await.unwrap();
        assert!(matches!(answer, ToolAnswer::Done(_)), "{answer:?}");
        let begun = starter.begun.lock().unwrap().clone();
        assert_eq!((begun.len(), begun[0].kind.as_str(), &begun[0].input["title"]), (1, "board.remind", &json!("Rent")));
        assert_eq!(*starter.acts.lock().unwrap(), [act], "whoever the act is for is whom the run is for");
    }

    async fn its_tools_write_and_look_through_the_pipeline(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.pin(&test, "पानी", "No water on Monday").await;
        let answer = shop.call(&test, "find_notice", json!({ "words": "paani" })).await;
        let ToolAnswer::Done(seen) = answer else { panic!("{answer:?}") };
        assert_eq!((&seen.value["count"], &seen.value["notices"][0]["title"]), (&json!(1), &json!("पानी")));
        let english = Locale::new(Language::English, ScriptForm::Latin);
        let reply = shop.house.tools.get("pin_notice").unwrap().known.spec.reply.clone().unwrap();
        let said = shop.house.render_phrase(english, &reply, &[("title".to_owned(), "Water".to_owned())]).unwrap();
        assert_eq!(said, "I have put up the notice Water.");
    }

    async fn what_is_not_found_leads_to_the_search_also_when_asked_again(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.pin(&test, "Lift repair", "Tomorrow").await;
        let want = shop.want(&test, "read_notice", json!({ "title": "lift" }));
        for _ in 0..2 {
            let answer = shop.dispatcher.call(want.clone(), Arc::new(NoActJournal)).await.unwrap();
            let ToolAnswer::Failed { code, next: Some(next), .. } = &answer else { panic!("{answer:?}") };
            let (by, arguments) = next.search_call().unwrap();
            assert_eq!((code.as_str(), by.tool.as_str()), ("not_found", "find_notice"));
            assert_eq!(answer.render_for_model()["search"], json!({ "tool": "find_notice", "arguments": { "words": "lift" } }));
            let found = shop.call(&test, by.tool.as_str(), arguments).await;
            assert!(matches!(&found, ToolAnswer::Done(seen) if seen.value["count"] == 1), "{found:?}");
        }
    }

    async fn several_of_one_name_are_choices_that_pick_one_each(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.pin(&test, "Meeting", "Block A").await;
        test.clock.advance(Duration::from_secs(1));
        shop.pin(&test, "meeting", "Block B").await;
        let answer = shop.call(&test, "read_notice", json!({ "title": "Meeting" })).await;
        let ToolAnswer::Failed { code, next: Some(next), .. } = &answer else { panic!("{answer:?}") };
        let FailureHint::Choose { argument, choices } = next.as_ref() else { panic!("{next:?}") };
        assert_eq!((code.as_str(), argument.as_str(), choices.len()), ("several", "title", 2));
        assert_eq!(answer.render_for_model()["choices"]["of"][1]["detail"], "Block B");
        let picked = shop.call(&test, "read_notice", json!({ "title": choices[1].value })).await;
        assert!(matches!(&picked, ToolAnswer::Done(seen) if seen.value["text"] == "Block B"), "{picked:?}");
    }

    async fn its_context_reader_and_checks_are_asked(test: TestDb) {
        let shop = Shop::open(&test).await;
        let value = shop.pin(&test, "Water", "Monday").await;
        let scene = shop.scene(&test, "NOTICE: Water: Tuesday too");
        let Some(PackReading::Call { tool, arguments }) = shop.house.readers[0].read(&scene) else { panic!() };
        assert_eq!((tool.as_str(), &arguments["text"]), ("pin_notice", &json!("Tuesday too")));
        assert!(shop.house.readers[0].read(&shop.scene(&test, "good morning")).is_none());
        let (house, asked) = (shop.house.clone(), scene.clone());
        let seen = test.db.read(shop.tenant, move |tx| {
            let gathered = house.contexts[0].gather(tx, &asked)?;
            let before = house.checks[0].check_before_act(tx, &asked, "pin_notice", &arguments)?;
            let after = house.checks[0].check_after_act(tx, &asked, "pin_notice", &value)?;
            let gone = house.checks[0].check_after_act(tx, &asked, "pin_notice", &json!({ "notice": { "id": "0" } }))?;
            Ok::<_, munshi_store::Error>((gathered, before, after, gone))
        });
        let (gathered, before, after, gone) = seen.await.unwrap();
        assert_eq!(gathered.profile[0].as_str().trim(), "- Notices on the board: 1");
        assert_eq!((before[0].phrase.as_str(), after, gone.is_some()), ("board-again", None, true));
        let check = &shop.house.checks[0];
        assert!(check.check_reply(&scene, "It is on the board now.", &[])[0].replaces);
        assert!(check.check_reply(&scene, "It is on the board now.", &[json!({ "notice": {} })]).is_empty());
    }

    async fn its_heartbeat_page_and_command_read_its_own_tenant_alone(test: TestDb) {
        let shop = Shop::open(&test).await;
        let value = shop.pin(&test, "<b>Water</b>", "\"Monday\"").await;
        let id = value["notice"]["id"].as_str().unwrap().to_owned();
        let other = test.add_tenant("neighbour").await;
        for (days, alerts) in [(29, 0), (2, 1)] {
            test.clock.advance(Duration::from_secs(days * 86_400));
            let (house, beat) = (shop.house.clone(), HeartbeatTick { now: test.clock.now(), zone: Zone::default() });
            let told = test.db.read(shop.tenant, move |tx| house.heartbeats[0].what.collect_alerts(tx, &beat)).await.unwrap();
            assert_eq!(told.len(), alerts);
            assert!(told.iter().all(|alert| alert.key == id && alert.severity == AlertSeverity::Notice));
        }
        let (page, rest) = shop.house.find_page("board", "notices").unwrap();
        assert_eq!(rest, "");
        let (page, visit, one) = (page.clone(), shop.visit(&test, ""), shop.visit(&test, &id));
        let shown = test.db.read(shop.tenant, move |tx| Ok::<_, munshi_store::Error>((page.show(tx, &visit)?, page.show(tx, &one)?)));
        let (list, one) = shown.await.unwrap();
        let PackPageBody::Html(list) = list.unwrap().body else { panic!() };
        assert_eq!(list.as_str(), "<ul><li>&lt;b&gt;Water&lt;/b&gt;</li></ul>");
        assert_eq!(one.unwrap().title, "<b>Water</b>");
        assert_eq!(shop.house.find_page("board", &format!("/notices/{id}")).map(|(_, rest)| rest.to_owned()), Some(id));
        assert!(shop.house.find_page("board", "notice").is_none() && shop.house.find_page("other", "notices").is_none());
        let mut heard = Heard::default();
        let mut given = PackArgumentValues::default();
        given.add("words", "water");
        for tenant in [shop.tenant, other] {
            let call = PackCommandCall { db: &test.db, tenant, given: &given, now: test.clock.now(), ids: &test.ids, out: &mut heard };
            shop.house.commands[0].what.run(call).await.unwrap();
        }
        assert_eq!(heard.0, [(json!({ "count": 1 }), "Notices: 1".to_owned()), (json!({ "count": 0 }), "Notices: 0".to_owned())]);
        assert_eq!(test.db.read(other, |tx| all(tx).map(|known| known.len())).await.unwrap(), 0);
    }

    async fn its_operation_is_done_once_by_those_who_may_and_told(test: TestDb) {
        let shop = Shop::open(&test).await;
        let id = shop.pin(&test, "Water", "Monday").await["notice"]["id"].clone();
        let other = test.add_tenant("neighbour").await;
        let unpin = shop.house.operations[0];
        let call = |tenant, key: &str| PackCall {
            db: test.db.clone(),
            ids: test.ids.clone(),
            random: Arc::new(SystemRandom),
            now: test.clock.now(),
            caller: OperationCaller::machine(AuditActor::new(AuditActorKind::Operator, "asha")),
            tenant,
            idempotency: IdempotencyKey::new(Some(key.to_owned())),
            services: PackServices::default(),
        };
        let (own, others) = (find_tenant(&test, shop.tenant).await, find_tenant(&test, other).await);
        let input = json!({ "id": id });
        let missing = unpin.execute(&call(others, "one"), input.clone()).await.unwrap_err();
        assert_eq!(missing.code, OperationErrorCode::NotFound);
        let unknown = unpin.execute(&call(own.clone(), "one"), json!({ "name": 1 })).await.unwrap_err();
        assert_eq!(unknown.code, OperationErrorCode::Invalid);
        for _ in 0..2 {
            let done = unpin.execute(&call(own.clone(), "one"), input.clone()).await.unwrap();
            assert_eq!(done, json!({ "title": "Water" }));
        }
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'board.unpinned'";
        let told = test.db.read(shop.tenant, move |tx| tx.one(told, &[], |row| row.get::<i64>(0))).await.unwrap();
        assert_eq!(told, 1);
    }
}

async fn find_tenant(test: &TestDb, id: TenantId) -> Tenant {
    let read = move |tx: &mut PlatformTx<'_>| tenants::find(tx, id);
    test.db.platform(TENANTS).read(read).await.unwrap().unwrap()
}
