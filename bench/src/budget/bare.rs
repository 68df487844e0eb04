//! The same statements by hand, through the same store, with every parameter ready.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use munshi_safety::budget::{BudgetGovernor, BudgetSettings};
use munshi_store::{Sql, Tx, params};
use munshi_types::{Clock, IdGenerator, SystemClock, Timestamp};
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::{MOST, Payer};
use crate::contest::Contestant;
use crate::load::{Load, Tally};

/// As the governor has it, the limits of all measures looked at and the counters locked in order.
const HOLD: (&str, &str) = (
    "UPDATE usage_counters SET held_interactions = held_interactions + 1, held_tokens = held_tokens + 1
     WHERE tenant_id = $1 AND slot IN ($2, $3, $4, $5, $6, $7) AND 6 = (
       SELECT count(*) FROM usage_counters c WHERE c.tenant_id = $1 AND c.slot IN ($2, $3, $4, $5, $6, $7)
         AND c.limits_from = $8 + coalesce((SELECT p.changes FROM usage_plans p WHERE p.tenant_id = $1), 0)
         AND (c.limit_interactions IS NULL OR c.used_interactions + c.held_interactions + 1 <= c.limit_interactions)
         AND (c.limit_tokens IS NULL OR c.used_tokens + c.held_tokens + 1 <= c.limit_tokens))",
    "WITH rows AS MATERIALIZED (
       SELECT c.slot,
              c.limits_from = $8::bigint + coalesce((SELECT p.changes FROM usage_plans p WHERE p.tenant_id = $1), 0)
         AND (c.limit_interactions IS NULL OR c.used_interactions + c.held_interactions + 1 <= c.limit_interactions)
         AND (c.limit_tokens IS NULL OR c.used_tokens + c.held_tokens + 1 <= c.limit_tokens) AS fits
       FROM usage_counters c WHERE c.tenant_id = $1 AND c.slot IN ($2, $3, $4, $5, $6, $7)
       ORDER BY c.slot FOR UPDATE OF c)
     UPDATE usage_counters SET held_interactions = held_interactions + 1, held_tokens = held_tokens + 1
     FROM rows WHERE usage_counters.tenant_id = $1 AND usage_counters.slot = rows.slot
       AND 6 = (SELECT count(*) FROM rows AS fitting WHERE fitting.fits)",
);
const FREE: (&str, &str) = (
    "UPDATE usage_counters SET held_interactions = held_interactions - 1, held_tokens = held_tokens - 1
     WHERE tenant_id = $1 AND slot IN ($2, $3, $4, $5, $6, $7)",
    "WITH rows AS MATERIALIZED (
       SELECT c.slot FROM usage_counters c WHERE c.tenant_id = $1 AND c.slot IN ($2, $3, $4, $5, $6, $7)
       ORDER BY c.slot FOR UPDATE OF c)
     UPDATE usage_counters SET held_interactions = held_interactions - 1, held_tokens = held_tokens - 1
     FROM rows WHERE usage_counters.tenant_id = $1 AND usage_counters.slot = rows.slot",
);
const ADD: &str =
    "INSERT INTO usage_reservations (tenant_id, id, lane, binding_id, person_id, day, interactions, jobs,
   tokens, money, state, expires_at) VALUES ($1, $2, 'people', $3, $4, $5, 1, 0, 1, 0, 'held', $6)";
const TAKE: &str = "DELETE FROM usage_reservations WHERE tenant_id = $1 AND id = $2";
const HOLD_ONE: &str = "UPDATE usage_counters SET held_interactions = held_interactions + 1,
   held_tokens = held_tokens + 1 WHERE tenant_id = $1 AND slot = $2
     AND (limit_interactions IS NULL OR used_interactions + held_interactions + 1 <= limit_interactions)
     AND (limit_tokens IS NULL OR used_tokens + held_tokens + 1 <= limit_tokens)";
const FREE_ONE: &str = "UPDATE usage_counters SET held_interactions = held_interactions - 1,
   held_tokens = held_tokens - 1 WHERE tenant_id = $1 AND slot = $2";

pub(crate) struct Bare {
    ready: Arc<Ready>,
    next: Arc<AtomicU64>,
}

struct Ready {
    payer: Payer,
    slots: [String; 6],
    limits_from: i64,
    expires_at: Timestamp,
}

impl Bare {
    /// The governor makes the counters, so that both work on the same rows.
    pub(crate) fn new(payer: Payer, runtime: &Runtime) -> Result<Self> {
        let governor = BudgetGovernor::new(BudgetSettings::default(), IdGenerator::system());
        let (account, now) = (payer.account.clone(), SystemClock.now());
        let read = move |tx: &mut Tx<'_>| {
            let reserved = governor.reserve(tx, &account, &MOST, now)?;
            governor.release(tx, reserved.id)?;
            let rows = tx.all(
                "SELECT slot, limits_from FROM usage_counters WHERE tenant_id = $1 ORDER BY slot",
                &[],
                |row| Ok((row.get::<String>(0)?, row.get::<i64>(1)?)),
            )?;
            Ok::<_, munshi_safety::Error>(rows)
        };
        let rows = runtime.block_on(payer.db.write(payer.tenant, read))?;
        let limits_from = rows.first().map_or(0, |row| row.1);
        let slots: Vec<String> = rows.into_iter().map(|row| row.0).collect();
        let slots = slots.try_into().ok().context("six counters")?;
        let expires_at = now.plus(Duration::from_secs(900));
        let ready = Ready { payer, slots, limits_from, expires_at };
        Ok(Self { ready: Arc::new(ready), next: Arc::new(AtomicU64::new(1)) })
    }

    fn load(
        &self,
        load: &Load<'_>,
        act: fn(&Ready, &mut Tx<'_>, Uuid) -> munshi_store::Result<()>,
    ) -> Result<Tally> {
        let (ready, next) = (self.ready.clone(), self.next.clone());
        load.run_tasks(move || {
            let (ready, number) = (ready.clone(), next.fetch_add(1, Ordering::Relaxed));
            async move {
                let (db, tenant) = (ready.payer.db.clone(), ready.payer.tenant);
                let id = Uuid::from_u128(u128::from(number));
                db.write(tenant, move |tx| act(&ready, tx, id)).await?;
                Ok(())
            }
        })
    }
}

impl Contestant for Bare {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        self.load(load, |ready, tx, id| {
            let [a, b, c, d, e, f] = &ready.slots;
            tx.execute(HOLD, params![a, b, c, d, e, f, ready.limits_from])?;
            let account = &ready.payer.account;
            tx.execute(ADD, params![id, account.binding, account.person, "2026-11-15", ready.expires_at])?;
            tx.execute(TAKE, params![id])?;
            tx.execute(FREE, params![a, b, c, d, e, f])?;
            Ok(())
        })
    }
}

/// A conditional statement for each counter, as one would first write it.
pub(crate) struct OneEach(pub(crate) Bare);

impl Contestant for OneEach {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        self.0.load(load, |ready, tx, id| {
            let each = |tx: &mut Tx<'_>, sql: &'static str| {
                ready.slots.iter().try_for_each(|slot| tx.execute(Sql::from(sql), params![slot]).map(drop))
            };
            each(tx, HOLD_ONE)?;
            let account = &ready.payer.account;
            tx.execute(ADD, params![id, account.binding, account.person, "2026-11-15", ready.expires_at])?;
            tx.execute(TAKE, params![id])?;
            each(tx, FREE_ONE)
        })
    }
}
