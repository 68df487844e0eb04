//! People on WhatsApp and Telegram talk with the whole program over HTTP. Their platforms tell things twice, late and again, answer slowly,
//! refuse for a while and break lines; and the program is killed with -9 in between. Each message is answered once, in its order.
#![allow(clippy::print_stdout, reason = "the seed of a run that fails, and what came of one")]

mod people;
mod platforms;

use std::io::Write;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use munshi_test_support::environment::is_long_run;
use munshi_test_support::{DatabaseEngine, PATIENCE};
use munshi_types::{Random, SeededRandom};
use rustix::process::Signal;
use serde_json::Value;

use self::people::{Messenger, Writer};
use self::platforms::Platforms;
use crate::app::chat::shop_of;
use crate::app::support::{Answer, Installation, Running, Speaking};

/// Cases are the same each time; `make soak` has more of them.
const SEED: u64 = 20_261_120;
const WRITERS: usize = 3;

pub(super) fn is_token(word: &str) -> bool {
    let Some((writer, number)) = word.strip_prefix('w').and_then(|rest| rest.split_once('n')) else {
        return false;
    };
    !writer.is_empty()
        && !number.is_empty()
        && (writer.to_owned() + number).bytes().all(|b| b.is_ascii_digit())
}

/// The words by which messages are told apart.
pub(super) fn list_tokens(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| is_token(word)).map(str::to_owned).collect()
}

/// Says the last message's word again.
fn build_model() -> Speaking {
    Speaking::answering(Duration::from_millis(10), |request| {
        let messages = request["messages"].as_array().unwrap();
        let last =
            messages.iter().rev().find(|one| one["role"] == "user").map(|one| one["content"].to_string());
        let token = last.as_deref().map(list_tokens).unwrap_or_default().pop();
        Answer::words(&format!("Noted: {}", token.unwrap_or_default()))
    })
}

fn set_secret(installation: &Installation, name: &str, value: &str) {
    let mut command = installation.command(&["vault", "set", name, "--tenant", "shop"]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(value.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

/// The shop with a number and a bot, at platforms on this machine. Nothing but what `munshi channel add` says is done for them.
fn open(engine: DatabaseEngine, platforms: &Platforms, model: &Speaking) -> Installation {
    let (installation, _) = shop_of(engine, model);
    let installation = installation
        .with("MUNSHI__SERVER__PUBLIC_URL", "https://munshi.example")
        .with("MUNSHI__SERVER__ADDRESS_REQUESTS_PER_MINUTE", "100000")
        .with("MUNSHI__CONNECTORS__PRIVATE_HOSTS", format!("127.0.0.1:{}", platforms.port()))
        .with("MUNSHI__RUNS__JOIN_WINDOW_MILLISECONDS", "0")
        .with("MUNSHI__JOBS__LEASE_SECONDS", "5");
    for (name, value) in [
        ("bot", platforms::BOT_TOKEN),
        ("wa.token", platforms::GRAPH_TOKEN),
        ("wa.secret", people::APP_SECRET),
    ] {
        set_secret(&installation, name, value);
    }
    let url = platforms.url();
    installation
        .run(&["channel", "add", "bot", "--kind", "telegram", "--token", "vault:bot", "--api-url", &url])
        .ok();
    let graph = ["--kind", "whatsapp", "--account-id", people::PHONE_ID, "--number", "+15550967852"];
    let secrets = ["--token", "vault:wa.token", "--secret", "vault:wa.secret", "--api-url", &url];
    installation.run(&[&["channel", "add", "wa"], &graph[..], &secrets].concat()).ok();
    installation
}

/// The program, which is started again whenever it was killed.
struct KilledServer<'a> {
    installation: &'a Installation,
    running: Running,
    place: Arc<Mutex<SocketAddr>>,
}

impl<'a> KilledServer<'a> {
    fn start(installation: &'a Installation) -> Self {
        let running = installation.serve();
        let place = Arc::new(Mutex::new(running.address));
        Self { installation, running, place }
    }

    fn kill(&mut self) {
        self.running.signal(Signal::KILL);
        self.running.wait();
        self.running = self.installation.serve();
        *self.place.lock().unwrap() = self.running.address;
    }
}

fn each_message_is_answered_once_and_in_order(engine: DatabaseEngine) {
    let (messages, kills) = if is_long_run() { (40, 40) } else { (8, 5) };
    println!("seed {SEED}");
    let (model, platforms) = (build_model(), Platforms::start(SEED));
    let installation = open(engine, &platforms, &model);
    let mut server = KilledServer::start(&installation);
    platforms.wait_for_webhook();
    let writers: Vec<Writer> = (0..WRITERS * 2)
        .map(|number| {
            let messenger = if number % 2 == 0 { Messenger::Telegram } else { Messenger::Whatsapp };
            Writer { number, messenger, messages, place: server.place.clone(), secret: platforms.secret() }
        })
        .collect();
    let random = SeededRandom::new(SEED);
    std::thread::scope(|scope| {
        let writing: Vec<_> = writers.iter().map(|writer| scope.spawn(|| writer.write(SEED))).collect();
        for _ in 0..kills {
            let mut bytes = [0; 1];
            random.fill(&mut bytes);
            std::thread::sleep(Duration::from_millis(400 + u64::from(bytes[0]) * 6));
            server.kill();
        }
        for one in writing {
            one.join().unwrap();
        }
    });
    let unknown = wait_until_answered(&installation, &platforms, &writers, &server.running);
    for writer in &writers {
        let taken = platforms.list_taken(&writer.chat());
        let mut once = taken.clone();
        once.sort_by_key(|token| writer.find_number(token));
        once.dedup();
        assert_eq!(taken, once, "each once, and in order");
    }
    println!("{unknown} of {} are unknown", WRITERS * 2 * messages);
}

/// What the answers say of which nobody knows whether they arrived.
fn list_unknown(installation: &Installation) -> Vec<String> {
    let listed = installation.json(&["outbox", "list", "--state", "unknown"]);
    let ids = listed["items"].as_array().into_iter().flatten().map(|item| item["id"].as_str().unwrap());
    ids.flat_map(|id| list_tokens(&installation.json(&["outbox", "show", id]).to_string())).collect()
}

/// Until each message was answered, or stands in the list of those of which nobody knows; how many those are.
fn wait_until_answered(
    installation: &Installation,
    platforms: &Platforms,
    writers: &[Writer],
    server: &Running,
) -> usize {
    let began = Instant::now();
    loop {
        let missing: Vec<String> = writers
            .iter()
            .flat_map(|writer| writer.list_missing(&platforms.list_taken(&writer.chat())))
            .collect();
        let unknown = list_unknown(installation);
        let open = installation.json(&["outbox", "list"]);
        let is_at_rest =
            open["items"].as_array().is_none_or(|items| items.iter().all(|item| item["state"] == "unknown"));
        if is_at_rest && missing.iter().all(|token| unknown.contains(token)) {
            return unknown.len();
        }
        let channels: Value = installation.json(&["channel", "list"]);
        assert!(
            began.elapsed() < PATIENCE,
            "{missing:?} are unanswered, {unknown:?} unknown\n{open}\n{channels}\n{}",
            server.log()
        );
        std::thread::sleep(Duration::from_millis(300));
    }
}

#[test]
fn each_message_is_answered_once_and_in_order_on_sqlite() {
    each_message_is_answered_once_and_in_order(DatabaseEngine::Sqlite);
}

#[test]
fn each_message_is_answered_once_and_in_order_on_postgres() {
    each_message_is_answered_once_and_in_order(DatabaseEngine::Postgres);
}
