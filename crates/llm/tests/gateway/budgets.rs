//! Nothing runs past the budget, and nothing stays set aside.

use std::sync::Arc;
use std::time::Duration;

use munshi_llm::gateway::{MemoryBudget, Spend};
use munshi_llm::money::Cost;
use munshi_llm::{Fault, Stage};
use munshi_test_support::models::{Turn, USED, saying};

use crate::scene::{Scene, down};

fn limited(scene: &mut Scene, tokens: u64) {
    scene.budget = Arc::new(MemoryBudget::new(Spend { tokens, cost: None }));
}

#[tokio::test(start_paused = true)]
async fn retries_ask_the_budget_too() {
    // The question and 100 tokens of answer fit once, and a call that timed out counts as sent.
    let mut scene = Scene::new([Turn::fault(Fault::Timeout(Stage::FirstByte)), Turn::text("never asked")]);
    limited(&mut scene, 120);
    let fault = scene.complete().await.unwrap_err();
    assert!(matches!(fault, Fault::OverBudget(_)), "{fault}");
    assert_eq!(scene.asked(), ["first"], "neither again nor elsewhere");
    assert!(scene.budget.spent().tokens > 0 && scene.budget.spent().tokens < 20);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_costs_nothing_and_an_answer_what_the_provider_says() {
    let scene = Scene::new([Turn::fault(down()), Turn::text("fine")]);
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
    let cut = saying("one two three four five").into_iter().take(2);
    let scene = Scene::new([Turn::events_then_fault(cut, Fault::Interrupted)]);
    let (_, fault) = crate::scene::all(scene.stream().await.unwrap()).await;
    assert_eq!(fault, Some(Fault::Interrupted));
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
    let mut scene = Scene::new([Turn::text("one two three").hanging(), Turn::text("fine")]);
    limited(&mut scene, 150);
    let mut live = scene.stream().await.unwrap();
    assert!(matches!(live.next().await, Some(Ok(_))));
    drop(live);
    scene.gateway.settled().await;
    let record = scene.records().remove(0);
    assert_eq!(record.ending.code(), "cancelled");
    assert_eq!(scene.budget.spent().tokens, record.usage.total());
    assert_eq!(scene.complete().await.unwrap().text(), "fine", "nothing is left set aside");
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_before_the_first_word_is_written_down_too() {
    let scene = Scene::new([Turn::text("too late").slow(Duration::from_secs(60))]);
    let waiting = tokio::time::timeout(Duration::from_secs(1), scene.complete()).await;
    assert!(waiting.is_err());
    scene.gateway.settled().await;
    assert_eq!(scene.records()[0].ending.code(), "cancelled");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_price_is_said_and_never_zero() {
    let mut scene = Scene::new([Turn::text("fine")]);
    scene.gateway = munshi_llm::Gateway::new(munshi_llm::gateway::Parts {
        targets: vec![crate::scene::target("first")],
        provider: scene.model.clone(),
        prices: munshi_llm::money::PriceBook::default(),
        clock: Arc::new(munshi_types::SystemClock),
        random: Arc::new(munshi_types::SystemRandom),
    });
    scene.complete().await.unwrap();
    let record = scene.records().remove(0);
    assert_eq!((record.cost, record.usage), (None, USED));
}
