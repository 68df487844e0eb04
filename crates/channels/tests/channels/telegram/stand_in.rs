//! A Telegram on this machine: it knows its bots, checks what it is asked as Telegram does, keeps what was sent, and fails on demand.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::channels::sdks::{SentRequest, check_request};

/// Instead of an answer.
#[derive(Clone, Debug)]
pub(crate) enum BotFailure {
    /// It did what it was asked, and the line breaks before it says so.
    Lost,
    /// It answers this and does nothing.
    Says(u16, Value),
}

#[derive(Default)]
struct BotState {
    updates: Vec<Value>,
    /// Below this everything was heard.
    offset: i64,
    webhook: String,
    secret: String,
    failures: HashMap<String, VecDeque<BotFailure>>,
    calls: Vec<(String, Value)>,
    sent: i64,
    asked_at_once: usize,
    most_at_once: usize,
}

#[derive(Default)]
struct Inner {
    bots: Mutex<HashMap<String, BotState>>,
    changed: Notify,
    requests: AtomicUsize,
}

pub(crate) struct FakeTelegram {
    inner: Arc<Inner>,
    url: String,
    server: JoinHandle<()>,
}

impl Drop for FakeTelegram {
    fn drop(&mut self) {
        self.server.abort();
    }
}

struct HttpCall {
    path: String,
    media_type: String,
    body: Vec<u8>,
}

impl FakeTelegram {
    pub(crate) async fn start() -> Self {
        let inner = Arc::new(Inner::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = inner.clone();
        #[allow(clippy::disallowed_methods, reason = "the stand-in ends with its test")]
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(serving.clone(), stream));
            }
        });
        Self { inner, url, server }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// A bot by its token.
    pub(crate) fn add_bot(&self, token: &str) {
        self.inner.bots.lock().unwrap().insert(token.to_owned(), BotState::default());
    }

    fn with<T>(&self, token: &str, act: impl FnOnce(&mut BotState) -> T) -> T {
        act(self.inner.bots.lock().unwrap().get_mut(token).unwrap())
    }

    /// Somebody does something.
    pub(crate) fn tell(&self, token: &str, update: Value) {
        self.with(token, |bot| bot.updates.push(update));
        self.inner.changed.notify_waiters();
    }

    pub(crate) fn fail(&self, token: &str, method: &str, failure: BotFailure) {
        self.with(token, |bot| bot.failures.entry(method.to_owned()).or_default().push_back(failure));
    }

    /// What it was asked for by a method, in order.
    pub(crate) fn calls(&self, token: &str, method: &str) -> Vec<Value> {
        self.with(token, |bot| {
            bot.calls.iter().filter(|(called, _)| called == method).map(|(_, asked)| asked.clone()).collect()
        })
    }

    pub(crate) fn secret(&self, token: &str) -> String {
        self.with(token, |bot| bot.secret.clone())
    }

    pub(crate) fn webhook(&self, token: &str) -> String {
        self.with(token, |bot| bot.webhook.clone())
    }

    pub(crate) fn set_webhook(&self, token: &str, url: &str) {
        self.with(token, |bot| bot.webhook = url.to_owned());
    }

    /// How many asked for one bot's updates at the same time.
    pub(crate) fn most_at_once(&self, token: &str) -> usize {
        self.with(token, |bot| bot.most_at_once)
    }
}

#[allow(clippy::disallowed_methods, reason = "each ends with its connection")]
async fn serve(inner: Arc<Inner>, mut stream: TcpStream) {
    while let Some(call) = read_call(&mut stream).await {
        inner.requests.fetch_add(1, Ordering::SeqCst);
        let Some((status, body)) = answer(&inner, &call).await else { return };
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        if stream.write_all(head.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read_call(stream: &mut TcpStream) -> Option<HttpCall> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        let mut piece = [0; 8192];
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let header = |name: &str| {
        head.lines().find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let length: usize = header("content-length").map_or(0, |length| length.parse().unwrap());
    while bytes.len() < head_end + length {
        let mut piece = [0; 8192];
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
    }
    let path = head.split_whitespace().nth(1)?.to_owned();
    Some(HttpCall {
        path,
        media_type: header("content-type").unwrap_or_default(),
        body: bytes.split_off(head_end),
    })
}

fn refuse(code: u16, description: &str) -> (u16, Value) {
    (code, json!({ "ok": false, "error_code": code, "description": description }))
}

#[allow(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn done(result: Value) -> (u16, Value) {
    (200, json!({ "ok": true, "result": result }))
}

/// None where the line breaks.
async fn answer(inner: &Inner, call: &HttpCall) -> Option<(u16, Value)> {
    let path = call.path.strip_prefix("/bot").unwrap_or_default();
    let Some((token, method)) = path.split_once('/') else { return Some(refuse(404, "Not Found")) };
    let asked = match call.media_type.starts_with("multipart/form-data; boundary=") {
        true => json!({ "form": String::from_utf8_lossy(&call.body) }),
        false => match serde_json::from_slice(&call.body) {
            Ok(asked) => asked,
            Err(_) => return Some(refuse(400, "Bad Request: can't parse the parameters")),
        },
    };
    let sent =
        SentRequest { method: "POST", path: &call.path, media_type: &call.media_type, body: &call.body };
    if let Err(why) = check_request("telegram", &sent) {
        return Some(refuse(400, &format!("Bad Request: the SDK asks otherwise: {why}")));
    }
    let failure = {
        let mut bots = inner.bots.lock().unwrap();
        let Some(bot) = bots.get_mut(token) else { return Some(refuse(401, "Unauthorized")) };
        bot.calls.push((method.to_owned(), asked.clone()));
        bot.failures.get_mut(method).and_then(VecDeque::pop_front)
    };
    match failure {
        Some(BotFailure::Says(code, body)) => return Some((code, body)),
        Some(BotFailure::Lost) => {
            let _done = perform(inner, token, method, &asked).await;
            return None;
        }
        None => {}
    }
    Some(perform(inner, token, method, &asked).await)
}

async fn perform(inner: &Inner, token: &str, method: &str, asked: &Value) -> (u16, Value) {
    if method == "getUpdates" {
        return give_updates(inner, token, asked).await;
    }
    let mut bots = inner.bots.lock().unwrap();
    let bot = bots.get_mut(token).unwrap();
    let id: i64 = token.split(':').next().unwrap().parse().unwrap();
    match method {
        "getMe" => {
            done(json!({ "id": id, "is_bot": true, "first_name": "Sharma", "username": "sharma_bot" }))
        }
        "getWebhookInfo" => done(json!({ "url": bot.webhook, "pending_update_count": bot.updates.len() })),
        "setWebhook" => {
            let secret = asked["secret_token"].as_str().unwrap_or_default();
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            let url = asked["url"].as_str().unwrap_or_default();
            if !url.starts_with("https://") || secret.len() > 256 || !secret.chars().all(is_plain) {
                return refuse(400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook");
            }
            (bot.webhook, bot.secret) = (url.to_owned(), secret.to_owned());
            if asked["drop_pending_updates"] == true {
                bot.updates.clear();
            }
            done(json!(true))
        }
        "deleteWebhook" => {
            bot.webhook.clear();
            done(json!(true))
        }
        "sendMessage" => send_message(bot, asked),
        "sendPhoto" | "sendDocument" => {
            bot.sent += 1;
            done(json!({ "message_id": bot.sent, "chat": { "id": 5 } }))
        }
        "answerCallbackQuery" | "setMessageReaction" | "sendChatAction" => done(json!(true)),
        _ => refuse(404, "Not Found"),
    }
}

fn send_message(bot: &mut BotState, asked: &Value) -> (u16, Value) {
    let text = asked["text"].as_str().unwrap_or_default();
    if text.trim().is_empty() {
        return refuse(400, "Bad Request: message text is empty");
    }
    if text.encode_utf16().count() > 4096 {
        return refuse(400, "Bad Request: message is too long");
    }
    let Some(chat) = asked["chat_id"].as_i64() else { return refuse(400, "Bad Request: chat_id is empty") };
    if chat == 404 {
        return refuse(400, "Bad Request: chat not found");
    }
    let buttons = asked["reply_markup"]["inline_keyboard"].as_array().into_iter().flatten();
    let data =
        buttons.flat_map(|row| row.as_array().into_iter().flatten()).map(|button| &button["callback_data"]);
    if data.into_iter().any(|data| data.as_str().is_none_or(|data| data.is_empty() || data.len() > 64)) {
        return refuse(400, "Bad Request: BUTTON_DATA_INVALID");
    }
    bot.sent += 1;
    done(json!({ "message_id": bot.sent, "chat": { "id": chat }, "text": text }))
}

async fn give_updates(inner: &Inner, token: &str, asked: &Value) -> (u16, Value) {
    let change = |by: isize| {
        let mut bots = inner.bots.lock().unwrap();
        let bot = bots.get_mut(token).unwrap();
        bot.asked_at_once = bot.asked_at_once.saturating_add_signed(by);
        bot.most_at_once = bot.most_at_once.max(bot.asked_at_once);
    };
    change(1);
    let limit = usize::try_from(asked["limit"].as_u64().unwrap_or(100)).unwrap();
    // So that tests need not wait as long as people do.
    let waits = Duration::from_millis(asked["timeout"].as_u64().unwrap_or(0).min(1) * 300);
    let mut answered = None;
    for _ in 0..2 {
        let changed = inner.changed.notified();
        let found = {
            let mut bots = inner.bots.lock().unwrap();
            let bot = bots.get_mut(token).unwrap();
            if !bot.webhook.is_empty() {
                answered = Some(refuse(409, "Conflict: can't use getUpdates method while webhook is active"));
                break;
            }
            bot.offset = bot.offset.max(asked["offset"].as_i64().unwrap_or(0));
            let offset = bot.offset;
            bot.updates.retain(|update| update["update_id"].as_i64().is_none_or(|id| id >= offset));
            bot.updates.iter().take(limit).cloned().collect::<Vec<_>>()
        };
        let is_empty = found.is_empty();
        answered = Some(done(json!(found)));
        if !is_empty {
            break;
        }
        let _waited = tokio::time::timeout(waits, changed).await;
    }
    change(-1);
    answered.unwrap()
}
