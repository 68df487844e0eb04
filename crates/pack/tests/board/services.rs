//! What packs work with besides their tables: secrets, models, other servers, other packs, and what they do after a turn.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use munshi_http::GuardedHttpClients;
use munshi_jobs::{JobRegistry, JobRunner, JobRunnerOptions};
use munshi_llm::gateway::{Capability, GatewayParts, ModelRoute};
use munshi_llm::{ChatMessage, ChatRequest, Gateway, ModelTarget, WireFormat};
use munshi_pack::operation::PackServices;
use munshi_pack::{
    FinishedCall, FinishedTurn, Foreign, InvalidPack, NewPackRun, Pack, PackHttpRequest, PackInstaller,
    PackInterface, PackJob, PackJobParts, PackModelParts, PackModels, PackRegistry, PackRunCause,
    PackServiceError, WebhookRejection, WebhookRequest, WebhookVerdict,
};
use munshi_safety::acts::ActServices;
use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_safety::budget::{BudgetGovernor, BudgetSettings};
use munshi_safety::vault::{MasterKeySource, SecretRef, Vault, VaultAuditContext, VaultSecret};
use munshi_store::{Tx, params};
use munshi_test_support::models::{ScriptedModel, ScriptedTurn};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{Clock, SystemRandom, Tenant, TenantId};
use serde_json::json;

use crate::clockwork::queue;
use crate::deliveries::Starter;
use crate::doors::{Digest, DigestPayload, Lobby, LobbySign};
use crate::pack::{Board, all};
use crate::{Shop, find_tenant};

/// Answers each request with the next of these, and remembers what was asked.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = asked.clone();
        std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut head = String::new();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                while reader.read_line(&mut head).unwrap() > 2 {}
                seen.lock().unwrap().push(head);
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        Self { address, asked }
    }
}

fn answer(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\nx-next: 2\r\n\r\n{body}",
        body.len()
    )
}

fn clients(allowed: &[&str]) -> GuardedHttpClients {
    let allowed = munshi_http::AllowedHosts::new(allowed.iter().map(|host| (*host).to_owned()));
    GuardedHttpClients::new(allowed).unwrap()
}

async fn open_vault(test: &TestDb, tenant: TenantId, secrets: &[(&str, &str)]) -> Vault {
    let key = VaultSecret::new("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=".to_owned()).unwrap();
    let source = MasterKeySource::Given { key, next: None };
    let random = Arc::new(SystemRandom);
    let vault =
        Vault::start(test.db.clone(), source, random, test.ids.clone(), test.clock.now()).await.unwrap();
    for (name, value) in secrets {
        let actor = AuditActor::new(AuditActorKind::Operator, "test");
        let by = VaultAuditContext { actor, now: test.clock.now() };
        let (name, value) =
            (SecretRef::from_name(name).unwrap(), VaultSecret::new((*value).to_owned()).unwrap());
        vault.set(tenant, &name, value, by).await.unwrap();
    }
    vault
}

fn models(
    test: &TestDb,
    packs: &Arc<PackRegistry>,
    model: Arc<ScriptedModel>,
    settings: BudgetSettings,
) -> Arc<PackModels> {
    let target = ModelTarget::new("one", WireFormat::OpenAi, "", "m");
    let route = ModelRoute {
        targets: [(Capability::Default, vec!["one".to_owned()])].into(),
        ..ModelRoute::default()
    };
    let governor = BudgetGovernor::new(settings, test.ids.clone());
    Arc::new(PackModels::new(PackModelParts {
        gateway: Gateway::new(GatewayParts {
            targets: vec![target],
            provider: model,
            prices: munshi_llm::pricing::PriceBook::default(),
            clock: test.clock.clone(),
            random: Arc::new(SystemRandom),
        }),
        route: Arc::new(route),
        classes: Arc::default(),
        act_services: Arc::new(ActServices::new(test.ids.clone(), governor)),
        packs: packs.clone(),
        db: test.db.clone(),
        clock: test.clock.clone(),
    }))
}

fn node(test: &TestDb, packs: &Arc<PackRegistry>, services: PackServices) -> JobRunner {
    let (db, queue) = (test.db.clone(), queue(test));
    let parts = PackJobParts {
        db: db.clone(),
        clock: test.clock.clone(),
        ids: test.ids.clone(),
        queue: queue.clone(),
        services,
    };
    let mut registry = JobRegistry::default();
    packs.register_jobs(&mut registry, &parts).unwrap();
    JobRunner::new(db, &queue, Arc::new(SystemRandom), registry, JobRunnerOptions::default())
}

async fn count(test: &TestDb, tenant: TenantId, sql: &'static str) -> i64 {
    let read = move |tx: &mut Tx<'_>| tx.one(sql, params![], |row| row.get(0));
    test.db.read(tenant, read).await.unwrap_or_else(|error: munshi_store::Error| panic!("{error}"))
}

fn starter(test: &TestDb) -> Arc<Starter> {
    Arc::new(Starter { ids: test.ids.clone(), begun: Mutex::default(), acts: Mutex::default() })
}

fn question() -> ChatRequest {
    ChatRequest { messages: vec![ChatMessage::user("what is new?")], ..ChatRequest::default() }
}

fn request(tenant: &Tenant, services: &PackServices, signature: &str) -> WebhookRequest {
    WebhookRequest {
        tenant: tenant.clone(),
        url: String::new(),
        headers: vec![("x-board-signature".to_owned(), signature.as_bytes().to_vec())],
        query: Vec::new(),
        body: Foreign::new(b"{}".to_vec()),
        now: tenant.created_at,
        services: services.for_call(tenant),
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_jobs::MIGRATIONS, munshi_llm::MIGRATIONS, munshi_identity::MIGRATIONS,
          munshi_tiers::MIGRATIONS, munshi_safety::MIGRATIONS, munshi_pack::MIGRATIONS, crate::pack::MIGRATIONS];

    async fn a_secret_is_the_tenants_own_and_a_missing_one_is_named(test: TestDb) {
        let (shop, other) = (test.add_tenant("shop").await, test.add_tenant("other").await);
        let vault = open_vault(&test, shop, &[("board.hook", "s3cret")]).await;
        let services = PackServices::new(starter(&test)).with_vault(vault);
        let (shop, other) = (find_tenant(&test, shop).await, find_tenant(&test, other).await);
        let secret = services.for_call(&shop).credential("vault:board.hook").await.unwrap();
        assert_eq!((secret.expose(), format!("{secret:?}")), ("s3cret", "VaultSecret".to_owned()));
        let missing = services.for_call(&other).credential("board.hook").await.unwrap_err();
        assert_eq!(missing, PackServiceError::NoCredential("board.hook".to_owned()));
        assert!(missing.to_string().contains("munshi vault set board.hook"), "{missing}");
        assert!(matches!(services.credential("board.hook").await, Err(PackServiceError::Absent(_))), "nobody's call");
        let packs = PackRegistry::install_all(&[Arc::new(Board::new(test.clock.clone()))]).unwrap();
        let hook = packs.find_webhook("board", "notices").unwrap();
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"s3cret");
        let good: String = ring::hmac::sign(&key, b"{}").as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        let verdict = hook.what.verify(&request(&shop, &services, &good)).await;
        assert_eq!(verdict, Ok(WebhookVerdict::Take { sender_id: None }));
        for (tenant, signature) in [(&shop, "00"), (&shop, ""), (&other, good.as_str())] {
            let verdict = hook.what.verify(&request(tenant, &services, signature)).await;
            assert!(matches!(verdict, Err(WebhookRejection::Unverified(_))), "{verdict:?}");
        }
    }

    async fn a_private_address_is_refused_and_what_comes_back_is_foreign(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let shop = find_tenant(&test, shop).await;
        let server = Server::start(vec![answer("200 OK", "{\"a\": 1}"), answer("302 Found", ""), answer("200 OK", &"a".repeat(2000))]);
        let begun = starter(&test);
        let services = PackServices::new(begun.clone()).with_http(clients(&[]));
        for address in [
            &format!("http://{}/", server.address), "https://127.0.0.1/", "https://169.254.169.254/latest", "https://[::1]/",
            "https://0x7f.1/", "http://example.com/", "file:///etc/passwd", "ftp://example.com/", "nothing",
        ] {
            let call = services.for_call(&shop);
            let refused = call.http().send(PackHttpRequest::get(address)).await.unwrap_err();
            assert!(matches!(refused, PackServiceError::Address(_)), "{address}: {refused:?}");
            assert!(!call.has_read_foreign());
        }
        // A name that leads there is refused when it is resolved.
        let named = services.for_call(&shop).http().send(PackHttpRequest::get("https://localhost/")).await.unwrap_err();
        assert!(matches!(&named, PackServiceError::Unreachable { .. }), "{named:?}");
        assert!(server.asked.lock().unwrap().is_empty());
        let services = PackServices::new(begun.clone()).with_http(clients(&[&server.address]));
        let call = services.for_call(&shop);
        let secret = VaultSecret::new("t0ken".to_owned()).unwrap();
        let get = || PackHttpRequest::get(format!("http://{}/x", server.address));
        let got = call.http().send(get().bearer(&secret).header("accept", "application/json")).await.unwrap();
        assert!(got.is_success() && call.has_read_foreign());
        assert_eq!(got.body.read_json::<serde_json::Value>().unwrap().into_inner(), json!({ "a": 1 }));
        assert_eq!(got.header("x-next").map(Foreign::into_inner), Some("2"));
        assert!(server.asked.lock().unwrap()[0].contains("authorization: Bearer t0ken"));
        assert_eq!(call.http().send(get()).await.unwrap().status, 302, "nobody is followed elsewhere");
        let large = call.http().send(get().largest(1000)).await.unwrap_err();
        assert!(large.to_string().contains("larger than 1000 bytes"), "{large}");
        let bad = call.http().send(get().header("accept", "a\nb")).await.unwrap_err();
        assert!(matches!(bad, PackServiceError::Request(_)), "{bad:?}");
        // A run that is begun after that is begun by an event, and one of another call is not.
        let new = NewPackRun { kind: "board.remind".to_owned(), cause: PackRunCause::Clock, cause_key: None, input: json!({}) };
        let fresh = services.for_call(&shop);
        test.db.write(shop.id, move |tx| {
            call.begin_run(tx, &new)?;
            fresh.begin_run(tx, &new)
        }).await.unwrap();
        let causes: Vec<PackRunCause> = begun.begun.lock().unwrap().iter().map(|run| run.cause).collect();
        assert_eq!(causes, [PackRunCause::Event, PackRunCause::Clock]);
    }

    async fn a_model_is_asked_in_the_background_and_its_call_is_stored(test: TestDb) {
        let packs = Arc::new(PackRegistry::install_all(&[Arc::new(Board::new(test.clock.clone()))]).unwrap());
        let shop = Shop::open(&test).await;
        shop.pin(&test, "Water for Asha", "Monday").await;
        let script = [ScriptedTurn::text("One notice, about water."), ScriptedTurn::text("no")];
        let model = Arc::new(ScriptedModel::new(script));
        let asked = models(&test, &packs, model.clone(), BudgetSettings::default());
        let services = PackServices::new(starter(&test)).with_models(asked);
        let node = node(&test, &packs, services.clone());
        let queue = queue(&test);
        test.db.write(shop.tenant, move |tx| queue.enqueue(tx, &Digest::request(&DigestPayload {}).unwrap())).await.unwrap();
        node.drain().await.unwrap();
        let known = test.db.read(shop.tenant, all).await.unwrap();
        assert!(known.iter().any(|notice| notice.title == "Digest" && notice.text == "One notice, about water."));
        let seen = format!("{:?}", model.requests()[0].request.messages);
        assert!(seen.contains("Water") && !seen.contains("Asha"), "people are hidden: {seen}");
        let calls = "SELECT COUNT(*) FROM llm_calls WHERE tenant_id = $1 AND purpose = 'summariser'";
        munshi_test_support::wait_until(async || count(&test, shop.tenant, calls).await == 1).await;
        let spent = "SELECT COUNT(*) FROM usage_counters WHERE tenant_id = $1 AND lane = 'background'";
        assert!(count(&test, shop.tenant, spent).await > 0);
        let call = services.for_call(&find_tenant(&test, shop.tenant).await);
        let reply = call.model(Capability::Planner, question()).await.unwrap();
        assert!(call.has_read_foreign() && reply.get().usage.total() > 0);
        let broke = BudgetSettings { background_money_day: munshi_llm::pricing::Cost::from_micros(0), ..BudgetSettings::default() };
        let poor = models(&test, &packs, model.clone(), broke);
        let poor = PackServices::new(starter(&test)).with_models(poor).for_call(&find_tenant(&test, shop.tenant).await);
        let over = poor.model(Capability::Default, question()).await.unwrap_err();
        assert!(matches!(&over, PackServiceError::Model(munshi_llm::ModelError::OverBudget(_))), "{over:?}");
        assert_eq!(model.requests().len(), 2, "nobody was asked");
        let refused = call.model(Capability::Embeddings, question()).await.unwrap_err();
        assert!(matches!(refused, PackServiceError::Model(_)), "{refused:?}");
    }

    async fn a_poll_reads_a_feed_and_a_turn_makes_room(test: TestDb) {
        let notices = json!([{ "id": "n1", "title": "Lift", "text": "Repair" }, { "id": "n2", "title": "Gate", "text": "Shut" }]);
        let server = Server::start(vec![
            answer("500 Oh", ""),
            answer("200 OK", &json!({ "notices": notices, "next": "7", "more": false }).to_string()),
        ]);
        let board = Board { feed: format!("http://{}", server.address), ..Board::new(test.clock.clone()) };
        let packs = Arc::new(PackRegistry::install_all(&[Arc::new(board)]).unwrap());
        let shop = Shop::open(&test).await;
        let vault = open_vault(&test, shop.tenant, &[("board.feed", "t0ken")]).await;
        let begun = starter(&test);
        let services = PackServices::new(begun.clone()).with_vault(vault).with_http(clients(&[&server.address]));
        let node = node(&test, &packs, services);
        node.drain().await.unwrap();
        for _ in 0..2 {
            test.clock.advance(Duration::from_secs(601));
            node.drain().await.unwrap();
        }
        let known = test.db.read(shop.tenant, all).await.unwrap();
        let titles: Vec<&str> = known.iter().map(|notice| notice.title.as_str()).collect();
        assert_eq!(titles.len(), 2, "{titles:?}");
        assert!(begun.begun.lock().unwrap().iter().all(|run| run.kind == "board.remind" && run.cause == PackRunCause::Event));
        assert!(server.asked.lock().unwrap().iter().all(|head| head.contains("/notices?after=") && head.contains("Bearer t0ken")));
        let (jobs, hooks) = (queue(&test), packs.clone());
        let mut turn = FinishedTurn {
            run: test.ids.next(),
            context: shop.scene(&test, "put up a notice"),
            reply: "It is up.".to_owned(),
            calls: vec![FinishedCall { tool: "find_notice".to_owned(), ok: true, result: json!({}) }],
        };
        let sweeps = "SELECT COUNT(*) FROM jobs WHERE tenant_id = $1 AND kind = 'board.sweep' AND unique_key = 'turn'";
        for (tool, expected) in [("find_notice", 0), ("pin_notice", 1), ("pin_notice", 1)] {
            turn.calls[0].tool = tool.to_owned();
            let (turn, jobs, hooks) = (turn.clone(), jobs.clone(), hooks.clone());
            test.db.write(shop.tenant, move |tx| hooks.run_turn_hooks(tx, &turn, &jobs)).await.unwrap();
            assert_eq!(count(&test, shop.tenant, sweeps).await, expected);
        }
    }

    async fn a_poll_that_a_tenant_has_not_set_up_fails_nowhere(test: TestDb) {
        let packs = Arc::new(PackRegistry::install_all(&[Arc::new(Board::new(test.clock.clone()))]).unwrap());
        let shop = Shop::open(&test).await;
        let vault = open_vault(&test, shop.tenant, &[]).await;
        let services = PackServices::new(starter(&test)).with_http(clients(&[]));
        let failed = "SELECT COUNT(*) FROM jobs WHERE tenant_id = $1 AND kind = 'pack.poll' AND last_error IS NOT NULL";
        let done = "SELECT COUNT(*) FROM jobs WHERE tenant_id = $1 AND kind = 'pack.poll' AND state = 'done'";
        // Without a key nobody is asked; without a vault nobody knows whether there is one.
        for (services, failures) in [(services.clone().with_vault(vault), 0), (services, 1)] {
            let node = node(&test, &packs, services);
            node.drain().await.unwrap();
            test.clock.advance(Duration::from_secs(601));
            node.drain().await.unwrap();
            assert_eq!((count(&test, shop.tenant, failed).await, count(&test, shop.tenant, done).await), (failures, 1));
        }
    }

    async fn packs_find_what_others_offer_whatever_their_order(test: TestDb) {
        let board = || -> Arc<dyn Pack> { Arc::new(Board::new(test.clock.clone())) };
        let shop = Shop::open(&test).await;
        shop.pin(&test, "Water", "Monday").await;
        for order in [[board(), Arc::new(Lobby)], [Arc::new(Lobby), board()]] {
            let seen = Arc::new(Mutex::new(None));
            let [first, second] = order;
            PackRegistry::install_all(&[first, second, Arc::new(Visitor(seen.clone()))]).unwrap();
            let sign = seen.lock().unwrap().clone().unwrap();
            let read = test.db.read(shop.tenant, move |tx| sign.get()?.read(tx));
            assert_eq!(read.await.unwrap(), "1 notices");
        }
        // Two that need each other.
        let (left, right) = (Mutual::new("left", "right.name"), Mutual::new("right", "left.name"));
        PackRegistry::install_all(&[left.clone(), right.clone()]).unwrap();
        let name = |of: &Mutual| of.other.lock().unwrap().as_ref().unwrap().get().unwrap().to_owned();
        assert_eq!((name(&left), name(&right)), ("right".to_owned(), "left".to_owned()));
        let missing = PackRegistry::install_all(&[Arc::new(Lobby)]).err().unwrap();
        assert_eq!(missing.to_string(), "pack lobby: it needs the interface board.count, which no pack offers");
        let wrong = PackRegistry::install_all(&[board(), Arc::new(Stranger)]).err().unwrap();
        assert!(wrong.to_string().starts_with("pack stranger: the interface board.count is not a"), "{wrong}");
    }
}

/// Keeps what the lobby offers.
struct Visitor(Arc<Mutex<Option<PackInterface<dyn LobbySign>>>>);

impl Pack for Visitor {
    fn name(&self) -> &'static str {
        "visitor"
    }

    fn install(&self, room: &mut PackInstaller<'_>) -> Result<(), InvalidPack> {
        let sign = room.require_interface::<dyn LobbySign>("lobby.sign");
        assert!(sign.get().is_err(), "not before all packs are in");
        *self.0.lock().unwrap() = Some(sign);
        Ok(())
    }
}

/// Offers its name, and asks another for theirs.
struct Mutual {
    name: &'static str,
    needs: &'static str,
    other: Mutex<Option<PackInterface<str>>>,
}

impl Mutual {
    fn new(name: &'static str, needs: &'static str) -> Arc<Self> {
        Arc::new(Self { name, needs, other: Mutex::default() })
    }
}

impl Pack for Mutual {
    fn name(&self) -> &'static str {
        self.name
    }

    fn install(&self, room: &mut PackInstaller<'_>) -> Result<(), InvalidPack> {
        *self.other.lock().unwrap() = Some(room.require_interface::<str>(self.needs));
        room.offer_interface::<str>("name", Arc::from(self.name))
    }
}

/// Asks for something that it takes for something else.
struct Stranger;

impl Pack for Stranger {
    fn name(&self) -> &'static str {
        "stranger"
    }

    fn install(&self, room: &mut PackInstaller<'_>) -> Result<(), InvalidPack> {
        room.require_interface::<String>("board.count");
        Ok(())
    }
}
