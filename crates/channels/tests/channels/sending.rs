//! Mails reach a real server, or it is known what became of them.

use std::time::Duration;

use munshi_channels::email::{MailStage, MailTimings};
use munshi_channels::{AllowedHosts, rows};
use munshi_conversations::outbox::{
    DeliveryCertainty, FaultSubject, SendFault, SendRetryability, SenderDirectory, SenderRoute,
};
use munshi_store::Tx;
use munshi_test_support::{on_both_engines, wait_until};
use munshi_types::tier::Channel;
use munshi_types::{Clock, OutboundMessage, OutboundPurpose};
use tokio::task::JoinSet;

use super::support::{QUICK, Shop, migrations, open_shop, open_shop_with};

/// What came of a mail to somebody of this mood.
async fn send(shop: &Shop, mood: &str) -> (Result<Option<String>, SendFault>, usize) {
    let sender = shop.find(None, None).await.unwrap();
    let to = shop.address(mood);
    let sent = sender.send(&shop.message(&to, "Your order is ready.")).await;
    if let Err(fault) = &sent {
        let name = to.split('@').next().unwrap();
        assert!(!fault.why.contains(name), "whom it was for is nobody's to read: {fault:?}");
    }
    (sent.map(|receipt| receipt.outside_id), shop.server.read_mailbox(&to).len())
}

fn assert_fault(fault: &SendFault, retryable: SendRetryability, happened: DeliveryCertainty, words: &str) {
    assert_eq!((fault.retryable, fault.happened), (retryable, happened), "{fault:?}");
    assert!(fault.why.contains(words), "{fault:?}");
    assert!(!fault.why.contains("@example.org"), "the recipient's address is nobody's to read: {fault:?}");
}

on_both_engines! {
    with all migrations();

    async fn a_mail_arrives_whichever_way_it_is_encrypted(test: TestDb) {
        let shop = open_shop(test).await;
        shop.set_secret("vault:mail.password", &shop.server.password).await;
        let ways = [
            shop.plain("mail", ""),
            shop.secure("starttls", shop.server.starttls_port),
            shop.secure("tls", shop.server.tls_port),
        ];
        for way in ways {
            shop.declare(&way).await;
            let sender = shop.find(None, None).await.unwrap();
            assert_eq!(sender.account(), Some("mail"));
            let to = shop.address("meera");
            let outbound = shop.message(&to, "आपका ऑर्डर तैयार है।\n.\nA line with a dot is a line.");
            let receipt = sender.send(&outbound).await.unwrap();
            let mails = shop.server.read_mailbox(&to);
            let [mail] = &mails[..] else { panic!("{way}: {mails:?}") };
            let id = format!("<{}@example.com>", outbound.id);
            assert_eq!(receipt.outside_id.as_deref(), Some(id.as_str()));
            assert!(mail.contains(&format!("Message-ID: {id}")), "{mail}");
            assert!(mail.contains("From: \"Sharma Traders\" <") || mail.contains("From: Sharma Traders <"), "{mail}");
            assert!(mail.contains(&format!("To: {to}")), "{mail}");
        }
    }

    async fn what_a_server_refuses_was_not_sent(test: TestDb) {
        use DeliveryCertainty::No;
        use SendRetryability::{No as Never, Yes};
        let shop = open_shop(test).await;
        shop.declare(&shop.plain("mail", "")).await;
        for (mood, retryable, words) in [
            ("unknown", Never, "550 5.1.1 (address) no such user"),
            ("full", Yes, "452"),
            ("spam", Yes, "554 5.7.1 looks like"),
            ("large", Never, "552 5.2.3"),
            ("relay", Yes, "550 5.7.1 relaying denied"),
            ("busy", Yes, "451"),
            ("cut", Yes, "closed"),
            ("odd", Yes, "250 and did not ask"),
        ] {
            let (sent, arrived) = send(&shop, mood).await;
            assert_fault(&sent.unwrap_err(), retryable, No, words);
            assert_eq!(arrived, 0, "{mood}");
        }
        shop.declare(&shop.plain("refused", "")).await;
        assert_fault(&send(&shop, "meera").await.0.unwrap_err(), Yes, No, "refused the sender refused@example.com");
    }

    async fn only_an_address_that_is_refused_is_the_recipients_fault(test: TestDb) {
        let shop = open_shop(test).await;
        shop.declare(&shop.plain("mail", "")).await;
        for (mood, subject) in [
            ("unknown", FaultSubject::Recipient),
            ("large", FaultSubject::Account),
            ("relay", FaultSubject::Account),
            ("spam", FaultSubject::Account),
        ] {
            assert_eq!(send(&shop, mood).await.0.unwrap_err().subject, subject, "{mood}");
        }
        shop.declare(&shop.plain("refused", "")).await;
        assert_eq!(send(&shop, "meera").await.0.unwrap_err().subject, FaultSubject::Account);
    }

    async fn a_mail_without_an_answer_may_have_been_sent(test: TestDb) {
        use DeliveryCertainty::Maybe;
        let slow = MailTimings { content: Duration::from_secs(5), acceptance: Duration::from_secs(1), ..QUICK };
        let allowed = AllowedHosts::new(["127.0.0.1".to_owned()]);
        let shop = open_shop_with(test, allowed, None, slow).await;
        shop.declare(&shop.plain("mail", "")).await;
        for (mood, words) in [("drop", "broke after the whole mail"), ("silent", "did not answer")] {
            let (sent, arrived) = send(&shop, mood).await;
            let fault = sent.unwrap_err();
            assert_eq!(fault.happened, Maybe, "{fault:?}");
            assert!(fault.why.contains(words), "{fault:?}");
            assert_eq!(arrived, 1, "{mood}: it was");
        }
    }

    async fn an_answer_that_comes_late_is_waited_for(test: TestDb) {
        let shop = open_shop(test).await;
        shop.declare(&shop.plain("mail", "")).await;
        let (sent, arrived) = send(&shop, "late").await;
        assert!(sent.unwrap().is_some());
        assert_eq!(arrived, 1);
    }

    async fn what_is_wrong_with_an_account_is_said_plainly(test: TestDb) {
        let shop = open_shop(test).await;
        let port = shop.server.plain_port;
        let fault = async |file: String| {
            shop.declare(&file).await;
            send(&shop, "meera").await.0.unwrap_err()
        };
        let missing = fault(shop.secure("tls", shop.server.tls_port)).await;
        assert!(missing.why.contains("mail.password"), "{missing:?}");
        shop.set_secret("vault:mail.password", "another").await;
        let wrong = fault(shop.secure("starttls", shop.server.starttls_port)).await;
        assert!(wrong.why.contains("refused the login as shop: 535"), "{wrong:?}");
        assert!(!wrong.why.contains("another"), "{wrong:?}");
        let other = fault(shop.secure("starttls", port)).await;
        assert!(other.why.contains("does not offer STARTTLS"), "{other:?}");
        let nowhere = shop.plain("mail", "").replace(&port.to_string(), "1");
        assert!(fault(nowhere).await.why.contains("can't connect to 127.0.0.1:1"));
        let lost = shop.secure("tls", 465).replace("localhost", "no-such-host.invalid");
        assert!(fault(lost).await.why.contains("no-such-host.invalid was not found"));
    }

    async fn a_certificate_that_nobody_signed_is_not_believed(test: TestDb) {
        let allowed = AllowedHosts::new(["localhost".to_owned()]);
        let shop = open_shop_with(test, allowed, None, QUICK).await;
        shop.set_secret("vault:mail.password", &shop.server.password).await;
        for (security, port) in [("tls", shop.server.tls_port), ("starttls", shop.server.starttls_port)] {
            shop.declare(&shop.secure(security, port)).await;
            let (sent, arrived) = send(&shop, "meera").await;
            let fault = sent.unwrap_err();
            assert!(fault.why.contains("TLS with localhost failed"), "{fault:?}");
            assert_eq!(arrived, 0);
        }
    }

    async fn a_server_in_a_private_network_needs_the_operators_leave(test: TestDb) {
        let shop = open_shop_with(test, AllowedHosts::default(), None, QUICK).await;
        shop.declare(&shop.plain("mail", "")).await;
        let (sent, arrived) = send(&shop, "meera").await;
        assert!(sent.unwrap_err().why.contains("private_hosts"));
        assert_eq!(arrived, 0);
    }

    async fn a_server_that_keeps_silent_holds_up_nobody(test: TestDb) {
        use OutboundPurpose::{Code, Reminder, Reply};
        let allowed = AllowedHosts::new(["127.0.0.1".to_owned()]);
        let shop = open_shop_with(test, allowed, None, MailTimings::default()).await;
        shop.declare(&shop.plain("mail", "")).await;
        let sender = shop.find(None, None).await.unwrap();
        let mut stuck = JoinSet::new();
        for purpose in [Reply, Reply, Code, Code] {
            let (sender, to) = (sender.clone(), shop.address("silent"));
            let outbound = OutboundMessage { purpose, ..shop.message(&to, "x") };
            stuck.spawn(async move { sender.send(&outbound).await });
            wait_until(async || shop.server.read_mailbox(&to).len() == 1).await;
        }
        for purpose in [Reminder, Code] {
            let to = shop.address("meera");
            let fault = sender.send(&OutboundMessage { purpose, ..shop.message(&to, "x") }).await.unwrap_err();
            assert_fault(&fault, SendRetryability::Yes, DeliveryCertainty::No, "in use");
            assert_eq!(fault.retry_after, Some(Duration::from_secs(5)), "{purpose:?}: it is no attempt");
            assert_eq!(shop.server.read_mailbox(&to).len(), 0);
        }
    }

    async fn slow_servers_of_one_tenant_hold_up_no_other(test: TestDb) {
        let allowed = AllowedHosts::new(["127.0.0.1".to_owned()]);
        let shop = open_shop_with(test, allowed, None, MailTimings::default()).await;
        let accounts = [shop.plain("a", ""), shop.plain("b", "")].concat();
        let declared = shop.declare(&accounts).await;
        let mut stuck = JoinSet::new();
        for from in ["a@example.com", "a@example.com", "b@example.com"] {
            let (sender, to) = (shop.find(None, Some(from)).await.unwrap(), shop.address("silent"));
            let outbound = shop.message(&to, "x");
            stuck.spawn(async move { sender.send(&outbound).await });
            wait_until(async || shop.server.read_mailbox(&to).len() == 1).await;
        }
        let (b, to) = (shop.find(None, Some("b@example.com")).await.unwrap(), shop.address("meera"));
        let fault = b.send(&shop.message(&to, "x")).await.unwrap_err();
        assert_fault(&fault, SendRetryability::Yes, DeliveryCertainty::No, "workspace are in use");
        let other = shop.test.add_tenant("gupta").await;
        let now = shop.test.clock.now();
        let save = move |tx: &mut Tx<'_>| rows::save_accounts(tx, &declared, "test", "", now);
        shop.test.db.write(other, save).await.unwrap();
        let route = SenderRoute { tenant: other, binding: None, channel: Channel::Email, from: None, account: None };
        shop.senders.find(&route).await.unwrap().send(&shop.message(&to, "x")).await.unwrap();
        assert_eq!(shop.server.read_mailbox(&to).len(), 1);
    }

    async fn whoever_tries_an_account_hears_which_step_hangs(test: TestDb) {
        let shop = open_shop(test).await;
        shop.declare(&shop.plain("mail", "per_minute = 2")).await;
        let name = "mail".parse().unwrap();
        let sender = shop.senders.find_mail_sender(shop.tenant, &name).await.unwrap().unwrap();
        let second = Duration::from_secs(1);
        let quick = MailTimings { command: second, content: second, acceptance: second, ..QUICK };
        for (mood, stage) in [("asleep", MailStage::Recipient), ("silent", MailStage::Acceptance)] {
            let to = shop.address(mood);
            let fault = sender.deliver_within(&shop.message(&to, "x"), &quick).await.unwrap_err();
            assert_eq!(fault.stage, stage, "{fault:?}");
        }
        let fault = send(&shop, "meera").await.0.unwrap_err();
        assert!(fault.retry_after.is_some(), "what was tried counts: {fault:?}");
        let missing = "other".parse().unwrap();
        assert!(shop.senders.find_mail_sender(shop.tenant, &missing).await.unwrap().is_none());
    }

    async fn a_server_that_is_slow_at_each_step_holds_nobody_for_their_sum(test: TestDb) {
        let shop = open_shop(test).await;
        shop.declare(&shop.plain("mail", "")).await;
        let name = "mail".parse().unwrap();
        let sender = shop.senders.find_mail_sender(shop.tenant, &name).await.unwrap().unwrap();
        let hour = Duration::from_secs(3600);
        let whole = Duration::from_secs(1);
        let endless = MailTimings { command: hour, content: hour, acceptance: hour, whole, ..QUICK };
        for (mood, stage) in [("asleep", MailStage::Recipient), ("silent", MailStage::Acceptance)] {
            let to = shop.address(mood);
            let fault = sender.deliver_within(&shop.message(&to, "x"), &endless).await.unwrap_err();
            assert_eq!(fault.stage, stage, "{fault:?}");
        }
    }

    async fn an_account_sends_no_more_than_its_provider_takes(test: TestDb) {
        let shop = open_shop(test).await;
        shop.declare(&shop.plain("mail", "per_minute = 1")).await;
        let to = shop.address("meera");
        for (purpose, is_sent) in [
            (OutboundPurpose::Reply, true),
            (OutboundPurpose::Reminder, false),
            (OutboundPurpose::Code, true),
        ] {
            let sender = shop.find(None, None).await.unwrap();
            let outbound = OutboundMessage { purpose, ..shop.message(&to, "x") };
            match sender.send(&outbound).await {
                Ok(_) => assert!(is_sent, "{purpose:?}"),
                Err(fault) => assert!(!is_sent && fault.retry_after.is_some(), "{fault:?}"),
            }
        }
        assert_eq!(shop.server.read_mailbox(&to).len(), 2);
    }
}

#[test]
fn a_stage_has_a_name() {
    for stage in MailStage::ALL {
        assert_eq!(serde_json::to_value(stage).unwrap(), stage.as_str());
    }
}
