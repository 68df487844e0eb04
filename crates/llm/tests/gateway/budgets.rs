//! Nothing runs past the budget, and nothing stays set aside.

use std::sync::Arc;
use std::time::Duration;

use munshi_llm::gateway::{CallSpend, InMemoryBudget};
use munshi_llm::pricing::Cost;
use munshi_llm::{ModelError, TimeoutStage};
use munshi_test_support::models::{ScriptedTurn, USED, build_text_events};

use crate::gateway::scene::{Scene, down};

fn limited(scene: &mut Scene, tokens: u64) {
    scene.budget = Arc::new(InMemoryBudget::new(CallSpend { tokens, ..CallSpend::default() }));
}

#[tokio::test(start_paused = true)]
async fn retries_ask_the_budget_too() {
    // The question and 100 tokens of answer fit once, and a call that timed out counts as sent.
    let mut scene = Scene::new([
        ScriptedTurn::fault(ModelError::Timeout(TimeoutStage::FirstByte)),
        ScriptedTurn::text("never asked"),
    ]);
    limited(&mut scene, 120);
    let fault = scene.complete().await.unwrap_err();
    assert!(matches!(fault, ModelError::OverBudget(_)), "{fault}");
    assert_eq!(scene.asked(), ["first"], "neither again nor elsewhere");
    assert!(scene.budget.spent().tokens > 0 && scene.budget.spent().tokens < 20);
}

#[tokio::test(start_paused = true)]
async fn where_the_money_is_used_up_the_model_of_this_machine_answers() {
    let mut scene = Scene::new([ScriptedTurn::text("for nothing")]);
    limited(&mut scene, 5);
    scene.route = crate::gateway::scene::route(&["first", "second", "offline"]).into();
    assert_eq!(scene.complete().await.unwrap().text(), "for nothing");
    assert_eq!(scene.asked(), ["offline"], "nobody who costs something was asked");
    assert_eq!(scene.budget.spent().cost.unwrap_or_default(), Cost::ZERO);

    // Where it can't either, the limit is what is said.
    let mut scene = Scene::new([ScriptedTurn::fault(ModelError::Unauthorised)]);
    limited(&mut scene, 5);
    scene.route = crate::gateway::scene::route(&["first", "offline"]).into();
    assert!(matches!(scene.complete().await, Err(ModelError::OverBudget(_))));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_costs_nothing_and_an_answer_what_the_provider_says() {
    let scene = Scene::new([ScriptedTurn::fault(down()), ScriptedTurn::text("fine")]);
    scene.complete().await.unwrap();
    let spent = scene.budget.spent();
    assert_eq!(spent.tokens, USED.total());
    assert_eq!(spent.cost, Some(Cost::from_micros(10 + 50)), "10 in at $1, 5 out at $10 a million");
    let records = scene.records();
    let bills: Vec<_> = records.iter().map(|record| (record.usage.total(), record.cost)).collect();
    assert_eq!(bills, [(0, Some(Cost::ZERO)), (15, Some(Cost::from_micros(60)))]);
    assert_eq!(records.iter().map(|record| record.attempt).collect::<Vec<_>>(), [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn what_breaks_off_is_billed_by_what_was_sent_and_heard() {
    let cut = build_text_events("one two three four five").into_iter().take(2);
    let scene = Scene::new([ScriptedTurn::events_then_fault(cut, ModelError::Interrupted)]);
    let (_, fault) = crate::gateway::scene::all(scene.stream().await.unwrap()).await;
    assert_eq!(fault, Some(ModelError::Interrupted));
    let record = scene.records().remove(0);
    assert!(
        record.usage.estimated && record.usage.output == 5 && record.usage.input > 0,
        "{:?}",
        record.usage
    );
    assert_eq!(scene.budget.spent().tokens, record.usage.total());
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_pays_for_what_was_heard_and_frees_the_rest() {
    let mut scene = Scene::new([ScriptedTurn::text("one two three").hanging(), ScriptedTurn::text("fine")]);
    limited(&mut scene, 150);
    let mut live = scene.stream().await.unwrap();
    assert!(matches!(live.next().await, Some(Ok(_))));
    drop(live);
    scene.gateway.wait_until_settled().await;
    let record = scene.records().remove(0);
    assert_eq!(record.ending.code(), "cancelled");
    assert_eq!(scene.budget.spent().tokens, record.usage.total());
    assert_eq!(scene.complete().await.unwrap().text(), "fine", "nothing is left set aside");
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_before_the_first_word_is_written_down_too() {
    let scene = Scene::new([ScriptedTurn::text("too late").with_pause(Duration::from_secs(60))]);
    let waiting = tokio::time::timeout(Duration::from_secs(1), scene.complete()).await;
    assert!(waiting.is_err());
    scene.gateway.wait_until_settled().await;
    assert_eq!(scene.records()[0].ending.code(), "cancelled");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_price_is_said_and_never_zero() {
    let mut scene = Scene::new([ScriptedTurn::text("fine")]);
    scene.gateway = munshi_llm::Gateway::new(munshi_llm::gateway::GatewayParts {
        targets: vec![crate::gateway::scene::target("first")],
        provider: scene.model.clone(),
        prices: munshi_llm::pricing::PriceBook::default(),
        clock: Arc::new(munshi_types::SystemClock),
        random: Arc::new(munshi_types::SystemRandom),
    });
    scene.complete().await.unwrap();
    let record = scene.records().remove(0);
    assert_eq!((record.cost, record.usage), (None, USED));
}

/// A budget that takes its time to decide, and counts what it holds.
#[derive(Default)]
struct Slow {
    held: std::sync::atomic::AtomicI64,
}

#[async_trait::async_trait]
impl munshi_llm::gateway::CallBudget for Slow {
    async fn reserve(&self, _: CallSpend) -> Result<munshi_types::ReservationId, ModelError> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.held.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(munshi_types::IdGenerator::system().next())
    }

    async fn settle(&self, _: munshi_types::ReservationId, _: CallSpend) {
        self.held.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_while_the_budget_decides_leaves_nothing_set_aside() {
    for wait in [500, 1_500, 2_000, 2_500] {
        let scene = Scene::new([ScriptedTurn::text("late").with_pause(Duration::from_secs(60))]);
        let budget = Arc::new(Slow::default());
        let mut call = scene.call();
        call.account.budget = budget.clone();
        let waiting = tokio::time::timeout(Duration::from_millis(wait), scene.gateway.complete(call));
        assert!(waiting.await.is_err());
        scene.gateway.wait_until_settled().await;
        assert_eq!(budget.held.load(std::sync::atomic::Ordering::SeqCst), 0, "after {wait} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn a_count_that_is_missing_or_absurd_is_not_believed() {
    let words = "a word ".repeat(200);
    let with = |usage: munshi_llm::TokenUsage| {
        let mut events = build_text_events(&words);
        events.pop();
        events.push(munshi_llm::ChatEvent::Finished { stop: munshi_llm::StopReason::EndTurn, usage });
        ScriptedTurn::events(events)
    };
    let nothing = munshi_llm::TokenUsage { estimated: true, ..munshi_llm::TokenUsage::default() };
    let half = munshi_llm::TokenUsage { input: 10, ..munshi_llm::TokenUsage::default() };
    let one = munshi_llm::TokenUsage { input: 10, output: 1, ..munshi_llm::TokenUsage::default() };
    for usage in [nothing, half, one] {
        let scene = Scene::new([with(usage)]);
        scene.complete().await.unwrap();
        let record = scene.records().remove(0);
        assert!(record.usage.output >= 200 && record.usage.input > 0 && record.usage.estimated, "{usage:?}");
    }
    let absurd =
        munshi_llm::TokenUsage { input: u64::MAX, output: u64::MAX, ..munshi_llm::TokenUsage::default() };
    let scene = Scene::new([with(absurd)]);
    scene.complete().await.unwrap();
    assert_eq!(scene.budget.spent().tokens, u64::MAX, "it saturates, and takes nothing down");
}
