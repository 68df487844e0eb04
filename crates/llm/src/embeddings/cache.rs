//! Vectors that were made before are not made, and not paid for, again. They are sealed by the tenant's key, and found by keyed hashes of
//! their texts: a copy of the database confirms no guess of what a text said.

use std::collections::HashMap;
use std::sync::Arc;

use munshi_store::{Db, RowId, SealedBy, SealedCell, SealedColumn, Tx, params};
use munshi_types::{Clock, TenantId, Timestamp};

use crate::error::ModelError;
use crate::gateway::{CallBilling, Gateway};
use crate::provider::Embedding;
use crate::target::ModelTarget;

/// A keyed hash of a text.
type Hash = [u8; 32];

/// Vectors by the hashes of their texts.
type KnownVectors = HashMap<Hash, Vec<f32>>;

const VECTOR: SealedColumn = SealedColumn::new("embedding_cache", "vector");

/// The name vectors are kept under: two models' vectors never mix.
pub fn cache_key(target: &ModelTarget) -> String {
    let extra = serde_json::Value::Object(target.dialect.extra.clone());
    format!("{} {} {extra}", target.base_url, target.model)
}

/// Makes vectors through the gateway and keeps them by tenant, model and text.
#[derive(Clone, Debug)]
pub struct EmbeddingCache {
    gateway: Gateway,
    db: Db,
    clock: Arc<dyn Clock>,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Store(#[from] munshi_store::Error),
}

impl EmbeddingCache {
    pub fn new(gateway: Gateway, db: Db, clock: Arc<dyn Clock>) -> Self {
        Self { gateway, db, clock }
    }

    /// Vectors in the order of the texts; the same text twice is made once.
    pub async fn embed(
        &self,
        target: &Arc<ModelTarget>,
        texts: &[String],
        account: &CallBilling,
    ) -> Result<Embedding, Error> {
        // What this machine makes itself is made sooner than found.
        if target.is_local() {
            return Ok(self.gateway.embed(target, texts, account).await?);
        }
        let model = cache_key(target);
        let (hashes, mut known) = self.load_cached(account.tenant, &model, texts).await?;
        let missing = list_missing(texts, &hashes, &known);
        let mut input_tokens = Some(0);
        if !missing.is_empty() {
            let wanted: Vec<String> = missing.iter().map(|(_, text)| (*text).clone()).collect();
            let made = self.gateway.embed(target, &wanted, account).await?;
            input_tokens = made.input_tokens;
            let fresh: Vec<(Hash, Vec<f32>)> =
                missing.iter().map(|(hash, _)| *hash).zip(made.vectors).collect();
            if let Err(error) = self.store(account.tenant, model, fresh.clone()).await {
                // They are paid for and good; the next time they are paid for again.
                tracing::warn!(%error, "failed to cache embeddings");
            }
            known.extend(fresh);
        }
        assemble_embedding(&hashes, &known, input_tokens)
    }

    /// The hash of each text, and what is known of them.
    async fn load_cached(
        &self,
        tenant: TenantId,
        model: &str,
        texts: &[String],
    ) -> Result<(Vec<Hash>, KnownVectors), Error> {
        let (model, texts) = (model.to_owned(), texts.to_vec());
        let look = move |tx: &mut Tx<'_>| {
            let hash = |text: &String| tx.hash("embedding_cache.text", text.as_bytes());
            let hashes = texts.iter().map(hash).collect::<Result<Vec<_>, _>>()?;
            let known = look_up(tx, &model, &hashes)?;
            Ok::<_, munshi_store::Error>((hashes, known))
        };
        Ok(self.db.read(tenant, look).await?)
    }

    async fn store(
        &self,
        tenant: TenantId,
        model: String,
        fresh: Vec<(Hash, Vec<f32>)>,
    ) -> Result<(), munshi_store::Error> {
        let now = self.clock.now();
        self.db
            .write(tenant, move |tx| {
                fresh.iter().try_for_each(|(hash, vector)| add(tx, &model, hash, vector, now))
            })
            .await
    }
}

fn list_missing<'t>(texts: &'t [String], hashes: &[Hash], known: &KnownVectors) -> Vec<(Hash, &'t String)> {
    let mut seen = std::collections::HashSet::new();
    let all = hashes.iter().zip(texts);
    all.filter(|(hash, _)| !known.contains_key(*hash) && seen.insert(**hash))
        .map(|(hash, text)| (*hash, text))
        .collect()
}

fn assemble_embedding(
    hashes: &[Hash],
    known: &KnownVectors,
    input_tokens: Option<u64>,
) -> Result<Embedding, Error> {
    let vectors: Vec<Vec<f32>> = hashes.iter().filter_map(|hash| known.get(hash).cloned()).collect();
    let dimension = vectors.first().map_or(0, Vec::len);
    if vectors.len() != hashes.len() || vectors.iter().any(|vector| vector.len() != dimension) {
        let what = "the embedding dimensions differ from the model's earlier embeddings";
        return Err(ModelError::Garbled(what.to_owned()).into());
    }
    Ok(Embedding { vectors, dimension, input_tokens })
}

fn look_up(tx: &mut Tx<'_>, model: &str, hashes: &[Hash]) -> munshi_store::Result<KnownVectors> {
    let mut known = HashMap::new();
    for hash in hashes {
        let found = tx.optional(
            "SELECT vector FROM embedding_cache WHERE tenant_id = $1 AND model = $2 AND text_hash = $3",
            params![model, hash.as_slice()],
            |row| row.get_sealed_bytes("vector", find_cell(model, hash)),
        )?;
        if let Some(bytes) = found.flatten() {
            known.insert(*hash, from_bytes(&bytes));
        }
    }
    Ok(known)
}

fn add(
    tx: &mut Tx<'_>,
    model: &str,
    hash: &Hash,
    vector: &[f32],
    now: Timestamp,
) -> Result<(), munshi_store::Error> {
    let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
    let sealed = tx.seal_bytes(SealedBy::Tenant, find_cell(model, hash), &bytes)?;
    let dimension = i64::try_from(vector.len()).unwrap_or(i64::MAX);
    tx.execute(
        "INSERT INTO embedding_cache (tenant_id, model, text_hash, dimension, vector, made_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant_id, model, text_hash) DO NOTHING",
        params![model, hash.as_slice(), dimension, sealed, now],
    )?;
    Ok(())
}

/// Where the vector of a text is sealed.
fn find_cell(model: &str, hash: &Hash) -> SealedCell {
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    VECTOR.cell(RowId::named(&[model, &hash]))
}

/// Lets go of all of a tenant's: whose texts they were, nobody can tell.
pub fn clear_cache(tx: &mut Tx<'_>) -> munshi_store::Result<u64> {
    tx.execute("DELETE FROM embedding_cache WHERE tenant_id = $1", &[])
}

fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    let (values, _) = bytes.as_chunks::<4>();
    values.iter().map(|value| f32::from_le_bytes(*value)).collect()
}
