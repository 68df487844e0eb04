//! Text messages by Twilio and MSG91, with stand-ins that check every request as the providers do.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt;
use munshi_channels::incoming::{
    ArrivedFile, ChannelIntake, ChannelRequest, ChannelRequestMethod, IntakeOutcome, StoredArrivals,
};
use munshi_channels::link::FaultDuration;
use munshi_channels::{AllowedHosts, ChannelSenders};
use munshi_conversations::outbox::{
    ChannelSender, DeliveryCertainty, FaultSubject, SendRetryability, SenderDirectory, SenderRoute,
};
use munshi_jobs::JobQueue;
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::tier::Channel;
use munshi_types::{Clock, OutboundMessage, ReplyAddress};
use ring::hmac;
use serde_json::{Value, json};

use super::sdks::{SentRequest, check_request};
use super::support::{QUICK, Shop, migrations, open_shop_with};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const ACCOUNT: &str = "AC0123456789abcdef0123456789abcdef";
const OWN: &str = "+14155550100";
const MEERA: &str = "+919812345678";

/// What the stand-in does with the next request.
enum SmsStandInMove {
    Answer(u16, &'static str, String),
    /// The request is read, and the line ends.
    Drop,
}

#[derive(Clone, Debug)]
struct HeardSmsRequest {
    line: String,
    headers: BTreeMap<String, String>,
    body: String,
}

impl HeardSmsRequest {
    fn form(&self) -> BTreeMap<String, String> {
        serde_urlencoded::from_str(&self.body).unwrap()
    }
}

/// A provider's API on this machine.
struct SmsStandIn {
    base: String,
    moves: Arc<Mutex<VecDeque<SmsStandInMove>>>,
    heard: Arc<Mutex<Vec<HeardSmsRequest>>>,
}

impl SmsStandIn {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (moves, heard) = (Arc::new(Mutex::new(VecDeque::new())), Arc::new(Mutex::new(Vec::new())));
        let (next, kept) = (moves.clone(), heard.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(request) = read_request(&stream) else { continue };
                let checked = check_by_sdk(&request);
                kept.lock().unwrap().push(request);
                if let Err(why) = checked {
                    let _sent =
                        write!(&stream, "HTTP/1.1 400 x\r\ncontent-length: {}\r\n\r\n{why}", why.len());
                    continue;
                }
                let Some(SmsStandInMove::Answer(status, more, body)) = next.lock().unwrap().pop_front()
                else {
                    continue;
                };
                let mut stream = stream;
                let length = body.len();
                let _sent = write!(
                    stream,
                    "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\n{more}connection: close\r\n\
                     content-length: {length}\r\n\r\n{body}"
                );
            }
        });
        Self { base, moves, heard }
    }

    fn next(&self, what: SmsStandInMove) {
        self.moves.lock().unwrap().push_back(what);
    }

    fn answer(&self, status: u16, body: &Value) {
        self.next(SmsStandInMove::Answer(status, "", body.to_string()));
    }

    fn last(&self) -> HeardSmsRequest {
        self.heard.lock().unwrap().last().unwrap().clone()
    }

    fn count(&self) -> usize {
        self.heard.lock().unwrap().len()
    }
}

/// Twilio's own program would ask for a message in the same way.
fn check_by_sdk(request: &HeardSmsRequest) -> Result<(), String> {
    let mut line = request.line.split(' ');
    let (method, path) = (line.next().unwrap_or_default(), line.next().unwrap_or_default());
    let media_type = request.headers.get("content-type").map_or("", String::as_str);
    let body = request.body.as_bytes();
    check_request("twilio", &SentRequest { method, path, media_type, body })
}

fn read_request(stream: &TcpStream) -> Option<HeardSmsRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut headers = BTreeMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        match header.trim().split_once(": ") {
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.to_owned()),
            None => break,
        };
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(HeardSmsRequest { line: line.trim().to_owned(), headers, body: String::from_utf8(body).ok()? })
}

async fn open(test: TestDb) -> (Shop, SmsStandIn) {
    let shop = open_shop_with(test, AllowedHosts::new(["127.0.0.1".to_owned()]), None, QUICK).await;
    (shop, SmsStandIn::start())
}

async fn find(senders: &ChannelSenders, shop: &Shop) -> Arc<dyn ChannelSender> {
    let route =
        SenderRoute { tenant: shop.tenant, binding: None, channel: Channel::Sms, from: None, account: None };
    senders.find(&route).await.unwrap()
}

async fn declare_twilio(shop: &Shop, api: &SmsStandIn) -> Arc<dyn ChannelSender> {
    shop.set_secret("vault:twilio.token", TOKEN).await;
    shop.declare(&format!(
        "[sms]\nkind = \"twilio\"\naccount_id = \"{ACCOUNT}\"\nnumber = \"{OWN}\"\ntoken = \"vault:twilio.token\"\n\
         api_url = \"{}\"\n",
        api.base
    ))
    .await;
    find(&shop.senders, shop).await
}

fn message(shop: &Shop, text: &str) -> OutboundMessage {
    let to = ReplyAddress::new(Channel::Sms, MEERA);
    OutboundMessage::new(shop.test.ids.next(), to, text.to_owned())
}

fn intake(shop: &Shop) -> ChannelIntake {
    let (clock, ids): (Arc<dyn Clock>, _) = (shop.test.clock.clone(), shop.test.ids.clone());
    let queue = JobQueue::new(clock.clone(), ids.clone());
    ChannelIntake { accounts: shop.senders.clone(), queue, ids, clock }
}

/// A request as Twilio sends it to the shop's address.
fn twilio_request(shop: &Shop, query: &str, fields: &[(&str, &str)], token: &str) -> ChannelRequest {
    let url = format!("https://munshi.example/channels/sharma/sms{query}");
    let sorted: BTreeMap<&str, &str> = fields.iter().copied().collect();
    let signed = sorted.iter().fold(url.clone(), |text, (name, value)| text + name + value);
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, token.as_bytes());
    let signature = STANDARD.encode(hmac::sign(&key, signed.as_bytes()));
    ChannelRequest {
        method: ChannelRequestMethod::Post,
        url,
        path_secret: None,
        headers: vec![
            ("content-type".to_owned(), b"application/x-www-form-urlencoded".to_vec()),
            ("x-twilio-signature".to_owned(), signature.into_bytes()),
        ],
        query: serde_urlencoded::from_str(query.trim_start_matches('?')).unwrap(),
        body: serde_urlencoded::to_string(fields).unwrap().into_bytes(),
        now: shop.test.clock.now(),
    }
}

const STORED: IntakeOutcome = IntakeOutcome::Stored(StoredArrivals { stored: 1, known: 0 });

on_both_engines! {
    with all migrations();

    async fn twilio_is_sent_what_it_takes(test: TestDb) {
        let (shop, api) = open(test).await;
        let sender = declare_twilio(&shop, &api).await;
        api.answer(201, &json!({ "sid": "SM1", "status": "queued" }));
        let receipt = sender.send(&message(&shop, "**Namaste**, it is ready.")).await.unwrap();
        assert_eq!(receipt.outside_id.as_deref(), Some("SM1"));
        let heard = api.last();
        assert_eq!(heard.line, format!("POST /2010-04-01/Accounts/{ACCOUNT}/Messages.json HTTP/1.1"));
        let login = format!("Basic {}", STANDARD.encode(format!("{ACCOUNT}:{TOKEN}")));
        assert_eq!(heard.headers["authorization"], login);
        let form = heard.form();
        assert_eq!((form["To"].as_str(), form["From"].as_str()), (MEERA, OWN));
        assert_eq!(form["Body"], "Namaste, it is ready.");
        assert_eq!(form["StatusCallback"], "https://munshi.example/channels/sharma/sms?what=status");
    }

    async fn what_became_of_a_message_is_known_as_far_as_it_is(test: TestDb) {
        let (shop, api) = open(test).await;
        let sender = declare_twilio(&shop, &api).await;
        let send = || async { sender.send(&message(&shop, "hello")).await.unwrap_err() };
        api.next(SmsStandInMove::Drop);
        let lost = send().await;
        assert_eq!(lost.happened, DeliveryCertainty::Maybe, "{lost:?}");
        assert_eq!(api.count(), 1, "nothing is sent again by itself");
        api.next(SmsStandInMove::Answer(429, "retry-after: 7\r\n", json!({ "code": 20429 }).to_string()));
        let busy = send().await;
        assert_eq!(busy.retry_after.map(|after| after.as_secs()), Some(7), "{busy:?}");
        api.answer(401, &json!({ "code": 20003, "message": "Authenticate" }));
        let token = send().await;
        assert_eq!((token.happened, token.retryable), (DeliveryCertainty::No, SendRetryability::Yes));
        api.answer(400, &json!({ "code": 21610, "message": format!("{MEERA} is unsubscribed") }));
        let stopped = send().await;
        assert_eq!((stopped.subject, stopped.retryable), (FaultSubject::Recipient, SendRetryability::No));
        for fault in [lost, busy, token, stopped] {
            assert!(!fault.why.contains("98123") && !fault.why.contains(TOKEN), "{fault:?}");
        }
    }

    async fn a_long_message_leaves_in_parts(test: TestDb) {
        let (shop, api) = open(test).await;
        let sender = declare_twilio(&shop, &api).await;
        let long = message(&shop, &"This is one sentence of many. ".repeat(100));
        let parts = sender.count_parts(&long);
        assert!(parts > 1);
        for part in 0..parts {
            api.answer(201, &json!({ "sid": format!("SM{part}") }));
            sender.send_part(&long, part).await.unwrap();
            assert!(api.last().form()["Body"].chars().count() <= 1600);
        }
    }

    async fn what_twilio_tells_is_stored_once(test: TestDb) {
        let (shop, api) = open(test).await;
        declare_twilio(&shop, &api).await;
        let (intake, name) = (intake(&shop), "sms".parse().unwrap());
        let fields = [("MessageSid", "SM1"), ("AccountSid", ACCOUNT), ("From", MEERA), ("To", OWN), ("Body", "नमस्ते")];
        let request = twilio_request(&shop, "", &fields, TOKEN);
        let (outcome, answer) = intake.take_answered(shop.tenant, &name, &request).await.unwrap();
        assert_eq!(outcome, STORED);
        assert!(answer.media_type.starts_with("text/xml") && answer.text.ends_with("<Response/>"), "{answer:?}");
        let again = intake.take(shop.tenant, &name, &request).await.unwrap();
        assert_eq!(again, IntakeOutcome::Stored(StoredArrivals { stored: 0, known: 1 }));
        let status = [("MessageSid", "SM9"), ("MessageStatus", "delivered"), ("To", MEERA), ("AccountSid", ACCOUNT)];
        let request = twilio_request(&shop, "?what=status", &status, TOKEN);
        assert_eq!(intake.take(shop.tenant, &name, &request).await.unwrap(), STORED);
        for wrong in [
            twilio_request(&shop, "", &fields, "another token"),
            ChannelRequest { body: b"MessageSid=SM2&From=%2B1&Body=x".to_vec(), ..twilio_request(&shop, "", &fields, TOKEN) },
            ChannelRequest { headers: Vec::new(), ..twilio_request(&shop, "", &fields, TOKEN) },
            ChannelRequest { url: "https://elsewhere.example/channels/sharma/sms".to_owned(), ..twilio_request(&shop, "", &fields, TOKEN) },
        ] {
            let refused = intake.take(shop.tenant, &name, &wrong).await.unwrap();
            assert!(matches!(refused, IntakeOutcome::Unverified(_)), "{refused:?}");
        }
    }

    async fn a_number_is_set_up_unless_it_is_used_already(test: TestDb) {
        let (shop, api) = open(test).await;
        declare_twilio(&shop, &api).await;
        let link = shop.senders.find_link(shop.tenant, &"sms".parse().unwrap()).await.unwrap().unwrap();
        let account = json!({ "friendly_name": "Sharma", "status": "active" });
        let number = |url: &str| json!({ "incoming_phone_numbers": [
            { "sid": "PN1", "friendly_name": "(415) 555-0100", "sms_url": url, "sms_method": "POST" }] });
        api.answer(200, &account);
        api.answer(200, &number(""));
        api.answer(200, &json!({}));
        let report = link.inspect().await;
        assert!(report.steps.len() == 3 && report.steps.iter().all(|step| step.failed.is_none()), "{report:?}");
        assert_eq!(api.last().form()["SmsUrl"], "https://munshi.example/channels/sharma/sms");
        api.answer(200, &account);
        api.answer(200, &number("https://other.example/sms"));
        let report = link.inspect().await;
        assert!(report.steps[2].failed.is_some() && report.to_do[0].contains("munshi.example"), "{report:?}");
        assert_eq!(api.count(), 5, "what is used already is left as it is");
        api.answer(401, &json!({ "code": 20003 }));
        assert!(link.inspect().await.steps[0].failed.is_some());
    }

    async fn a_picture_is_fetched_with_the_token_from_its_account_alone(test: TestDb) {
        let (shop, api) = open(test).await;
        declare_twilio(&shop, &api).await;
        let link = shop.senders.find_link(shop.tenant, &"sms".parse().unwrap()).await.unwrap().unwrap();
        let file = |reference: String| ArrivedFile { reference, media_type: "image/jpeg".to_owned(), name: None, size: None };
        let own = format!("{}/2010-04-01/Accounts/{ACCOUNT}/Messages/MM1/Media/ME1", api.base);
        api.answer(200, &json!("a picture"));
        let mut stream = link.open_file(&file(own.clone())).await.unwrap();
        let piece = stream.next().await.unwrap().unwrap();
        assert_eq!(piece, "\"a picture\"");
        assert!(api.last().headers["authorization"].starts_with("Basic "));
        // It lies elsewhere: the token stays here.
        api.next(SmsStandInMove::Answer(307, "location: /elsewhere\r\n", String::new()));
        api.answer(200, &json!("a picture"));
        drop(link.open_file(&file(own.clone())).await.unwrap());
        let heard = api.last();
        assert!(heard.line.starts_with("GET /elsewhere ") && !heard.headers.contains_key("authorization"), "{heard:?}");
        api.next(SmsStandInMove::Answer(307, "location: https://169.254.169.254/\r\n", String::new()));
        let fault = link.open_file(&file(own)).await.err().unwrap();
        assert_eq!(fault.lasting, FaultDuration::Lasting, "{fault:?}");
        let asked = api.count();
        for wrong in [
            format!("{}/2010-04-01/Accounts/AC9/Messages/MM1/Media/ME1", api.base),
            format!("{}/2010-04-01/Accounts/{ACCOUNT}/../AC9/Messages", api.base),
            "https://elsewhere.example/picture.jpg".to_owned(),
            "picture.jpg".to_owned(),
        ] {
            assert!(link.open_file(&file(wrong)).await.is_err());
        }
        assert_eq!(api.count(), asked, "nobody is asked for another's");
    }

    async fn msg91_is_sent_registered_texts_alone(test: TestDb) {
        let (shop, api) = open(test).await;
        shop.set_secret("vault:msg91.key", TOKEN).await;
        shop.declare(&format!(
            "[sms]\nkind = \"msg91\"\naccount_id = \"SHARMA\"\ntoken = \"vault:msg91.key\"\napi_url = \"{}\"\n\
             templates = {{ reply = \"65f0\" }}\n",
            api.base
        ))
        .await;
        let sender = find(&shop.senders, &shop).await;
        api.answer(200, &json!({ "type": "success", "message": "346a" }));
        let receipt = sender.send(&message(&shop, "It is open.")).await.unwrap();
        assert_eq!(receipt.outside_id.as_deref(), Some("346a"));
        let heard = api.last();
        assert!(heard.line.starts_with("POST /api/v5/flow ") && heard.headers["authkey"] == TOKEN, "{heard:?}");
        let body: Value = serde_json::from_str(&heard.body).unwrap();
        assert_eq!((&body["template_id"], &body["sender"]), (&json!("65f0"), &json!("SHARMA")));
        assert_eq!(body["recipients"], json!([{ "mobiles": "919812345678", "text": "It is open." }]));
        let alert = OutboundMessage {
            purpose: munshi_types::OutboundPurpose::Alert,
            ..message(&shop, "Look at this.")
        };
        let refused = sender.send(&alert).await.unwrap_err();
        assert!(refused.why.contains("`alert`") && api.count() == 1, "{refused:?}");

        let (intake, name) = (intake(&shop), "sms".parse().unwrap());
        let link = shop.senders.find_link(shop.tenant, &name).await.unwrap().unwrap();
        let secret = link.open_path_secret().await.unwrap().unwrap();
        let told = |path_secret: Option<String>| ChannelRequest {
            path_secret,
            headers: vec![("content-type".to_owned(), b"application/json".to_vec())],
            body: json!({ "requestId": "346a", "status": "1", "desc": "DELIVERED" }).to_string().into_bytes(),
            ..twilio_request(&shop, "", &[], TOKEN)
        };
        assert_eq!(intake.take(shop.tenant, &name, &told(Some(secret.clone()))).await.unwrap(), STORED);
        for wrong in [None, Some(String::new()), Some(secret[1..].to_owned())] {
            let refused = intake.take(shop.tenant, &name, &told(wrong)).await.unwrap();
            assert!(matches!(refused, IntakeOutcome::Unverified(_)), "{refused:?}");
        }
    }
}
