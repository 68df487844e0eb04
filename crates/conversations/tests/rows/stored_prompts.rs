//! Stored prompts go after their days, with their run, and once the tenant wants none.

use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::erasure::PERSONAL_DATA;
use munshi_conversations::retention::{self, ArchiveJob, Retention};
use munshi_conversations::stored_prompts;
use munshi_jobs::{JobRegistry, JobRunner, JobRunnerOptions};
use munshi_llm::ChatRequest;
use munshi_llm::chat::ChatMessage;
use munshi_llm::gateway::{CallRecord, PromptRecord, PromptText};
use munshi_safety::policy;
use munshi_store::{Tx, params};
use munshi_types::{Id, RunId, SeededRandom, Zone};

use crate::rows::ending::call;
use crate::rows::support::{Shop, held, tables};

const DAY: Duration = Duration::from_secs(86_400);
const SAID: &str = "where is the marigold";

/// A turn whose model was told something, in two attempts.
async fn turn(shop: &Shop, outside_id: &str) -> RunId {
    let ingested = shop.say("+919812345678", outside_id, SAID).await;
    let request = ChatRequest { messages: vec![ChatMessage::user(SAID)], ..ChatRequest::default() };
    let prompt = PromptRecord::new(&request, None).with_text(PromptText::of(&request));
    let first = call(shop, ingested.run);
    let first = CallRecord { prompt: Some(Arc::new(prompt)), ..first };
    let second = CallRecord { id: shop.test.ids.next(), attempt: 2, ..first.clone() };
    let mut response = shop.response(held(&ingested), "There.").await;
    response.calls = vec![first, second];
    shop.respond(response).await.unwrap();
    ingested.run
}

async fn list(shop: &Shop, run: RunId) -> Vec<stored_prompts::StoredPrompt> {
    shop.read(move |tx| stored_prompts::list_all(tx, run)).await
}

async fn set_policy(shop: &Shop, text: &'static str) {
    let now = shop.now();
    let put =
        move |tx: &mut Tx<'_>| policy::apply(tx, &policy::parse(text).unwrap(), "test", "", now).map(drop);
    shop.test.db.write(shop.tenant, put).await.unwrap();
}

tables! {
    async fn a_prompt_is_stored_once_and_sealed(test: TestDb) {
        let shop = Shop::open(test).await;
        let run = turn(&shop, "w1").await;
        let prompts = list(&shop, run).await;
        assert_eq!(prompts.len(), 1, "two attempts were told the same");
        assert_eq!(prompts[0].text.messages[0].text, SAID);
        let stored: Vec<String> = shop
            .read(|tx| {
                let sql = "SELECT CAST(body AS TEXT) FROM stored_prompts WHERE tenant_id = $1";
                tx.all(sql, params![], |row| row.get(0))
            })
            .await;
        assert!(stored.iter().all(|body| body.contains("sealed:1:") && !body.contains("marigold")), "{stored:?}");
    }

    async fn it_goes_after_its_days(test: TestDb) {
        let shop = Shop::open(test).await;
        let first = turn(&shop, "w1").await;
        shop.test.clock.advance(DAY * 5);
        let second = turn(&shop, "w2").await;
        let periods = policy::parse("[retention]\nprompts_days = 7\n").unwrap().retention;
        let expire = || retention::expire(&shop.test.db, shop.tenant, &periods, shop.now());
        assert_eq!(expire().await.unwrap().prompts, 0);
        shop.test.clock.advance(DAY * 3);
        assert_eq!(expire().await.unwrap().prompts, 1);
        assert_eq!((list(&shop, first).await.len(), list(&shop, second).await.len()), (0, 1));
        assert_eq!(shop.count("messages").await, 4, "the conversation stays");
    }

    async fn it_goes_with_the_words_of_its_run(test: TestDb) {
        let shop = Shop::open(test).await;
        let run = turn(&shop, "w1").await;
        let data = PERSONAL_DATA.iter().find(|data| data.name == "runs").unwrap();
        let told = shop.read(move |tx| (data.show)(tx, run.as_uuid())).await.unwrap();
        assert!(told["prompts"][0]["messages"][0]["text"] == SAID, "whoever asks is told: {told}");
        shop.write(move |tx| (data.erase)(tx, &[run.as_uuid()])).await;
        assert_eq!(list(&shop, run).await, []);
    }

    async fn a_tenant_that_stores_none_any_more_has_none_the_next_night(test: TestDb) {
        let (shop, folder) = (Shop::open(test).await, tempfile::tempdir().unwrap());
        let run = turn(&shop, "w1").await;
        let archive = ArchiveJob {
            db: shop.test.db.clone(),
            clock: shop.test.clock.clone(),
            folder: folder.path().to_owned(),
            usual: Retention::Kept,
        };
        let mut registry = JobRegistry::default();
        archive.install(&mut registry);
        let random = Arc::new(SeededRandom::new(7));
        let runner = JobRunner::new(shop.test.db.clone(), &shop.desk.queue, random, registry, JobRunnerOptions::default());
        let now = shop.now();
        shop.test.db.write(shop.tenant, move |tx| retention::schedule(tx, &Zone::default(), now)).await.unwrap();
        set_policy(&shop, "[retention]\nprompts_days = 7\n").await;
        shop.test.clock.advance(DAY);
        runner.drain().await.unwrap();
        assert_eq!(list(&shop, run).await.len(), 1);
        set_policy(&shop, "").await;
        // A month later nothing is deleted as too old, since the clock may be wrong: that they are not wanted hangs on no clock.
        shop.test.clock.advance(DAY * 30);
        runner.drain().await.unwrap();
        assert_eq!(list(&shop, run).await, []);
    }
}
