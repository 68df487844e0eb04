//! Where something goes that nobody waits for: where the person wrote last, and nowhere where that was a page.

use std::time::Duration;

use munshi_conversations::KeyUse;
use munshi_conversations::ingest::IngestOutcome;
use munshi_conversations::linking::merge_threads;
use munshi_conversations::sessions::{self, Session};
use munshi_identity::keys::{KeyCeiling, KeySpeaker};
use munshi_identity::persons;
use munshi_store::Tx;
use munshi_types::tier::Channel;
use munshi_types::{InboundSender, PersonId, ReplyAddress, SessionId};

use crate::rows::held_by_colleague::{MEERA, add_colleague, take, write_as};
use crate::rows::support::{Shop, held, tables};

fn whatsapp() -> ReplyAddress {
    ReplyAddress::new(Channel::Whatsapp, MEERA.to_owned())
}

/// From a page or by an API key, by somebody whom the business knows by their telephone.
async fn write_on(shop: &Shop, channel: Channel, outside_id: &str) -> IngestOutcome {
    let mut incoming = shop.incoming(MEERA, outside_id, "hello");
    incoming.inbound.channel = channel;
    shop.receive(incoming).await.unwrap()
}

/// By a visitor of whom nobody knows who they are.
async fn visit(shop: &Shop, outside_id: &str) -> IngestOutcome {
    let mut incoming = shop.incoming(MEERA, outside_id, "hello");
    incoming.inbound.channel = Channel::Web;
    incoming.inbound.from =
        InboundSender { channel_id: Some("visitor-1".to_owned()), ..InboundSender::default() };
    shop.receive(incoming).await.unwrap()
}

async fn find(shop: &Shop, id: SessionId) -> Session {
    shop.read(move |tx| sessions::find_current(tx, id)).await.unwrap()
}

async fn merge(shop: &Shop, from: PersonId, into: PersonId) {
    let (ids, now) = (shop.test.ids.clone(), shop.now());
    let merge = move |tx: &mut Tx<'_>| -> munshi_conversations::Result<()> {
        persons::merge(tx, from, into)?;
        merge_threads(tx, &ids, (from, into), now)
    };
    shop.test.db.write(shop.tenant, merge).await.unwrap();
}

fn later(shop: &Shop) {
    shop.test.clock.advance(Duration::from_secs(60));
}

tables! {
    async fn who_went_on_to_a_page_is_written_to_on_no_channel(test: TestDb) {
        let shop = Shop::open(test).await;
        let kamal = add_colleague(&shop, "Kamal").await;
        let said = shop.say_from(MEERA, "w1", &whatsapp()).await;
        shop.answer(held(&said), "namaste").await;
        take(&shop, said.session, kamal).await;
        write_as(&shop, said.session, kamal, "one").await.unwrap();
        assert_eq!(shop.count("outbox").await, 2, "the answer and the colleague's words");
        for (channel, outside_id) in [(Channel::Web, "v1"), (Channel::Api, "a1")] {
            shop.say_from(MEERA, &format!("before {outside_id}"), &whatsapp()).await;
            assert_eq!(find(&shop, said.session).await.reply_to, Some(whatsapp()));
            let next = write_on(&shop, channel, outside_id).await;
            assert_eq!(next.session, said.session, "one conversation");
            let session = find(&shop, said.session).await;
            assert_eq!((session.channel, session.reply_to), (channel, None));
            write_as(&shop, said.session, kamal, "two").await.unwrap();
            assert_eq!(shop.count("outbox").await, 2, "they read it where they are");
        }
    }

    async fn what_a_program_says_for_somebody_moves_them_nowhere(test: TestDb) {
        let shop = Shop::open(test).await;
        let said = shop.say_from(MEERA, "w1", &whatsapp()).await;
        shop.answer(held(&said), "namaste").await;
        let mut incoming = shop.incoming(MEERA, "a1", "her order of today");
        incoming.inbound.channel = Channel::Api;
        let (key, speaks_as, ceiling) = (shop.test.ids.next(), KeySpeaker::Program, KeyCeiling::default());
        incoming.key_use = Some(KeyUse { key, speaks_as, ceiling });
        shop.receive(incoming).await.unwrap();
        assert_eq!(find(&shop, said.session).await.reply_to, Some(whatsapp()), "she reads it there, and not in a program");
    }

    async fn merged_threads_go_on_where_the_person_wrote_last(test: TestDb) {
        let shop = Shop::open(test).await;
        let known = shop.say_from(MEERA, "w1", &whatsapp()).await;
        shop.answer(held(&known), "namaste").await;
        later(&shop);
        let visitor = visit(&shop, "v1").await;
        later(&shop);
        let kamal = add_colleague(&shop, "Kamal").await;
        take(&shop, known.session, kamal).await;
        write_as(&shop, known.session, kamal, "are you there?").await.unwrap();
        merge(&shop, visitor.person, known.person).await;
        let session = find(&shop, visitor.session).await;
        assert_eq!((session.id, session.channel, session.reply_to), (known.session, Channel::Web, None));
    }

    async fn a_thread_that_stays_takes_over_where_the_other_was_last(test: TestDb) {
        let shop = Shop::open(test).await;
        let visitor = visit(&shop, "v1").await;
        later(&shop);
        let known = shop.say_from(MEERA, "w1", &whatsapp()).await;
        later(&shop);
        // Our answer to the older is the last that was said.
        shop.answer(held(&visitor), "hi").await;
        merge(&shop, known.person, visitor.person).await;
        let session = find(&shop, known.session).await;
        assert_eq!((session.id, session.channel), (visitor.session, Channel::Whatsapp));
        assert_eq!(session.reply_to, Some(whatsapp()));
    }
}
