//! Somebody who writes, and their platform, which tells until it is heard, and sometimes again.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use munshi_test_support::PATIENCE;
use munshi_types::{Clock, Random, SeededRandom, SystemClock};
use ring::hmac;
use serde_json::{Value, json};

pub(super) const APP_SECRET: &str = "app_secret";
pub(super) const PHONE_ID: &str = "277321005464405";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Messenger {
    Telegram,
    Whatsapp,
}

pub(super) struct Writer {
    pub(super) number: usize,
    pub(super) messenger: Messenger,
    pub(super) messages: usize,
    /// Where the server is now.
    pub(super) place: Arc<Mutex<SocketAddr>>,
    /// What Telegram sends along.
    pub(super) secret: String,
}

impl Writer {
    fn token(&self, number: usize) -> String {
        format!("w{}n{number}", self.number)
    }

    pub(super) fn find_number(&self, token: &str) -> usize {
        token.split_once('n').unwrap().1.parse().unwrap()
    }

    /// As the platform calls the chat when it is answered in.
    pub(super) fn chat(&self) -> String {
        match self.messenger {
            Messenger::Telegram => format!("telegram:{}", self.id()),
            Messenger::Whatsapp => format!("whatsapp:{}", self.id()),
        }
    }

    fn id(&self) -> u64 {
        919_812_340_000 + self.number as u64
    }

    pub(super) fn list_missing(&self, taken: &[String]) -> Vec<String> {
        (0..self.messages).map(|number| self.token(number)).filter(|token| !taken.contains(token)).collect()
    }

    /// One after the other, each until the server has it; some are told again, at once or much later.
    pub(super) fn write(&self, seed: u64) {
        let random = SeededRandom::new(seed + self.number as u64);
        let draw = || {
            let mut bytes = [0; 1];
            random.fill(&mut bytes);
            bytes[0]
        };
        for number in 0..self.messages {
            self.tell(number);
            match draw() {
                0..50 => self.tell(number),
                50..100 => self.tell(usize::from(draw()) % (number + 1)),
                _ => {}
            }
            std::thread::sleep(Duration::from_millis(u64::from(draw())));
        }
    }

    fn tell(&self, number: usize) {
        let body = self.build_update(number).to_string();
        let began = Instant::now();
        loop {
            let place = *self.place.lock().unwrap();
            // A server that was killed answers nothing, or half of something.
            match post(place, &self.build_head(&body), &body) {
                Ok(200) => return,
                answered => assert!(began.elapsed() < PATIENCE, "{answered:?}"),
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn build_head(&self, body: &str) -> String {
        match self.messenger {
            Messenger::Telegram => format!(
                "POST /channels/shop/bot HTTP/1.1\r\nx-telegram-bot-api-secret-token: {}\r\n",
                self.secret
            ),
            Messenger::Whatsapp => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, APP_SECRET.as_bytes());
                let signed = hmac::sign(&key, body.as_bytes());
                let digits: String = signed.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
                format!("POST /channels/shop/wa HTTP/1.1\r\nx-hub-signature-256: sha256={digits}\r\n")
            }
        }
    }

    fn build_update(&self, number: usize) -> Value {
        let (id, text) = (self.id(), format!("please note {}", self.token(number)));
        // A minute for all of them, so that each is a second after the one before it.
        let at = SystemClock.now().as_micros() / 1_000_000 / 3600 * 3600 + number as i64;
        match self.messenger {
            Messenger::Telegram => json!({ "update_id": self.number * 1000 + number, "message": {
                "message_id": number + 1, "date": SystemClock.now().as_micros() / 1_000_000, "text": text,
                "from": { "id": id, "is_bot": false, "first_name": "Meera" }, "chat": { "id": id, "type": "private" },
            } }),
            Messenger::Whatsapp => {
                let from = id.to_string();
                let message = json!({ "from": from, "id": format!("wamid.{}", self.token(number)), "type": "text",
                    "timestamp": at.to_string(), "text": { "body": text } });
                let value = json!({ "messaging_product": "whatsapp", "messages": [message],
                    "metadata": { "display_phone_number": "15550967852", "phone_number_id": PHONE_ID },
                    "contacts": [{ "profile": { "name": "Meera" }, "wa_id": from, "user_id": format!("IN.1349120865{from}") }] });
                json!({ "object": "whatsapp_business_account",
                    "entry": [{ "id": "102290129340398", "changes": [{ "field": "messages", "value": value }] }] })
            }
        }
    }
}

/// The status that was answered.
fn post(place: SocketAddr, head: &str, body: &str) -> std::io::Result<u16> {
    let mut stream = TcpStream::connect(place)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let rest = format!(
        "host: munshi.example\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head.to_owned() + &rest + body).as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.ok_or_else(|| std::io::Error::other("half an answer"))
}
