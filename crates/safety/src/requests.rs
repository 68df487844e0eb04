//! Requests that are made once however often they are sent: who asks names each by a key of their own.

use std::time::Duration;

use munshi_store::{
    JsonText, PlatformScope, PlatformTx, RowId, RowMark, SealedBy, SealedCell, SealedColumn, Tx,
    across_tenants, params,
};
use munshi_types::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::audit::to_canonical_json;
use crate::error::{Error, Result};

/// Letting go of requests that nobody will send again.
pub const REQUESTS: PlatformScope = PlatformScope::new("requests");

/// So long the same request is known again.
pub const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

const ANSWER: SealedColumn = SealedColumn::new("answered_requests", "answer");

const LONGEST_KEY: usize = 200;

/// A request under its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestClaim {
    caller: String,
    key: String,
    operation: String,
    digest: [u8; 32],
}

/// What is known of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestStanding {
    New,
    /// The same was carried out before; none where its answer was not kept.
    Answered(Option<Value>),
    /// The key stands for something else.
    Different,
}

impl RequestClaim {
    pub fn new(caller: &str, key: &str, operation: String, input: &Value) -> Result<Self> {
        let is_plain = key.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || !(1..=LONGEST_KEY).contains(&key.len()) {
            let what = "an idempotency key must be 1 to 200 letters, digits and signs without blanks";
            return Err(Error::Invalid(what.to_owned()));
        }
        let digest = Sha256::digest(to_canonical_json(input).as_bytes()).into();
        Ok(Self { caller: caller.to_owned(), key: key.to_owned(), operation, digest })
    }

    /// As it is stored: nobody can confirm a guess of what was asked.
    fn keyed_digest(&self, tx: &Tx<'_>) -> Result<[u8; 32]> {
        Ok(tx.hash("answered_requests.digest", &self.digest)?)
    }

    fn answer_cell(&self) -> SealedCell {
        ANSWER.cell(RowId::named(&[&self.caller, &self.key]))
    }

    pub fn find(&self, tx: &mut Tx<'_>) -> Result<RequestStanding> {
        let (cell, keyed) = (self.answer_cell(), self.keyed_digest(tx)?);
        // A request from before digests were keyed is known all the same.
        let is_same = |digest: &[u8]| digest == keyed || digest == self.digest;
        let found: Option<(String, Vec<u8>, Option<JsonText>)> = tx.optional(
            "SELECT operation, digest, answer FROM answered_requests
             WHERE tenant_id = $1 AND caller = $2 AND key = $3",
            params![self.caller, self.key],
            |row| Ok((row.get(0)?, row.get(1)?, row.get_sealed(2, cell)?)),
        )?;
        Ok(match found {
            None => RequestStanding::New,
            Some((operation, digest, answer)) if operation == self.operation && is_same(&digest) => {
                RequestStanding::Answered(answer.map(|answer| answer.read()).transpose()?)
            }
            Some(_) => RequestStanding::Different,
        })
    }

    /// Takes the key in the transaction of what is asked for. False where somebody has it: of two at once, one is told so
    /// and changes nothing.
    pub fn take(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<bool> {
        let digest = self.keyed_digest(tx)?;
        let rows = tx.execute(
            "INSERT INTO answered_requests (tenant_id, caller, key, operation, digest, asked_at)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant_id, caller, key) DO NOTHING",
            params![self.caller, self.key, self.operation, &digest[..], now],
        )?;
        Ok(rows > 0)
    }

    /// Keeps the answer for whoever asks again.
    pub fn keep_answer(&self, tx: &mut Tx<'_>, answer: Option<&Value>, now: Timestamp) -> Result<()> {
        let seal = |answer| tx.seal_json(SealedBy::Tenant, self.answer_cell(), answer);
        let (answer, digest) = (answer.map(seal).transpose()?, self.keyed_digest(tx)?);
        tx.execute(
            "INSERT INTO answered_requests (tenant_id, caller, key, operation, digest, answer, asked_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (tenant_id, caller, key) DO UPDATE SET answer = excluded.answer
             WHERE answered_requests.operation = excluded.operation AND answered_requests.digest IN (excluded.digest, $8)",
            params![
                self.caller,
                self.key,
                self.operation,
                &digest[..],
                answer,
                now,
                &self.digest[..]
            ],
        )?;
        Ok(())
    }
}

/// Seals answers from before they were sealed. Their key is words, so what is plain is asked for each time.
pub(crate) fn seal_answers_of_before(
    tx: &mut Tx<'_>,
    after: RowMark,
    limit: u32,
) -> munshi_store::Result<Option<RowMark>> {
    let plain = tx.all(
        (
            "SELECT caller, key, answer FROM answered_requests
             WHERE tenant_id = $1 AND answer IS NOT NULL AND answer NOT LIKE '\"sealed:1:%'
               AND answer NOT IN ('{}', '[]', 'null', '\"\"') LIMIT $2",
            "SELECT caller, key, answer FROM answered_requests
             WHERE tenant_id = $1 AND answer IS NOT NULL AND answer::text NOT LIKE '\"sealed:1:%'
               AND answer::text NOT IN ('{}', '[]', 'null', '\"\"') LIMIT $2 FOR NO KEY UPDATE",
        ),
        params![limit],
        |row| Ok((row.get::<String>(0)?, row.get::<String>(1)?, row.get::<JsonText>(2)?)),
    )?;
    for (caller, key, answer) in &plain {
        let cell = ANSWER.cell(RowId::named(&[caller, key]));
        let sealed = tx.seal_written(SealedBy::Tenant, cell, answer)?;
        tx.execute(
            "UPDATE answered_requests SET answer = $4 WHERE tenant_id = $1 AND caller = $2 AND key = $3",
            params![caller, key, sealed],
        )?;
    }
    Ok((!plain.is_empty()).then_some(after))
}

/// Lets go of what was asked by somebody who was forgotten, with the answers.
pub fn delete_of_caller(tx: &mut Tx<'_>, caller: &str) -> munshi_store::Result<u64> {
    tx.execute("DELETE FROM answered_requests WHERE tenant_id = $1 AND caller = $2", params![caller])
}

/// Lets go of what was asked long ago.
pub fn sweep(tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<u64> {
    let old = now.minus(KEPT);
    Ok(tx.execute(across_tenants("DELETE FROM answered_requests WHERE asked_at < $1"), params![old])?)
}
