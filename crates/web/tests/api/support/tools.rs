//! A tool that reads, one that writes in our own tables, and one that is dangerous.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use munshi_safety::acts::Permit;
use munshi_store::{Migration, Tx, params};
use munshi_test_support::PATIENCE;
use munshi_tools::{
    ConnectorOrigin, LookupOutcome, ReadToolHandler, RemoteToolHandler, ToolConnector, ToolFailure,
    ToolHandler, ToolOutput, ToolRegistry, WriteToolHandler,
};
use munshi_types::{Effect, Reach, ToolSpec};
use serde_json::json;

pub(crate) const NOTES: &[Migration] = &[Migration {
    name: "9001_notes",
    text: "CREATE TENANT TABLE notes (tenant_id UUID NOT NULL, act_id UUID NOT NULL, text TEXT NOT NULL,
           PRIMARY KEY (tenant_id, act_id));",
}];

/// What was done to the world outside.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) wiped: Mutex<Vec<String>>,
    pub(crate) looks: AtomicU32,
    /// Wiping takes until this is taken back.
    pub(crate) held: AtomicBool,
    /// Nobody waits long.
    pub(crate) hurried: AtomicBool,
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

struct Notes;

impl WriteToolHandler for Notes {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let text = permit.arguments()["text"].as_str().unwrap_or_default();
        tx.execute(
            "INSERT INTO notes (tenant_id, act_id, text) VALUES ($1, $2, $3)",
            params![permit.act(), text],
        )?;
        Ok(ToolOutput::new(json!({ "noted": text })))
    }
}

struct Count(Arc<World>);

impl ReadToolHandler for Count {
    fn read(&self, _: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        self.0.looks.fetch_add(1, Ordering::SeqCst);
        let count: i64 =
            tx.one("SELECT COUNT(*) FROM notes WHERE tenant_id = $1", params![], |row| row.get(0))?;
        Ok(ToolOutput::new(json!({ "count": count })))
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

fn spec(name: &str, effect: Effect) -> ToolSpec {
    ToolSpec {
        parameters: json!({ "type": "object", "properties": { "text": { "type": "string" } } }),
        effect,
        reach: Reach::Business,
        ..ToolSpec::read_only(name.parse().unwrap(), format!("Does {name}."), format!("shop.{name}"))
    }
}

pub(crate) fn registry(world: &Arc<World>) -> ToolRegistry {
    let house = || ToolConnector {
        name: "shop".to_owned(),
        maker: ConnectorOrigin::House,
        declares: true,
        conduct: None,
    };
    let mut registry = ToolRegistry::default();
    let count = ToolHandler::Look(Arc::new(Count(world.clone())));
    registry.add(spec("count", Effect::Read), house(), count).unwrap();
    let note = ToolSpec { dry_run: true, ..spec("note", Effect::Inside) };
    registry.add(note, house(), ToolHandler::Write(Arc::new(Notes))).unwrap();
    let show = ToolSpec { reach: Reach::Anyone, ..spec("show", Effect::Read) };
    registry.add(show, house(), ToolHandler::Look(Arc::new(Show))).unwrap();
    let grave = ToolSpec { dangerous: true, ..spec("wipe", Effect::Keyed) };
    for (name, answer) in [
        ("test_simple_text", Ok("This is a simple text response for testing.")),
        ("test_error_handling", Err("This tool intentionally returns an error for testing")),
        ("test_tool_with_progress", Ok("It went on.")),
    ] {
        registry
            .add(spec(name, Effect::Read), house(), ToolHandler::Look(Arc::new(Fixture(answer))))
            .unwrap();
    }
    let elsewhere =
        ToolConnector { name: "elsewhere".to_owned(), maker: ConnectorOrigin::Foreign, ..house() };
    registry.add(grave, elsewhere, ToolHandler::Far(Arc::new(Wipe(world.clone())))).unwrap();
    registry
}
