//! A tool that reads, one that writes in our own tables, and one that is dangerous.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_test_app::notes::{
    NoteTool, build_foreign_connector, build_house_connector, build_spec, count_notes,
};
use munshi_test_support::PATIENCE;
use munshi_tools::{
    LookupOutcome, ReadToolHandler, RemoteToolHandler, ToolFailure, ToolHandler, ToolOutput, ToolRegistry,
};
use munshi_types::{Effect, Language, Reach, ToolSpec};
use serde_json::json;

/// What was done to the world outside.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) wiped: Mutex<Vec<String>>,
    pub(crate) looks: AtomicU32,
    /// Wiping takes until this is taken back.
    pub(crate) held: AtomicBool,
    /// Nobody waits long.
    pub(crate) hurried: AtomicBool,
    /// The agent can fetch something, which nobody waits for.
    pub(crate) fetches: AtomicBool,
}

impl World {
    pub(crate) fn patience(&self) -> Duration {
        if self.hurried.load(Ordering::SeqCst) { Duration::from_secs(1) } else { PATIENCE }
    }
}

struct Wipe(Arc<World>);

#[async_trait]
impl RemoteToolHandler for Wipe {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        while self.0.held.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.0.wiped.lock().unwrap().push(permit.idempotency_key());
        Ok(ToolOutput::new(json!({ "wiped": permit.arguments()["text"] })))
    }

    async fn look_up(&self, _: &Permit) -> Result<LookupOutcome, ToolFailure> {
        Ok(LookupOutcome::CanNotTell)
    }
}

/// Brings what it is asked for once it is no longer held.
struct Fetch(Arc<World>);

#[async_trait]
impl RemoteToolHandler for Fetch {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        while self.0.held.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(ToolOutput::new(json!({ "fetched": permit.arguments()["text"] })))
    }

    async fn look_up(&self, _: &Permit) -> Result<LookupOutcome, ToolFailure> {
        Ok(LookupOutcome::CanNotTell)
    }
}

struct Count(Arc<World>);

impl ReadToolHandler for Count {
    fn read(&self, _: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        self.0.looks.fetch_add(1, Ordering::SeqCst);
        Ok(ToolOutput::new(json!({ "count": count_notes(tx)? })))
    }
}

/// Shows what it is asked for: a way to pay, a link and a picture.
struct Show;

impl ReadToolHandler for Show {
    fn read(&self, permit: &Permit, _: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let what = permit.arguments()["text"].as_str().unwrap_or_default();
        let all = json!([
            { "kind": "qr", "text": "upi://pay?pa=shop@bank&am=500", "title": "Pay ₹500" },
            { "kind": "link", "url": "https://shop.example/bill/7", "title": "The bill" },
            { "kind": "image", "media_type": "image/png", "title": "The blue one", "data": DOT },
            { "kind": "link", "url": "javascript:alert(1)", "title": "Evil" },
        ]);
        let wanted = all
            .as_array()
            .into_iter()
            .flatten()
            .filter(|one| what.contains(one["kind"].as_str().unwrap_or("?")));
        Ok(ToolOutput::new(json!({ "attachments": wanted.collect::<Vec<_>>() })))
    }
}

/// One blue dot.
const DOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADBwIAMCbHYQAAAABJRU5ErkJggg==";

/// What the protocol's conformance suite calls.
struct Fixture(Result<&'static str, &'static str>);

impl ReadToolHandler for Fixture {
    fn read(&self, _: &Permit, _: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        match self.0 {
            Ok(text) => Ok(ToolOutput::new(json!({ "text": text }))),
            Err(why) => Err(ToolFailure::permanent("intended", why)),
        }
    }
}

/// What somebody has to agree to before it is called for them; where no policy declares it, nobody is offered it.
pub(crate) fn score_spec() -> ToolSpec {
    let phrases = [(Language::English, vec!["look up {text}".to_owned()])].into();
    let consent = "credit_check".parse().ok();
    ToolSpec { reach: Reach::Anyone, consent, phrases, ..build_spec("score", Effect::Read) }
}

pub(crate) fn registry(world: &Arc<World>) -> ToolRegistry {
    let house = build_house_connector;
    let mut registry = ToolRegistry::default();
    let count = ToolHandler::Read(Arc::new(Count(world.clone())));
    registry.add(build_spec("count", Effect::Read), house(), count).unwrap();
    let note = ToolSpec { dry_run: true, ..build_spec("note", Effect::Inside) };
    registry.add(note, house(), ToolHandler::Write(Arc::new(NoteTool))).unwrap();
    let show = ToolSpec { reach: Reach::Anyone, ..build_spec("show", Effect::Read) };
    registry.add(show, house(), ToolHandler::Read(Arc::new(Show))).unwrap();
    let score = ToolHandler::Read(Arc::new(Count(world.clone())));
    registry.add(score_spec(), house(), score).unwrap();
    let recall = ToolSpec { needs_conversation: true, ..build_spec("recall", Effect::Read) };
    registry.add(recall, house(), ToolHandler::Read(Arc::new(Show))).unwrap();
    let grave = ToolSpec { dangerous: true, ..build_spec("wipe", Effect::Keyed) };
    for (name, answer) in [
        ("test_simple_text", Ok("This is a simple text response for testing.")),
        ("test_error_handling", Err("This tool intentionally returns an error for testing")),
        ("test_tool_with_progress", Ok("It went on.")),
    ] {
        registry
            .add(build_spec(name, Effect::Read), house(), ToolHandler::Read(Arc::new(Fixture(answer))))
            .unwrap();
    }
    registry
        .add(grave, build_foreign_connector(), ToolHandler::Remote(Arc::new(Wipe(world.clone()))))
        .unwrap();
    if world.fetches.load(Ordering::SeqCst) {
        let wait_at_most = Some(Duration::from_millis(100));
        let fetch = ToolSpec { reach: Reach::Anyone, wait_at_most, ..build_spec("fetch", Effect::Read) };
        let handler = ToolHandler::Remote(Arc::new(Fetch(world.clone())));
        registry.add(fetch, build_foreign_connector(), handler).unwrap();
    }
    registry
}
