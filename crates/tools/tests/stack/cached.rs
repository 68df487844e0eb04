//! Looks that are told again for a minute.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use munshi_safety::acts::Permit;
use munshi_test_support::{TestDb, on_both_engines, wait_until};
use munshi_tools::{
    LookupOutcome, NoActJournal, RemoteToolHandler, TenantToolSource, TenantTools, ToolAnswer,
    ToolDispatcher, ToolFailure, ToolHandler, ToolOutput, ToolRegistry,
};
use munshi_types::{Effect, Reach, TenantId, ToolSpec};
use serde_json::{Value, json};

use crate::stack::support::{MIGRATIONS, Shop, events, foreign};

/// Counts how often it is really asked.
#[derive(Clone, Default)]
struct Counted(Arc<AtomicU32>);

#[async_trait]
impl RemoteToolHandler for Counted {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        if permit.arguments()["text"] == "broken" {
            self.0.fetch_add(1, Ordering::SeqCst);
            return Err(ToolFailure::permanent("no", "not today"));
        }
        if permit.arguments()["text"] == "dear" {
            let asked = self.0.fetch_add(1, Ordering::SeqCst) + 1;
            return Ok(ToolOutput::new(json!({ "dishes": [{ "name": "thali", "unitPrice": asked }] })));
        }
        Ok(ToolOutput::new(json!({ "asked": self.0.fetch_add(1, Ordering::SeqCst) + 1 })))
    }
}

/// Hangs, and has not happened when somebody looks.
struct Hanging(Arc<AtomicU32>);

#[async_trait]
impl RemoteToolHandler for Hanging {
    async fn call(&self, _permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        if self.0.fetch_add(1, Ordering::SeqCst) == 0 {
            std::future::pending::<()>().await;
        }
        Ok(ToolOutput::new(json!({})))
    }

    async fn look_up(&self, _permit: &Permit) -> Result<LookupOutcome, ToolFailure> {
        Ok(LookupOutcome::DidNot)
    }
}

/// What a connector shows at this moment.
struct Shown(std::sync::Mutex<Arc<TenantTools>>);

impl TenantToolSource for Shown {
    fn tenant_tools(&self, _tenant: TenantId) -> Arc<TenantTools> {
        self.0.lock().unwrap().clone()
    }

    fn is_settled(&self, _tenant: TenantId) -> bool {
        true
    }
}

/// A tool over one connection of its connector.
struct Over(u64, Counted);

#[async_trait]
impl RemoteToolHandler for Over {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        self.1.call(permit).await
    }

    fn connection_id(&self) -> u64 {
        self.0
    }
}

fn spec(name: &str, effect: Effect) -> ToolSpec {
    ToolSpec {
        parameters: json!({ "type": "object", "properties": { "text": { "type": "string" }, "page": { "type": "integer" } } }),
        effect,
        reach: Reach::Business,
        ..ToolSpec::read_only(name.parse().unwrap(), "Does it.", format!("shop.{name}"))
    }
}

struct House {
    shop: Shop,
    asked: Counted,
}

impl House {
    async fn open(test: &TestDb) -> Self {
        let (mut shop, asked) = (Shop::open(test).await, Counted::default());
        let mut registry = ToolRegistry::default();
        let far = || ToolHandler::Remote(Arc::new(asked.clone()));
        registry.add(ToolSpec { cacheable: true, ..spec("menu", Effect::Read) }, foreign(), far()).unwrap();
        registry.add(spec("fetch", Effect::Read), foreign(), far()).unwrap();
        registry
            .add(spec("book", Effect::Keyed), foreign(), ToolHandler::Remote(Arc::new(Counted::default())))
            .unwrap();
        let elsewhere = munshi_tools::ToolConnector { name: "shop".to_owned(), ..foreign() };
        registry
            .add(spec("fax", Effect::Once), elsewhere, ToolHandler::Remote(Arc::new(Counted::default())))
            .unwrap();
        let (db, act_services, clock) = (test.db.clone(), shop.act_services.clone(), test.clock.clone());
        shop.dispatcher = ToolDispatcher::new(db, act_services, Arc::new(registry), clock);
        Self { shop, asked }
    }

    async fn call(&self, tool: &str, arguments: Value) -> ToolAnswer {
        self.shop.call(self.shop.want(tool, arguments)).await
    }

    fn asked(&self) -> u32 {
        self.asked.0.load(Ordering::SeqCst)
    }
}

on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    async fn a_look_is_told_again_until_its_minute_is_over(test: TestDb) {
        let house = House::open(&test).await;
        let first = house.call("menu", json!({ "text": "a", "page": 1 })).await.render_for_model();
        // The same arguments in another order are the same.
        let again = house.call("menu", json!({ "page": 1, "text": "a" })).await.render_for_model();
        assert_eq!((&again, house.asked()), (&first, 1));
        assert_eq!(again["source"]["untrusted"], true, "what is told again is no more ours than it was");
        house.call("menu", json!({ "text": "b" })).await;
        assert_eq!(house.asked(), 2, "other arguments are another question");
        test.clock.advance(Duration::from_secs(59));
        house.call("menu", json!({ "text": "a", "page": 1 })).await;
        assert_eq!(house.asked(), 2);
        test.clock.advance(Duration::from_secs(1));
        house.call("menu", json!({ "text": "a", "page": 1 })).await;
        assert_eq!(house.asked(), 3);
        // Whatever it is told from, every act stands in the books.
        let told = events(&test.db, house.shop.tenant).await;
        assert_eq!(told.iter().filter(|event| *event == "act.applied").count(), 5);
    }

    async fn a_write_of_the_same_connector_ends_it(test: TestDb) {
        let house = House::open(&test).await;
        house.call("menu", json!({ "text": "a" })).await;
        house.call("fax", json!({ "text": "x" })).await;
        house.call("menu", json!({ "text": "a" })).await;
        assert_eq!(house.asked(), 1, "another connector's write is none of its business");
        house.call("book", json!({ "text": "x" })).await;
        house.call("menu", json!({ "text": "a" })).await;
        assert_eq!(house.asked(), 2);
    }

    async fn what_is_not_declared_so_or_failed_is_asked_for_each_time(test: TestDb) {
        let house = House::open(&test).await;
        for _ in 0..2 {
            house.call("fetch", json!({ "text": "a" })).await;
            let broken = house.call("menu", json!({ "text": "broken" })).await;
            assert!(matches!(broken, ToolAnswer::Failed { .. }), "{broken:?}");
        }
        assert_eq!(house.asked(), 4);
    }

    async fn what_tells_of_money_or_stock_is_asked_for_each_time(test: TestDb) {
        let house = House::open(&test).await;
        for _ in 0..2 {
            house.call("menu", json!({ "text": "dear" })).await;
        }
        assert_eq!(house.asked(), 2);
    }

    async fn a_write_that_another_process_left_ends_it(test: TestDb) {
        let house = House::open(&test).await;
        let calls: Arc<AtomicU32> = Arc::default();
        let mut registry = ToolRegistry::default();
        let far = ToolHandler::Remote(Arc::new(house.asked.clone()));
        registry.add(ToolSpec { cacheable: true, ..spec("menu", Effect::Read) }, foreign(), far).unwrap();
        let order = ToolSpec { timeout: Duration::from_secs(1), ..spec("order", Effect::Checked) };
        registry.add(order, foreign(), ToolHandler::Remote(Arc::new(Hanging(calls.clone())))).unwrap();
        let registry = Arc::new(registry);
        let dispatcher = || {
            ToolDispatcher::new(test.db.clone(), house.shop.act_services.clone(), registry.clone(), test.clock.clone())
        };
        let (dead, alive) = (dispatcher(), dispatcher());
        let menu = || alive.call(house.shop.want("menu", json!({ "text": "a" })), Arc::new(NoActJournal));
        let left = dead.call(house.shop.want("order", json!({ "text": "x" })), Arc::new(NoActJournal));
        tokio::select! {
            _ = left => panic!("it has no end"),
            () = wait_until(async || calls.load(Ordering::SeqCst) == 1) => {}
        }
        menu().await.unwrap();
        test.clock.advance(Duration::from_secs(40));
        menu().await.unwrap();
        assert_eq!(house.asked(), 1);
        let swept = alive.sweep(Arc::new(NoActJournal)).await.unwrap();
        assert_eq!((swept.ended, calls.load(Ordering::SeqCst)), (1, 2));
        menu().await.unwrap();
        assert_eq!(house.asked(), 2, "it may have changed by what was done");
    }

    async fn another_connection_under_the_same_name_is_asked_itself(test: TestDb) {
        let house = House::open(&test).await;
        let shelf = |line: u64, asked: &Counted| {
            let mut registry = ToolRegistry::default();
            let far = ToolHandler::Remote(Arc::new(Over(line, asked.clone())));
            registry.add(ToolSpec { cacheable: true, ..spec("hours", Effect::Read) }, foreign(), far).unwrap();
            Arc::new(TenantTools::new(registry, Default::default()))
        };
        let (one, other) = (Counted::default(), Counted::default());
        let shown = Arc::new(Shown(std::sync::Mutex::new(shelf(1, &one))));
        let dispatcher = house.shop.dispatcher.clone().with_connectors(shown.clone());
        let hours = || dispatcher.call(house.shop.want("hours", json!({ "text": "a" })), Arc::new(NoActJournal));
        hours().await.unwrap();
        // Its list was read again: the same connection, and other hands on it.
        *shown.0.lock().unwrap() = shelf(1, &one);
        hours().await.unwrap();
        assert_eq!(one.0.load(Ordering::SeqCst), 1);
        *shown.0.lock().unwrap() = shelf(2, &other);
        hours().await.unwrap();
        assert_eq!((one.0.load(Ordering::SeqCst), other.0.load(Ordering::SeqCst)), (1, 1));
    }

    async fn tenants_share_nothing(test: TestDb) {
        let house = House::open(&test).await;
        let other: TenantId = test.add_tenant("other").await;
        house.call("menu", json!({ "text": "a" })).await;
        let folder = test.place.folder();
        let (db, clock, ids) = (test.db.clone(), test.clock.clone(), test.ids.clone());
        let mut neighbour = Shop::of(db, other, clock, ids, &folder, crate::stack::support::Death::Never).await;
        neighbour.dispatcher = house.shop.dispatcher.clone();
        neighbour.call(neighbour.want("menu", json!({ "text": "a" }))).await;
        assert_eq!(house.asked(), 2);
    }
}
