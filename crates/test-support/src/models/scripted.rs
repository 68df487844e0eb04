//! A model that says exactly what it was told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream;
use munshi_llm::{ChatEvent, ChatRequest, ChatStream, Embedding, ModelError, ModelTarget, Provider};
use serde_json::Value;
use tokio::sync::watch;

use super::{build_call_events, build_calls_events, build_text_events};

/// One answer of a script.
#[derive(Clone, Debug, Default)]
pub struct ScriptedTurn {
    events: Vec<ChatEvent>,
    fault: Option<ModelError>,
    /// Before each event, and before the fault.
    pause: Duration,
    /// Closed, nothing is said.
    gate: Option<ScriptGate>,
    hangs: bool,
}

/// What a turn waits behind until the test has done what comes first.
#[derive(Clone, Debug, Default)]
pub struct ScriptGate(Arc<watch::Sender<bool>>);

impl ScriptGate {
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    async fn wait_open(&self) {
        self.0.subscribe().wait_for(|is_open| *is_open).await.unwrap();
    }
}

impl ScriptedTurn {
    /// These events and then the end of the stream, whether or not `Finished` is among them.
    pub fn events(events: impl IntoIterator<Item = ChatEvent>) -> Self {
        Self { events: events.into_iter().collect(), ..Self::default() }
    }

    /// Nothing is said at all.
    pub fn fault(fault: ModelError) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }

    pub fn events_then_fault(events: impl IntoIterator<Item = ChatEvent>, fault: ModelError) -> Self {
        Self { fault: Some(fault), ..Self::events(events) }
    }

    /// A whole answer in words.
    pub fn text(text: &str) -> Self {
        Self::events(build_text_events(text))
    }

    /// A call of one tool.
    pub fn call(tool: &str, arguments: &Value) -> Self {
        Self::events(build_call_events(tool, arguments))
    }

    /// Calls of several tools in one answer.
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        Self::events(build_calls_events(calls))
    }

    /// Its events, and then silence until the caller leaves.
    #[must_use]
    pub fn hanging(self) -> Self {
        Self { hangs: true, ..self }
    }

    /// The same with a pause before each event.
    #[must_use]
    pub fn with_pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// The same once the gate is open: until then the model was asked and says nothing.
    #[must_use]
    pub fn with_gate(self, gate: &ScriptGate) -> Self {
        Self { gate: Some(gate.clone()), ..self }
    }

    async fn play(mut self) -> Result<ChatStream, ModelError> {
        if self.events.is_empty()
            && let Some(fault) = self.fault.take()
        {
            tokio::time::sleep(self.pause).await;
            return Err(fault);
        }
        let items = self.events.into_iter().map(Ok).chain(self.fault.map(Err));
        let rest = (items, self.gate, self.pause, self.hangs);
        Ok(Box::pin(stream::unfold(rest, |(mut items, mut gate, pause, hangs)| async move {
            if let Some(gate) = gate.take() {
                gate.wait_open().await;
            }
            let item = items.next();
            if item.is_none() && hangs {
                std::future::pending::<()>().await;
            }
            if item.is_some() && !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            item.map(|item| (item, (items, gate, pause, hangs)))
        })))
    }
}

/// What a scripted model was asked.
#[derive(Clone, Debug)]
pub struct ScriptedCall {
    pub target: String,
    pub request: ChatRequest,
}

/// Gives its turns in order, one a call, whichever target is called. Once they have run out it refuses.
#[derive(Debug, Default)]
pub struct ScriptedModel {
    turns: Mutex<VecDeque<ScriptedTurn>>,
    asked: Mutex<Vec<ScriptedCall>>,
}

impl ScriptedModel {
    pub fn new(turns: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self { turns: Mutex::new(turns.into_iter().collect()), asked: Mutex::default() }
    }

    /// Everything it was asked so far.
    pub fn requests(&self) -> Vec<ScriptedCall> {
        lock(&self.asked).clone()
    }

    /// How many turns have not been asked for.
    pub fn remaining(&self) -> usize {
        lock(&self.turns).len()
    }
}

#[async_trait]
impl Provider for ScriptedModel {
    async fn stream(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatStream, ModelError> {
        let count = {
            let mut asked = lock(&self.asked);
            asked.push(ScriptedCall { target: target.name.clone(), request: request.clone() });
            asked.len()
        };
        let turn = lock(&self.turns).pop_front();
        match turn {
            Some(turn) => turn.play().await,
            None => Err(ModelError::Rejected {
                status: 400,
                message: format!("the script has run out: nothing is written for call {count}"),
            }),
        }
    }

    async fn embed(&self, _: &ModelTarget, _: &[String]) -> Result<Embedding, ModelError> {
        Err(ModelError::Rejected { status: 400, message: "a scripted model makes no vectors".to_owned() })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_llm::provider::next_event;
    use tokio::time::Instant;

    fn target() -> ModelTarget {
        ModelTarget::new("one", munshi_llm::WireFormat::OpenAi, "", "m")
    }

    #[tokio::test]
    async fn turns_come_in_order_and_then_run_out() {
        let model =
            ScriptedModel::new([ScriptedTurn::text("hi"), ScriptedTurn::fault(ModelError::Unauthorised)]);
        let request = ChatRequest { system: vec!["be kind".to_owned()], ..ChatRequest::default() };
        assert_eq!(model.complete(&target(), &request).await.unwrap().text(), "hi");
        assert_eq!(model.complete(&target(), &request).await.unwrap_err(), ModelError::Unauthorised);
        let over = model.complete(&target(), &request).await.unwrap_err();
        assert!(over.to_string().contains("nothing is written for call 3"), "{over}");
        let asked = model.requests();
        assert_eq!((asked.len(), asked[0].target.as_str(), model.remaining()), (3, "one", 0));
        assert_eq!(asked[2].request.system, ["be kind"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_turn_breaks_off_where_it_was_told_to() {
        let said = build_text_events("hi").into_iter().take(2);
        let turn =
            ScriptedTurn::events_then_fault(said, ModelError::Interrupted).with_pause(Duration::from_secs(2));
        let model = ScriptedModel::new([turn, ScriptedTurn::text("hi").hanging()]);
        let before = Instant::now();
        let mut stream = model.stream(&target(), &ChatRequest::default()).await.unwrap();
        let mut seen = Vec::new();
        while let Some(item) = next_event(&mut stream).await {
            seen.push(item);
        }
        assert_eq!(seen.last(), Some(&Err(ModelError::Interrupted)));
        assert_eq!((seen.len(), before.elapsed()), (3, Duration::from_secs(6)));

        let (target, request) = (target(), ChatRequest::default());
        let whole = model.complete(&target, &request);
        assert!(tokio::time::timeout(Duration::from_secs(60), whole).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_behind_a_gate_waits_for_it() {
        let gate = ScriptGate::default();
        let model = ScriptedModel::new([ScriptedTurn::text("hi").with_gate(&gate)]);
        let (target, request) = (target(), ChatRequest::default());
        let mut whole = model.complete(&target, &request);
        assert!(tokio::time::timeout(Duration::from_secs(60), &mut whole).await.is_err());
        gate.open();
        assert_eq!(whole.await.unwrap().text(), "hi");
    }
}
