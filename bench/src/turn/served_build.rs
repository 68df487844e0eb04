//! A build of the product as a person would run it: a business in a data folder of its own, served on loopback, written
//! to over the API.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use munshi_test_support::DatabaseEngine;
use munshi_test_support::database::TestDbStorage;
use reqwest::Client;
use serde_json::{Value, json};

use super::shop::{AGENT, HUMAN, TEAM};
use crate::server::{Server, run_binary};

/// The binding whose agent has no tool.
pub(super) const PLAIN: &str = "counter";
/// The binding whose agent has one.
pub(super) const WITH_TOOL: &str = "desk";
const AGENT_WITH_TOOL: &str = "name = \"Desk\"\ntools = [\"today\"]\nguardrails = [\"no-secrets\"]\n\
    [policy]\nautonomy = \"act\"\nread = [\"house.*\"]\n";
/// More than any machine sends in a minute.
const NEVER_REACHED: &str = "10000000";

/// What is said of a model server. It costs nothing on this machine.
const MODEL: [(&str, &str); 3] = [
    ("MUNSHI__MODELS__BENCH__WIRE", "openai"),
    ("MUNSHI__MODELS__BENCH__MODEL", "mock"),
    ("MUNSHI__MODELS__BENCH__STREAM", "false"),
];

pub(super) struct ServedBuild {
    /// Ends before its folder goes.
    server: Server,
    client: Client,
    url: String,
    key: String,
    engine: DatabaseEngine,
    storage: TestDbStorage,
}

/// A message to a binding.
pub(super) struct ApiMessage<'a> {
    pub(super) binding: &'a str,
    pub(super) phone: String,
    /// Said with the first message.
    pub(super) name: Option<String>,
    pub(super) text: &'a str,
}

impl ServedBuild {
    /// Without the address of a model server the offline model answers.
    pub(super) fn start(binary: &Path, engine: DatabaseEngine, model: Option<&str>) -> Result<Self> {
        let (_, storage) = TestDbStorage::create(engine);
        let data = storage.folder().join("data");
        let shop = storage.folder().join("shop");
        write_shop(&shop)?;
        let (database, keys) = match engine {
            DatabaseEngine::Sqlite => (None, None),
            DatabaseEngine::Postgres => {
                // A build from before text was sealed knows no such setting.
                let example = run_binary(binary, &data, &[], &["config", "example"])?;
                let keys = format!("sqlite:{}", data.join("keys.db").display());
                (Some(storage.postgres_url("munshi_owner")), example.contains("[keys]").then_some(keys))
            }
        };
        let mut settings = vec![("MUNSHI__SERVER__KEY_REQUESTS_PER_MINUTE", NEVER_REACHED)];
        settings.extend(model.map(|url| ("MUNSHI__MODELS__BENCH__BASE_URL", url)));
        settings.extend(model.iter().flat_map(|_| MODEL));
        settings.extend(database.as_deref().map(|url| ("MUNSHI__STORE__URL", url)));
        settings.extend(keys.as_deref().map(|url| ("MUNSHI__KEYS__URL", url)));
        run_binary(binary, &data, &settings, &["migrate"])?;
        run_binary(binary, &data, &settings, &["apply", &shop.display().to_string()])?;
        let made = ["key", "add", "bench", "--role", "staff", "--speaks-as", "person", "--json"];
        let key: Value = serde_json::from_str(&run_binary(binary, &data, &settings, &made)?)?;
        let key = key["text"].as_str().context("no key")?.to_owned();
        let server = Server::start(binary, &data, &settings)?;
        let url = format!("http://{}/v1/chat", server.address);
        // Fails where another has installed it already, which is as good.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().pool_idle_timeout(Duration::from_secs(2)).build()?;
        Ok(Self { server, client, url, key, engine, storage })
    }

    /// Says something and waits for the whole answer. Gives back how many tools were called for it.
    pub(super) async fn send(&self, message: &ApiMessage<'_>) -> Result<usize> {
        let body = json!({
            "binding": message.binding,
            "text": message.text,
            "person": { "phone": message.phone, "name": message.name },
        });
        let request = self.client.post(&self.url).header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {}", self.key));
        let answer = request.body(body.to_string()).send().await?;
        let (status, bytes) = (answer.status(), answer.bytes().await?);
        ensure!(status.as_u16() == 200, "{status}: {}", String::from_utf8_lossy(&bytes));
        let outcome: Value = serde_json::from_slice(&bytes)?;
        ensure!(outcome["degraded"] == false, "an excuse is no answer: {outcome}");
        Ok(outcome["calls"].as_array().map_or(0, Vec::len))
    }

    /// Lets the database look at its tables, as a server that has run for a minute has done by itself.
    pub(super) fn analyze_tables(&self) {
        if self.engine == DatabaseEngine::Postgres {
            self.storage.run_as_superuser("ANALYZE");
        }
    }

    pub(super) fn processor_time(&self) -> Result<Duration> {
        self.server.processor_time()
    }

    pub(super) fn resident_megabytes(&self) -> Result<f64> {
        Ok(self.server.resident_kilobytes()? / 1024.0)
    }
}

/// The folder that is applied; its name is the business's.
fn write_shop(folder: &Path) -> Result<()> {
    let bind = |agent: &str| {
        format!("human = \"meera\"\nteam = \"counter\"\nagent = \"{agent}\"\nchannels = [\"api\"]\n")
    };
    let files = [
        ("humans/meera.md", HUMAN.to_owned()),
        ("teams/counter.md", TEAM.to_owned()),
        ("agents/plain.toml", AGENT.to_owned()),
        ("agents/desk.toml", AGENT_WITH_TOOL.to_owned()),
    ];
    let bindings = [(PLAIN, "plain"), (WITH_TOOL, "desk")];
    let bindings = bindings.map(|(name, agent)| (format!("bindings/{name}.toml"), bind(agent)));
    for (path, text) in files.map(|(path, text)| (path.to_owned(), text)).into_iter().chain(bindings) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().context("no folder")?)?;
        std::fs::write(path, text)?;
    }
    Ok(())
}
