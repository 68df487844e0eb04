//! Payment links and reminders.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use munshi_conversations::outbox::{
    self, ChannelSender, FixedSenders, OutboxDeliverer, SendFault, SendIdempotency, SendReceipt,
};
use munshi_identity::persons;
use munshi_jobs::{JobRegistry, JobRunner, JobRunnerOptions};
use munshi_ledger::books::details;
use munshi_pack::outgoing::OutboxReader;
use munshi_safety::pipeline::{ActCaller, CallerAudience, ProposalMode, Taint};
use munshi_safety::policy::{self, AuthorisedTemplate, Policy};
use munshi_store::{PageRequest, Tx};
use munshi_test_support::models::{ScriptedModel, ScriptedTurn};
use munshi_tools::{NoActJournal, ToolAnswer, ToolCallRequest};
use munshi_types::attachment::Attachment;
use munshi_types::tier::Channel;
use munshi_types::{
    Autonomy, BindingId, Clock, Conduct, MessageId, OutboundMessage, OutboundPurpose, ScopeGlob,
    SeededRandom, Zone,
};
use serde_json::json;

use crate::counter::support::Shop;
use crate::counter::told::{on_both, tell};

/// Somebody's mailbox.
#[derive(Default)]
struct Mailbox(std::sync::Mutex<Vec<OutboundMessage>>);

/// What the books know of the ways out: the outbox itself, and whether anything sends mail.
#[derive(Default)]
struct Ways {
    has_email: std::sync::atomic::AtomicBool,
}

impl OutboxReader for Ways {
    fn is_served(
        &self,
        _: &mut Tx<'_>,
        channel: Channel,
        _: Option<BindingId>,
    ) -> munshi_store::Result<bool> {
        Ok(channel == Channel::Email && self.has_email.load(Ordering::SeqCst))
    }

    fn has_failed(&self, tx: &mut Tx<'_>, message: MessageId) -> munshi_store::Result<bool> {
        outbox::has_failed(tx, message)
    }
}

#[async_trait::async_trait]
impl ChannelSender for Mailbox {
    fn channel(&self) -> Channel {
        Channel::Email
    }

    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Once
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        if outbound.to.address.starts_with("nobody") {
            return Err(SendFault::unreachable("no such mailbox"));
        }
        self.0.lock().unwrap().push(outbound.clone());
        Ok(SendReceipt::default())
    }
}

/// Sends what waits.
async fn deliver(shop: &Shop, mailbox: &Arc<Mailbox>) {
    let deliverer = OutboxDeliverer {
        db: shop.db.clone(),
        queue: shop.queue.clone(),
        clock: shop.clock.clone(),
        ids: shop.ids.clone(),
        senders: Arc::new(FixedSenders::new([mailbox.clone() as Arc<dyn ChannelSender>])),
    };
    let mut registry = JobRegistry::default();
    deliverer.install(&mut registry);
    let random = Arc::new(SeededRandom::new(7));
    let runner = JobRunner::new(shop.db.clone(), &shop.queue, random, registry, JobRunnerOptions::default());
    runner.drain().await.unwrap();
}

/// The owner's call of the tool that asks nobody where the policy authorises it.
async fn remind_by_template(shop: &Shop, person: &str) -> ToolAnswer {
    let owner = shop.owner;
    let principal = shop.db.read(shop.tenant, move |tx| {
        let found = persons::find(tx, owner)?;
        Ok::<_, munshi_store::Error>(found.map(|person| person.principal(tx)))
    });
    let ledger: Vec<ScopeGlob> = "ledger.*".parse().into_iter().collect();
    let want = ToolCallRequest {
        act: shop.ids.next(),
        name: "remind_by_template".to_owned(),
        arguments: json!({ "person": person, "template": "payment-due" }),
        offered: true,
        wanted: ProposalMode::Act,
        caller: ActCaller {
            principal: principal.await.unwrap().unwrap(),
            door: CallerAudience::Private,
            binding: None,
            run: None,
            session: None,
            zone: Zone::default(),
            background: false,
            key: None,
            ceiling: None,
            language: None,
        },
        agent: Arc::new(Conduct {
            autonomy: Autonomy::Act,
            read: ledger.clone(),
            write: ledger,
            ..Conduct::default()
        }),
        taint: Taint::default(),
        concerns: Vec::new(),
    };
    shop.dispatcher.call(want, Arc::new(NoActJournal)).await.unwrap()
}

/// The owner lets the shop's own reminder go to all contacts, so many a day.
async fn authorise_reminders(shop: &Shop, per_day: u32) {
    let now = shop.clock.now();
    let put = move |tx: &mut Tx<'_>| {
        let (_, policy) = policy::load_current(tx)?;
        let authorised = AuthorisedTemplate {
            tool: "remind_by_template".parse().unwrap(),
            template: "payment-due".to_owned(),
            audience: "contacts".to_owned(),
            per_day: Some(per_day),
        };
        policy::apply(tx, &Policy { messages: vec![authorised], ..policy }, "test", "", now).map(drop)
    };
    shop.db.write(shop.tenant, put).await.unwrap();
}

on_both! {
    async fn a_reminder_leaves_in_exactly_the_words_that_were_approved(test: TestDb) {
        let words = "Namaste Ramesh ji, ₹500 baaki hai. – Gupta & Sons";
        let remind = || ScriptedTurn::call("send_reminder", &json!({ "person": "Ramesh", "words": words }));
        let model = Arc::new(ScriptedModel::new([
            ScriptedTurn::call("credit_given", &json!({ "person": "Ramesh", "amount": 50_000 })), ScriptedTurn::text("Written."),
            remind(), ScriptedTurn::text("There is no address."),
            ScriptedTurn::call("add_contact", &json!({ "person": "Ramesh", "email": "Ramesh@Mail.example" })), ScriptedTurn::text("Kept."),
            remind(), ScriptedTurn::text("It is on its way."),
        ]));
        let shop = Shop::open_with(&test, Some(model)).await;
        let mailbox = Arc::new(Mailbox::default());
        shop.hear_next("gave Ramesh 500 on credit").await;
        let asked = shop.hear_next("send Ramesh that by mail").await;
        assert!(asked.asks && asked.text.contains(words), "the words are what is approved: {}", asked.text);
        shop.hear_next("yes").await;
        deliver(&shop, &mailbox).await;
        assert!(mailbox.0.lock().unwrap().is_empty(), "nobody knows where to");
        shop.hear_next("Ramesh's mail is Ramesh@Mail.example").await;
        let ramesh = shop.db.read(shop.tenant, |tx| {
            let found = munshi_ledger::books::contacts::list(tx, &PageRequest::new(None, 10))?.items.remove(0);
            Ok::<_, munshi_ledger::Error>((found.id, details::get(tx, found.id)?.email))
        });
        let (ramesh, email) = ramesh.await.unwrap();
        assert_eq!(email.as_deref(), Some("ramesh@mail.example"));
        let asked = shop.hear_next("now send Ramesh the reminder").await;
        assert!(asked.text.contains("ramesh@mail.example"), "and so is where it goes: {}", asked.text);
        deliver(&shop, &mailbox).await;
        assert!(mailbox.0.lock().unwrap().is_empty(), "not before somebody says yes");
        shop.hear_next("yes").await;
        deliver(&shop, &mailbox).await;
        let sent = mailbox.0.lock().unwrap().clone();
        let [sent] = sent.as_slice() else { panic!("{sent:?}") };
        assert_eq!((sent.text.as_str(), sent.to.address.as_str()), (words, "ramesh@mail.example"));
        assert_eq!(sent.purpose, OutboundPurpose::Reminder);
        let noted = "SELECT count(*) FROM ledger_reminders WHERE tenant_id = $1 AND state = 'sent'";
        assert_eq!(shop.read_number(shop.tenant, noted).await, 1);
        // Who is forgotten takes what was sent to them along.
        let subject = munshi_types::Id::as_uuid(ramesh);
        let gone = shop.db.write(shop.tenant, move |tx| outbox::erase_of_subject(tx, subject)).await.unwrap();
        assert_eq!(gone, 1);
    }

    async fn what_can_not_be_sent_is_said_and_what_failed_reminded_nobody(test: TestDb) {
        let remind = || ScriptedTurn::call("send_reminder", &json!({ "person": "Ramesh", "words": "Please pay ₹500." }));
        let model = Arc::new(ScriptedModel::new([
            ScriptedTurn::call("credit_given", &json!({ "person": "Ramesh", "amount": 50_000 })), ScriptedTurn::text("Written."),
            ScriptedTurn::call("add_contact", &json!({ "person": "Ramesh", "email": "nobody@mail.example" })), ScriptedTurn::text("Kept."),
            remind(), ScriptedTurn::text("There is no channel."),
            remind(), ScriptedTurn::text("It is on its way."),
            ScriptedTurn::call("add_contact", &json!({ "person": "Ramesh", "email": "ramesh@mail.example" })), ScriptedTurn::text("Kept."),
            remind(), ScriptedTurn::text("Now it is."),
            remind(), ScriptedTurn::text("They were reminded."),
        ]));
        let ways = Arc::new(Ways::default());
        let shop = Shop::open_with_outbox(&test, model.clone(), ways.clone()).await;
        let mailbox = Arc::new(Mailbox::default());
        let told = |model: &ScriptedModel| format!("{:?}", model.requests().last().unwrap().request.messages);
        let sent = "SELECT count(*) FROM ledger_reminders WHERE tenant_id = $1 AND state = 'sent'";
        let outgoing = "SELECT count(*) FROM outbox WHERE tenant_id = $1";
        shop.hear_next("gave Ramesh 500 on credit").await;
        shop.hear_next("Ramesh's mail is nobody@mail.example").await;
        shop.hear_next("send Ramesh a reminder").await;
        shop.hear_next("yes").await;
        deliver(&shop, &mailbox).await;
        assert!(told(&model).contains("munshi channel add"), "{}", told(&model));
        let counts = (shop.read_number(shop.tenant, sent).await, shop.read_number(shop.tenant, outgoing).await);
        assert_eq!(counts, (0, 0), "nothing is on its way");
        ways.has_email.store(true, Ordering::SeqCst);
        shop.hear_next("send Ramesh the reminder now").await;
        shop.hear_next("yes").await;
        deliver(&shop, &mailbox).await;
        let failed = "SELECT count(*) FROM outbox WHERE tenant_id = $1 AND state = 'failed'";
        assert_eq!(shop.read_number(shop.tenant, failed).await, 1);
        let alerts = "SELECT count(*) FROM pack_alerts WHERE tenant_id = $1 AND phrase = 'outbox-failed' AND cleared_at IS NULL";
        assert_eq!(shop.read_number(shop.tenant, alerts).await, 1, "the owner hears of it");
        shop.hear_next("Ramesh's mail is ramesh@mail.example").await;
        shop.hear_next("send Ramesh the reminder again").await;
        shop.hear_next("yes").await;
        deliver(&shop, &mailbox).await;
        assert_eq!(mailbox.0.lock().unwrap().len(), 1, "what failed keeps no other back");
        shop.hear_next("and once more, remind Ramesh").await;
        shop.hear_next("yes").await;
        deliver(&shop, &mailbox).await;
        assert_eq!(mailbox.0.lock().unwrap().len(), 1, "three days");
        assert!(told(&model).contains("last three days"), "{}", told(&model));
    }

    async fn plain_words_send_the_reminder_that_was_shown(test: TestDb) {
        let shop = Shop::open(&test).await;
        let mailbox = Arc::new(Mailbox::default());
        shop.say("Ramesh ko 500 udhaar diya").await;
        let now = test.clock.now();
        let keep = shop.db.write(shop.tenant, move |tx| {
            let found = munshi_ledger::books::contacts::list(tx, &PageRequest::new(None, 10))?.items.remove(0);
            let known = details::ContactDetails { email: Some("ramesh@mail.example".to_owned()), ..Default::default() };
            details::update(tx, found.id, &known, now)
        });
        keep.await.unwrap();
        let asked = shop.say("send Ramesh a reminder").await;
        assert!(asked.contains("Namaste Ramesh ji") && asked.contains("ramesh@mail.example"), "{asked}");
        // What they owe changes before somebody says yes: other words would have been approved.
        shop.say("Ramesh ko 200 udhaar diya").await;
        deliver(&shop, &mailbox).await;
        assert!(mailbox.0.lock().unwrap().is_empty(), "nothing was approved");
        let asked = shop.say("send Ramesh a reminder").await;
        assert!(asked.contains("₹700"), "{asked}");
        shop.say("yes").await;
        deliver(&shop, &mailbox).await;
        let sent = mailbox.0.lock().unwrap().clone();
        let [sent] = sent.as_slice() else { panic!("{sent:?}") };
        assert!(sent.to.address == "ramesh@mail.example" && asked.contains(&sent.text), "{asked} is not {}", sent.text);
        // Who has no address is not written to: then it is a draft.
        shop.say("Sita ko 300 udhaar diya").await;
        shop.say("send Sita a reminder").await;
        let drafted = shop.say("yes").await;
        assert!(drafted.contains("Namaste Sita ji") && drafted.contains("₹300"), "{drafted}");
        deliver(&shop, &mailbox).await;
        assert_eq!(mailbox.0.lock().unwrap().len(), 1);
        let waiting = "SELECT count(*) FROM ledger_reminders WHERE tenant_id = $1 AND state = 'waiting'";
        assert_eq!(shop.read_number(shop.tenant, waiting).await, 1);
    }

    async fn a_reminder_goes_to_no_address_that_nobody_approved(test: TestDb) {
        let model = Arc::new(ScriptedModel::new([
            ScriptedTurn::call("credit_given", &json!({ "person": "Ramesh", "amount": 50_000 })), ScriptedTurn::text("Written."),
            ScriptedTurn::call("add_contact", &json!({ "person": "Ramesh", "email": "ramesh@mail.example" })), ScriptedTurn::text("Kept."),
            ScriptedTurn::call("send_reminder", &json!({ "person": "Ramesh", "words": "Please pay ₹500." })), ScriptedTurn::text("It is another one."),
        ]));
        let shop = Shop::open_with(&test, Some(model)).await;
        let mailbox = Arc::new(Mailbox::default());
        shop.hear_next("gave Ramesh 500 on credit").await;
        shop.hear_next("Ramesh's mail is ramesh@mail.example").await;
        let asked = shop.hear_next("send Ramesh a reminder").await;
        assert!(asked.asks && asked.text.contains("ramesh@mail.example"), "{}", asked.text);
        // Somebody else writes another one into the books meanwhile.
        let now = test.clock.now();
        let change = shop.db.write(shop.tenant, move |tx| {
            let found = munshi_ledger::books::contacts::list(tx, &PageRequest::new(None, 10))?.items.remove(0);
            let other = details::ContactDetails { email: Some("other@mail.example".to_owned()), ..Default::default() };
            details::update(tx, found.id, &other, now)
        });
        change.await.unwrap();
        shop.hear_next("yes").await;
        deliver(&shop, &mailbox).await;
        assert!(mailbox.0.lock().unwrap().is_empty(), "neither to the one nor to the other");
        let noted = "SELECT count(*) FROM ledger_reminders WHERE tenant_id = $1 AND state = 'sent'";
        assert_eq!(shop.read_number(shop.tenant, noted).await, 0);
    }

    async fn an_authorised_reminder_leaves_in_the_shops_own_words_and_no_more_than_its_share(test: TestDb) {
        let shop = Shop::open(&test).await;
        let mailbox = Arc::new(Mailbox::default());
        let names = ["Ramesh", "Sita"];
        for name in names {
            shop.say(&format!("gave {name} 500 on credit")).await;
        }
        let now = test.clock.now();
        let address = shop.db.write(shop.tenant, move |tx| {
            for contact in munshi_ledger::books::contacts::list(tx, &PageRequest::new(None, 10))?.items {
                let email = format!("{}@mail.example", contact.name.to_lowercase());
                let known = details::ContactDetails { email: Some(email), ..Default::default() };
                details::update(tx, contact.id, &known, now)?;
            }
            Ok::<_, munshi_ledger::Error>(())
        });
        address.await.unwrap();
        let asked = "SELECT count(*) FROM approvals WHERE tenant_id = $1";
        let before = shop.read_number(shop.tenant, asked).await;
        let answer = remind_by_template(&shop, "Ramesh").await;
        assert!(!matches!(answer, ToolAnswer::Done(_)), "nobody authorised it: {answer:?}");
        assert_eq!(shop.read_number(shop.tenant, asked).await, before, "nobody is asked for a yes that is good for nothing");
        authorise_reminders(&shop, 1).await;
        // What is not sent takes no share of the day.
        let answer = remind_by_template(&shop, "Zeenat").await;
        assert!(!matches!(answer, ToolAnswer::Done(_)), "nobody has that name: {answer:?}");
        for name in names {
            let answer = remind_by_template(&shop, name).await;
            assert_eq!(matches!(answer, ToolAnswer::Done(_)), name == "Ramesh", "one a day: {answer:?}");
        }
        deliver(&shop, &mailbox).await;
        let sent = mailbox.0.lock().unwrap().clone();
        let [sent] = sent.as_slice() else { panic!("{sent:?}") };
        assert_eq!(sent.to.address, "ramesh@mail.example");
        assert!(sent.text.starts_with("Namaste Ramesh ji, a kind reminder") && sent.text.contains("₹500"), "{}", sent.text);
    }

    async fn an_authorised_reminder_goes_to_nobody_who_was_not_named(test: TestDb) {
        let remind = || ScriptedTurn::call("remind_by_template", &json!({ "person": "Ramesh", "template": "payment-due" }));
        let model = Arc::new(ScriptedModel::new([
            ScriptedTurn::call("credit_given", &json!({ "person": "Ramesh", "amount": 50_000 })), ScriptedTurn::text("Written."),
            ScriptedTurn::call("add_contact", &json!({ "person": "Ramesh", "email": "ramesh@mail.example" })), ScriptedTurn::text("Kept."),
            remind(), ScriptedTurn::text("Good morning."),
            remind(), ScriptedTurn::text("It is on its way."),
        ]));
        let shop = Shop::open_with(&test, Some(model)).await;
        let mailbox = Arc::new(Mailbox::default());
        authorise_reminders(&shop, 5).await;
        shop.hear_next("gave Ramesh 500 on credit").await;
        shop.hear_next("Ramesh's mail is ramesh@mail.example").await;
        let told = shop.hear_next("is it going to rain in the evening").await;
        assert!(!told.asks, "nobody is asked about words that they can't see: {}", told.text);
        deliver(&shop, &mailbox).await;
        assert!(mailbox.0.lock().unwrap().is_empty(), "a model that is led astray writes to nobody");
        shop.hear_next("remind Ramesh by mail").await;
        deliver(&shop, &mailbox).await;
        assert_eq!(mailbox.0.lock().unwrap().len(), 1);
    }

    async fn a_payment_link_is_of_what_is_owed_and_has_a_code(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("Ramesh ko 500 udhaar diya").await;
        let before = shop.say("payment link for Ramesh").await;
        assert!(before.contains("UPI id"), "it asks for the address first: {before}");
        let noted = shop.say("my UPI id is gupta@okbank").await;
        assert!(noted.contains("gupta@okbank"), "{noted}");
        shop.say("my shop's name is Gupta & Sons").await;
        let told = tell(&shop, "payment link for Ramesh").await;
        let wanted = "upi://pay?pa=gupta@okbank&pn=Gupta%20%26%20Sons&am=500.00&tn=Ramesh&cu=INR";
        let attached = told.attached();
        let [Attachment::Qr { text, .. }, Attachment::Link { url, .. }] = attached.as_slice() else {
            panic!("no code and link: {}", told.text)
        };
        assert_eq!((text.as_str(), url.as_str()), (wanted, wanted));
        assert!(told.text.contains("₹500"), "{}", told.text);
        let other = tell(&shop, "upi link for 120").await;
        assert!(other.link().contains("&am=120.00&cu=INR"), "{}", other.link());
    }

    async fn a_reminder_is_drafted_and_never_sent(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("Ramesh ko 500 udhaar diya").await;
        let told = tell(&shop, "Ramesh ko yaad dilao").await;
        assert!(told.text.contains("Namaste Ramesh ji") && told.text.contains("₹500"), "{}", told.text);
        assert!(told.text.contains("phone number bahi mein nahi"), "{}", told.text);
        assert!(told.attached().is_empty(), "without a number there is nothing to send to");
        let draft = tell(&shop, "Ramesh ko tamil mein yaad dilao").await;
        assert!(draft.text.contains("வணக்கம் Ramesh"), "in the language that was asked for: {}", draft.text);
        shop.say("Ramesh ka number 9812345678 likh lo").await;
        shop.say("haan").await;
        let told = tell(&shop, "Ramesh ko yaad dilao").await;
        assert!(told.text.contains("வணக்கம்"), "and from then on: {}", told.text);
        assert!(told.link().starts_with("https://wa.me/919812345678?text=%E0"), "{}", told.link());
        let waiting = shop.db.read(shop.tenant, |tx| tx.one(
            "SELECT count(*) FROM ledger_reminders WHERE tenant_id = $1 AND state = 'waiting'", &[], |row| row.get::<i64>(0),
        ));
        assert_eq!(waiting.await.unwrap(), 1, "the last draft alone waits");
        let sent = shop.say("Ramesh ko reminder bhej diya").await;
        assert!(sent.contains("yaad dilaya gaya"), "{sent}");
        test.clock.advance(Duration::from_secs(2 * 86_400));
        let soon = shop.say("Ramesh ko yaad dilao").await;
        assert!(soon.contains("teen din"), "{soon}");
        test.clock.advance(Duration::from_secs(86_400 + 60));
        assert!(shop.say("Ramesh ko yaad dilao").await.contains("வணக்கம்"));
        shop.say("Ramesh ne 500 diye").await;
        let even = shop.say("Ramesh ko yaad dilao").await;
        assert!(even.contains("kuch lena baaki nahi"), "{even}");
    }
}
