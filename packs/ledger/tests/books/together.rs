//! Many writers at once.

use munshi_ledger::books::*;
use munshi_store::MIGRATIONS;
use munshi_test_support::on_both_engines;

use crate::books::support::{Shop, credit_sale, received, rupees, some_key};

on_both_engines! {
    with [MIGRATIONS, munshi_ledger::MIGRATIONS];

    async fn writers_at_once_lose_nothing_and_never_wait_for_each_other_in_a_ring(test: TestDb) {
        let shop = Shop::open(&test).await;
        let (one, other) = (shop.contact("Rajan").await, shop.contact("Asha").await);
        let mut tasks = tokio::task::JoinSet::new();
        for writer in 0..8_i64 {
            let shop = shop.clone();
            tasks.spawn(async move {
                for step in 0..12 {
                    let (first, second) = if writer % 2 == 0 { (one, other) } else { (other, one) };
                    let entries = [shop.new_entry(credit_sale(first, 10)), shop.new_entry(received(second, 3))];
                    shop.write(move |tx, writing| {
                        for new in &entries {
                            book(tx, writing, new)?;
                        }
                        Ok(())
                    }).await.unwrap();
                    if writer == 0 && step == 6 {
                        shop.write(move |tx, _| contacts::merge(tx, other, one)).await.unwrap();
                    }
                }
            });
        }
        while let Some(task) = tasks.join_next().await {
            task.unwrap();
        }
        assert_eq!(shop.balance(one).await, rupees(8 * 12 * 7));
        assert_eq!(shop.standing().await.entries, 8 * 12 * 2);
        shop.assert_sound().await;
    }

    async fn one_act_booked_by_many_at_once_is_one_entry(test: TestDb) {
        let shop = Shop::open(&test).await;
        let rajan = shop.contact("Rajan").await;
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let shop = shop.clone();
            let new = NewLedgerEntry { key: some_key(1), ..shop.new_entry(credit_sale(rajan, 10)) };
            tasks.spawn(async move { shop.book_new(new).await.unwrap() });
        }
        let mut fresh = 0;
        while let Some(booked) = tasks.join_next().await {
            fresh += usize::from(!booked.unwrap().is_repeat);
        }
        assert_eq!((fresh, shop.balance(rajan).await), (1, rupees(10)));
    }
}
