//! Each fault at each point of a stream: the right class, the right next step, the right bill, no text lost or twice.

use munshi_llm::{ChatEvent, ModelError, TimeoutStage};
use munshi_test_support::models::{ScriptedTurn, USED, build_text_events};

use crate::gateway::scene::{Scene, all, down, text};

fn faults() -> Vec<ModelError> {
    vec![
        ModelError::Timeout(TimeoutStage::Connect),
        ModelError::Timeout(TimeoutStage::FirstByte),
        ModelError::Timeout(TimeoutStage::BetweenBytes),
        ModelError::Timeout(TimeoutStage::Whole),
        ModelError::Unreachable("refused".to_owned()),
        ModelError::RateLimited { retry_after: None },
        down(),
        ModelError::Interrupted,
        ModelError::Garbled("what".to_owned()),
        ModelError::Unauthorised,
        ModelError::Rejected { status: 400, message: "no".to_owned() },
        ModelError::TooLong,
    ]
}

/// Started, a word, its count, another word, and the end.
fn script() -> Vec<ChatEvent> {
    let mut events = build_text_events("one ");
    events.insert(2, ChatEvent::Usage(munshi_llm::TokenUsage { output: 2, ..USED }));
    events.insert(3, ChatEvent::Text("two".to_owned()));
    events
}

/// The first event that is handed out stands at this index.
const FIRST_WORD: usize = 1;

#[tokio::test(start_paused = true)]
async fn each_fault_at_each_point() {
    for fault in faults() {
        for point in 0..script().len() {
            let broken = ScriptedTurn::events_then_fault(script().into_iter().take(point), fault.clone());
            let scene = Scene::new([broken, ScriptedTurn::text("whole")]);
            let outcome = all(scene.stream().await.unwrap()).await;
            let records = scene.records();
            let heard = text(&script()[..point]);
            let case = format!("{fault} after {point} events: {outcome:?}");

            if point <= FIRST_WORD {
                assert_eq!((text(&outcome.0).as_str(), outcome.1), ("whole", None), "{case}");
                assert_eq!(
                    scene.asked(),
                    ["first", if fault.is_transient() { "first" } else { "second" }],
                    "{case}"
                );
                assert_eq!(records.len(), 2, "{case}");
            } else {
                let expected = if fault.is_transient() { ModelError::Interrupted } else { fault.clone() };
                assert_eq!((text(&outcome.0), outcome.1), (heard, Some(expected)), "{case}");
                assert_eq!((scene.asked().len(), records.len()), (1, 1), "{case}");
            }

            assert_eq!(records[0].ending.fault(), Some(&fault), "{case}");
            let was_taken = point > 0
                || matches!(fault, ModelError::Interrupted | ModelError::Garbled(_))
                || matches!(fault, ModelError::Timeout(stage) if stage != TimeoutStage::Connect);
            assert_eq!(records[0].usage.total() > 0, was_taken, "{case}");
            let counted_by_provider = point > 2;
            assert_eq!(records[0].usage.estimated, was_taken && !counted_by_provider, "{case}");
            let total: u64 = records.iter().map(|record| record.usage.total()).sum();
            assert_eq!(scene.budget.spent().tokens, total, "what is settled is what is written down: {case}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_just_stops_is_no_answer_at_any_point() {
    for point in 0..script().len() {
        let stops = ScriptedTurn::events(script().into_iter().take(point));
        let scene = Scene::new([stops, ScriptedTurn::text("whole")]);
        let (events, fault) = all(scene.stream().await.unwrap()).await;
        if point <= FIRST_WORD {
            assert_eq!((text(&events).as_str(), fault), ("whole", None));
        } else {
            assert_eq!((text(&events), fault), (text(&script()[..point]), Some(ModelError::Interrupted)));
        }
        assert_eq!(scene.records()[0].ending.code(), "interrupted");
    }
}
