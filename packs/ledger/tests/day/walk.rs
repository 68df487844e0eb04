//! Whatever an owner says, in whatever order, said again, after restarts and with processes that die in the middle of it:
//! books balance, nothing is written twice or without what its rule asks for, and a file of the books gives them back.

use std::time::Duration;

use munshi_ledger::books::import::{BooksFiles, ImportMode, import};
use munshi_ledger::books::*;
use munshi_ledger::{Error, Result};
use munshi_safety::acts;
use munshi_safety::approvals::{self, ApprovalStatus};
use munshi_store::Tx;
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{ActId, Money, Zone};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::day::support::Shop;

const STEPS: usize = 40;
/// The profile's own limit, above which the owner is asked.
const LARGE: i64 = 10_000;

#[derive(Clone, Debug)]
enum Step {
    Say(String),
    /// The channel delivers the last message once more.
    Again,
    Restart,
    /// The process dies so many tenths of a millisecond after it took the message, and another goes on.
    Dies(String, u64),
    /// Time goes by, so that the same again is not doubted.
    Later,
}

fn said() -> impl Strategy<Value = String> {
    let who = prop::sample::select(vec!["Ramesh", "Sunita", "Gupta", "Meena"]);
    let amount = prop_oneof![6 => 1..3_000i64, 2 => 9_990..10_020i64, 1 => 20_000..90_000i64];
    (who, amount, 0..14u8).prop_map(|(who, amount, kind)| match kind {
        0 => format!("sale of {amount}"),
        1 | 2 => format!("gave {who} {amount} on credit"),
        3 | 4 => format!("{who} paid {amount}"),
        5 => format!("paid {amount} to {who}"),
        6 => format!("paid rent {amount}"),
        7 => format!("no it was {amount}"),
        8 => "undo the last entry".to_owned(),
        9 => format!("{who} ko {amount} udhaar diya"),
        10 => format!("how much does {who} owe"),
        11 | 12 => format!("{who}'s limit is {amount}"),
        _ => {
            format!("Rs.{amount}.00 credited to a/c **4471 on 15-11-26 by {who} (UPI Ref No 5165{amount:08})")
        }
    })
}

fn step() -> impl Strategy<Value = Step> {
    // Of a plain sale is known what must come of it; of the rest, only what must not.
    let cut = prop_oneof![(1..9_000i64).prop_map(|amount| format!("sale of {amount}")), said()];
    prop_oneof![
        10 => said().prop_map(Step::Say),
        4 => (cut, 0..400u64).prop_map(|(text, after)| Step::Dies(text, after)),
        3 => Just(Step::Say("yes".to_owned())),
        1 => Just(Step::Say("no".to_owned())),
        2 => Just(Step::Again),
        1 => Just(Step::Restart),
        1 => Just(Step::Later),
    ]
}

async fn read<T: Send + 'static>(
    shop: &Shop,
    look: impl FnOnce(&mut Tx<'_>) -> Result<T> + Send + 'static,
) -> T {
    shop.db.read(shop.tenant, look).await.unwrap()
}

async fn entries(shop: &Shop) -> i64 {
    read(shop, |tx| Ok(balances::load_totals(tx)?.entries)).await
}

/// Every entry of more than the limit has a yes of its own, corrections too, and so has every message of a bank; credit is
/// in the owner's own words.
async fn assert_agreed(shop: &Shop) {
    let found = read(shop, |tx| {
        let mut found = Vec::new();
        let mut number = 1;
        while let Some(entry) = entry::find_by_number(tx, number)? {
            let approval = approvals::find_by_act(tx, ActId::from_uuid(entry.key.as_uuid()))
                .map_err(|error| Error::File(error.to_string()))?;
            found.push((entry, approval.map(|approval| approval.state)));
            number += 1;
        }
        Ok(found)
    });
    for (entry, state) in found.await {
        if entry.reverses.is_some() {
            continue;
        }
        let is_large = entry.amount > Money::from_rupees(LARGE).unwrap();
        if is_large || (entry.source == LedgerEntrySource::Sms && entry.corrects.is_none()) {
            assert_eq!(
                state,
                Some(ApprovalStatus::Granted),
                "entry {} of {} was not agreed to",
                entry.number,
                entry.amount
            );
        }
        if entry.kind == LedgerEntryKind::CreditGiven {
            assert!(
                entry.said_by.is_some() && !entry.words.is_empty(),
                "entry {}: whose word is it?",
                entry.number
            );
        }
    }
}

/// What was just written on credit to somebody and took them over their limit had a yes to just that.
async fn assert_within_limits(shop: &Shop, before: i64) {
    let found = read(shop, move |tx| {
        let mut over = Vec::new();
        let mut number = before + 1;
        while let Some(entry) = entry::find_by_number(tx, number)? {
            number += 1;
            let lent = matches!(entry.kind, LedgerEntryKind::CreditGiven | LedgerEntryKind::PaymentMade)
                && entry.is_active();
            let Some(contact) = entry.contact.filter(|_| lent).map(|id| contacts::get(tx, id)).transpose()?
            else {
                continue;
            };
            if contact.limit.is_some_and(|limit| contact.balance > limit) {
                let act = acts::find(tx, ActId::from_uuid(entry.key.as_uuid()))
                    .map_err(|error| Error::File(error.to_string()))?;
                over.push((entry, act));
            }
        }
        Ok(over)
    });
    for (entry, act) in found.await {
        // A correction to less needs no word of the limit.
        let asked =
            act.is_some_and(|act| act.rests_on.concerns.iter().any(|one| one.phrase == "ledger-over-limit"));
        assert!(asked || entry.corrects.is_some(), "entry {} went over the limit unasked", entry.number);
    }
}

/// The books written to files and taken by another tenant are the same.
async fn assert_copied(test: &TestDb, shop: &Shop) {
    let files = |tx: &mut Tx<'_>| {
        let mut texts = [Vec::new(), Vec::new(), Vec::new()];
        export::contacts(tx, &mut texts[0])?;
        export::items(tx, &mut texts[1])?;
        export::entries(tx, &mut texts[2])?;
        Ok(texts.map(|text| String::from_utf8_lossy(&text).into_owned()))
    };
    let own = read(shop, files).await;
    let other = test.add_tenant("another-shop").await;
    let ([contacts, items, entries], ids) = (own.clone(), test.ids.clone());
    let now = munshi_types::Clock::now(test.clock.as_ref());
    let taken = test.db.write(other, move |tx| {
        let zone = Zone::default();
        let writing = BookingContext { ids: &ids, now, zone: &zone };
        import(
            tx,
            &writing,
            &BooksFiles { contacts: &contacts, items: &items, entries: &entries },
            ImportMode::Apply,
        )
    });
    let report = taken.await.unwrap();
    assert!(report.is_applied, "{:?}", report.errors);
    let copy: [String; 3] = test.db.read(other, files).await.unwrap();
    assert_eq!(copy, own);
    let standing = |tx: &mut Tx<'_>| -> Result<_> { Ok((balances::load_totals(tx)?, verify(tx)?)) };
    assert_eq!(
        test.db.read(other, standing).await.unwrap(),
        test.db.read(shop.tenant, standing).await.unwrap()
    );
}

/// How many entries one message may make at most: a correction is two.
const MOST: i64 = 2;

async fn walk(test: &TestDb, seed: u8) {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let (mut shop, mut last) = (Shop::open(test).await, (0, "hello".to_owned()));
    let (mut told, mut left) = (Vec::new(), 0);
    for number in 1..=STEPS {
        let step = step().new_tree(&mut runner).unwrap().current();
        told.push(format!("{step:?}"));
        let before = entries(&shop).await;
        match step {
            Step::Say(text) => {
                last = (u32::try_from(number).unwrap(), text);
                test.clock.advance(Duration::from_secs(20));
                shop.hear(last.0, &last.1).await;
                let made = entries(&shop).await - before;
                assert!((0..=MOST).contains(&made), "{made} entries of one message: {told:#?}");
            }
            Step::Again => {
                shop.hear(last.0, &last.1).await;
                assert_eq!(entries(&shop).await, before, "said once, written twice: {told:#?}");
            }
            Step::Restart => shop = shop.restarted(test),
            Step::Dies(text, after) => {
                // Long enough that the same amount again is not doubted.
                test.clock.advance(Duration::from_secs(200));
                last = (u32::try_from(number).unwrap(), text);
                let after = Duration::from_micros(after * 100);
                let (next, outcome, was_left) = shop.hear_dying(test, (last.0, last.1.as_str()), after).await;
                (shop, left) = (next, left + usize::from(was_left));
                let made = entries(&shop).await - before;
                let exactly = last.1.starts_with("sale of ") && outcome.approval.is_none();
                assert!(!exactly || made == 1, "{made} entries of a sale: {} {told:#?}", outcome.text);
                assert!((0..=MOST).contains(&made), "{made} entries of one message: {told:#?}");
            }
            Step::Later => test.clock.advance(Duration::from_secs(1_800)),
        }
        assert_within_limits(&shop, before).await;
        let finding = read(&shop, verify).await;
        assert_eq!(finding, None, "{told:#?}");
    }
    assert!(entries(&shop).await > 3 && left > 0, "nothing was tried, {left} died within: {told:#?}");
    assert_agreed(&shop).await;
    assert_copied(test, &shop).await;
}

on_both_engines! {
    with all crate::day::support::migrations();

    async fn one_walk(test: TestDb) {
        walk(&test, 1).await;
    }

    async fn another_walk(test: TestDb) {
        walk(&test, 7).await;
    }

    async fn a_third_walk(test: TestDb) {
        walk(&test, 42).await;
    }
}
