//! Vectors are made once, by one model, and paid for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use munshi_llm::embeddings::EmbeddingCache;
use munshi_llm::gateway::{CallBilling, Capability, ModelRoute};
use munshi_llm::{ChatRequest, ChatStream, Embedding, ModelError, ModelTarget, Provider};
use munshi_store::Tx;
use munshi_test_support::models::ScriptedModel;
use munshi_test_support::on_both_engines;
use munshi_types::{SystemClock, TenantId};
use sha2::{Digest, Sha256};

use crate::gateway::scene::{Scene, down};

/// A text's vector is its length, and the first calls fail.
#[derive(Default)]
struct Lengths {
    asked: AtomicUsize,
    failures: AtomicUsize,
}

#[async_trait]
impl Provider for Lengths {
    async fn stream(&self, _: &ModelTarget, _: &ChatRequest) -> Result<ChatStream, ModelError> {
        Err(ModelError::Rejected { status: 400, message: "only vectors".to_owned() })
    }

    async fn embed(&self, _: &ModelTarget, texts: &[String]) -> Result<Embedding, ModelError> {
        if self.failures.load(Ordering::SeqCst) > 0 {
            self.failures.fetch_sub(1, Ordering::SeqCst);
            return Err(down());
        }
        self.asked.fetch_add(texts.len(), Ordering::SeqCst);
        #[allow(clippy::cast_precision_loss, reason = "short texts")]
        let vectors = texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect();
        Ok(Embedding { vectors, dimension: 2, input_tokens: Some(texts.len() as u64) })
    }
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_failing_server_is_tried_once_more_and_all_is_paid_for() {
    let model = Arc::new(Lengths { failures: AtomicUsize::new(1), ..Lengths::default() });
    let scene = Scene::of(Arc::new(ScriptedModel::default()), model.clone());
    let target = scene.gateway.target("first").unwrap().clone();
    let many: Vec<String> = (0..130).map(|number| format!("{number}")).collect();
    let made = scene.gateway.embed(&target, &many, &scene.account()).await.unwrap();
    assert_eq!((made.vectors.len(), made.dimension, made.input_tokens), (130, 2, Some(130)));
    let records = scene.records();
    let seen: Vec<_> =
        records.iter().map(|call| (call.purpose, call.ending.code(), call.usage.input)).collect();
    let fine = |tokens| (Capability::Embeddings, "end_turn", tokens);
    assert_eq!(seen, [(Capability::Embeddings, "provider_failed", 0), fine(64), fine(64), fine(2)]);
    model.failures.store(2, Ordering::SeqCst);
    assert_eq!(scene.gateway.embed(&target, &many, &scene.account()).await.unwrap_err(), down());
}

#[tokio::test(start_paused = true)]
async fn one_model_for_all_and_none_that_is_not_permitted() {
    let scene = Scene::new([]);
    let mut route = ModelRoute {
        targets: [(Capability::Embeddings, texts(&["second", "first"]))].into(),
        ..ModelRoute::default()
    };
    assert_eq!(scene.gateway.embedder(&route).unwrap().name, "second");
    route.permitted = Some(["first".to_owned()].into());
    assert!(
        matches!(scene.gateway.embedder(&route), Err(ModelError::NoTarget(_))),
        "not the next one instead"
    );
    route.targets.clear();
    assert_eq!(scene.gateway.embedder(&route).unwrap().name, "offline");
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_llm::MIGRATIONS];

    async fn a_text_is_embedded_once_for_each_tenant(test: TestDb) {
        let model = Arc::new(Lengths::default());
        let scene = Scene::of(Arc::new(ScriptedModel::default()), model.clone());
        let target = scene.gateway.target("first").unwrap().clone();
        let vectors = EmbeddingCache::new(scene.gateway.clone(), test.db.clone(), Arc::new(SystemClock));
        let mine = test.add_tenant("mine").await;
        let theirs = test.add_tenant("theirs").await;
        let account = |tenant: TenantId| CallBilling { tenant, ..scene.account() };

        let first = vectors.embed(&target, &texts(&["a", "bb", "a"]), &account(mine)).await.unwrap();
        assert_eq!(first.vectors, [vec![1.0, 1.0], vec![2.0, 1.0], vec![1.0, 1.0]]);
        assert_eq!(model.asked.load(Ordering::SeqCst), 2, "the same text once");
        let again = vectors.embed(&target, &texts(&["bb", "ccc"]), &account(mine)).await.unwrap();
        assert_eq!((again.vectors, again.dimension), (vec![vec![2.0, 1.0], vec![3.0, 1.0]], 2));
        assert_eq!(model.asked.load(Ordering::SeqCst), 3);
        vectors.embed(&target, &texts(&["a"]), &account(theirs)).await.unwrap();
        assert_eq!(model.asked.load(Ordering::SeqCst), 4, "another tenant's cache tells nothing");
        let second = scene.gateway.target("second").unwrap().clone();
        vectors.embed(&second, &texts(&["a"]), &account(mine)).await.unwrap();
        assert_eq!(model.asked.load(Ordering::SeqCst), 5, "another model's vectors are others");
    }

    async fn a_copy_of_the_database_confirms_no_guess(test: TestDb) {
        let scene = Scene::of(Arc::new(ScriptedModel::default()), Arc::new(Lengths::default()));
        let target = scene.gateway.target("first").unwrap().clone();
        let vectors = EmbeddingCache::new(scene.gateway.clone(), test.db.clone(), Arc::new(SystemClock));
        let mut hashes = Vec::new();
        for name in ["mine", "theirs"] {
            let tenant = test.add_tenant(name).await;
            let account = CallBilling { tenant, ..scene.account() };
            vectors.embed(&target, &texts(&["the rent of Ramesh is due"]), &account).await.unwrap();
            let read = |tx: &mut Tx<'_>| {
                let text = "SELECT text_hash, vector FROM embedding_cache WHERE tenant_id = $1";
                tx.one(text, &[], |row| Ok((row.get::<Vec<u8>>(0)?, row.get::<Vec<u8>>(1)?)))
            };
            let (hash, vector) = test.db.read(tenant, read).await.unwrap();
            assert_ne!(hash, Sha256::digest("the rent of Ramesh is due").to_vec());
            let plain: Vec<u8> = [25.0_f32, 1.0].iter().flat_map(|value| value.to_le_bytes()).collect();
            assert!(!vector.windows(plain.len()).any(|part| part == plain), "the vector leads back to its text");
            hashes.push(hash);
        }
        assert_ne!(hashes[0], hashes[1], "by each tenant's own key");
    }
}
