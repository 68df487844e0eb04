//! Who is tried after whom, and when.

use std::time::Duration;

use munshi_llm::{ModelError, TimeoutStage};
use munshi_test_support::models::{ScriptedTurn, build_text_events};
use tokio::time::Instant;

use crate::gateway::scene::{PAUSE, Scene, down};

#[tokio::test(start_paused = true)]
async fn the_first_is_tried_twice_then_two_others_once() {
    let scene = Scene::new([down(), down(), down(), down()].map(ScriptedTurn::fault));
    let before = Instant::now();
    assert_eq!(scene.complete().await.unwrap_err(), down());
    assert_eq!(scene.asked(), ["first", "first", "second", "third"], "a fourth model is not tried");
    assert_eq!(before.elapsed(), PAUSE, "only the second try waits");
    let mut scene = Scene::new(
        [down(), down(), down(), down()]
            .map(ScriptedTurn::fault)
            .into_iter()
            .chain([ScriptedTurn::text("here")]),
    );
    scene.route = crate::gateway::scene::route(&["first", "second", "third", "fourth", "offline"]).into();
    assert_eq!(scene.complete().await.unwrap().text(), "here");
    assert_eq!(scene.asked()[4..], ["offline"], "the model of this machine may come after any number");
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_tried_again_and_what_does_not_goes_to_the_next() {
    let rejected = || ModelError::Rejected { status: 400, message: "no".to_owned() };
    let passing = [
        ModelError::Timeout(TimeoutStage::FirstByte),
        ModelError::RateLimited { retry_after: None },
        down(),
        ModelError::Unreachable("refused".to_owned()),
        ModelError::Interrupted,
        ModelError::Garbled("what".to_owned()),
    ];
    for fault in passing {
        let scene = Scene::new([ScriptedTurn::fault(fault.clone()), ScriptedTurn::text("fine")]);
        assert_eq!(scene.complete().await.unwrap().text(), "fine");
        assert_eq!(scene.asked(), ["first", "first"], "{fault}");
    }
    for fault in [rejected(), ModelError::Unauthorised, ModelError::TooLong] {
        let scene = Scene::new([ScriptedTurn::fault(fault.clone()), ScriptedTurn::text("fine")]);
        assert_eq!(scene.complete().await.unwrap().text(), "fine");
        assert_eq!(scene.asked(), ["first", "second"], "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_the_provider_asks_for_is_kept_or_the_provider_is_passed_over() {
    let limited = |seconds| ModelError::RateLimited { retry_after: Some(Duration::from_secs(seconds)) };
    let scene = Scene::new([ScriptedTurn::fault(limited(3)), ScriptedTurn::text("fine")]);
    let before = Instant::now();
    scene.complete().await.unwrap();
    assert_eq!((scene.asked(), before.elapsed()), (vec!["first".to_owned(); 2], Duration::from_secs(3)));

    let scene = Scene::new([
        ScriptedTurn::fault(limited(60)),
        ScriptedTurn::text("fine"),
        ScriptedTurn::text("still"),
        ScriptedTurn::text("back"),
    ]);
    let before = Instant::now();
    scene.complete().await.unwrap();
    assert_eq!(
        (scene.asked().as_slice(), before.elapsed()),
        (&["first".to_owned(), "second".to_owned()][..], Duration::ZERO)
    );
    scene.complete().await.unwrap();
    assert_eq!(scene.asked()[2], "second", "all calls know of the pause");
    tokio::time::advance(Duration::from_secs(60)).await;
    scene.complete().await.unwrap();
    assert_eq!(scene.asked()[3], "first");
}

#[tokio::test(start_paused = true)]
async fn a_target_that_keeps_failing_is_left_alone_for_ten_minutes_then_tried_once() {
    let failing =
        || [ScriptedTurn::fault(down()), ScriptedTurn::fault(down()), ScriptedTurn::text("second answers")];
    let others = (0..4).map(|_| ScriptedTurn::text("second answers"));
    let mut turns: Vec<ScriptedTurn> = failing().into_iter().chain(failing()).collect();
    turns.extend(others);
    let scene = Scene::new(turns);
    for _ in 0..2 {
        scene.complete().await.unwrap();
    }
    assert_eq!(scene.asked(), ["first", "first", "second", "first", "first", "second"]);
    let opened = Instant::now();
    scene.complete().await.unwrap();
    assert_eq!(scene.asked()[6..], ["second"], "four failures: skipped");
    tokio::time::advance(Duration::from_secs(599)).await;
    scene.complete().await.unwrap();
    assert_eq!(scene.asked()[7..], ["second"]);
    tokio::time::advance(Duration::from_secs(601).saturating_sub(opened.elapsed())).await;
    scene.complete().await.unwrap();
    assert_eq!(scene.asked()[8..], ["first"], "the trial went well");
}

#[tokio::test(start_paused = true)]
async fn when_all_are_resting_a_short_rest_is_waited_for_and_a_long_one_is_told() {
    let limited = |seconds| {
        ScriptedTurn::fault(ModelError::RateLimited { retry_after: Some(Duration::from_secs(seconds)) })
    };
    let mut scene = Scene::new([limited(30), ScriptedTurn::text("fine")]);
    scene.route = crate::gateway::scene::route(&["first"]).into();
    scene.complete().await.unwrap_err();
    let fault = scene.complete().await.unwrap_err();
    assert!(matches!(&fault, ModelError::NoTarget(why) if why.contains("circuit breaker")), "{fault}");
    assert_eq!(scene.asked().len(), 1, "nobody was asked");
    tokio::time::advance(Duration::from_secs(27)).await;
    let before = Instant::now();
    assert_eq!(scene.complete().await.unwrap().text(), "fine");
    assert_eq!(before.elapsed(), Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn after_the_first_word_nobody_else_is_asked() {
    let cut = build_text_events("half a sen").into_iter().take(2);
    let scene =
        Scene::new([ScriptedTurn::events_then_fault(cut, down()), ScriptedTurn::text("another answer")]);
    let (events, fault) = crate::gateway::scene::all(scene.stream().await.unwrap()).await;
    assert_eq!(
        (crate::gateway::scene::text(&events).as_str(), fault),
        ("half a sen", Some(ModelError::Interrupted))
    );
    assert_eq!(scene.asked(), ["first"]);
    let records = scene.records();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].ending.code(), "provider_failed", "the record knows the cause");
}

#[tokio::test(start_paused = true)]
async fn before_the_first_word_a_stream_that_breaks_is_tried_again_without_a_trace() {
    let begun = build_text_events("x").into_iter().take(1);
    let scene = Scene::new([
        ScriptedTurn::events_then_fault(begun, ModelError::Interrupted),
        ScriptedTurn::text("whole"),
    ]);
    let (events, fault) = crate::gateway::scene::all(scene.stream().await.unwrap()).await;
    assert_eq!((crate::gateway::scene::text(&events).as_str(), fault), ("whole", None));
    let starts = events.iter().filter(|event| matches!(event, munshi_llm::ChatEvent::Started { .. })).count();
    assert_eq!(starts, 1, "the attempt that failed left no event behind");
}

#[tokio::test(start_paused = true)]
async fn a_tenant_without_money_does_not_hold_everybodys_trial() {
    let turns = (0..4).map(|_| ScriptedTurn::fault(down())).chain([ScriptedTurn::text("well again")]);
    let mut scene = Scene::new(turns);
    scene.route = crate::gateway::scene::route(&["first"]).into();
    for _ in 0..2 {
        scene.complete().await.unwrap_err();
    }
    tokio::time::advance(Duration::from_secs(601)).await;
    let mut poor = scene.call();
    let nothing = munshi_llm::gateway::CallSpend::default();
    poor.account.budget = std::sync::Arc::new(munshi_llm::gateway::InMemoryBudget::new(nothing));
    assert!(matches!(scene.gateway.complete(poor).await, Err(ModelError::OverBudget(_))));
    assert_eq!(scene.complete().await.unwrap().text(), "well again");
}
