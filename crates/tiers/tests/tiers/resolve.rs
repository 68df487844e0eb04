//! From an address to a binding.

use std::sync::Arc;
use std::time::{Duration, Instant};

use munshi_store::tenants::{self, TENANTS};
use munshi_test_support::{PATIENCE, TestDb, administer_platform, on_both_engines};
use munshi_tiers::resolve::assign_bucket;
use munshi_tiers::{AddressResolution, BindingResolution, BindingResolver, VanishedTierPolicy};
use munshi_types::TenantStatus;
use munshi_types::tier::{RoutingKey, RoutingKeyKind};
use tokio_util::sync::CancellationToken;

use crate::tiers::support::{Shop, key};

fn host() -> RoutingKey {
    key(RoutingKeyKind::Host, "Sharma.example")
}

async fn bound(resolver: &BindingResolver, person: Option<&str>) -> Arc<BindingResolution> {
    match resolver.resolve(&host(), person).await.unwrap() {
        AddressResolution::Bound(resolution) => resolution,
        other => panic!("{other:?}"),
    }
}

async fn set_status(test: &TestDb, tenant: munshi_types::TenantId, status: TenantStatus) {
    let change = move |tx: &mut munshi_store::PlatformTx<'_>| -> munshi_tiers::Result<()> {
        administer_platform(tx, |tx| tenants::set_status(tx, tenant, status))?;
        munshi_tiers::mark_tenant_changed(tx, tenant)
    };
    test.db.platform(TENANTS).write(change).await.unwrap();
}

/// A resolver on a handle of its own, as another process would have, kept true beside the test.
struct Node {
    resolver: BindingResolver,
    stop: CancellationToken,
    task: Option<std::thread::JoinHandle<()>>,
}

impl Node {
    async fn start(test: &TestDb) -> Self {
        let (resolver, stop) = (BindingResolver::new(test.open_again().await), CancellationToken::new());
        let (watching, token) = (resolver.clone(), stop.clone());
        let runtime = tokio::runtime::Handle::current();
        let task = std::thread::spawn(move || runtime.block_on(watching.watch(token)));
        Self { resolver, stop, task: Some(task) }
    }

    /// How long it takes until the node sees it.
    async fn until(&self, seen: impl Fn(&AddressResolution) -> bool) -> Duration {
        let began = Instant::now();
        loop {
            if seen(&self.resolver.resolve(&host(), None).await.unwrap()) {
                return began.elapsed();
            }
            assert!(began.elapsed() < PATIENCE, "never seen");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.stop.cancel();
        self.task.take().map(std::thread::JoinHandle::join);
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_tiers::MIGRATIONS];

    async fn a_name_is_remembered_until_something_changes(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.apply(&test).await.unwrap();
        let resolver = BindingResolver::new(test.db.clone());
        let tenant: munshi_types::TenantName = "sharma".parse().unwrap();
        let found = bound(&resolver, None).await;
        let first = resolver.resolve_by_name(&tenant, &found.binding_name, None).await.unwrap();
        let AddressResolution::Bound(first) = first else { panic!("{first:?}") };
        // Nobody has looked for changes yet: it comes from memory.
        set_status(&test, found.tenant, TenantStatus::Paused).await;
        let again = resolver.resolve_by_name(&tenant, &found.binding_name, None).await.unwrap();
        assert!(matches!(again, AddressResolution::Bound(again) if Arc::ptr_eq(&again, &first)));
        resolver.poll_changes().await.unwrap();
        let paused = resolver.resolve_by_name(&tenant, &found.binding_name, None).await.unwrap();
        assert!(matches!(paused, AddressResolution::TenantPaused(_)), "{paused:?}");
    }

    async fn an_address_leads_to_three_versions(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.apply(&test).await.unwrap();
        let resolver = BindingResolver::new(test.db.clone());
        assert!(resolver.resolve_cached(&host(), None).is_none());
        let found = bound(&resolver, None).await;
        assert_eq!((found.human.name.as_str(), found.human.version), ("meera", 1));
        assert_eq!((found.team.name.as_str(), found.agent.name.as_str()), ("counter", "counter"));
        assert_eq!(found.agent.body.tools.len(), 2, "with what it extends");
        assert_eq!(found.agent.bases, [("standard".parse().unwrap(), 1)]);
        assert_eq!(found.agent.body.limits.budgets().dynamic, 3_000);
        assert!(found.human.tokens.total > 100 && found.human.tokens.blocks["soul"] > 30, "{:?}", found.human.tokens);
        assert!(found.agent.tokens.blocks["tools"] > 10);
        for other in [key(RoutingKeyKind::Number, "+91-98123 45678"), key(RoutingKeyKind::Model, "sharma-counter")] {
            let AddressResolution::Bound(same) = resolver.resolve(&other, None).await.unwrap() else { panic!() };
            assert!(Arc::ptr_eq(&same.human, &found.human) && Arc::ptr_eq(&same.agent, &found.agent), "shared");
        }
        assert!(matches!(resolver.resolve_cached(&host(), None), Some(AddressResolution::Bound(_))));
        let named = resolver.resolve_by_name(&shop.name.parse().unwrap(), &"counter".parse().unwrap(), None).await.unwrap();
        assert!(matches!(named, AddressResolution::Bound(named) if Arc::ptr_eq(&named.static_prompt, &found.static_prompt)), "made once");
    }

    async fn each_way_not_to_answer_is_told_apart(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.apply(&test).await.unwrap();
        let resolver = BindingResolver::new(test.db.clone());
        let tenant = bound(&resolver, None).await.tenant;
        let unknown = resolver.resolve(&key(RoutingKeyKind::Host, "nobody.example"), None).await.unwrap();
        assert!(matches!(unknown, AddressResolution::Unknown), "{unknown:?}");
        let other_kind = resolver.resolve(&key(RoutingKeyKind::Handle, "sharma.example"), None).await.unwrap();
        assert!(matches!(other_kind, AddressResolution::Unknown), "{other_kind:?}");

        set_status(&test, tenant, TenantStatus::Paused).await;
        resolver.poll_changes().await.unwrap();
        let paused = resolver.resolve(&host(), None).await.unwrap();
        assert!(matches!(&paused, AddressResolution::TenantPaused(name) if name.as_str() == "sharma"), "{paused:?}");
        set_status(&test, tenant, TenantStatus::Active).await;
        resolver.poll_changes().await.unwrap();
        bound(&resolver, None).await;

        shop.remove("bindings/counter.toml");
        shop.apply_with(&test, VanishedTierPolicy::Archive).await.unwrap();
        resolver.poll_changes().await.unwrap();
        let archived = resolver.resolve(&host(), None).await.unwrap();
        assert!(matches!(&archived, AddressResolution::BindingArchived { binding, .. } if binding.as_str() == "counter"), "{archived:?}");

        set_status(&test, tenant, TenantStatus::Archived).await;
        resolver.poll_changes().await.unwrap();
        let gone = resolver.resolve(&host(), None).await.unwrap();
        assert!(matches!(gone, AddressResolution::TenantArchived(_)), "{gone:?}");
    }

    async fn a_change_is_seen_by_every_node_within_a_second(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.apply(&test).await.unwrap();
        let nodes = [Node::start(&test).await, Node::start(&test).await];
        for node in &nodes {
            node.until(|answer| matches!(answer, AddressResolution::Bound(_))).await;
        }
        let mut took = Vec::new();
        for round in 2..5_u32 {
            shop.edit("humans/meera.md", "name = \"Meera", "name = \"Meera M");
            shop.apply(&test).await.unwrap();
            for node in &nodes {
                took.push(node.until(|answer| matches!(answer, AddressResolution::Bound(found) if found.human.version == round)).await);
            }
        }
        // The base of an agent is part of it.
        let tokens = async || match nodes[0].resolver.resolve(&host(), None).await.unwrap() {
            AddressResolution::Bound(found) => found.agent.tokens.total,
            other => panic!("{other:?}"),
        };
        let before = tokens().await;
        shop.edit("agents/standard.toml", "episodes = 3", "episodes = 2");
        shop.edit("agents/standard.toml", "Look an item up", "Always and every time, look an item up");
        shop.apply(&test).await.unwrap();
        took.push(nodes[0].until(|answer| matches!(answer, AddressResolution::Bound(found) if found.agent.body.memory.episodes == 2)).await);
        // A busy machine may be late, but not all the time. What is remembered longest is remembered for a minute.
        let seconds = |most: u64| took.iter().filter(|took| **took < Duration::from_secs(most)).count();
        assert!(seconds(1) > 0 && seconds(30) == took.len(), "{took:?}");
        assert!(tokens().await > before, "counted with its base");
    }

    async fn a_turn_goes_on_with_the_versions_it_began_with(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.apply(&test).await.unwrap();
        let resolver = BindingResolver::new(test.db.clone());
        let held = bound(&resolver, None).await;
        shop.edit("humans/meera.md", "warm", "cold");
        shop.apply(&test).await.unwrap();
        resolver.poll_changes().await.unwrap();
        assert_eq!(bound(&resolver, None).await.human.version, 2);
        assert_eq!(held.human.version, 1);
    }

    async fn another_tenants_change_forgets_nothing(test: TestDb) {
        let (shop, other) = (Shop::new("sharma"), Shop::new("other"));
        shop.apply(&test).await.unwrap();
        let resolver = BindingResolver::new(test.db.clone());
        resolver.poll_changes().await.unwrap();
        bound(&resolver, None).await;
        other.remove("bindings/counter.toml");
        other.apply(&test).await.unwrap();
        resolver.poll_changes().await.unwrap();
        assert!(resolver.resolve_cached(&host(), None).is_some());
    }

    async fn who_was_away_sees_everything_at_the_next_look(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.apply(&test).await.unwrap();
        let resolver = BindingResolver::new(test.db.clone());
        resolver.poll_changes().await.unwrap();
        bound(&resolver, None).await;
        for number in 0..3 {
            shop.edit("humans/meera.md", "name = \"Meera", "name = \"Meera M");
            shop.apply(&test).await.unwrap();
            let other = Shop::new(&format!("other-{number}"));
            other.remove("bindings/counter.toml");
            other.apply(&test).await.unwrap();
        }
        assert_eq!(bound(&resolver, None).await.human.version, 1, "nobody looked");
        resolver.poll_changes().await.unwrap();
        assert_eq!(bound(&resolver, None).await.human.version, 4);
    }

    async fn a_slice_has_its_share_and_keeps_its_people(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.apply(&test).await.unwrap();
        shop.edit("humans/meera.md", "warm", "warmer");
        shop.apply(&test).await.unwrap();
        let text = std::fs::read_to_string(shop.path().join("bindings/counter.toml")).unwrap();
        let slices = "\n[[slices]]\nname = \"old\"\nshare = 10\nhuman = \"meera@1\"\n\n[[slices]]\nname = \"formal\"\nshare = 20\nbinding = \"trial\"\n";
        shop.write("bindings/trial.toml", "human = \"meera\"\nteam = \"counter\"\nagent = \"standard\"\nkeys = []\n");
        shop.write("bindings/counter.toml", format!("{text}{slices}"));
        shop.apply(&test).await.unwrap();
        let resolver = BindingResolver::new(test.db.clone());
        let mut counts = [0; 3];
        for number in 0..2_000 {
            let person = format!("+9198{number:08}");
            let found = bound(&resolver, Some(&person)).await;
            let arm = match found.slice.as_deref() {
                Some("old") => {
                    assert_eq!(found.human.version, 1);
                    0
                }
                Some("formal") => {
                    assert_eq!((found.binding_name.as_str(), found.agent.name.as_str()), ("trial", "standard"));
                    1
                }
                _ => {
                    assert_eq!(found.human.version, 2);
                    2
                }
            };
            counts[arm] += 1;
            let again = bound(&resolver, Some(&person)).await;
            assert_eq!(again.slice, found.slice);
        }
        assert!((140..260).contains(&counts[0]) && (320..480).contains(&counts[1]), "{counts:?}");
        let nobody = bound(&resolver, None).await;
        assert_eq!(nobody.slice, None);
        // Growing the first share keeps those who were in it.
        let inside: Vec<String> = (0..500).map(|number| format!("p{number}")).filter(|person| assign_bucket(nobody.binding_id, person) < 10).collect();
        shop.edit("bindings/counter.toml", "share = 10", "share = 30");
        shop.apply(&test).await.unwrap();
        resolver.poll_changes().await.unwrap();
        for person in inside {
            assert_eq!(bound(&resolver, Some(&person)).await.slice.as_deref(), Some("old"));
        }
    }

    async fn bad_slices_are_refused(test: TestDb) {
        let shop = Shop::new("sharma");
        let text = std::fs::read_to_string(shop.path().join("bindings/counter.toml")).unwrap();
        let slices = [("a", 60, "human = \"meera@7\""), ("a", 50, "binding = \"counter\""), ("c", 1, "team = \"nobody\"")];
        let slices: String = slices.iter().map(|(name, share, what)| format!("\n[[slices]]\nname = \"{name}\"\nshare = {share}\n{what}\n")).collect();
        shop.write("bindings/counter.toml", format!("{text}{slices}"));
        let told = crate::tiers::support::problems(shop.apply(&test).await.unwrap_err());
        for wanted in ["the shares of the slices add up to 111", "meera is being created", "duplicate slice name `a`", "a slice can't use its own binding", "there is no team called nobody"] {
            assert!(told.contains(wanted), "{wanted}: {told}");
        }
    }
}
