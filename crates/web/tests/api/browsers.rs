//! Pages in a real browser, with tools and a phone that only tests have. The driver comes from scripts/browser.sh.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use munshi_conversations::outbox::{ChannelSender, SendFault, SendIdempotency, SendReceipt};
use munshi_identity::Role;
use munshi_test_support::models::ScriptedTurn;
use munshi_types::tier::Channel;
use munshi_types::{MessageId, OutboundMessage, OutboundPurpose};
use munshi_web::{HttpServer, ServerOptions, routes};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::api::driver::Browser;
use crate::api::support::{Installation, Setup};
use crate::api::visits::{consents, list_said, promote, put};

const ENTER: char = '\u{E007}';
pub(crate) const STILL: &str =
    "!document.querySelector('.live, .waiting') && document.querySelector('.doing').hidden";

/// A server of this installation; it stops with the test.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    _task: JoinSet<()>,
}

impl Served {
    pub(crate) async fn of(house: &Installation) -> Self {
        let server = HttpServer::bind("127.0.0.1:0").await.unwrap();
        let (address, app) = (server.address(), house.app.clone());
        let mut task = JoinSet::new();
        task.spawn(async move {
            server.serve(routes(), app, ServerOptions::default(), CancellationToken::new()).await;
        });
        Self { address, _task: task }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// The driver waits for its answers, so what it does runs beside the server.
pub(crate) async fn beside<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(act).await.unwrap()
}

pub(crate) fn opened(url: &str) -> Browser {
    let browser = Browser::open(url);
    browser.until("document.querySelector('.chat.ready')");
    browser
}

pub(crate) fn say(browser: &Browser, text: &str) {
    browser.run("document.querySelector('textarea').focus()", &json!([]));
    browser.press(&format!("{text}{ENTER}"));
}

/// Somebody's phone.
#[derive(Default)]
struct Phone {
    got: Mutex<Vec<String>>,
}

/// The same for mails.
#[derive(Default)]
struct Mailbox {
    got: Mutex<Vec<OutboundMessage>>,
}

#[async_trait]
impl ChannelSender for Mailbox {
    fn channel(&self) -> Channel {
        Channel::Email
    }

    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Once
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        if outbound.to.address.starts_with("nobody@") {
            return Err(SendFault::unreachable("no such user"));
        }
        self.got.lock().unwrap().push(outbound.clone());
        Ok(SendReceipt::default())
    }
}

#[async_trait]
impl ChannelSender for Phone {
    fn channel(&self) -> Channel {
        Channel::Whatsapp
    }

    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Keyed
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        self.got.lock().unwrap().push(outbound.text.clone());
        Ok(SendReceipt::default())
    }
}

on_both! {
    async fn pictures_codes_and_links_come_with_a_reply(test: TestDb) {
        let script = [
            ScriptedTurn::call("show", &json!({ "text": "qr link" })),
            ScriptedTurn::call("show", &json!({ "text": "image" })),
            ScriptedTurn::text("Here they are."),
        ];
        let house = Installation::open(&test, script).await;
        let served = Served::of(&house).await;
        let url = served.url("/c/shop-front");
        beside(move || {
            let browser = opened(&url);
            say(&browser, "Show me the bill");
            browser.until(&format!("{STILL} && document.querySelector('.theirs .text')?.textContent === 'Here they are.'"));
            let all = "[...document.querySelector('.things').children].map((one) => one.tagName + ' ' + one.textContent)";
            let wanted = json!(["FIGURE Pay ₹500", "P The bill", "FIGURE The blue one"]);
            assert_eq!(browser.value(all), wanted, "those of every tool, and none that could do harm");
            let seen = |what: &str| browser.value(&format!("(() => {{ const box = document.querySelector('{what}').getBoundingClientRect(); return box.width >= 100 && box.height >= 100; }})()"));
            assert_eq!(seen("svg.qr"), json!(true), "large enough for a phone's camera");
            assert_eq!(browser.value("document.querySelector('img').naturalWidth"), json!(1), "the picture is drawn");
            assert_eq!(browser.text("document.querySelector('figcaption a').getAttribute('href')"), "upi://pay?pa=shop@bank&am=500");
            assert!(browser.spoken().contains("Pay ₹500") && browser.spoken().contains("The blue one"));
            browser.reload();
            browser.until("document.querySelectorAll('.things > *').length === 3");
            assert_eq!(browser.value(all), wanted, "the same from the store");
            assert_eq!(browser.complaints(), "");
        })
        .await;
    }

    async fn what_somebody_agreed_to_is_listed_with_a_button_that_takes_it_back(test: TestDb) {
        let look = ScriptedTurn::call("score", &json!({ "text": "Asha" }));
        let house = consents::opened(&test, [look, ScriptedTurn::text("It is good.")]).await;
        let served = Served::of(&house).await;
        let url = served.url("/c/shop-front");
        beside(move || {
            let browser = opened(&url);
            assert_eq!(browser.value("document.querySelector('details')"), json!(null), "nobody is offered an empty list");
            say(&browser, "how is my credit?");
            browser.until("document.querySelector('.answers .yes')");
            browser.run("document.querySelector('.answers .yes').click()", &json!([]));
            browser.until("document.querySelector('details')");
            browser.run("document.querySelector('details').open = true", &json!([]));
            browser.until("document.querySelector('details button')");
            assert!(browser.text("document.querySelector('details .ask p').textContent").contains("your credit"));
            browser.run("document.querySelector('details button').click()", &json!([]));
            browser.until("!document.querySelector('details button') && document.querySelector('details .link')");
            assert_eq!(browser.complaints(), "");
        })
        .await;
        let held = "SELECT COUNT(*) FROM consents WHERE tenant_id = $1 AND withdrawn_at IS NULL";
        assert_eq!(house.read_number(house.shop.tenant, held).await, 0);
    }

    async fn what_comes_by_itself_is_shown_and_counts_as_shown_from_then_on(test: TestDb) {
        let script = ["Hello.", "Gladly.", "As you like."].map(ScriptedTurn::text);
        let house = Installation::open(&test, script).await;
        let served = Served::of(&house).await;
        let url = served.url("/c/shop-front");
        let browser = beside(move || {
            let browser = opened(&url);
            say(&browser, "Hello!");
            browser.until(&format!("{STILL} && document.querySelectorAll('.said').length === 2"));
            browser
        })
        .await;
        let id: MessageId = test.ids.next();
        put(&house, id, "Somebody asks: may I?").await;
        let browser = beside(move || {
            browser.until("[...document.querySelectorAll('.theirs .text')].pop().textContent === 'Somebody asks: may I?'");
            say(&browser, "ok");
            browser.until(&format!("{STILL} && [...document.querySelectorAll('.theirs .text')].pop().textContent === 'Gladly.'"));
            assert_eq!(browser.complaints(), "");
            // Begun before the next question comes, and sent after it is shown.
            browser.press("ye");
            browser
        })
        .await;
        let later: MessageId = test.ids.next();
        put(&house, later, "And may I this?").await;
        beside(move || {
            browser.until("[...document.querySelectorAll('.theirs .text')].pop().textContent === 'And may I this?'");
            browser.press(&format!("s{ENTER}"));
            browser.until(&format!("{STILL} && [...document.querySelectorAll('.theirs .text')].pop().textContent === 'As you like.'"));
        })
        .await;
        let said = house.db.read(house.shop.tenant, list_said).await.unwrap();
        let find = |text: &str| said.iter().find(|one| one.text == text).unwrap();
        let answer = find("ok").marks.to_string();
        assert!(answer.contains(&id.to_string()), "{answer}");
        let (marks, shown) = (find("yes").marks.to_string(), find("Gladly.").id);
        assert!(marks.contains(&shown.to_string()) && !marks.contains(&later.to_string()), "it answers what was there: {marks}");
    }

    async fn a_question_is_answered_by_its_buttons(test: TestDb) {
        let script = [
            ScriptedTurn::text("Hello."),
            ScriptedTurn::call("wipe", &json!({ "text": "all" })),
            ScriptedTurn::text("It is wiped."),
            ScriptedTurn::call("wipe", &json!({ "text": "more" })),
            ScriptedTurn::text("Then not."),
            ScriptedTurn::call("wipe", &json!({ "text": "<img src=x onerror=document.title=8>" })),
            ScriptedTurn::text("Gone."),
        ];
        let house = Installation::open(&test, script).await;
        let served = Served::of(&house).await;
        let front = served.url("/c/shop-front");
        let browser = beside(move || {
            let browser = opened(&front);
            say(&browser, "Hello!");
            browser.until(&format!("{STILL} && document.querySelectorAll('.said').length === 2"));
            browser
        })
        .await;
        promote(&house, Role::Owner).await;
        let (counter, world) = (served.url("/c/shop-counter"), house.world.clone());
        beside(move || {
            browser.go(&counter);
            browser.until("document.querySelector('.chat.ready')");
            say(&browser, "wipe it");
            browser.until("document.querySelectorAll('.ask .answers button').length === 2");
            assert!(browser.text("document.querySelector('.ask p').textContent").contains("all"));
            assert!(world.wiped.lock().unwrap().is_empty());
            // A question waits through a reload.
            browser.reload();
            browser.until("document.querySelector('.ask .yes')");
            browser.click(".ask .yes");
            browser.until(&format!("{STILL} && [...document.querySelectorAll('.theirs .text')].pop().textContent.includes('It is wiped.')"));
            assert_eq!(browser.value("document.querySelectorAll('.ask').length"), json!(0));
            assert_eq!(world.wiped.lock().unwrap().len(), 1);
            say(&browser, "wipe more");
            browser.until("document.querySelector('.ask .answers')");
            browser.click(".ask .answers button:not(.yes)");
            browser.until(&format!("{STILL} && !document.querySelector('.ask') && [...document.querySelectorAll('.theirs .text')].pop().textContent.includes('Then not.')"));
            assert_eq!(world.wiped.lock().unwrap().len(), 1, "a no is a no");
            assert_eq!(browser.text("document.activeElement.tagName"), "TEXTAREA");
            // An answer in words is one too, and nothing is offered twice meanwhile.
            say(&browser, "wipe the rest");
            browser.until(&format!("{STILL} && document.querySelector('.ask .answers')"));
            assert_eq!(browser.value("document.querySelector('.suggestions').hidden"), json!(true));
            assert!(browser.text("document.querySelector('.ask p').textContent").contains("<img src=x"), "what is asked is text");
            assert_eq!(browser.value("document.querySelectorAll('.ask img').length"), json!(0));
            say(&browser, "yes");
            browser.until(&format!("{STILL} && !document.querySelector('.ask') && [...document.querySelectorAll('.theirs .text')].pop().textContent.includes('Gone.')"));
            assert_eq!(world.wiped.lock().unwrap().len(), 2);
        })
        .await;
    }

    async fn a_visitor_proves_a_phone_on_the_page(test: TestDb) {
        let phone = Arc::new(Phone::default());
        let script = [ScriptedTurn::text("सुबह नौ बजे।")];
        let setup = Setup { senders: vec![phone.clone()], ..Setup::default() };
        let house = Installation::open_with(&test, script, setup).await;
        let served = Served::of(&house).await;
        let url = served.url("/c/shop-front");
        let heard = phone.clone();
        beside(move || {
            let browser = opened(&url);
            // The language's words come later than the offer, which follows them.
            browser.run("const ask = window.fetch; window.fetch = async (...what) => { if (`${what[0].url || what[0]}`.includes('/words/')) await new Promise((go) => (window.bring = go)); return ask(...what); }", &json!([]));
            say(&browser, "दुकान कब खुलती है?");
            browser.until(&format!("{STILL} && document.querySelector('button.link') && window.bring"));
            browser.click("button.link");
            browser.until("document.activeElement.closest('form.link')");
            assert_eq!(browser.text("document.querySelector('form.link button').textContent"), "Send the code");
            browser.run("window.bring()", &json!([]));
            browser.until("document.documentElement.lang === 'hi'");
            assert_eq!(browser.text("document.querySelector('form.link button').textContent"), "कोड भेजें");
            browser.press(&format!("12{ENTER}"));
            browser.until("document.querySelector('.link .fault').textContent.includes('देश के कोड')");
            browser.run("document.querySelector('form.link input').value = ''", &json!([]));
            browser.press(&format!("98123 45678{ENTER}"));
            browser.until("document.querySelector('form.link input').getAttribute('aria-label') === 'कोड'");
            let told = heard.got.lock().unwrap().join("\n");
            assert!(told.contains("आपका कोड है"), "in the person's language: {told}");
            let code: String = told.chars().take_while(char::is_ascii_digit).collect();
            let wrong = if code == "000000" { "111111" } else { "000000" };
            browser.press(&format!("{wrong}{ENTER}"));
            browser.until("document.querySelector('.link .fault').textContent.includes('सही नहीं')");
            browser.run("document.querySelector('form.link input').value = ''", &json!([]));
            browser.press(&format!("{code}{ENTER}"));
            browser.until("document.querySelector('p.link')?.textContent === 'आपका नंबर पक्का हो गया।'");
            browser.reload();
            browser.until("document.querySelectorAll('.said').length === 2");
            assert_eq!(browser.value("document.querySelectorAll('.link').length"), json!(0), "it is asked for once");
        })
        .await;
        let known = house.all_addresses(house.shop.tenant).await;
        assert_eq!(known.iter().filter(|(_, address)| address == "+919812345678").count(), 1);
    }

    async fn a_visitor_proves_a_mail_on_the_page(test: TestDb) {
        let (phone, mailbox) = (Arc::new(Phone::default()), Arc::new(Mailbox::default()));
        let script = [ScriptedTurn::text("At nine.")];
        let setup = Setup { senders: vec![phone.clone(), mailbox.clone()], ..Setup::default() };
        let house = Installation::open_with(&test, script, setup).await;
        let served = Served::of(&house).await;
        let url = served.url("/c/shop-front");
        let heard = mailbox.clone();
        beside(move || {
            let browser = opened(&url);
            say(&browser, "When do you open?");
            browser.until(&format!("{STILL} && document.querySelectorAll('button.link').length === 2"));
            let offers = browser.value("[...document.querySelectorAll('button.link')].map((button) => button.textContent)");
            assert_eq!(offers, json!(["Use my phone number", "Use my e-mail"]));
            browser.run("document.querySelectorAll('button.link')[1].click()", &json!([]));
            browser.until("document.activeElement.closest('form.link') && !document.querySelector('button.link')");
            assert_eq!(browser.text("document.querySelector('form.link input').getAttribute('aria-label')"), "E-mail");
            browser.press(&format!("nobody@example.org{ENTER}"));
            browser.until("document.querySelector('.link .fault').textContent.includes('Please check it')");
            browser.run("document.querySelector('form.link input').value = ''", &json!([]));
            browser.press(&format!("Meera@Example.org{ENTER}"));
            browser.until("document.querySelector('form.link input').getAttribute('aria-label') === 'Code'");
            // None came: it is asked for again, at the same address or another.
            browser.click("form.link button.plain");
            browser.until("document.querySelector('form.link input').getAttribute('aria-label') === 'E-mail'");
            assert_eq!(browser.value("document.querySelector('form.link input').value"), json!("Meera@Example.org"));
            browser.press(&ENTER.to_string());
            browser.until("document.querySelector('form.link input').getAttribute('aria-label') === 'Code'");
            assert_eq!(heard.got.lock().unwrap().len(), 2);
            let sent = heard.got.lock().unwrap().pop().unwrap();
            assert_eq!((sent.to.address.as_str(), sent.purpose), ("meera@example.org", OutboundPurpose::Code));
            let code: String = sent.text.chars().take_while(char::is_ascii_digit).collect();
            browser.press(&format!("{code}{ENTER}"));
            browser.until("document.querySelector('p.link')?.textContent === 'Your e-mail is confirmed.'");
        })
        .await;
        let known = house.all_addresses(house.shop.tenant).await;
        assert_eq!(known.iter().filter(|(_, address)| address == "meera@example.org").count(), 1);
        assert!(phone.got.lock().unwrap().is_empty());
    }
}
