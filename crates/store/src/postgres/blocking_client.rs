//! The line to a server: its socket is driven by the thread that owns it, while that waits for an answer.

use std::cell::Cell;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Row};

use super::errors::{translate, translate_connect};
use super::tls;
use crate::address::{DatabaseAddress, PostgresAddress};
use crate::error::{Error, Result};

pub(crate) struct BlockingPostgresClient {
    pub(super) client: Client,
    /// What drives the socket; it ends with the client or with this.
    _driver: JoinSet<()>,
    runtime: Runtime,
    /// How long an answer is waited for. The server stops its statements itself, long before; this is for one that is
    /// stopped while its machine keeps the line open.
    timeout: Duration,
    /// It kept silent for too long, so what it says now belongs to what was asked before.
    is_mute: Cell<bool>,
}

impl BlockingPostgresClient {
    pub(super) fn open(address: &PostgresAddress, config: &Config, timeout: Duration) -> Result<Self> {
        let place = DatabaseAddress::Postgres(address.clone()).to_string();
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::unavailable("setting up a Postgres thread failed", error))?;
        let plain = config.get_ssl_mode() == tokio_postgres::config::SslMode::Disable;
        let connected = if plain {
            runtime.block_on(connect(config, NoTls))
        } else {
            runtime.block_on(connect(config, tls::build_connector(address.root_certificate.as_deref())?))
        };
        let (client, driver) = connected.map_err(|error| translate_connect(error, &place))?;
        Ok(Self { client, _driver: driver, runtime, timeout, is_mute: Cell::new(false) })
    }

    /// Waits for something that the client was asked.
    pub(super) fn block_on<T>(&self, asked: impl Future<Output = T>) -> Result<T> {
        let timeout = self.timeout;
        let answer = self.runtime.block_on(async move { tokio::time::timeout(timeout, asked).await });
        answer.map_err(|_| {
            self.is_mute.set(true);
            let what = format!("the server sent nothing for {} s", timeout.as_secs());
            Error::Unavailable { what, source: None }
        })
    }

    /// Whether the server has hung up, as far as this end has heard: what lies in the socket is read, nothing is asked.
    pub(super) fn is_closed(&self) -> bool {
        // The socket is looked at while this yields, and the connection hears of it in the turn after.
        self.runtime.block_on(async {
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
        });
        self.has_ended()
    }

    /// Whether its end has been heard of already.
    pub(super) fn has_ended(&self) -> bool {
        self.client.is_closed() || self.is_mute.get()
    }

    pub(crate) fn run_command(&self, text: &str) -> Result<()> {
        self.block_on(self.client.batch_execute(text))?.map_err(translate)
    }

    pub(crate) fn execute(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<u64> {
        self.block_on(self.client.execute(sql, params))?.map_err(translate)
    }

    pub(crate) fn query_all(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        self.block_on(self.client.query(sql, params))?.map_err(translate)
    }

    pub(crate) fn query_one(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<Row> {
        self.block_on(self.client.query_one(sql, params))?.map_err(translate)
    }
}

async fn connect<T>(config: &Config, tls: T) -> Result<(Client, JoinSet<()>), tokio_postgres::Error>
where
    T: tokio_postgres::tls::MakeTlsConnect<tokio_postgres::Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = config.connect(tls).await?;
    let mut driver = JoinSet::new();
    // What it could say, the client says at its next statement.
    driver.spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "Postgres connection closed");
        }
    });
    Ok((client, driver))
}
