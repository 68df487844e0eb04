//! Work on a person's behalf: begun by a tool, by an operation and by other such work; with their rights of the moment, and
//! counted as one conversation.

use std::sync::Arc;
use std::time::Duration;

use munshi_agent::background::NewBackgroundRun;
use munshi_conversations::RunState;
use munshi_conversations::runs::RunCause;
use munshi_identity::keys::{self, ApiCaller, KeyCeiling, KeyMaker, KeySpeaker, KeySubject, NewApiKey};
use munshi_identity::{Principal, Role, persons};
use munshi_pack::operation::{OperationCaller, PackServices};
use munshi_pack::{NewPackRun, PackRunCause, RunDelegator, StepOutcome};
use munshi_safety::budget::BudgetSettings;
use munshi_safety::pipeline::{ActCaller, CallerAudience, ProposalMode, Taint};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{PlatformTx, Tx, params};
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::{TestDb, administer, wait_until};
use munshi_tools::{NoActJournal, ToolAnswer, ToolCallRequest};
use munshi_types::{
    Autonomy, Conduct, IdGenerator, PersonId, RunId, ScopeGlob, SystemRandom, TenantStatus, Zone,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::turns::support::{Plan, Shop, arguments};
use crate::turns::work::{begin, find, house, pending, result, runner, runner_of, steps};

fn plan() -> Plan {
    let plan = Plan { house: house(None), ..Plan::default() };
    Plan { agent: plan.agent.replace("\"count\"", "\"count\", \"leave_work\""), ..plan }
}

/// A turn in which the model hands over work of these steps.
fn hands_over(input: &Value) -> [ScriptedTurn; 2] {
    [ScriptedTurn::call("leave_work", &arguments(&input.to_string())), ScriptedTurn::text("I am on it.")]
}

async fn open(test: &TestDb, input: &Value) -> Shop {
    Shop::open_with(test, hands_over(input), plan()).await
}

/// The run that the tool began.
async fn handed_over(shop: &Shop) -> RunId {
    let sql = "SELECT id FROM runs WHERE tenant_id = $1 AND lane = 'background' AND parent_id IS NULL";
    shop.db.read(shop.tenant, move |tx| tx.one(sql, params![], |row| row.get(0))).await.unwrap()
}

fn delegator(person: PersonId) -> RunDelegator {
    let (binding, session, key, ceiling) = (None, None, None, None);
    RunDelegator { person, door: CallerAudience::Work, binding, session, key, ceiling }
}

async fn delegate_as(
    shop: &Shop,
    kind: &str,
    by: RunDelegator,
    input: Value,
) -> munshi_conversations::Result<RunId> {
    let new = NewBackgroundRun { kind: kind.to_owned(), cause: RunCause::Operation, cause_key: None, input };
    let run_queue = shop.engine.run_starter();
    shop.db.write(shop.tenant, move |tx| run_queue.delegate(tx, &new, &by).map(|begun| begun.run)).await
}

async fn delegate(shop: &Shop, person: PersonId, input: Value) -> RunId {
    delegate_as(shop, "sample.listed", delegator(person), input).await.unwrap()
}

async fn change(shop: &Shop, person: PersonId, change: impl FnOnce(&mut persons::Person) + Send + 'static) {
    let unit = move |tx: &mut Tx<'_>| -> munshi_store::Result<()> {
        let mut person = persons::find(tx, person)?.unwrap();
        change(&mut person);
        persons::upsert(tx, &person)
    };
    shop.db.write(shop.tenant, unit).await.unwrap();
}

/// Conversations and jobs that were counted, and what is still set aside for some.
async fn counted(shop: &Shop) -> (i64, i64, i64) {
    let used = "SELECT COALESCE(MAX(used_interactions), 0) FROM usage_counters WHERE tenant_id = $1 AND slot = 'people 0 2026-11'";
    let jobs = "SELECT COALESCE(MAX(used_jobs), 0) FROM usage_counters WHERE tenant_id = $1 AND slot = 'people 0 2026-11'";
    let held = "SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1 AND interactions > 0";
    (shop.number(used).await, shop.number(jobs).await, shop.number(held).await)
}

async fn outcomes(shop: &Shop, run: RunId) -> Vec<StepOutcome> {
    serde_json::from_value(result(shop, run).await["result"].clone()).unwrap()
}

async fn call_directly(shop: &Shop, principal: Principal) -> ToolAnswer {
    let all: Vec<ScopeGlob> = vec!["*".parse().unwrap()];
    let want = ToolCallRequest {
        act: shop.ids.next(),
        name: "leave_work".to_owned(),
        arguments: arguments(&steps(&["note"]).to_string()),
        offered: true,
        wanted: ProposalMode::Act,
        caller: ActCaller {
            principal,
            door: CallerAudience::Work,
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
    };
    shop.dispatcher.call(want, Arc::new(NoActJournal)).await.unwrap()
}

fn refusal(outcome: &StepOutcome) -> &str {
    let StepOutcome::Called { ok: false, result } = outcome else { panic!("{outcome:?}") };
    result["code"].as_str().unwrap()
}

/// A step in which the tool hands over work of these steps.
fn leaves(input: &Value) -> Value {
    json!({ "call": "leave_work", "text": input.to_string() })
}

/// Work that hands over work that hands over work, so many times.
fn nested(times: usize) -> Value {
    (0..times).fold(steps(&["note"]), |inner, _| json!([leaves(&inner)]))
}

async fn begun_by(shop: &Shop, parent: RunId) -> Vec<RunId> {
    let sql = "SELECT id FROM runs WHERE tenant_id = $1 AND parent_id = $2 ORDER BY id";
    shop.db.read(shop.tenant, move |tx| tx.all(sql, params![parent], |row| row.get(0))).await.unwrap()
}

on_both! {
    async fn a_tool_hands_work_over_and_it_counts_once(test: TestDb) {
        let input = json!([{ "call": "note" }, { "begin": [steps(&["note"]), steps(&["note"])] }, { "call": "book" }]);
        let shop = open(&test, &input).await;
        assert_eq!(shop.ask("1", "see to it").await.text, "I am on it.");
        let run = handed_over(&shop).await;
        let known = find(&shop, run).await;
        assert_eq!((known.person(), known.cause, known.binding()), (Some(shop.staff), RunCause::Run, Some(shop.binding().await)));
        assert_eq!(counted(&shop).await, (1, 0, 1), "the turn is counted, and the work is set aside");
        runner(&shop).drain().await.unwrap();
        assert_eq!((find(&shop, run).await.state, shop.notes().await, shop.world.effects().len()), (RunState::Done, 3, 1));
        assert_eq!(counted(&shop).await, (2, 1, 0), "the children are a part of it");
        let theirs = "SELECT COUNT(*) FROM acts WHERE tenant_id = $1 AND tool IN ('note', 'book') AND person_id IS NOT NULL";
        assert_eq!(shop.number(theirs).await, 4, "every act is the person's");
        // What nobody asked for stays free.
        begin(&shop, steps(&["note"])).await;
        runner(&shop).drain().await.unwrap();
        assert_eq!((counted(&shop).await, shop.notes().await), ((2, 1, 0), 4));
    }

    async fn each_act_has_the_rights_of_its_moment(test: TestDb) {
        let input = json!([{ "call": "note" }, { "wait": 60 }, { "call": "note" }, { "wait": 60 }, { "call": "note" }, { "wait": 60 }, { "call": "note" }]);
        let shop = open(&test, &input).await;
        shop.ask("1", "see to it").await;
        let (run, runner, staff) = (handed_over(&shop).await, runner(&shop), shop.staff);
        runner.drain().await.unwrap();
        assert_eq!(shop.notes().await, 1);
        change(&shop, staff, |person| person.role = None).await;
        test.clock.advance(Duration::from_secs(61));
        runner.drain().await.unwrap();
        let now = munshi_types::Clock::now(&*test.clock);
        change(&shop, staff, move |person| (person.role, person.left_at) = (Some(Role::Staff), Some(now))).await;
        test.clock.advance(Duration::from_secs(61));
        runner.drain().await.unwrap();
        change(&shop, staff, |person| person.left_at = None).await;
        test.clock.advance(Duration::from_secs(61));
        runner.drain().await.unwrap();
        let outcomes = outcomes(&shop, run).await;
        assert_eq!((refusal(&outcomes[2]), refusal(&outcomes[4])), ("not_permitted", "not_permitted"), "{outcomes:?}");
        assert!(matches!(outcomes[6], StepOutcome::Called { ok: true, .. }), "{outcomes:?}");
        assert_eq!((find(&shop, run).await.state, shop.notes().await), (RunState::Done, 2));
    }

    async fn work_of_somebody_who_is_gone_halts_and_says_so(test: TestDb) {
        let shop = open(&test, &json!([])).await;
        let gone = shop.add_person(shop.tenant, "Gone", Some(Role::Staff)).await;
        let run = delegate(&shop, gone, steps(&["note"])).await;
        let forget = move |tx: &mut Tx<'_>| {
            tx.execute("DELETE FROM person_keys WHERE tenant_id = $1 AND person_id = $2", params![gone])?;
            tx.execute("DELETE FROM persons WHERE tenant_id = $1 AND id = $2", params![gone])
        };
        shop.db.write(shop.tenant, forget).await.unwrap();
        runner(&shop).drain().await.unwrap();
        let ended = find(&shop, run).await;
        assert_eq!((ended.state, ended.halt.map(|halt| halt.code())), (RunState::Halted, Some("person_gone")));
        assert_eq!((shop.notes().await, counted(&shop).await), (0, (0, 0, 0)), "nothing was done, and nothing is billed");
    }

    async fn a_kind_goes_no_further_for_anybody(test: TestDb) {
        let shop = open(&test, &json!([])).await;
        let shy = delegate_as(&shop, "sample.shy", delegator(shop.owner), steps(&["count", "note"])).await.unwrap();
        let ceiling = Some(KeyCeiling { role: Some(Role::Viewer), ..KeyCeiling::default() });
        let low = RunDelegator { ceiling, ..delegator(shop.owner) };
        let low = delegate_as(&shop, "sample.listed", low, steps(&["count", "note"])).await.unwrap();
        runner(&shop).drain().await.unwrap();
        assert_eq!(refusal(&outcomes(&shop, shy).await[1]), "read_only");
        assert_eq!(refusal(&outcomes(&shop, low).await[1]), "not_permitted", "the key they came through lets them look");
        assert_eq!(shop.notes().await, 0);
    }

    async fn what_is_stopped_or_dies_is_settled_once(test: TestDb) {
        let shop = open(&test, &json!([])).await;
        let runner_here = runner(&shop);
        let stopped = delegate(&shop, shop.staff, json!([{ "wait": 60 }])).await;
        runner_here.drain().await.unwrap();
        assert_eq!(counted(&shop).await, (0, 0, 1));
        shop.engine.cancel(shop.tenant, stopped).await.unwrap();
        runner_here.drain().await.unwrap();
        assert_eq!((find(&shop, stopped).await.state, counted(&shop).await), (RunState::Halted, (1, 1, 0)));
        let broken = delegate(&shop, shop.staff, json!([{ "no": "such step" }])).await;
        runner_here.drain().await.unwrap();
        assert_eq!((find(&shop, broken).await.state, counted(&shop).await), (RunState::Halted, (1, 1, 0)), "an excuse is free");
        // The process dies in the middle, and another goes on.
        let left = Arc::new(std::sync::atomic::AtomicUsize::new(1));
        let dying = shop.beside(&test, [], Plan { house: house(Some(&left)), ..plan() }).await;
        let run = delegate(&dying, shop.staff, steps(&["note", "note"])).await;
        let runner_of_it = runner(&dying);
        let mut working = JoinSet::new();
        working.spawn(async move { runner_of_it.drain().await });
        wait_until(async || left.load(std::sync::atomic::Ordering::SeqCst) == 0).await;
        tokio::time::sleep(Duration::from_millis(30)).await;
        working.abort_all();
        drop(dying);
        for _ in 0..20 {
            test.clock.advance(Duration::from_secs(20));
            shop.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap();
            runner_here.drain().await.unwrap();
        }
        assert_eq!((find(&shop, run).await.state, shop.notes().await, counted(&shop).await), (RunState::Done, 2, (2, 2, 0)));
    }

    /// What waited for longer than anything is set aside for is counted all the same.
    async fn what_waited_for_ten_days_is_counted(test: TestDb) {
        let shop = open(&test, &json!([])).await;
        let run = delegate(&shop, shop.staff, json!([{ "wait": 864_000 }])).await;
        let runner = runner(&shop);
        runner.drain().await.unwrap();
        test.clock.advance(Duration::from_secs(864_001));
        for _ in 0..3 {
            munshi_safety::budget::sweep(&shop.db, &BudgetSettings::default(), munshi_types::Clock::now(&*test.clock)).await.unwrap();
        }
        runner.drain().await.unwrap();
        let used = "SELECT CAST(COALESCE(SUM(used_interactions), 0) AS BIGINT) FROM usage_counters
                    WHERE tenant_id = $1 AND scope = 'tenant' AND period = 'month'";
        assert_eq!((find(&shop, run).await.state, shop.number(used).await), (RunState::Done, 1));
    }

    async fn nobody_hands_over_more_than_they_may(test: TestDb) {
        let mut plan = plan();
        plan.budgets.person_interactions_day = Some(1);
        let shop = Shop::open_with(&test, [], plan).await;
        delegate(&shop, shop.staff, steps(&["note"])).await;
        let refused = delegate_as(&shop, "sample.listed", delegator(shop.staff), steps(&["note"])).await.unwrap_err();
        assert!(refused.to_string().contains("limit for the day is 1 interactions"), "{refused}");
        delegate(&shop, shop.owner, steps(&["note"])).await;
        runner(&shop).drain().await.unwrap();
        assert_eq!(shop.notes().await, 2);
    }

    /// Whoever asked for it is asked, where they did; the owner, who could say yes too, is left in peace.
    async fn its_questions_go_to_the_person_in_their_conversation(test: TestDb) {
        let shop = Shop::open_with(&test, [ScriptedTurn::text("Hello.")].into_iter().chain(hands_over(&steps(&["drop", "note"]))), plan()).await;
        let received = shop.engine.receive(shop.message(shop.owner, "0", "good morning")).await.unwrap();
        shop.outcome(&received).await;
        let received = shop.say("1", "see to it").await;
        shop.outcome(&received).await;
        let (run, runner) = (handed_over(&shop).await, runner(&shop));
        runner.drain().await.unwrap();
        assert_eq!((find(&shop, run).await.state, pending(&shop).await.len()), (RunState::WaitingApproval, 1));
        let session = received.session;
        let asked = "SELECT id, session_id FROM messages WHERE tenant_id = $1 AND run_id = $2 AND speaker = 'persona'";
        let read = move |tx: &mut Tx<'_>| tx.all(asked, params![run], |row| Ok((row.get(0)?, row.get(1)?)));
        let asked: Vec<(munshi_types::MessageId, munshi_types::SessionId)> = shop.db.read(shop.tenant, read).await.unwrap();
        let [(question, asked_in)] = asked[..] else { panic!("{asked:?}") };
        assert_eq!(asked_in, session);
        let mut yes = shop.message(shop.staff, "2", "yes");
        yes.screen.seen = Some(question);
        let yes = shop.engine.receive(yes).await.unwrap();
        assert_eq!(shop.outcome(&yes).await.state, RunState::Done);
        shop.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap();
        runner.drain().await.unwrap();
        assert_eq!((find(&shop, run).await.state, shop.notes().await), (RunState::Done, 2));
    }

    /// Called without a turn, the tool hands over for the person who calls it; for a role alone it does not.
    async fn a_tool_that_is_called_directly_hands_over_for_its_caller(test: TestDb) {
        let shop = open(&test, &json!([])).await;
        let member = Principal::member(shop.tenant, shop.staff, Role::Staff);
        let refused = call_directly(&shop, Principal { person: None, ..member.clone() }).await;
        let ToolAnswer::Failed { detail, .. } = &refused else { panic!("{refused:?}") };
        assert!(detail.contains("no person asks for this run"), "{detail}");
        let done = call_directly(&shop, member).await;
        assert!(matches!(done, ToolAnswer::Done(_)), "{done:?}");
        let run = find(&shop, handed_over(&shop).await).await;
        assert_eq!((run.person(), run.cause, counted(&shop).await), (Some(shop.staff), RunCause::Operation, (0, 0, 1)));
    }

    async fn a_person_hands_over_with_an_operation(test: TestDb) {
        let shop = open(&test, &json!([])).await;
        let tenant = shop.tenant;
        let known = shop.db.platform(TENANTS).read(move |tx: &mut PlatformTx<'_>| tenants::find(tx, tenant)).await.unwrap().unwrap();
        let ids = IdGenerator::system();
        let caller = |person: Option<PersonId>| OperationCaller::api(Arc::new(ApiCaller {
            tenant,
            tenant_status: TenantStatus::Active,
            key: ids.next(),
            key_name: "till".to_owned(),
            operator: None,
            keeper: false,
            speaks_as: KeySpeaker::Person,
            ceiling: KeyCeiling { role: Some(Role::Staff), ..KeyCeiling::default() },
            maker: KeyMaker { name: "test".to_owned(), person: None, key: None },
            principal: Principal { person, ..Principal::member(tenant, shop.staff, Role::Staff) },
            areas: None,
            bindings: None,
            until: None,
        }));
        let services = PackServices::new(Arc::new(shop.engine.run_starter())).for_call(&known);
        let new = NewPackRun { kind: "sample.listed".to_owned(), cause: PackRunCause::Operation, cause_key: Some("once".to_owned()), input: steps(&["note"]) };
        let (of_person, of_role) = (services.clone().for_caller(&caller(Some(shop.staff))), services.for_caller(&caller(None)));
        let again = new.clone();
        let (run, same) = shop.db.write(tenant, move |tx| -> munshi_store::Result<_> {
            Ok((of_person.delegate_run(tx, &again)?, of_person.delegate_run(tx, &again)?))
        }).await.unwrap();
        assert_eq!((run, counted(&shop).await), (same, (0, 0, 1)), "once for one cause");
        let refused = shop.db.write(tenant, move |tx| of_role.delegate_run(tx, &new)).await.unwrap_err();
        assert!(refused.to_string().contains("no person asks for this run"), "{refused}");
        runner(&shop).drain().await.unwrap();
        assert_eq!((find(&shop, run).await.person(), shop.notes().await, counted(&shop).await), (Some(shop.staff), 1, (1, 1, 0)));
    }

    /// What a tool of the work begins is a part of it: half of what is left goes to it, and it is stopped with the work.
    async fn what_a_tool_of_the_work_begins_is_a_part_of_it(test: TestDb) {
        let shop = open(&test, &json!([])).await;
        let (runner, whole) = (runner(&shop), BudgetSettings::default().background_run.tokens);
        let waits = json!([{ "wait": 60 }]);
        let run = delegate(&shop, shop.staff, json!([leaves(&waits), leaves(&waits), { "wait": 600 }])).await;
        runner.drain().await.unwrap();
        let mut shares = Vec::new();
        for part in begun_by(&shop, run).await {
            let part = find(&shop, part).await;
            assert_eq!((part.state, part.person(), part.reservation), (RunState::WaitingTimer, Some(shop.staff), None));
            shares.extend(part.snapshot.work.and_then(|work| work.share).map(|share| share.tokens));
        }
        shares.sort_unstable();
        assert_eq!((shares, counted(&shop).await), (vec![whole / 4, whole / 2], (0, 0, 1)));
        shop.engine.cancel(shop.tenant, run).await.unwrap();
        runner.drain().await.unwrap();
        for run in begun_by(&shop, run).await.into_iter().chain([run]) {
            assert_eq!(find(&shop, run).await.halt.map(|halt| halt.code()), Some("cancelled"));
        }
        // What still goes on at the end of the work counts as used.
        let run = delegate(&shop, shop.staff, json!([leaves(&waits)])).await;
        runner.drain().await.unwrap();
        assert_eq!((find(&shop, run).await.state, &result(&shop, run).await["used"]["tokens"]), (RunState::Done, &json!(whole / 2)));
        test.clock.advance(Duration::from_secs(61));
        runner.drain().await.unwrap();
        let [part] = begun_by(&shop, run).await[..] else { panic!("one part") };
        assert_eq!(find(&shop, part).await.state, RunState::Done, "it outlives work that has come to its end");
    }

    async fn runs_begin_each_other_only_so_deep(test: TestDb) {
        let shop = open(&test, &json!([])).await;
        let run = delegate(&shop, shop.staff, nested(5)).await;
        runner(&shop).drain().await.unwrap();
        assert_eq!((find(&shop, run).await.state, shop.notes().await), (RunState::Done, 1));
        let mut last = delegate(&shop, shop.staff, nested(6)).await;
        runner(&shop).drain().await.unwrap();
        assert_eq!(shop.notes().await, 1, "the sixth was not begun");
        let mut depth = 0;
        while let [part] = begun_by(&shop, last).await[..] {
            (last, depth) = (part, depth + 1);
        }
        let refused = result(&shop, last).await;
        assert_eq!(depth, 5);
        assert!(refused.to_string().contains("runs begin each other more than 5 deep"), "{refused}");
    }

    /// Many of its parts end while it writes its own record.
    async fn parts_and_the_work_write_one_record(test: TestDb) {
        let shop = open(&test, &json!([])).await;
        let parts = std::iter::repeat_n(leaves(&steps(&["count"])), 12);
        let own = std::iter::repeat_n(json!({ "call": "note" }), 24);
        let run = delegate(&shop, shop.staff, parts.chain(own).collect()).await;
        runner_of(&shop, 8).drain().await.unwrap();
        assert_eq!((find(&shop, run).await.state, shop.notes().await), (RunState::Done, 24));
        let taken_again = "SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND lane = 'background' AND epoch > 1";
        assert_eq!(shop.number(taken_again).await, 0, "nothing failed and was done again");
        let record = shop.db.read(shop.tenant, move |tx| munshi_conversations::steps::list(tx, run)).await.unwrap();
        assert!(record.iter().zip(1..).all(|(step, number)| step.number == number), "{record:?}");
    }

    async fn what_was_done_is_billed_whatever_the_end(test: TestDb) {
        let shop = open(&test, &json!([])).await;
        let runner = runner(&shop);
        let breaks = json!({ "no": "such step" });
        for (input, expected) in [
            (json!([{ "call": "count" }, breaks]), (0, 0, 0)),
            (json!([{ "call": "note" }, breaks]), (1, 1, 0)),
            (json!([{ "begin": [steps(&["note"])] }, breaks]), (2, 2, 0)),
        ] {
            let run = delegate(&shop, shop.staff, input.clone()).await;
            runner.drain().await.unwrap();
            let ended = find(&shop, run).await;
            assert_eq!((ended.halt.map(|halt| halt.code()), counted(&shop).await), (Some("broken"), expected), "{input}");
        }
    }

    /// What was set aside for it is forgotten, and others have used up the day since: it is booked all the same.
    async fn what_is_booked_late_passes_the_limit(test: TestDb) {
        let mut plan = plan();
        plan.budgets.person_interactions_day = Some(1);
        let shop = Shop::open_with(&test, [], plan).await;
        let run = delegate(&shop, shop.staff, json!([{ "wait": 864_000 }])).await;
        let runner = runner(&shop);
        runner.drain().await.unwrap();
        test.clock.advance(Duration::from_secs(864_001));
        for _ in 0..3 {
            munshi_safety::budget::sweep(&shop.db, &BudgetSettings::default(), munshi_types::Clock::now(&*test.clock)).await.unwrap();
        }
        delegate(&shop, shop.staff, json!([{ "wait": 60 }])).await;
        runner.drain().await.unwrap();
        let used = "SELECT CAST(COALESCE(SUM(used_interactions), 0) AS BIGINT) FROM usage_counters
                    WHERE tenant_id = $1 AND scope = 'person' AND period = 'day'";
        assert_eq!((find(&shop, run).await.state, shop.number(used).await), (RunState::Done, 1));
        test.clock.advance(Duration::from_secs(61));
        runner.drain().await.unwrap();
        assert_eq!(shop.number(used).await, 2);
    }

    async fn a_revoked_key_acts_no_more(test: TestDb) {
        let shop = open(&test, &json!([])).await;
        let now = munshi_types::Clock::now(&*test.clock);
        let new = NewApiKey {
            name: "till".to_owned(),
            carries: KeySubject::Person(shop.staff),
            areas: None,
            bindings: None,
            expires_at: None,
            speaks_as: KeySpeaker::Person,
            made_by: "asha".to_owned(),
            maker: KeyMaker::from_name("asha"),
        };
        let ids = test.ids.clone();
        let add = move |tx: &mut Tx<'_>| administer(tx, |tx| keys::add(tx, &ids, &SystemRandom, &new, now));
        let key = shop.db.write(shop.tenant, add).await.unwrap().key.id;
        let by = RunDelegator { key: Some(key), ..delegator(shop.staff) };
        let input = json!([{ "call": "note" }, { "wait": 60 }, { "call": "note" }]);
        let run = delegate_as(&shop, "sample.listed", by, input).await.unwrap();
        let runner = runner(&shop);
        runner.drain().await.unwrap();
        assert_eq!(shop.notes().await, 1);
        let revoke = move |tx: &mut Tx<'_>| administer(tx, |tx| keys::revoke(tx, key, now));
        shop.db.write(shop.tenant, revoke).await.unwrap();
        test.clock.advance(Duration::from_secs(61));
        runner.drain().await.unwrap();
        assert_eq!((refusal(&outcomes(&shop, run).await[2]), shop.notes().await), ("not_permitted", 1));
    }
}
