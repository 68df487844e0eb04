//! The same statements by hand, through the same store, with every parameter ready and nothing decided.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_store::{JsonText, Tx, params};
use munshi_types::{ActId, Clock, IdGenerator, SystemClock};
use serde_json::json;

use super::Shop;
use crate::contest::Contestant;
use crate::load::{Load, Tally};

pub(super) const SALE: &str = "INSERT INTO sales (tenant_id, act_id, name, amount) VALUES ($1, $2, $3, $4)";
const KNOWN: (&str, &str) = (
    "SELECT id FROM acts WHERE tenant_id = $1 AND id = $2",
    "SELECT id FROM acts WHERE tenant_id = $1 AND id = $2 FOR UPDATE",
);
const VERSION: &str = "SELECT MAX(version) FROM policies WHERE tenant_id = $1";
const RATE: &str = "INSERT INTO usage_rates (tenant_id, name, full_at) VALUES ($1, $2, CAST($3 AS BIGINT) + CAST($4 AS BIGINT))
     ON CONFLICT (tenant_id, name) DO UPDATE SET full_at =
       CASE WHEN usage_rates.full_at < $3 OR usage_rates.full_at > $6 THEN $3 ELSE usage_rates.full_at END + $4
     WHERE usage_rates.full_at <= $5 OR usage_rates.full_at > $6";
const ADD: &str =
    "INSERT INTO acts (tenant_id, id, binding_id, person_id, session_id, tool, connector, effect, arguments,
       proposal, digest, state, attempt, lease_until, began_at)
     VALUES ($1, $2, $3, $4, $5, 'log_sale', 'ledger', 'inside', $6, $7, $8, 'intended', 1, $9, $10)";
const LEASE: &str = "INSERT INTO act_leases (tenant_id, act_id, lease_until) VALUES ($1, $2, $3)
     ON CONFLICT (tenant_id, act_id) DO UPDATE SET lease_until = excluded.lease_until";
const END: &str =
    "UPDATE acts SET state = 'applied', result = $3, micros = 1, ended_at = $4, lease_until = NULL
     WHERE tenant_id = $1 AND id = $2 AND state = 'intended'";
const LEAVE: &str = "DELETE FROM act_leases WHERE tenant_id = $1 AND act_id = $2";

/// What is known beforehand.
struct Ready {
    shop: Shop,
    ids: IdGenerator,
    arguments: JsonText,
    proposal: JsonText,
    result: JsonText,
    entries: [serde_json::Value; 2],
}

pub(crate) struct Bare(Arc<Ready>);

impl Bare {
    pub(crate) fn new(shop: Shop) -> Result<Self> {
        let arguments = JsonText::of(&json!({ "name": "राजू", "amount": 500, "note": "दो बोरी चावल" }))?;
        let proposal = JsonText::of(&json!({ "wanted": "act", "caller": shop.caller, "concerns": [],
            "taint": { "sources": [], "own_words": ["राजू को पाँच सौ का माल दिया"] } }))?;
        let result = JsonText::of(&json!({ "name": "राजू", "amount": 500 }))?;
        let person = shop.caller.principal.person;
        let intended = json!({ "arguments": "0123456789ab", "approval": null, "autonomy": "act", "rehearsal": false,
            "tool": "log_sale", "person": person, "door": "work" });
        let applied = json!({ "bytes": 36, "tool": "log_sale", "attempt": 1 });
        let entries = [intended, applied];
        Ok(Self(Arc::new(Ready { shop, ids: IdGenerator::system(), arguments, proposal, result, entries })))
    }
}

impl Ready {
    fn act(&self, tx: &mut Tx<'_>, id: ActId) -> Result<(), munshi_safety::Error> {
        let (now, caller) = (SystemClock.now(), &self.shop.caller);
        tx.optional(KNOWN, params![id], |row| row.get::<ActId>(0))?;
        tx.one(VERSION, &[], |row| row.get::<Option<i64>>(0))?;
        let (micros, far) = (now.as_micros(), now.plus(Duration::from_secs(240)).as_micros());
        for name in ["tools", "tools that write"] {
            tx.execute(RATE, params![name, micros, 0_i64, micros + 60_000_000, far])?;
        }
        let lease = now.plus(Duration::from_secs(40));
        let digest: &[u8] = &[7; 32];
        tx.execute(
            ADD,
            params![
                id,
                caller.binding,
                caller.principal.person,
                caller.session,
                self.arguments,
                self.proposal,
                digest,
                lease,
                now
            ],
        )?;
        tx.execute(LEASE, params![id, lease])?;
        tx.attempt(|tx| tx.execute(SALE, params![id, "राजू", 500_i64]))?;
        tx.execute(END, params![id, self.result, now])?;
        tx.execute(LEAVE, params![id])?;
        for (event, payload) in
            [AuditEvent::ACT_INTENDED, AuditEvent::ACT_APPLIED].into_iter().zip(&self.entries)
        {
            let actor = AuditActor::new(AuditActorKind::Agent, "binding");
            let entry = NewAuditEntry { actor, event, subject: id.to_string(), payload: payload.clone() };
            audit::append(tx, &entry, now, &self.ids)?;
        }
        Ok(())
    }
}

impl Contestant for Bare {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let ready = self.0.clone();
        load.run_tasks(move || {
            let (ready, id) = (ready.clone(), ready.ids.next());
            async move {
                let (db, tenant) = (ready.shop.db.clone(), ready.shop.tenant);
                db.write(tenant, move |tx| ready.act(tx, id)).await?;
                Ok(())
            }
        })
    }
}
