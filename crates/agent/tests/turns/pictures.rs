//! Which models are shown what a person sends along.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use munshi_agent::TurnSettings;
use munshi_blobs::references::refer;
use munshi_blobs::storage::DiskStore;
use munshi_blobs::{BlobLimits, BlobService, BlobServiceParts, NoTenantQuota, UploadRequest};
use munshi_llm::chat::ModelMediaSource;
use munshi_llm::{ModelFeatures, ModelMessagePart, ModelTarget, WireFormat};
use munshi_safety::budget::{
    BudgetLane, BudgetLimitSubject, BudgetLimitValue, BudgetMeasure, BudgetPeriod, BudgetScope, set_limit,
};
use munshi_safety::policy;
use munshi_test_app::notes::OPEN_POLICY;
use munshi_test_support::models::{ScriptGate, ScriptedTurn};
use munshi_test_support::{TestDb, administer, hostile_files};
use munshi_types::{AttachedFile, BlobId, Clock, SystemRandom};

use crate::turns::support::{Plan, Shop};

fn files(test: &TestDb) -> BlobService {
    let folder = test.place.folder().join("blobs");
    BlobService::new(BlobServiceParts {
        db: test.db.clone(),
        store: Arc::new(DiskStore::new(&folder)),
        spool: folder.join("partial"),
        clock: test.clock.clone(),
        random: Arc::new(SystemRandom),
        ids: test.ids.clone(),
        limits: BlobLimits::default(),
        quota: Arc::new(NoTenantQuota),
    })
}

fn target(name: &str, sees: bool, trusted: bool) -> ModelTarget {
    let capabilities = ModelFeatures { images: sees, documents: sees, ..ModelFeatures::default() };
    ModelTarget { capabilities, sees_names: trusted, ..ModelTarget::new(name, WireFormat::OpenAi, "", "m") }
}

/// A shop with these models, and a file of its member of staff.
async fn open(test: &TestDb, targets: Vec<ModelTarget>, content: Vec<u8>) -> (Shop, BlobId) {
    let settings = TurnSettings { files: Some(files(test)), ..TurnSettings::default() };
    let plan = Plan { targets, settings, ..Plan::default() };
    let shop =
        Shop::open_with(test, [ScriptedTurn::text("I see."), ScriptedTurn::text("Still.")], plan).await;
    let file = upload(test, &shop, "bill.png", content).await;
    (shop, file)
}

async fn upload(test: &TestDb, shop: &Shop, name: &str, content: Vec<u8>) -> BlobId {
    let request = UploadRequest {
        tenant: shop.tenant,
        person: Some(shop.staff),
        name: Some(name.to_owned()),
        declared_size: None,
    };
    let content = stream::iter([Ok(Bytes::from(content))]).boxed();
    files(test).upload(request, content).await.unwrap().id
}

async fn ask_with(shop: &Shop, id: &str, file: BlobId) {
    let mut inbound = shop.message(shop.staff, id, "what does it say?");
    inbound.attached = vec![refer(file)];
    let received = shop.engine.receive(inbound).await.unwrap();
    shop.outcome(&received).await;
}

async fn allow(test: &TestDb, shop: &Shop) {
    let (text, now) = (format!("{OPEN_POLICY}[residency]\npictures = \"allow\"\n"), test.clock.now());
    let put = move |tx: &mut munshi_store::Tx<'_>| {
        policy::apply(tx, &policy::parse(&text).unwrap(), "test", "", now)
    };
    shop.db.write(shop.tenant, put).await.unwrap();
}

/// Which model was asked last, the media it was shown, and the text of the person's message.
fn last_asked(shop: &Shop) -> (String, Vec<(String, String)>, String) {
    let asked = shop.model.requests().pop().unwrap();
    let message = asked.request.messages.last().unwrap();
    let media = message.parts.iter().filter_map(|part| match part {
        ModelMessagePart::Image(media) | ModelMessagePart::Document(media) => match &media.source {
            ModelMediaSource::Data(data) => Some((media.media_type.clone(), data.clone())),
            ModelMediaSource::Url(_) => None,
        },
        _ => None,
    });
    (asked.target, media.collect(), message.text())
}

on_both! {
    async fn a_model_is_told_of_a_file_that_could_not_be_fetched(test: TestDb) {
        let (shop, file) = open(&test, vec![target("own", true, true)], hostile_files::png()).await;
        let lost = AttachedFile::lost("application/pdf".to_owned(), Some("bill\"7\".pdf".to_owned()), "WhatsApp does not give it out: 404");
        let mut inbound = shop.message(shop.staff, "1", "what does it say?");
        inbound.attached = vec![lost.clone(), refer(file)];
        let received = shop.engine.receive(inbound).await.unwrap();
        shop.outcome(&received).await;
        let (_, media, text) = last_asked(&shop);
        assert_eq!(media.len(), 1, "what came is shown");
        assert!(text.contains("[Sent along: \"bill\\\"7\\\".pdf\" (application/pdf). You can't see"), "{text}");
        assert!(text.contains("could not be fetched") && !text.contains("404"), "{text}");
        let stored = shop.messages_of(received.run).await.into_iter().find(|said| said.id == received.message).unwrap();
        assert_eq!(stored.attached[0], lost);
    }

    async fn a_model_elsewhere_is_shown_a_picture_only_where_the_tenant_allows_it(test: TestDb) {
        let (shop, file) = open(&test, vec![target("cloud", true, false)], hostile_files::png()).await;
        ask_with(&shop, "1", file).await;
        let (_, media, text) = last_asked(&shop);
        assert!(media.is_empty());
        assert!(text.contains("You can't see") && text.contains("does not let pictures"), "{text}");
        allow(&test, &shop).await;
        ask_with(&shop, "2", file).await;
        let (_, media, text) = last_asked(&shop);
        assert_eq!(media.len(), 1);
        assert_eq!(media[0].0, "image/jpeg", "what is shown, not what was sent");
        assert!(media[0].1.starts_with("/9j/") && text.contains("[Sent along: "), "{text}");
    }

    async fn a_server_of_ones_own_that_can_see_answers_before_one_that_cannot(test: TestDb) {
        let targets = vec![target("blind", false, false), target("cloud", true, false), target("own", true, true)];
        let (shop, file) = open(&test, targets, hostile_files::png()).await;
        ask_with(&shop, "1", file).await;
        let (asked, media, _) = last_asked(&shop);
        assert_eq!((asked.as_str(), media.len()), ("own", 1));
    }

    async fn where_nobody_can_see_the_model_is_told_so(test: TestDb) {
        let (shop, file) = open(&test, vec![target("blind", false, true)], hostile_files::png()).await;
        ask_with(&shop, "1", file).await;
        let (_, media, text) = last_asked(&shop);
        assert!(media.is_empty() && text.contains("no model that may answer here can see"), "{text}");
    }

    async fn what_would_cost_more_than_an_answer_may_is_named_and_the_rest_is_shown(test: TestDb) {
        let pages = |count: usize| [b"%PDF-1.4\n".to_vec(), b"<< /Type /Page >>\n".repeat(count)].concat();
        let (shop, short) = open(&test, vec![target("own", true, true)], pages(3)).await;
        let book = upload(&test, &shop, "book.pdf", pages(40)).await;
        let mut inbound = shop.message(shop.staff, "1", "what do they say?");
        inbound.attached = vec![refer(book), refer(short)];
        let received = shop.engine.receive(inbound).await.unwrap();
        assert_eq!(shop.outcome(&received).await.halt, None);
        let (_, media, text) = last_asked(&shop);
        assert_eq!(media.len(), 1, "{text}");
        assert!(text.contains("[Sent along: \"bill.png\" (application/pdf)]"), "{text}");
        assert!(text.contains("\"book.pdf\" (application/pdf). You can't see") && text.contains("too long"), "{text}");
    }

    async fn where_no_budget_pays_for_a_picture_the_rest_of_the_message_is_answered(test: TestDb) {
        let pages = [b"%PDF-1.4\n".to_vec(), b"<< /Type /Page >>\n".repeat(10)].concat();
        let (shop, file) = open(&test, vec![target("own", true, true)], pages).await;
        let now = test.clock.now();
        let limit = move |tx: &mut munshi_store::Tx<'_>| {
            let (lane, scope, period, measure) =
                (BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Day, BudgetMeasure::Tokens);
            let on = BudgetLimitSubject { lane, scope, id: None, period, measure };
            administer(tx, |tx| set_limit(tx, on, BudgetLimitValue::AtMost(30_500), now))
        };
        shop.db.write(shop.tenant, limit).await.unwrap();
        let mut inbound = shop.message(shop.staff, "1", "what does it say?");
        inbound.attached = vec![refer(file)];
        let received = shop.engine.receive(inbound).await.unwrap();
        assert_eq!(shop.outcome(&received).await.halt, None);
        let (_, media, text) = last_asked(&shop);
        assert!(media.is_empty() && text.contains("too long"), "{text}");
    }

    async fn a_pdf_goes_as_a_document_and_a_text_is_named_alone(test: TestDb) {
        let pdf = b"%PDF-1.4\n%%EOF\n".to_vec();
        let (shop, file) = open(&test, vec![target("own", true, true)], pdf).await;
        ask_with(&shop, "1", file).await;
        assert_eq!(last_asked(&shop).1[0].0, "application/pdf");
    }

    async fn pictures_that_come_one_by_one_get_one_reply(test: TestDb) {
        let gate = ScriptGate::default();
        let join_window = Duration::from_secs(1);
        let settings = TurnSettings { files: Some(files(&test)), join_window, ..TurnSettings::default() };
        let plan = Plan { targets: vec![target("own", true, true)], settings, ..Plan::default() };
        let script = [ScriptedTurn::text("One bill.").with_gate(&gate), ScriptedTurn::text("Four bills.")];
        let shop = Shop::open_with(&test, script, plan).await;
        let file = upload(&test, &shop, "bill.png", hostile_files::png()).await;
        let mut received = Vec::new();
        for number in 1..=4 {
            let mut inbound = shop.message(shop.staff, &number.to_string(), "");
            inbound.attached = vec![refer(file)];
            received.push(shop.engine.receive(inbound).await.unwrap());
        }
        gate.open();
        for one in &received {
            assert_eq!(shop.outcome(one).await.text, "Four bills.");
        }
        assert_eq!(shop.number("SELECT COUNT(*) FROM messages WHERE tenant_id = $1").await, 5, "four and one reply");
    }
}
