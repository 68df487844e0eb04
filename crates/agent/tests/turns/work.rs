//! A pack's kinds of work for tests, and how they are begun and looked at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use munshi_agent::background::NewBackgroundRun;
use munshi_conversations::runs::{self, Run, RunCause};
use munshi_http::{AllowedHosts, GuardedHttpClients};
use munshi_jobs::{JobRegistry, JobRunner, JobRunnerOptions};
use munshi_llm::gateway::Capability;
use munshi_llm::{ChatMessage, ChatRequest};
use munshi_pack::operation::PackServices;
use munshi_pack::{ChildRun, FromPack, NextStep, PackHttpRequest, PackRegistry, RunHistory, RunKind};
use munshi_store::{JsonText, params};
use munshi_test_support::TestDb;
use munshi_test_support::models::ScriptedTurn;
use munshi_types::{ApprovalId, Autonomy, RunId, SeededRandom};
use serde_json::{Value, json};

use crate::turns::support::{Plan, Shop};

/// Does what its input lists, step by step, and ends with what came of it. Where it is told to, it stands still before a step.
pub(crate) struct Listed {
    name: &'static str,
    autonomy: Autonomy,
    /// So many steps are asked for, in all runs; then none is given any more.
    steps: Option<Arc<AtomicUsize>>,
}

#[async_trait]
impl RunKind for Listed {
    fn name(&self) -> &'static str {
        self.name
    }

    fn scopes(&self) -> &'static [&'static str] {
        &["shop.*"]
    }

    fn autonomy(&self) -> Autonomy {
        self.autonomy
    }

    async fn next_step(&self, history: &RunHistory) -> Result<NextStep, String> {
        if let Some(steps) = &self.steps
            && steps.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err()
        {
            std::future::pending::<()>().await;
        }
        let Some(step) = history.input.get(history.outcomes.len()) else {
            let ended = serde_json::to_value(&history.outcomes).map_err(|error| error.to_string())?;
            return Ok(NextStep::End(ended));
        };
        if let Some(tool) = step["call"].as_str() {
            let arguments = json!({ "text": step["text"].as_str().unwrap_or("a step") });
            return Ok(NextStep::Call { tool: tool.to_owned(), arguments });
        }
        if let Some(seconds) = step["wait"].as_u64() {
            // From its beginning in the history, so that it is the same time when it is asked again.
            return Ok(NextStep::WaitUntil(history.now.plus(Duration::from_secs(seconds))));
        }
        if let Some(children) = step["begin"].as_array() {
            let child = |input: &Value| ChildRun { kind: "sample.listed".to_owned(), input: input.clone() };
            return Ok(NextStep::Begin(children.iter().map(child).collect()));
        }
        if let Some(tool) = step["optional"].as_str() {
            let step = NextStep::Call { tool: tool.to_owned(), arguments: json!({ "text": "extra" }) };
            return Ok(NextStep::Optional { what: "the extra note".to_owned(), step: Box::new(step) });
        }
        match step["panic"].as_bool() {
            Some(true) => panic!("as it was told"),
            _ => Ok(NextStep::Fail("an unknown step".to_owned())),
        }
    }
}

/// Asks another server before it says what comes next.
pub(crate) struct Curious;

#[async_trait]
impl RunKind for Curious {
    fn name(&self) -> &'static str {
        "curious"
    }

    fn scopes(&self) -> &'static [&'static str] {
        &["shop.*"]
    }

    fn autonomy(&self) -> Autonomy {
        Autonomy::Act
    }

    async fn next_step(&self, _history: &RunHistory) -> Result<NextStep, String> {
        Err("it wants services".to_owned())
    }

    async fn next_step_with(
        &self,
        history: &RunHistory,
        services: &PackServices,
    ) -> Result<NextStep, String> {
        if !history.outcomes.is_empty() {
            return Ok(NextStep::End(Value::Null));
        }
        // Nobody listens there; what counts is that it was asked.
        let asked = services.http().send(PackHttpRequest::get("http://127.0.0.1:9/")).await;
        let text = asked.err().map(|error| error.to_string());
        Ok(NextStep::Call { tool: "note".to_owned(), arguments: json!({ "text": text }) })
    }
}

/// Asks a model as often as it is told, begins others like it, and asks again.
pub(crate) struct Asking {
    /// Stands still once after it has asked, before it says what comes next.
    pub(crate) hangs: Arc<AtomicBool>,
}

#[async_trait]
impl RunKind for Asking {
    fn name(&self) -> &'static str {
        "asking"
    }

    fn scopes(&self) -> &'static [&'static str] {
        &["shop.*"]
    }

    async fn next_step(&self, _history: &RunHistory) -> Result<NextStep, String> {
        Err("it wants services".to_owned())
    }

    async fn next_step_with(
        &self,
        history: &RunHistory,
        services: &PackServices,
    ) -> Result<NextStep, String> {
        let (asks, children) = match history.outcomes.len() {
            0 => ("asks", history.input["begin"].as_array()),
            _ => ("then", None),
        };
        for _ in 0..history.input[asks].as_u64().unwrap_or_default() {
            let messages = vec![ChatMessage::user("How many?")];
            let request = ChatRequest { messages, max_output_tokens: 100, ..ChatRequest::default() };
            services.model(Capability::Default, request).await.map_err(|error| error.to_string())?;
        }
        if self.hangs.swap(false, Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        let child = |input: &Value| ChildRun { kind: "sample.asking".to_owned(), input: input.clone() };
        Ok(match children {
            Some(children) => NextStep::Begin(children.iter().map(child).collect()),
            None => {
                NextStep::End(json!(history.outcomes.iter().map(|of| format!("{of:?}")).collect::<Vec<_>>()))
            }
        })
    }
}

pub(crate) fn house(steps: Option<&Arc<AtomicUsize>>) -> PackRegistry {
    let mut house = PackRegistry::default();
    for (name, autonomy) in [("listed", Autonomy::Act), ("shy", Autonomy::Investigate)] {
        let kind = Listed { name, autonomy, steps: steps.cloned() };
        house.run_kinds.push(FromPack { pack: "sample", what: Arc::new(kind) });
    }
    house.run_kinds.push(FromPack { pack: "sample", what: Arc::new(Curious) });
    house
}

pub(crate) async fn open(test: &TestDb) -> Shop {
    let plan = Plan { house: house(None), ..Plan::default() };
    Shop::open_with(test, [ScriptedTurn::text("Hello.")], plan).await
}

pub(crate) fn runner(shop: &Shop) -> JobRunner {
    runner_of(shop, 4)
}

/// One that works on so many at once.
pub(crate) fn runner_of(shop: &Shop, most: usize) -> JobRunner {
    let mut registry = JobRegistry::default();
    let clients = GuardedHttpClients::new(AllowedHosts::new(["127.0.0.1:9".to_owned()])).unwrap();
    shop.engine.install_background(&mut registry, most, PackServices::default().with_http(clients));
    let random = Arc::new(SeededRandom::new(7));
    JobRunner::new(shop.db.clone(), &shop.queue, random, registry, JobRunnerOptions::default())
}

pub(crate) async fn begin_as(
    shop: &Shop,
    cause: RunCause,
    kind: &str,
    key: Option<&str>,
    input: Value,
) -> RunId {
    let new = NewBackgroundRun { kind: kind.to_owned(), cause, cause_key: key.map(str::to_owned), input };
    let run_queue = shop.engine.run_starter();
    shop.db.write(shop.tenant, move |tx| run_queue.begin(tx, &new)).await.unwrap().run
}

pub(crate) async fn begin(shop: &Shop, input: Value) -> RunId {
    begin_as(shop, RunCause::Clock, "sample.listed", None, input).await
}

pub(crate) async fn find(shop: &Shop, run: RunId) -> Run {
    shop.db.read(shop.tenant, move |tx| runs::find(tx, run)).await.unwrap().unwrap()
}

pub(crate) async fn result(shop: &Shop, run: RunId) -> Value {
    let sql = "SELECT result FROM runs WHERE tenant_id = $1 AND id = $2";
    let read = move |tx: &mut munshi_store::Tx<'_>| {
        tx.one(sql, params![run], |row| {
            row.get_sealed::<JsonText>(0, munshi_store::SealedColumn::new("runs", "result").cell(run))
        })
    };
    shop.db.read(shop.tenant, read).await.unwrap().read().unwrap()
}

pub(crate) async fn pending(shop: &Shop) -> Vec<ApprovalId> {
    let sql = "SELECT id FROM approvals WHERE tenant_id = $1 AND state = 'pending' ORDER BY id";
    shop.db.read(shop.tenant, move |tx| tx.all(sql, params![], |row| row.get(0))).await.unwrap()
}

pub(crate) fn steps(input: &[&str]) -> Value {
    input.iter().map(|tool| json!({ "call": tool })).collect()
}
