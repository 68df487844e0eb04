//! What a provider tells is verified and stored before it is answered: webhooks through HTTP beside bare inserts of as much.
//!
//! A model that says nothing leaves all runs waiting, so that what is measured is the way in.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, ensure};
use munshi_test_support::DatabaseEngine;
use munshi_test_support::database::TestDbStorage;
use munshi_types::{Clock, SystemClock};
use ring::hmac;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::contest::{self, Contestant, RATE, TIME};
use crate::fresh_database::Fresh;
use crate::load::{Load, Tally};
use crate::report::{Goal, Table, render_count, render_ratio, render_verdict};
use crate::server::{Server, find_binary, run_binary};
use crate::store::Ours;

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tenants/rangoli");
const CALLERS: [usize; 2] = [16, 64];
const SECRET: &str = "app_secret";
const PHONE: &str = "277321005464405";
/// Of the people who write.
const PEOPLE: u64 = 1000;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Some(binary) = find_binary()? else { return Ok(()) };
    let runtime = Runtime::new()?;
    let mut table = Table::new(["database", "callers", "webhooks/s", "median µs", "bare inserts/s", "ratio"]);
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        if arguments.engine.is_some_and(|only| only != engine) {
            continue;
        }
        for callers in arguments.callers(&CALLERS) {
            let load = Load { runtime: &runtime, callers, window: arguments.window };
            let told = ToldServer::start(engine, &binary, &runtime)?;
            let bare = Ours::new(Fresh::make(engine, &runtime))?;
            let [ours, bare] = contest::run_rounds([&told, &bare], &load, arguments.rounds)?;
            let rate = ours.median(RATE);
            table.add_row([
                format!("{engine:?}"),
                callers.to_string(),
                format!("{} ({})", render_count(rate), render_verdict(rate, Goal::AtLeast(1000.0), 0)),
                render_count(ours.median(TIME)),
                render_count(bare.median(RATE)),
                render_ratio(ours.ratio(&bare, RATE), None),
            ]);
        }
    }
    table.print("WhatsApp's webhooks, each with one message, signed, stored before they are answered");
    Ok(())
}

/// The product with an account of WhatsApp's, and a model that does not answer.
struct ToldServer {
    server: Server,
    client: reqwest::Client,
    next: Arc<AtomicU64>,
    _folder: tempfile::TempDir,
    _place: TestDbStorage,
}

impl ToldServer {
    fn start(engine: DatabaseEngine, binary: &Path, runtime: &Runtime) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (_, place) = std::thread::spawn(move || TestDbStorage::create(engine))
            .join()
            .map_err(|_| anyhow::anyhow!("no database was made"))?;
        let silent = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let model = format!("http://{}/v1", silent.local_addr()?);
        // It keeps every line and says nothing.
        runtime.spawn(async move {
            let mut lines = Vec::new();
            while let Ok((line, _)) = silent.accept().await {
                lines.push(line);
            }
        });
        let url = match engine {
            DatabaseEngine::Sqlite => format!("sqlite:{}", folder.path().join("munshi.db").display()),
            DatabaseEngine::Postgres => place.postgres_url("munshi_owner"),
        };
        let keys = format!("sqlite:{}", folder.path().join("keys.db").display());
        let settings = [
            ("MUNSHI__STORE__URL", url.as_str()),
            ("MUNSHI__KEYS__URL", keys.as_str()),
            ("MUNSHI__MODELS__LOCAL__PROVIDER", "llamacpp"),
            ("MUNSHI__MODELS__LOCAL__MODEL", "small"),
            ("MUNSHI__MODELS__LOCAL__BASE_URL", model.as_str()),
            ("MUNSHI__ROUTES__DEFAULT", "local"),
            ("MUNSHI__RUNS__CHAT_PLACES", "1"),
            ("MUNSHI__SERVER__PUBLIC_URL", "https://munshi.example"),
            ("MUNSHI__LOG__LEVEL", "error"),
        ];
        run_binary(binary, folder.path(), &settings, &["migrate"])?;
        run_binary(binary, folder.path(), &settings, &["apply", SHOP])?;
        for name in ["wa.token", "wa.secret"] {
            set_secret(binary, folder.path(), &settings, name)?;
        }
        let add =
            ["channel", "add", "wa", "--kind", "whatsapp", "--account-id", PHONE, "--number", "+15550967852"];
        let secrets = ["--token", "vault:wa.token", "--secret", "vault:wa.secret"];
        run_binary(binary, folder.path(), &settings, &[&add[..], &secrets].concat())?;
        let server = Server::start(binary, folder.path(), &settings)?;
        let client = reqwest::Client::builder().no_proxy().build()?;
        Ok(Self { server, client, next: Arc::default(), _folder: folder, _place: place })
    }
}

fn set_secret(binary: &Path, folder: &Path, settings: &[(&str, &str)], name: &str) -> Result<()> {
    let mut command = Command::new(binary);
    command
        .args(["vault", "set", name, "--tenant", "rangoli"])
        .env("MUNSHI__DATA__DIR", folder)
        .envs(settings.iter().copied());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    child.stdin.take().context("no standard input")?.write_all(SECRET.as_bytes())?;
    ensure!(child.wait()?.success(), "`munshi vault set {name}` failed");
    Ok(())
}

impl Contestant for ToldServer {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (client, next, address) = (self.client.clone(), self.next.clone(), self.server.address);
        let key = Arc::new(hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()));
        load.run_tasks(move || {
            let (client, key, number) = (client.clone(), key.clone(), next.fetch_add(1, Ordering::Relaxed));
            async move { tell(&client, &key, address, number).await }
        })
    }
}

async fn tell(client: &reqwest::Client, key: &hmac::Key, server: SocketAddr, number: u64) -> Result<()> {
    let at = SystemClock.now().as_micros() / 1_000_000;
    let from = 919_800_000_000 + number % PEOPLE;
    let body = format!(
        r#"{{"object":"whatsapp_business_account","entry":[{{"id":"1","changes":[{{"field":"messages","value":{{"messaging_product":"whatsapp","metadata":{{"display_phone_number":"15550967852","phone_number_id":"{PHONE}"}},"contacts":[{{"profile":{{"name":"Meera"}},"wa_id":"{from}"}}],"messages":[{{"from":"{from}","id":"wamid.{number}","timestamp":"{at}","type":"text","text":{{"body":"Is the red kurta there in M? I would come on Saturday."}}}}]}}}}]}}]}}"#
    );
    let signed = hmac::sign(key, body.as_bytes());
    let digits: String = signed.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let asked = client.post(format!("http://{server}/channels/rangoli/wa"));
    let asked = asked.header("x-hub-signature-256", format!("sha256={digits}"));
    let answer = asked.header("content-type", "application/json").body(body).send().await?;
    ensure!(answer.status() == 200, "{}", answer.status());
    let _said = answer.bytes().await?;
    Ok(())
}
