//! The same thing said or seen twice.

use std::time::Duration;

use munshi_ledger::books::dedup::{DuplicateCandidate, DuplicateMatch, DuplicateWindows};
use munshi_ledger::books::*;
use munshi_store::MIGRATIONS;
use munshi_test_support::on_both_engines;

use crate::books::support::{Shop, received, rupees};

async fn look(
    shop: &Shop,
    act: &ShopTransaction,
    words: &'static str,
    fingerprint: Option<&'static str>,
) -> Option<DuplicateMatch> {
    let (act, now) = (act.clone(), shop.now());
    shop.read(move |tx| {
        let seen = DuplicateCandidate { act: &act, words, fingerprint, happened_at: now, now };
        dedup::find_duplicate(tx, &seen, DuplicateWindows::default())
    })
    .await
    .unwrap()
}

on_both_engines! {
    with [MIGRATIONS, munshi_ledger::MIGRATIONS];

    async fn one_payment_by_sms_and_by_word_is_noticed(test: TestDb) {
        let shop = Shop::open(&test).await;
        let (rajan, asha) = (shop.contact("Rajan").await, shop.contact("Asha").await);
        let mut new = shop.new_entry(received(rajan, 500));
        new.said = EntryProvenance { fingerprint: Some("utr:1".into()), words: "Rajan ne 500 diye".into(), ..new.said };
        let entry = shop.book_new(new).await.unwrap().entry;

        let stranger = ShopTransaction::PaymentReceived { party: None, amount: rupees(500), means: PaymentMeans::Bank };
        assert!(matches!(look(&shop, &stranger, "", Some("utr:1")).await, Some(DuplicateMatch::Fingerprint(_))));
        assert!(matches!(look(&shop, &stranger, "", Some("utr:2")).await, Some(DuplicateMatch::Amount(_))), "unknown may be Rajan");
        assert!(matches!(look(&shop, &received(rajan, 500), "", None).await, Some(DuplicateMatch::Amount(_))));
        assert!(matches!(look(&shop, &received(asha, 900), "RAJAN ne  500 diye!", None).await, Some(DuplicateMatch::Words(_))));
        assert_eq!(look(&shop, &received(asha, 500), "Asha ne 500 diye", None).await, None);
        assert_eq!(look(&shop, &received(rajan, 501), "Rajan ne 501 diye", None).await, None);
        let out = ShopTransaction::PaymentMade { party: Some(rajan), amount: rupees(500), means: PaymentMeans::Cash };
        assert_eq!(look(&shop, &out, "", None).await, None, "money that left is no money that came");

        let (id, now) = (entry.id, shop.now());
        for _ in 0..2 {
            shop.write(move |tx, _| dedup::record_sighting(tx, id, "app:9", LedgerEntrySource::Sms, now)).await.unwrap();
        }
        let seen = look(&shop, &stranger, "", Some("app:9")).await.unwrap();
        assert_eq!(seen.entry().id, id);

        shop.clock.advance(Duration::from_secs(16 * 60));
        assert_eq!(look(&shop, &received(rajan, 500), "", None).await, None);
        assert!(look(&shop, &received(asha, 1), "rajan ne 500 diye", None).await.is_some());
        shop.clock.advance(Duration::from_secs(6 * 3600));
        assert_eq!(look(&shop, &received(asha, 1), "rajan ne 500 diye", None).await, None);
    }

    async fn what_was_cancelled_may_be_said_again(test: TestDb) {
        let shop = Shop::open(&test).await;
        let rajan = shop.contact("Rajan").await;
        let mut new = shop.new_entry(received(rajan, 500));
        new.said = EntryProvenance { fingerprint: Some("utr:1".into()), words: "Rajan 500".into(), ..new.said };
        let entry = shop.book_new(new).await.unwrap().entry;
        shop.cancel(entry.id, "wrong").await.unwrap();
        assert_eq!(look(&shop, &received(rajan, 500), "Rajan 500", Some("utr:1")).await, None);
    }
}
