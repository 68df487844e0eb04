//! A visitor proves an e-mail: how many codes leave for it, and what they hear where none does.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use munshi_conversations::outbox::{ChannelSender, SendFault, SendIdempotency, SendReceipt};
use munshi_test_support::models::ScriptedTurn;
use munshi_types::OutboundMessage;
use munshi_types::tier::Channel;
use serde_json::{Value, json};

use super::{Browser, FRONT, cookie};
use crate::api::support::{Installation, Setup};

/// An account for mails that keeps what it sends, or says why it can't.
#[derive(Default)]
struct Account {
    sent: Mutex<Vec<String>>,
    fault: Mutex<Option<SendFault>>,
}

#[async_trait]
impl ChannelSender for Account {
    fn channel(&self) -> Channel {
        Channel::Email
    }

    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Once
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        if let Some(fault) = self.fault.lock().unwrap().clone() {
            return Err(fault);
        }
        self.sent.lock().unwrap().push(outbound.to.address.clone());
        Ok(SendReceipt::default())
    }
}

async fn open(test: &munshi_test_support::TestDb, visitors: usize) -> (Installation, Arc<Account>) {
    let account = Arc::new(Account::default());
    let setup = Setup { senders: vec![account.clone()], ..Setup::default() };
    let script = (0..visitors).map(|_| ScriptedTurn::text("Hello."));
    (Installation::open_with(test, script, setup).await, account)
}

/// Somebody who has said something.
async fn visit(house: &Installation, id: &str) -> Browser {
    let (headers, _) = Browser::default().say(house, "Hello", id).await;
    Browser::default().with("cookie", cookie(&headers))
}

async fn ask(house: &Installation, visitor: &Browser, email: &str) -> (u16, Value) {
    let wish = json!({ "email": email });
    let (status, told, _) = visitor.call(house, "POST", &format!("{FRONT}/link"), Some(wish)).await;
    (status, told)
}

on_both! {
    async fn a_visitor_sends_strangers_only_so_many_codes(test: TestDb) {
        let (house, account) = open(&test, 1).await;
        let visitor = visit(&house, "1").await;
        for number in 0..5 {
            assert_eq!(ask(&house, &visitor, &format!("stranger{number}@example.org")).await.0, 202);
        }
        let (status, told) = ask(&house, &visitor, "stranger5@example.org").await;
        assert_eq!((status, &told["error"]["code"]), (429, &json!("too_many_requests")), "{told}");
        assert_eq!(account.sent.lock().unwrap().len(), 5);
    }

    async fn a_mailbox_gets_only_so_many_codes_whoever_asks(test: TestDb) {
        let (house, account) = open(&test, 4).await;
        for number in 0..4 {
            if number == 3 {
                // As somebody new, whoever has this address may speak again without a proof of work.
                test.clock.advance(Duration::from_secs(16 * 60));
            }
            let visitor = visit(&house, &number.to_string()).await;
            let (status, told) = ask(&house, &visitor, &format!("meera+{number}@example.org")).await;
            assert_eq!(status, if number < 3 { 202 } else { 429 }, "{told}");
        }
        assert_eq!(account.sent.lock().unwrap().len(), 3);
    }

    async fn a_visitor_hears_only_what_is_theirs_to_mend(test: TestDb) {
        let (house, account) = open(&test, 1).await;
        let visitor = visit(&house, "1").await;
        for (fault, expected) in [
            (SendFault::passing("mail.example refused the login as shop"), 503),
            (SendFault::refused("mail.example refused the sender"), 503),
            (SendFault::limited("all connections are in use", Duration::from_secs(5)), 429),
            (SendFault::unreachable("no such user"), 422),
            // It may come.
            (SendFault::unknown("mail.example did not answer"), 202),
        ] {
            *account.fault.lock().unwrap() = Some(fault.clone());
            let (status, told) = ask(&house, &visitor, "meera@example.org").await;
            assert_eq!(status, expected, "{fault}: {told}");
            assert!(!told.to_string().contains("mail.example"), "the account is nobody's to read: {told}");
        }
    }
}
