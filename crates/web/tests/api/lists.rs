//! Every list goes either way, page by page, and a cursor belongs to the order it came from.

use std::time::Duration;

use munshi_conversations::human_requests::{self, NewHumanRequest};
use munshi_conversations::sessions::{self, SessionFilter};
use munshi_conversations::{Result, whispers};
use munshi_identity::Role;
use munshi_operations::HOUSE;
use munshi_pack::operation::{OperationScope, OperationSpec};
use munshi_safety::policy;
use munshi_store::{PageRequest, SealedBy, SealedColumn, Tx, params};
use munshi_test_support::TestDb;
use munshi_types::{CallId, RunId, SessionId, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::api::operation_samples::{Subjects, sample};
use crate::api::operations::{subjects, wipes};
use crate::api::support::{Installation, Reply, bury_job};

/// So many pages are followed.
const PAGES: usize = 4;

/// Second rows for the lists that have one at most.
async fn add_rows(house: &Installation, keeper: &str, test: &TestDb) {
    let post = |path: &'static str, body: Value| async move {
        let reply = house.call_in("shop", ("POST", path), keeper, Some(body)).await;
        assert!(reply.status < 300, "{path}: {}", reply.json());
    };
    let host =
        json!({ "kid": "back", "host": "back", "jwks": "https://shop.example/keys", "algorithm": "RS256" });
    post("/v1/host-keys", host).await;
    post("/v1/secrets/spare", json!({ "value": "s3cret" })).await;
    post("/v1/connectors", json!({ "name": "far", "url": "https://far.example/mcp" })).await;
    for name in ["mail", "spare"] {
        post("/v1/channels", json!({ "name": name, "kind": "log" })).await;
    }
    for limit in ["tenant.day.tokens", "tenant.month.tokens"] {
        post("/v1/usage/limits", json!({ "limit": limit, "amount": "100000" })).await;
    }
    bury_job(house).await;
    if house.db.engine() == "sqlite" {
        for _ in 0..2 {
            test.clock.advance(Duration::from_secs(2));
            post("/v1/backups", json!({})).await;
        }
    }
    let now = house.now();
    let set_policy = move |tx: &mut Tx<'_>| -> munshi_safety::Result<()> {
        for autonomy in ["propose", "act"] {
            let policy = policy::parse(&format!("most_autonomy = \"{autonomy}\"\n")).unwrap();
            policy::apply(tx, &policy, "test", "", now)?;
        }
        Ok(())
    };
    house.db.write(house.shop.tenant, set_policy).await.unwrap();
    let break_rules = move |tx: &mut Tx<'_>| -> Result<()> {
        for number in 1..4 {
            tx.execute(
                "INSERT INTO guardrail_violations (tenant_id, id, run_id, binding_id, rule, tier, severity, what, at)
                 SELECT $1, $2, run_id, binding_id, 'length', 'agent', 'log', 'too long', $3 FROM decisions
                 WHERE tenant_id = $1 LIMIT 1",
                // Two at one moment: their ids decide.
                params![Uuid::from_u128(number), now.plus(Duration::from_secs(u64::from(number == 3)))],
            )?;
        }
        Ok(())
    };
    house.db.write(house.shop.tenant, break_rules).await.unwrap();
    let raise_alerts = move |tx: &mut Tx<'_>| -> Result<()> {
        for number in 1..4 {
            tx.execute(
                "INSERT INTO pack_alerts (tenant_id, id, pack, heartbeat, key, severity, text, phrase, slots, first_seen,
                                          last_seen)
                 VALUES ($1, $2, 'board', 'stale', $3, 'notice', 'It is old.', 'board-stale', '[]', $4, $4)",
                params![Uuid::from_u128(number), number.to_string(), now.plus(Duration::from_secs(u64::from(number == 3)))],
            )?;
        }
        Ok(())
    };
    house.db.write(house.shop.tenant, raise_alerts).await.unwrap();
    house.db.write(house.shop.tenant, move |tx| store_prompts(tx, now)).await.unwrap();
}

/// Two for each run.
fn store_prompts(tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
    const BODY: SealedColumn = SealedColumn::new("stored_prompts", "body");
    let list = "SELECT id FROM runs WHERE tenant_id = $1 ORDER BY id";
    let runs: Vec<RunId> = tx.all(list, params![], |row| row.get(0))?;
    for (number, run) in (1..).zip(runs.iter().chain(&runs)) {
        let call = CallId::from_uuid(Uuid::from_u128(number));
        let body = tx.seal_json(SealedBy::Tenant, BODY.cell(call), &json!({ "messages": [] }))?;
        tx.execute(
            "INSERT INTO stored_prompts (tenant_id, call_id, run_id, body, stored_at) VALUES ($1, $2, $3, $4, $5)",
            params![call, *run, body, now],
        )?;
    }
    Ok(())
}

/// A list as its keeper reads it.
struct ListReader<'a> {
    house: &'a Installation,
    keeper: &'a str,
    spec: OperationSpec,
    path: String,
}

impl ListReader<'_> {
    async fn get(&self, query: &str) -> Reply {
        let path = format!("{}?{query}", self.path);
        match self.spec.needs.scope() {
            OperationScope::Installation => self.house.get(&path, self.keeper).await,
            _ => self.house.call_in("shop", ("GET", &path), self.keeper, None).await,
        }
    }

    async fn read(&self, query: &str) -> (Vec<Value>, Option<String>) {
        let view = self.get(query).await.is(200);
        let items = ["items", "models", "versions"].into_iter().find_map(|name| view[name].as_array());
        (items.unwrap().clone(), view["next"].as_str().map(str::to_owned))
    }

    /// Its first rows, one page each.
    async fn follow(&self, order: &str) -> Vec<Value> {
        let (mut rows, mut after) = (Vec::new(), String::new());
        for _ in 0..PAGES {
            let (page, next) = self.read(&format!("limit=1&order={order}{after}")).await;
            assert_eq!(page.len(), 1, "{}", self.path);
            rows.extend(page);
            let Some(next) = next else { break };
            self.check_cursor(order, &next).await;
            after = format!("&after={next}");
        }
        rows
    }

    /// It is of no use in the other order, and without an order where that is not the list's own.
    async fn check_cursor(&self, order: &str, cursor: &str) {
        let other = if order == "asc" { "desc" } else { "asc" };
        let refused = self.get(&format!("order={other}&after={cursor}")).await.refused(400, "bad_request");
        assert!(refused.contains("`after`") && refused.contains(order), "{}: {refused}", self.path);
        let plain = self.get(&format!("after={cursor}")).await;
        assert_eq!(
            plain.status,
            if cursor.starts_with(&format!("{order}:")) { 400 } else { 200 },
            "{} {cursor}",
            self.path
        );
    }

    /// How many rows it has.
    async fn check(&self, is_paged: bool) -> usize {
        let refused = self.get("order=sideways").await.refused(400, "bad_request");
        assert!(refused.contains("`order`"), "{}: {refused}", self.path);
        self.get("order=asc&order=desc").await.refused(400, "bad_request");
        let most = if is_paged { "limit=500&" } else { "" };
        let (up, _) = self.read(&format!("{most}order=asc")).await;
        let (mut down, _) = self.read(&format!("{most}order=desc")).await;
        let (plain, _) = self.read(most).await;
        if is_paged && !up.is_empty() {
            let pages = up.len().min(PAGES);
            assert_eq!(self.follow("asc").await, up[..pages], "{}", self.path);
            assert_eq!(self.follow("desc").await, down[..pages], "{}", self.path);
        }
        assert!(plain == up || plain == down, "{} has an order of its own without being asked", self.path);
        down.reverse();
        assert_eq!(down, up, "{}", self.path);
        up.len()
    }
}

/// Two whispers in the session, and two people in the line.
async fn add_desk_rows(house: &Installation, subjects: &Subjects, test: &TestDb) {
    let path =
        sample(&HOUSE.iter().find(|entry| entry.spec.id() == "list_whispers").unwrap().spec, subjects, 0).0;
    let session: SessionId = path.split('/').nth(3).unwrap().parse().unwrap();
    for number in 0..2 {
        test.clock.advance(Duration::from_secs(1));
        let (ids, now, owner, staff) = (house.ids.clone(), house.now(), house.shop.owner, house.shop.staff);
        let add = move |tx: &mut Tx<'_>| {
            let found = sessions::find(tx, session)?.unwrap();
            whispers::add(tx, &found, (ids.next(), owner), ("be kind", now))?;
            let other = sessions::list(tx, SessionFilter::All, &PageRequest::new(None, 50))?.items;
            let waiting = other.into_iter().filter(|one| one.person != staff).nth(number).unwrap();
            let request = NewHumanRequest {
                id: ids.next(),
                run: None,
                team: None,
                reason: "wants a person".to_owned(),
                is_callback: false,
                callback_to: None,
                note: None,
                now,
            };
            human_requests::add(tx, &waiting, &request).map(drop)
        };
        house.db.write(house.shop.tenant, add).await.unwrap();
    }
}

fn build_reader<'a>(
    house: &'a Installation,
    keeper: &'a str,
    subjects: &Subjects,
    spec: OperationSpec,
) -> ListReader<'a> {
    let path = match spec.resource {
        // This one has several.
        "tier_versions" => spec.path.replace("{kind}", "human").replace("{name}", "spare"),
        _ => sample(&spec, subjects, 0).0,
    };
    ListReader { house, keeper, spec, path }
}

on_both! {
    async fn each_goes_either_way(test: TestDb) {
        let house = Installation::open(&test, wipes()).await;
        let (owner, keeper) = (house.key(Role::Owner).await, house.keeper_key("reader").await);
        let subjects = subjects(&house, &owner).await;
        add_rows(&house, &keeper, &test).await;
        let made = HOUSE.iter().find(|entry| entry.spec.id() == "make_handoff").unwrap();
        for number in 0..2 {
            test.clock.advance(Duration::from_secs(1));
            let (path, body) = sample(&made.spec, &subjects, number);
            assert!(house.call("POST", &path, &owner, body).await.status < 300);
        }
        add_desk_rows(&house, &subjects, &test).await;
        let mut short = Vec::new();
        for entry in HOUSE.iter().filter(|entry| entry.spec.has_route()) {
            let fields = entry.fields();
            let takes = |name: &str| fields.iter().any(|field| field.name == name);
            if !takes("order") {
                assert!(entry.spec.verb != "list", "{} takes no order", entry.spec.id());
                continue;
            }
            // As many as a key sends in a minute are no more than some lists take.
            test.clock.advance(Duration::from_secs(60));
            let list = build_reader(&house, &keeper, &subjects, entry.spec);
            if list.check(takes("after")).await < 2 {
                short.push(entry.spec.resource);
            }
        }
        // Backups of Postgres are made elsewhere, the settings have one model, and one person was forgotten.
        let known: &[&str] = if house.db.engine() == "sqlite" { &["model-targets", "erasures"] } else { &["model-targets", "erasures", "backups"] };
        short.sort_unstable_by_key(|resource| std::cmp::Reverse(*resource));
        assert_eq!(short, known, "too few rows to tell one order from the other");
    }
}
