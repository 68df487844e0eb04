//! WhatsApp's and Telegram's servers, on this machine: what they take they keep, and they are as unreliable as it gets.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use munshi_test_support::PATIENCE;
use munshi_types::{Random, SeededRandom};
use serde_json::{Value, json};

use super::list_tokens;

pub(super) const BOT_TOKEN: &str = "700:AA-secret_token";
pub(super) const GRAPH_TOKEN: &str = "EAAG-token";

/// What happens with a message that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlatformMood {
    Takes,
    /// It is taken, and the line breaks before that is said.
    Lost,
    /// Too much at once: nothing is taken.
    Limited,
    /// Taken, and said late.
    Slow,
}

#[derive(Default)]
struct PlatformState {
    secret: Option<String>,
    taken: HashMap<String, Vec<String>>,
    sent: usize,
}

pub(super) struct Platforms {
    port: u16,
    state: Arc<Mutex<PlatformState>>,
}

impl Platforms {
    /// Serves as long as the test program runs.
    pub(super) fn start(seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (state, random) = (Arc::<Mutex<PlatformState>>::default(), Arc::new(SeededRandom::new(seed)));
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (state, random) = (shared.clone(), random.clone());
                // Whoever hangs up in the middle was killed.
                std::thread::spawn(move || serve(&stream, &state, &random));
            }
        });
        Self { port, state }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The server sets its webhook by itself.
    pub(super) fn wait_for_webhook(&self) {
        let began = Instant::now();
        while self.state.lock().unwrap().secret.is_none() {
            assert!(began.elapsed() < PATIENCE, "no webhook was set");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(super) fn secret(&self) -> String {
        self.state.lock().unwrap().secret.clone().unwrap()
    }

    /// What was answered in a chat, in the order in which it was taken.
    pub(super) fn list_taken(&self, chat: &str) -> Vec<String> {
        self.state.lock().unwrap().taken.get(chat).cloned().unwrap_or_default()
    }
}

fn choose_mood(random: &SeededRandom) -> PlatformMood {
    let mut bytes = [0; 1];
    random.fill(&mut bytes);
    match bytes[0] {
        0..20 => PlatformMood::Lost,
        20..60 => PlatformMood::Limited,
        60..100 => PlatformMood::Slow,
        _ => PlatformMood::Takes,
    }
}

fn serve(stream: &TcpStream, state: &Mutex<PlatformState>, random: &SeededRandom) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut first = String::new();
        reader.read_line(&mut first).ok().filter(|count| *count > 0)?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
            if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = number.trim().parse().ok()?;
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let path = first.split(' ').nth(1)?.to_owned();
        let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
        let (status, answer) = answer(&path, &asked, state, random)?;
        let answer = answer.to_string();
        let head = format!(
            "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\nretry-after: 1\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        let mut stream = stream;
        stream.write_all((head + &answer).as_bytes()).ok()?;
    }
}

/// None where the line breaks.
fn answer(
    path: &str,
    asked: &Value,
    state: &Mutex<PlatformState>,
    random: &SeededRandom,
) -> Option<(u16, Value)> {
    let path = path.split('?').next().unwrap_or_default();
    match path.strip_prefix(&format!("/bot{BOT_TOKEN}/")) {
        Some(method) => answer_bot(method, asked, state, random),
        None => answer_graph(path, asked, state, random),
    }
}

fn answer_bot(
    method: &str,
    asked: &Value,
    state: &Mutex<PlatformState>,
    random: &SeededRandom,
) -> Option<(u16, Value)> {
    let done = |result: Value| Some((200, json!({ "ok": true, "result": result })));
    match method {
        "getMe" => done(json!({ "id": 700, "is_bot": true, "first_name": "Shop", "username": "shop_bot" })),
        "getWebhookInfo" => {
            let is_set = state.lock().unwrap().secret.is_some();
            let url = if is_set { "https://munshi.example/channels/shop/bot" } else { "" };
            done(json!({ "url": url, "has_custom_certificate": false, "pending_update_count": 0 }))
        }
        "setWebhook" => {
            state.lock().unwrap().secret = asked["secret_token"].as_str().map(str::to_owned);
            done(json!(true))
        }
        "sendMessage" => {
            let chat = format!("telegram:{}", asked["chat_id"]);
            let limited = json!({ "ok": false, "error_code": 429, "description": "Too Many Requests: retry after 1",
                "parameters": { "retry_after": 1 } });
            take(
                &chat,
                asked,
                (state, random),
                limited,
                |number| json!({ "ok": true, "result": { "message_id": number, "date": 1, "chat": { "id": 5, "type": "private" } } }),
            )
        }
        _ => done(json!(true)),
    }
}

fn answer_graph(
    path: &str,
    asked: &Value,
    state: &Mutex<PlatformState>,
    random: &SeededRandom,
) -> Option<(u16, Value)> {
    if !path.ends_with("/messages") || asked["status"] == "read" || asked["type"] == "reaction" {
        return Some((200, json!({ "success": true, "data": [], "messages": [{ "id": "wamid.sign" }] })));
    }
    let chat = format!("whatsapp:{}", asked["to"].as_str().unwrap_or_default());
    let limited = json!({ "error": { "code": 130_429, "message": "Rate limit hit" } });
    take(
        &chat,
        asked,
        (state, random),
        limited,
        |number| json!({ "messaging_product": "whatsapp", "messages": [{ "id": format!("wamid.sent{number}") }] }),
    )
}

/// What is said, without what is quoted.
fn read_words(asked: &Value) -> &str {
    let places = ["/text/body", "/interactive/body/text", "/text"];
    places.into_iter().find_map(|place| asked.pointer(place)?.as_str()).unwrap_or_default()
}

fn take(
    chat: &str,
    asked: &Value,
    (state, random): (&Mutex<PlatformState>, &SeededRandom),
    limited: Value,
    answer: impl FnOnce(usize) -> Value,
) -> Option<(u16, Value)> {
    let mood = choose_mood(random);
    if mood == PlatformMood::Limited {
        return Some((429, limited));
    }
    let number = {
        let mut state = state.lock().unwrap();
        state.sent += 1;
        let number = state.sent;
        state.taken.entry(chat.to_owned()).or_default().extend(list_tokens(read_words(asked)));
        number
    };
    match mood {
        PlatformMood::Lost => None,
        PlatformMood::Slow => {
            std::thread::sleep(Duration::from_millis(400));
            Some((200, answer(number)))
        }
        _ => Some((200, answer(number))),
    }
}
