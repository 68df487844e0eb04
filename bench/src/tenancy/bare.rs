//! The transaction by the bare driver: each caller a thread with a connection of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use munshi_types::Id;
use postgres::{Client, NoTls, Statement};
use uuid::Uuid;

use super::{Act, ROWS, scatter};
use crate::contest::Contestant;
use crate::fresh_database::{BODY, Fresh, INSERT, SELECT, sequential_id};
use crate::load::{Load, Tally};

const PLAIN_INSERT: &str = "INSERT INTO plain (tenant_id, id, body) VALUES ($1, $2, $3)";
const PLAIN_SELECT: &str = "SELECT body FROM plain WHERE tenant_id = $1 AND id = $2";

#[derive(Clone)]
pub(crate) struct Bare {
    url: String,
    tenant: Uuid,
    act: Act,
    opening: String,
    text: &'static str,
    next: Arc<AtomicU64>,
}

impl Bare {
    /// `BEGIN`, the statement on a table without a policy, `COMMIT`.
    pub(crate) fn plain(fresh: &Fresh, act: Act) -> Self {
        let text = if act == Act::Insert { PLAIN_INSERT } else { PLAIN_SELECT };
        Self::new(fresh, act, "BEGIN".to_owned(), text)
    }

    /// The same with the store's own opening words, on a table with row-level security.
    pub(crate) fn guarded(fresh: &Fresh, act: Act) -> Self {
        let (begin, text) = match act {
            Act::Insert => ("BEGIN", INSERT),
            Act::Read => ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", SELECT),
        };
        let opening = format!("{begin}; SET LOCAL app.tenant_id = '{}'", fresh.tenant);
        Self::new(fresh, act, opening, text)
    }

    fn new(fresh: &Fresh, act: Act, opening: String, text: &'static str) -> Self {
        let (url, tenant) = (fresh.place.postgres_url("munshi_owner"), fresh.tenant.as_uuid());
        Self { url, tenant, act, opening, text, next: Arc::new(AtomicU64::new(ROWS)) }
    }

    fn connect(&self) -> Result<(Client, Statement)> {
        let mut client = Client::connect(&self.url, NoTls)?;
        client.batch_execute("SET ROLE munshi_app")?;
        let statement = client.prepare(self.text)?;
        Ok((client, statement))
    }

    fn run_once(&self, client: &mut Client, statement: &Statement) -> Result<()> {
        let step = self.next.fetch_add(1, Ordering::Relaxed);
        client.batch_execute(&self.opening)?;
        match self.act {
            Act::Insert => {
                client.execute(statement, &[&self.tenant, &sequential_id(step), &BODY])?;
            }
            Act::Read => {
                let row = client.query_one(statement, &[&self.tenant, &sequential_id(scatter(step))])?;
                let _body: String = row.try_get(0)?;
            }
        }
        Ok(client.batch_execute("COMMIT")?)
    }
}

impl Contestant for Bare {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let bare = self.clone();
        load.run_threads(move || {
            let (bare, (mut client, statement)) = (bare.clone(), bare.connect()?);
            Ok(move || bare.run_once(&mut client, &statement))
        })
    }
}
