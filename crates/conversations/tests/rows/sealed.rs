//! Sealed rows beside rows from before: both are read, and a sealed value belongs to its own row.

use munshi_conversations::{IngestStatus, messages, sessions, steps};
use munshi_store::{Error, Tx, params};
use munshi_types::tier::Channel;
use munshi_types::{MessageId, ReplyAddress, RunId, SessionId};

use crate::rows::support::{Shop, held, tables};

const MEERA: &str = "+919812345678";

/// What a version before sealing would have left of a turn that is under way.
fn store_plain(
    (session, run, message): (SessionId, RunId, MessageId),
) -> impl FnOnce(&mut Tx<'_>) -> munshi_store::Result<()> + Send + 'static {
    move |tx| {
        tx.execute(
            "UPDATE sessions SET summary = 'owes 500', aside = 'a letter', entities = '{\"known\": [1]}',
               reply_to = '{\"channel\": \"whatsapp\", \"address\": \"+919812345678\"}'
             WHERE tenant_id = $1 AND id = $2",
            params![session],
        )?;
        tx.execute(
            "UPDATE runs SET snapshot = '{\"said\": \"one moment\"}', outside_id = 'w1',
               reply_to = '{\"channel\": \"whatsapp\", \"address\": \"+919812345678\"}'
             WHERE tenant_id = $1 AND id = $2",
            params![run],
        )?;
        tx.execute(
            "UPDATE messages SET text = 'balance before?', marks = '{\"stays\": true}', suggestions = '[\"yes\"]',
               outside_id = 'w1' WHERE tenant_id = $1 AND id = $2",
            params![message],
        )?;
        tx.execute(
            "INSERT INTO run_steps (tenant_id, run_id, number, epoch, state, body, micros, at)
             SELECT tenant_id, id, 1, 1, 'acting', '{\"tool\": \"count\"}', 0, began_at FROM runs
             WHERE tenant_id = $1 AND id = $2",
            params![run],
        )?;
        Ok(())
    }
}

tables! {
    async fn what_was_stored_plain_is_read_and_goes_on(test: TestDb) {
        let shop = Shop::open(test).await;
        let to = ReplyAddress::new(Channel::Whatsapp, MEERA.to_owned());
        let first = shop.say(MEERA, "w1", "balance?").await;
        shop.write(store_plain((first.session, first.run, first.message))).await;
        let again = shop.say(MEERA, "w1", "balance?").await;
        assert_eq!((again.status, again.run), (IngestStatus::SeenBefore, first.run), "its id stands there as it came");
        let run = shop.run(first.run).await;
        assert_eq!(run.snapshot.said, "one moment");
        assert_eq!(run.conversation().unwrap().reply_to, Some(to.clone()));
        let id = first.session;
        let session = shop.read(move |tx| sessions::find(tx, id)).await.unwrap();
        assert_eq!((session.summary.as_deref(), session.tainted_summary.as_deref()), (Some("owes 500"), Some("a letter")));
        assert_eq!((session.entities, session.reply_to), (serde_json::json!({ "known": [1] }), Some(to.clone())));
        let mut ending = shop.response(held(&first), "500").await;
        ending.steps = vec![munshi_conversations::steps::NewRunStep {
            state: munshi_conversations::RunState::Responding, body: serde_json::json!({ "cut": true }), micros: 1, at: shop.now(),
        }];
        shop.respond(ending).await.unwrap();
        let run = first.run;
        let record = shop.read(move |tx| steps::list(tx, run)).await;
        let record: Vec<_> = record.into_iter().map(|step| (step.number, step.body)).collect();
        assert_eq!(record, [(1, serde_json::json!({ "tool": "count" })), (2, serde_json::json!({ "cut": true }))]);
        let next = shop.say_from(MEERA, "w2", &to).await;
        shop.answer(held(&next), "still 500").await;
        let said = shop.messages(first.session).await;
        let texts: Vec<&str> = said.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts, ["balance before?", "500", "hello", "still 500"]);
        assert_eq!((&said[0].marks["stays"], said[0].suggestions[0].as_str()), (&serde_json::json!(true), "yes"));
        assert_eq!(shop.say(MEERA, "w2", "hello").await.run, next.run, "and one that is hashed is known again, too");
    }

    async fn where_an_answer_goes_follows_the_last_message(test: TestDb) {
        let shop = Shop::open(test).await;
        let at = |address: &str| ReplyAddress::new(Channel::Whatsapp, address.to_owned());
        let first = shop.say_from(MEERA, "w1", &at("one")).await;
        shop.answer(held(&first), "500").await;
        let id = first.session;
        let reply_to = async || shop.read(move |tx| sessions::find(tx, id)).await.unwrap().reply_to;
        assert_eq!(reply_to().await, Some(at("one")));
        let second = shop.say_from(MEERA, "w2", &at("two")).await;
        shop.answer(held(&second), "500").await;
        assert_eq!(reply_to().await, Some(at("two")));
        shop.say(MEERA, "w3", "from nowhere in particular").await;
        assert_eq!(reply_to().await, Some(at("two")), "what says nothing of it changes nothing");
    }

    async fn what_is_sealed_for_one_row_opens_in_no_other(test: TestDb) {
        let shop = Shop::open(test).await;
        let first = shop.say(MEERA, "w1", "I owe nothing").await;
        shop.answer(held(&first), "You owe 500.").await;
        let said = shop.messages(first.session).await;
        let (from, to) = (said[0].id, said[1].id);
        shop.write(move |tx| {
            tx.execute(
                "UPDATE messages SET text = (SELECT m.text FROM messages m WHERE m.tenant_id = $1 AND m.id = $2)
                 WHERE tenant_id = $1 AND id = $3",
                params![from, to],
            )
        }).await;
        let moved = shop.test.db.read(shop.tenant, move |tx| messages::find(tx, to)).await;
        assert!(matches!(moved, Err(Error::Decode(_))), "{moved:?}");
        // Nor in another column of its own.
        shop.write(move |tx| {
            tx.execute("UPDATE messages SET outside_id = text WHERE tenant_id = $1 AND id = $2", params![from])
        }).await;
        let moved = shop.test.db.read(shop.tenant, move |tx| messages::find(tx, from)).await;
        assert!(matches!(moved, Err(Error::Decode(_))), "{moved:?}");
    }
}
