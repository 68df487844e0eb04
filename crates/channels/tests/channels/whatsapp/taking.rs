//! What Meta tells, on its way to the engine.

use std::time::Duration;

use munshi_channels::incoming::IntakeOutcome;
use munshi_conversations::outbox::opt_outs::{self, SubscriptionChange, SubscriptionWord};
use munshi_conversations::outbox::{self, NewNotice, OutboxState};
use munshi_jobs::JobQueue;
use munshi_store::{Tx, params};
use munshi_test_support::on_both_engines;
use munshi_types::{Clock, MessageId, ReplyAddress};
use serde_json::{Value, json};

use super::cloud_webhooks::sign;
use super::meta::{PHONE, account, check};
use super::{MEERA, SECRET, WhatsappShop, open_shop};
use crate::channels::engine_stand_in::build_engine;
use crate::channels::support::migrations;

const BSUID: &str = "IN.13491208655302741918";

fn bound_account() -> String {
    format!("{}bindings = [\"counter\"]\n", account())
}

/// As Meta tells something of Meera, who has both an id and a number.
async fn tell(shop: &WhatsappShop, field: &str, more: &Value) {
    let mut value = json!({
        "messaging_product": "whatsapp",
        "metadata": { "display_phone_number": "15550967852", "phone_number_id": PHONE },
        "contacts": [{ "profile": { "name": "Meera" }, "wa_id": "919812345678", "user_id": BSUID }],
    });
    value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let body = json!({ "object": "whatsapp_business_account",
        "entry": [{ "id": "102290129340398", "changes": [{ "field": field, "value": value }] }] });
    let outcome = shop.take(&sign(shop, SECRET, body.to_string().as_bytes())).await;
    assert!(matches!(outcome, IntakeOutcome::Stored(_)), "{outcome:?}");
}

async fn prefer(shop: &WhatsappShop, wish: &str, at: i64) {
    let told = json!({ "wa_id": "919812345678", "user_id": BSUID, "value": wish, "timestamp": at });
    tell(shop, "user_preferences", &json!({ "user_preferences": [told] })).await;
}

async fn send_picture(shop: &WhatsappShop, at: u32, file: &str) {
    let (id, at) = (format!("wamid.{at}"), format!("173932102{at}"));
    let said = json!({ "from": "919812345678", "id": id, "timestamp": at, "type": "image",
        "image": { "id": file, "mime_type": "image/png", "caption": format!("see {file}") } });
    tell(shop, "messages", &json!({ "messages": [said] })).await;
}

/// A message that left, and of which nobody heard what WhatsApp calls it.
async fn lose_message(shop: &WhatsappShop) -> MessageId {
    let (message, queue) =
        (shop.message("It is open."), JobQueue::new(shop.test.clock.clone(), shop.test.ids.clone()));
    let (id, now) = (message.id, shop.test.clock.now());
    let unit = move |tx: &mut Tx<'_>| {
        let notice = NewNotice {
            outbound: message,
            person: None,
            subject: None,
            binding: None,
            about: None,
            not_before: None,
        };
        outbox::enqueue_notice(tx, &queue, &notice, now)?;
        tx.execute(
            "UPDATE outbox SET state = 'unknown' WHERE tenant_id = $1 AND message_id = $2",
            params![id],
        )?;
        Ok::<_, munshi_conversations::Error>(())
    };
    shop.test.db.write(shop.tenant, unit).await.unwrap();
    id
}

async fn find_state(shop: &WhatsappShop, message: MessageId) -> OutboxState {
    let read = move |tx: &mut Tx<'_>| outbox::find(tx, message);
    shop.test.db.read(shop.tenant, read).await.unwrap().unwrap().state
}

on_both_engines! {
    with all migrations();

    async fn stopping_in_whatsapps_settings_is_about_where_messages_reach_them(test: TestDb) {
        let shop = open_shop(test, check, &bound_account()).await;
        let (engine, runner) = build_engine(&shop.test, &shop.accounts);
        prefer(&shop, "resume", 1_739_321_024).await;
        runner.drain().await.unwrap();
        assert_eq!(engine.texts(), Vec::<String>::new(), "nobody had stopped anything, and nobody wrote anything");
        prefer(&shop, "stop", 1_739_321_025).await;
        runner.drain().await.unwrap();
        let taken = engine.taken.lock().unwrap().clone();
        let [stop] = &taken[..] else { panic!("{taken:?}") };
        assert_eq!((stop.text.as_str(), stop.from.channel_id.as_deref()), ("STOP", Some(BSUID)));
        assert_eq!(stop.reply_to.as_ref().unwrap().address, MEERA);
        // As the engine stores it.
        let (at, ids, now) = (stop.reply_to.clone().unwrap(), shop.test.ids.clone(), shop.test.clock.now());
        let unit = move |tx: &mut Tx<'_>| {
            let change =
                SubscriptionChange { word: SubscriptionWord::Stop, person: ids.next(), at: &at, message: ids.next(), now };
            opt_outs::record(tx, &change)
        };
        assert!(shop.test.db.write(shop.tenant, unit).await.unwrap());
        let phone = ReplyAddress::new(munshi_types::tier::Channel::Whatsapp, MEERA);
        let is_out = shop.test.db.read(shop.tenant, move |tx: &mut Tx<'_>| opt_outs::is_opted_out_at(tx, &phone));
        assert!(is_out.await.unwrap(), "where messages to her leave to");
        prefer(&shop, "resume", 1_739_321_026).await;
        runner.drain().await.unwrap();
        assert_eq!(engine.texts(), ["STOP", "START"]);
    }

    async fn a_file_that_can_not_be_had_holds_a_chat_up_for_minutes(test: TestDb) {
        let shop = open_shop(test, check, &bound_account()).await;
        let (engine, runner) = build_engine(&shop.test, &shop.accounts);
        send_picture(&shop, 1, "m-503").await;
        send_picture(&shop, 2, "m1").await;
        let begun = shop.test.clock.now();
        for _ in 0..60 {
            runner.drain().await.unwrap();
            if engine.texts().len() == 2 {
                break;
            }
            shop.test.clock.advance(Duration::from_secs(10));
        }
        assert_eq!(engine.texts(), ["see m-503", "see m1"], "in their order");
        let waited = shop.test.clock.now().since(begun);
        assert!((Duration::from_secs(300)..Duration::from_secs(600)).contains(&waited), "{waited:?}");
        assert_eq!(shop.provider.asked("/files/status-503").len(), 5);
        let taken = engine.taken.lock().unwrap().clone();
        assert_eq!(taken[0].attached.len(), 1, "what came with it is named");
        assert!(taken[0].attached[0].reference.starts_with("lost:"), "{:?}", taken[0].attached);
    }

    async fn what_becomes_of_a_message_is_known_by_our_own_id(test: TestDb) {
        let shop = open_shop(test, check, &bound_account()).await;
        let (_engine, runner) = build_engine(&shop.test, &shop.accounts);
        let message = lose_message(&shop).await;
        let status = |at: u32, id: &str| json!({ "statuses": [
            { "id": id, "status": "delivered", "biz_opaque_callback_data": format!("{message}:{at}:2") }] });
        tell(&shop, "messages", &status(0, "wamid.A")).await;
        runner.drain().await.unwrap();
        assert_eq!(find_state(&shop, message).await, OutboxState::Unknown, "its last part may never have left");
        tell(&shop, "messages", &status(1, "wamid.B")).await;
        runner.drain().await.unwrap();
        assert_eq!(find_state(&shop, message).await, OutboxState::Sent);
    }
}
