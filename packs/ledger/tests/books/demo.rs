//! The shop that never was: believable, sound, and the same for the same seed.

use munshi_ledger::Result;
use munshi_ledger::books::*;
use munshi_ledger::demo::{self, DemoContext};
use munshi_store::{MIGRATIONS, Tx};
use munshi_test_support::on_both_engines;
use munshi_types::{IdGenerator, Money, SeededRandom, Timestamp, Zone};

use crate::books::support::Shop;

fn fill(tx: &mut Tx<'_>, ids: &IdGenerator, now: Timestamp, days: u16, seed: u64) -> Result<bool> {
    let (random, zone) = (SeededRandom::new(seed), Zone::default());
    let telling = DemoContext { ids, random: &random, now, zone: &zone };
    let Some(mut play) = demo::create(tx, &telling, days)? else { return Ok(false) };
    while demo::write_next_day(tx, &telling, &mut play)? {}
    Ok(true)
}

async fn filled(shop: &Shop, days: u16, seed: u64) -> bool {
    shop.write(move |tx, writing| fill(tx, writing.ids, writing.now, days, seed)).await.unwrap()
}

/// The days of the history, the first one first.
fn days(shop: &Shop, count: usize) -> Vec<LedgerDay> {
    let mut days = vec![LedgerDay::of(shop.now(), &shop.zone)];
    while days.len() < count {
        days.push(days[days.len() - 1].previous());
    }
    days.reverse();
    days
}

on_both_engines! {
    with [MIGRATIONS, munshi_ledger::MIGRATIONS];

    async fn ninety_days_are_believable_and_sound(test: TestDb) {
        let shop = Shop::open(&test).await;
        assert!(filled(&shop, demo::DAYS, 7).await);
        shop.assert_sound().await;
        let standing = shop.standing().await;
        assert!(standing.entries > 1_500 && standing.cash > Money::ZERO && standing.bank > Money::ZERO, "{standing:?}");
        let owing = shop.read(|tx| balances::list_debtors(tx, None, 3)).await.unwrap();
        assert_eq!(owing[0].name, "Anil Deshmukh", "the late payer owes most");
        let low = shop.read(|tx| items::list_low(tx, 20)).await.unwrap();
        assert!(low.iter().any(|item| item.name == "Sarson ka tel"), "the oil runs short: {low:?}");
        assert!(low.len() < 5, "and not much else");
        let of_week = |weekday: i8| {
            let days: Vec<LedgerDay> = days(&shop, 90).into_iter()
                .filter(|day| day.to_date().weekday().to_monday_one_offset() == weekday).collect();
            shop.read(move |tx| {
                let sales: Result<Vec<Money>> = days.iter().map(|day| Ok(daily_turnover::totals(tx, DayRange::day(*day))?.sales)).collect();
                Ok(Money::sum(sales?)?.as_paise() / i64::try_from(days.len()).unwrap())
            })
        };
        let (tuesday, sunday) = (of_week(2).await.unwrap(), of_week(7).await.unwrap());
        assert!(sunday * 10 > tuesday * 13, "Sundays are full: {sunday} and {tuesday}");
    }

    async fn the_cash_of_an_evening_is_that_of_the_next_morning(test: TestDb) {
        let shop = Shop::open(&test).await;
        filled(&shop, 30, 3).await;
        let days = days(&shop, 31);
        let books: Vec<_> = shop.read(move |tx| {
            days.into_iter().map(|day| day_book::load_day(tx, day)).collect::<Result<_>>()
        }).await.unwrap();
        for (one, next) in books.iter().zip(books.iter().skip(1)) {
            assert_eq!(one.closing, next.opening, "{}", one.day);
            let ran = one.lines.last().map_or(one.opening, |line| line.cash);
            assert_eq!(ran, one.closing, "{}", one.day);
        }
        assert_eq!(books.last().unwrap().closing, shop.standing().await.cash);
    }

    async fn the_same_seed_is_the_same_shop_and_nobodys_books_are_played_with(test: TestDb) {
        let (one, other, third) = (Shop::open(&test).await, Shop::open(&test).await, Shop::open(&test).await);
        filled(&one, 10, 5).await;
        filled(&other, 10, 5).await;
        filled(&third, 10, 6).await;
        let (first, second) = (one.standing().await, other.standing().await);
        assert_eq!(first, second);
        assert_ne!(first, third.standing().await);
        assert!(!filled(&one, 10, 5).await, "books that are not empty are left alone");
        assert_eq!(one.standing().await, first);
    }
}
