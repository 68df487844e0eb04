//! What each act does to balances, cash and the day.

use munshi_ledger::Error;
use munshi_ledger::books::*;
use munshi_store::MIGRATIONS;
use munshi_test_support::on_both_engines;
use munshi_types::Money;

use crate::books::support::{Shop, cash_sale, credit_sale, received, rupees, some_key};

on_both_engines! {
    with [MIGRATIONS, munshi_ledger::MIGRATIONS];

    async fn each_act_moves_what_it_should(test: TestDb) {
        let shop = Shop::open(&test).await;
        let (rajan, supplier) = (shop.contact("Rajan").await, shop.contact("Gupta Traders").await);
        shop.book(cash_sale(500)).await;
        shop.book(credit_sale(rajan, 300)).await;
        let part = PaymentTerms::Part { paid: rupees(40), means: PaymentMeans::Bank };
        shop.book(ShopTransaction::Sale { amount: rupees(100), settled: part, party: Some(rajan), lines: vec![] }).await;
        shop.book(ShopTransaction::Purchase { amount: rupees(1000), settled: PaymentTerms::Credit, party: Some(supplier), lines: vec![] }).await;
        let rent = |category: &str| ShopTransaction::Expense {
            amount: rupees(50), category: category.to_owned(), settled: PaymentTerms::Now(PaymentMeans::Cash), party: None,
        };
        shop.book(rent("kiraya")).await;
        shop.book(rent("किराया")).await;
        shop.book(ShopTransaction::CreditGiven { party: rajan, amount: rupees(20), lent: CreditAsset::Money(PaymentMeans::Cash), lines: vec![] }).await;
        shop.book(ShopTransaction::CreditTaken { party: supplier, amount: rupees(30), lent: CreditAsset::Money(PaymentMeans::Bank), lines: vec![] }).await;
        shop.book(received(rajan, 150)).await;
        shop.book(ShopTransaction::PaymentMade { party: Some(supplier), amount: rupees(200), means: PaymentMeans::Bank }).await;
        shop.book(ShopTransaction::PaymentReceived { party: None, amount: rupees(7), means: PaymentMeans::Bank }).await;
        shop.book(ShopTransaction::Transfer { amount: rupees(100), from: PaymentMeans::Cash }).await;

        assert_eq!(shop.balance(rajan).await, rupees(300 + 60 + 20 - 150));
        assert_eq!(shop.balance(supplier).await, rupees(-(1000 + 30 - 200)));
        let standing = shop.standing().await;
        assert_eq!(standing.cash, rupees(500 - 50 - 50 - 20 + 150 - 100));
        assert_eq!(standing.bank, rupees(40 + 30 - 200 + 7 + 100));
        assert_eq!((standing.receivable, standing.payable, standing.entries), (rupees(230), rupees(830), 12));
        let today = shop.today().await;
        assert_eq!((today.sales, today.sales_on_credit), (rupees(900), rupees(360)));
        assert_eq!((today.purchases, today.purchases_on_credit), (rupees(1000), rupees(1000)));
        let day = LedgerDay::of(shop.now(), &shop.zone);
        let spent = shop.read(move |tx| daily_turnover::sum_by_category(tx, DayRange::day(day))).await.unwrap();
        assert_eq!(spent, [("kiraya".to_owned(), rupees(100))]);
        assert_eq!((today.payments_received, today.payments_made), (rupees(157), rupees(200)));
        assert_eq!((today.money_in, today.money_out), (rupees(500 + 40 + 30 + 150 + 7), rupees(100 + 20 + 200)));
        shop.assert_sound().await;
    }

    async fn a_repeat_gives_the_same_entry_and_another_act_under_its_key_is_refused(test: TestDb) {
        let shop = Shop::open(&test).await;
        let rajan = shop.contact("Rajan").await;
        let new = shop.new_entry(credit_sale(rajan, 300));
        let first = shop.book_new(new.clone()).await.unwrap();
        let again = shop.book_new(new.clone()).await.unwrap();
        assert_eq!((first.is_repeat, again.is_repeat), (false, true));
        assert_eq!(first.entry, again.entry);
        assert_eq!(shop.balance(rajan).await, rupees(300));
        let other = NewLedgerEntry { act: credit_sale(rajan, 301), ..new };
        assert!(matches!(shop.book_new(other).await, Err(Error::KeyTaken { number: 1 })));
        shop.assert_sound().await;
    }

    async fn what_is_cancelled_leaves_no_trace_in_figures_and_a_whole_one_in_the_books(test: TestDb) {
        let shop = Shop::open(&test).await;
        let rajan = shop.contact("Rajan").await;
        let entry = shop.book(credit_sale(rajan, 300)).await;
        shop.clock.advance(std::time::Duration::from_secs(86_400));
        let before = shop.today().await;
        let written = shop.read(move |tx| entry::find(tx, entry.id)).await.unwrap();
        assert_eq!(written.as_ref(), Some(&entry), "what booking gives is what stands in the books");
        let reversal = shop.cancel(entry.id, "he brought it back").await.unwrap().entry;
        let written = shop.read(move |tx| entry::find(tx, reversal.id)).await.unwrap();
        let reversal = written.inspect(|written| assert_eq!(*written, reversal)).unwrap();
        assert_eq!((reversal.amount, reversal.day, reversal.reverses), (rupees(-300), entry.day, Some(entry.id)));
        assert_eq!((shop.balance(rajan).await, shop.standing().await.receivable), (Money::ZERO, Money::ZERO));
        assert_eq!(shop.today().await, before, "another day is as it was");
        let day = entry.day;
        let then = shop.read(move |tx| daily_turnover::totals(tx, DayRange::day(day))).await.unwrap();
        assert_eq!((then.sales, then.postings), (Money::ZERO, 0));
        let found = shop.read(move |tx| entry::find(tx, entry.id)).await.unwrap().unwrap();
        assert_eq!(found.cancelled.unwrap().reason, "he brought it back");
        let again = shop.cancel(entry.id, "twice").await;
        assert!(matches!(again, Err(Error::AlreadyCancelled { number: 1, .. })), "{again:?}");
        let back = shop.cancel(reversal.id, "no").await;
        assert!(matches!(back, Err(Error::Invalid(_))), "{back:?}");
        let silent = shop.book(cash_sale(1)).await;
        assert!(matches!(shop.cancel(silent.id, "  ").await, Err(Error::Invalid(_))));
        shop.assert_sound().await;
    }

    async fn a_correction_cancels_the_wrong_entry_and_books_the_right_one_once(test: TestDb) {
        let shop = Shop::open(&test).await;
        let (rajan, ranjan) = (shop.contact("Rajan").await, shop.contact("Ranjan").await);
        let wrong = shop.book(credit_sale(rajan, 5000)).await;
        let right = NewLedgerEntry { key: some_key(7), ..shop.new_entry(credit_sale(ranjan, 500)) };
        for turn in [false, true] {
            let right = right.clone();
            let done = shop.write(move |tx, writing| correct(tx, writing, wrong.id, &right, "misheard")).await.unwrap();
            assert_eq!((done.is_repeat, done.right.corrects), (turn, Some(wrong.id)));
            assert!(!done.wrong.is_active() && done.right.is_active());
        }
        assert_eq!((shop.balance(rajan).await, shop.balance(ranjan).await), (Money::ZERO, rupees(500)));
        assert_eq!(shop.standing().await.entries, 3);
        // A right entry that can't be booked leaves the wrong one standing, though the caller goes on.
        let bad = shop.new_entry(credit_sale(ranjan, 0));
        let second = shop.book(credit_sale(rajan, 10)).await;
        shop.write(move |tx, writing| {
            assert!(correct(tx, writing, second.id, &bad, "x").is_err());
            Ok(())
        }).await.unwrap();
        assert!(shop.read(move |tx| entry::find(tx, second.id)).await.unwrap().unwrap().is_active());
        shop.assert_sound().await;
    }

    async fn what_can_not_be_is_refused_with_a_way_out(test: TestDb) {
        let shop = Shop::open(&test).await;
        let rajan = shop.contact("Rajan").await;
        let on = |settled, party, amount| ShopTransaction::Sale { amount, settled, party, lines: vec![] };
        let part = |paid| PaymentTerms::Part { paid: rupees(paid), means: PaymentMeans::Cash };
        let bad = [
            (on(PaymentTerms::Credit, None, rupees(5)), "name the contact"),
            (on(part(5), Some(rajan), rupees(5)), "less than all"),
            (on(part(0), Some(rajan), rupees(5)), "more than nothing"),
            (cash_sale(0), "above zero"),
            (cash_sale(-5), "above zero"),
            (on(PaymentTerms::Now(PaymentMeans::Cash), None, Money::from_paise(i64::MAX)), "at most"),
            (ShopTransaction::StockIn { lines: vec![], party: None }, "at least one item"),
            (ShopTransaction::Expense { amount: rupees(5), category: " ".into(), settled: PaymentTerms::Now(PaymentMeans::Cash), party: None }, "category"),
        ];
        for (act, words) in bad {
            let refused = shop.book_new(shop.new_entry(act)).await.unwrap_err().to_string();
            assert!(refused.contains(words), "{refused}");
        }
        let mut late = shop.new_entry(cash_sale(5));
        late.said.happened_at = shop.now().plus(std::time::Duration::from_secs(3 * 86_400));
        assert!(matches!(shop.book_new(late).await, Err(Error::Invalid(_))));
        assert_eq!(shop.standing().await.entries, 0);
    }

    async fn balances_are_listed_the_largest_first_and_page_by_page(test: TestDb) {
        let shop = Shop::open(&test).await;
        for (name, amount) in [("Asha", 100), ("Bala", 300), ("Chetan", 200), ("Dev", 300)] {
            let contact = shop.contact(name).await;
            shop.book(credit_sale(contact, amount)).await;
        }
        let owed = shop.contact("Gupta Traders").await;
        shop.book(ShopTransaction::CreditTaken { party: owed, amount: rupees(70), lent: CreditAsset::Goods, lines: vec![] }).await;
        let (first, rest, mine) = shop.read(|tx| {
            let first = balances::list_debtors(tx, None, 3)?;
            let rest = balances::list_debtors(tx, first.last().map(balances::BalanceCursor::from_contact), 3)?;
            Ok((first, rest, balances::list_creditors(tx, None, 10)?))
        }).await.unwrap();
        let amounts = |list: &[Contact]| list.iter().map(|one| one.balance).collect::<Vec<_>>();
        assert_eq!(amounts(&first), [rupees(300), rupees(300), rupees(200)]);
        assert_eq!(amounts(&rest), [rupees(100)]);
        assert_eq!((mine.len(), mine[0].name.as_str(), mine[0].balance), (1, "Gupta Traders", rupees(-70)));
    }

    async fn days_weeks_and_months_are_the_tenants_own(test: TestDb) {
        let shop = Shop::open(&test).await;
        let mut late = shop.new_entry(cash_sale(100));
        // Saturday, half past eleven at night in India: still Saturday there.
        late.said.happened_at = "2026-11-14T18:00:00Z".parse().unwrap();
        shop.book_new(late).await.unwrap();
        let mut early = shop.new_entry(cash_sale(10));
        early.said.happened_at = "2026-11-14T19:00:00Z".parse().unwrap();
        shop.book_new(early).await.unwrap();
        let today = LedgerDay::of(shop.now(), &shop.zone);
        let (day, week, month) = shop.read(move |tx| {
            let sales = |tx: &mut munshi_store::Tx<'_>, days| daily_turnover::totals(tx, days).map(|totals| totals.sales);
            Ok((sales(tx, DayRange::day(today))?, sales(tx, DayRange::week(today))?, sales(tx, DayRange::month(today))?))
        }).await.unwrap();
        assert_eq!((day, week, month), (rupees(10), rupees(110), rupees(110)));
        let page = shop.read(|tx| {
            let request = munshi_store::PageRequest::new(None, 1);
            let first = day_book::page(tx, day_book::LedgerPeriod::EVER, &request)?;
            let second = day_book::page(tx, day_book::LedgerPeriod::EVER, &munshi_store::PageRequest::new(first.next, 1))?;
            Ok((first.items[0].amount, second.items[0].amount, second.next))
        }).await.unwrap();
        assert_eq!(page, (rupees(10), rupees(100), None));
    }
}
