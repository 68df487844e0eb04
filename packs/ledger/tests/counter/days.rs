//! Days that have been, and the book of one.

use munshi_ledger::books::{DayRange, LedgerDay, balances, daily_turnover, day_book};
use munshi_types::Money;

use crate::counter::support::Shop;
use crate::counter::told::on_both;

fn paise(rupees: i64) -> Money {
    Money::from_paise(rupees * 100)
}

on_both! {
    /// A week is no day: which one is asked, and nothing is written before.
    async fn a_stretch_of_days_is_asked_about(test: TestDb) {
        let shop = Shop::open(&test).await;
        for said in ["Ramesh ne pichhle hafte 450 diye", "Ramesh paid 450 last week"] {
            shop.say(said).await;
            let entries = shop.db.read(shop.tenant, balances::load_totals).await.unwrap().entries;
            assert_eq!(entries, 0, "{said}");
        }
    }

    async fn yesterday_is_written_on_yesterday(test: TestDb) {
        let shop = Shop::open(&test).await;
        let reply = shop.say("kal Ramesh ne 500 diye").await;
        assert!(reply.contains("14 November 2026"), "{reply}");
        let reply = shop.say("yesterday I sold goods for 900").await;
        assert!(reply.contains("Dated") && !reply.contains("Sales today"), "{reply}");
        shop.say("aaj 100 ki bikri hui").await;
        let of = |day: &'static str| {
            let (db, tenant) = (shop.db.clone(), shop.tenant);
            async move {
                let day: LedgerDay = day.parse().unwrap();
                db.read(tenant, move |tx| daily_turnover::totals(tx, DayRange::day(day))).await.unwrap()
            }
        };
        let (before, today) = (of("2026-11-14").await, of("2026-11-15").await);
        assert_eq!((before.payments_received, before.sales, today.sales), (paise(500), paise(900), paise(100)));
        let corrected = shop.say("kal 700 ki bikri hui").await;
        assert!(corrected.contains("14 November"), "{corrected}");
        shop.say("nahi 750 tha").await;
        assert_eq!(of("2026-11-14").await.sales, paise(900 + 750), "corrected on its own day");
        shop.assert_sound().await;
    }

    async fn no_day_that_is_to_come_and_none_too_long_ago(test: TestDb) {
        let shop = Shop::open(&test).await;
        for said in ["Ramesh ko 01/01/2024 ko 500 udhaar diya", "on 25/12/2026 I gave Ramesh 500 on credit"] {
            shop.say(said).await;
            shop.say("haan").await;
        }
        let count = shop.db.read(shop.tenant, |tx| {
            tx.one("SELECT count(*) FROM ledger_entries WHERE tenant_id = $1", &[], |row| row.get::<i64>(0))
        });
        assert_eq!(count.await.unwrap(), 0, "nothing was written");
        shop.say("10/08/2026 ko Ramesh ko 500 udhaar diya").await;
        let asked = shop.say("haan").await;
        assert!(asked.contains("10 August 2026"), "months ago is asked about: {asked}");
    }

    async fn the_day_book_runs_with_the_cash(test: TestDb) {
        let shop = Shop::open(&test).await;
        let empty = shop.say("show the day book").await;
        assert!(empty.contains("nothing was written"), "{empty}");
        shop.say("yesterday I sold goods for 900").await;
        shop.say("sold goods for 100").await;
        shop.say("Ramesh ko 500 udhaar diya").await;
        shop.say("bijli ka bill 40 bhara").await;
        let told = shop.say("show the day book").await;
        let lines: Vec<&str> = told.lines().collect();
        assert!(lines[0].contains("₹900"), "the cash of the morning: {told}");
        assert!(lines[1].contains("sale, ₹100 → ₹1,000"), "{told}");
        assert!(lines[2].contains("credit given, Ramesh, ₹500") && !lines[2].contains('→'), "{told}");
        assert!(lines[3].contains("₹40 → ₹960") && lines[4].contains("₹960"), "{told}");
        shop.say("cancel the last entry").await;
        let day: LedgerDay = "2026-11-15".parse().unwrap();
        let book = shop.db.read(shop.tenant, move |tx| day_book::load_day(tx, day)).await.unwrap();
        assert_eq!((book.lines.len(), book.opening, book.closing), (2, paise(900), paise(1_000)));
    }
}
