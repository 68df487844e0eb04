//! Messages of banks as entries: one payment is one entry, whoever tells of it, and what is not sure is asked.

use std::sync::Arc;
use std::time::Duration;

use munshi_ledger::books::*;
use munshi_ledger::messages::{
    self, IncomingSms, SmsConsent, SmsImport, SmsImportMode, SmsImportOutcome, SmsImportReport, SmsOutcome,
    SmsTimeSource, import, phone,
};
use munshi_store::MIGRATIONS;
use munshi_test_support::on_both_engines;
use munshi_types::Timestamp;

use crate::books::files::{copied, picture};
use crate::books::support::{Shop, rupees};

const MINUTE: Duration = Duration::from_secs(60);

fn bank(amount: &str, name: &str, reference: &str) -> String {
    format!("Rs.{amount} credited to a/c **4471 on 15-11-26 from VPA {name} (UPI Ref No {reference})")
}

/// The app's own message of a payment, which has no number.
fn app(amount: &str, name: &str) -> String {
    format!("You received Rs.{amount} from {name} in your a/c XX4471 via UPI")
}

async fn take(shop: &Shop, text: &str, at: Timestamp, consent: SmsConsent) -> SmsOutcome {
    let (text, key) = (text.to_owned(), shop.key());
    shop.write(move |tx, writing| {
        let arrived =
            IncomingSms { key, text: &text, sender: None, at, told: SmsTimeSource::ByPhone, by: None };
        messages::book(tx, writing, &arrived, consent)
    })
    .await
    .unwrap()
}

fn kind(outcome: &SmsOutcome) -> &'static str {
    match outcome {
        SmsOutcome::Booked(_) => "booked",
        SmsOutcome::Known(_) => "known",
        SmsOutcome::Question(_) => "question",
        SmsOutcome::Nothing(_) => "nothing",
    }
}

async fn seen(shop: &Shop, text: &str) -> &'static str {
    kind(&take(shop, text, shop.now(), SmsConsent::Open).await)
}

fn by_upi(party: Option<ContactId>, amount: i64) -> ShopTransaction {
    ShopTransaction::PaymentReceived { party, amount: rupees(amount), means: PaymentMeans::Bank }
}

async fn imported(shop: &Shop, text: &str, mode: SmsImportMode, agreed: &[u64]) -> SmsImportReport {
    let rows = phone::read(text.as_bytes(), &shop.zone.to_jiff()).unwrap();
    let into = SmsImport {
        db: shop.db.clone(),
        tenant: shop.tenant,
        zone: shop.zone.clone(),
        ids: shop.ids.clone(),
        now: shop.now(),
        mode,
        agreed: Arc::new(agreed.to_vec()),
    };
    import(&into, rows, |_| {}).await.unwrap()
}

fn counted(report: &SmsImportReport) -> (u64, u64, u64, u64, u64) {
    let count = report.count;
    (count.booked, count.known, count.questions, count.nothing, count.unreadable)
}

on_both_engines! {
    with [MIGRATIONS, munshi_ledger::MIGRATIONS];

    async fn a_number_tells_one_payment_from_another(test: TestDb) {
        let shop = Shop::open(&test).await;
        assert_eq!(seen(&shop, &bank("500.00", "ramesh@ybl", "516588123401")).await, "booked");
        shop.clock.advance(MINUTE);
        // The wallet tells of it in other words, with the same number.
        let wallet = "Received Rs.500 from ramesh@ybl on 15-11-26. UPI Ref 516588123401. -Paytm";
        assert_eq!(seen(&shop, wallet).await, "known");
        assert_eq!(seen(&shop, &bank("500.00", "ramesh@ybl", "516588123402")).await, "booked", "another number");
        assert_eq!(seen(&shop, &bank("501.00", "ramesh@ybl", "516588123401")).await, "booked", "another amount");
        assert_eq!(shop.standing().await.bank, rupees(1501));
        shop.assert_sound().await;
    }

    async fn what_was_seen_again_is_known_in_a_copy_of_the_books(test: TestDb) {
        let shop = Shop::open(&test).await;
        let ramesh = shop.contact("Ramesh").await;
        shop.book(by_upi(Some(ramesh), 500)).await;
        let message = bank("500.00", "RAMESH", "516588123401");
        let taken = take(&shop, &message, shop.now(), SmsConsent::Open).await;
        assert_eq!(kind(&taken), "known", "the owner has told of it: {taken:?}");
        let copy = copied(&shop, &Shop::open(&test).await).await;
        shop.clock.advance(4 * 24 * 60 * MINUTE);
        assert_eq!(seen(&shop, &message).await, "known");
        assert_eq!(seen(&copy, &message).await, "known", "it was seen before the copy was made");
        assert_eq!(picture(&copy).await, picture(&shop).await);
        assert_eq!(copy.standing().await.bank, rupees(500));
    }

    async fn a_message_without_a_number_is_known_by_the_rest(test: TestDb) {
        let shop = Shop::open(&test).await;
        assert_eq!(seen(&shop, &app("500", "ramesh@ybl")).await, "booked");
        shop.clock.advance(2 * MINUTE);
        assert_eq!(seen(&shop, &bank("500.00", "ramesh@ybl", "516588123401")).await, "known", "the same name, soon after");
        assert_eq!(seen(&shop, &bank("500.00", "ramesh@ybl", "516588123401")).await, "known", "its number was noted");
        let other = "You received Rs.500 from sita@ybl in your a/c XX4471 via UPI";
        assert_eq!(seen(&shop, other).await, "question", "another name may be another's or the same");
        let elsewhere = "You received Rs.500 from sita@ybl in your a/c XX9902 via UPI";
        assert_eq!(seen(&shop, elsewhere).await, "booked", "another account is another payment");
        shop.clock.advance(60 * MINUTE);
        assert_eq!(seen(&shop, &app("500", "ramesh@ybl")).await, "booked", "the same words an hour later");
        shop.assert_sound().await;
    }

    async fn what_the_owner_said_is_the_payment_the_bank_tells_of(test: TestDb) {
        let shop = Shop::open(&test).await;
        let rajan = shop.contact("Rajan").await;
        shop.book(by_upi(Some(rajan), 500)).await;
        shop.clock.advance(20 * MINUTE);
        let message = "Rs.500.00 credited to a/c **4471 on 15-11-26 by RAJAN (UPI Ref No 516588123401)";
        assert_eq!(seen(&shop, message).await, "known");
        assert_eq!(shop.balance(rajan).await, rupees(-500));
        // A second one of the same sum with a number of its own is another.
        let second = "Rs.500.00 credited to a/c **4471 on 15-11-26 by RAJAN (UPI Ref No 516588999999)";
        assert_eq!(seen(&shop, second).await, "booked");
        shop.assert_sound().await;
    }

    async fn what_leaves_something_open_is_asked_about(test: TestDb) {
        let shop = Shop::open(&test).await;
        let (rajan, asha) = (shop.contact("Rajan").await, shop.contact("Asha").await);
        let cash = ShopTransaction::PaymentReceived { party: Some(rajan), amount: rupees(500), means: PaymentMeans::Cash };
        let said = shop.book(cash).await;
        let message = "Rs.500.00 credited to a/c **4471 on 15-11-26 by RAJAN (UPI Ref No 516588123401)";
        let SmsOutcome::Question(question) = take(&shop, message, shop.now(), SmsConsent::Open).await else { panic!("cash is no bank") };
        assert_eq!(question.like.unwrap().id, said.id);
        shop.book(by_upi(None, 70)).await;
        let stranger = bank("70.00", "q8812@ybl", "516588000001");
        assert_eq!(seen(&shop, &stranger).await, "question", "nobody known may be anybody");
        assert_eq!(kind(&take(&shop, &stranger, shop.now(), SmsConsent::Given).await), "booked", "the owner says it is another");
        shop.book(by_upi(Some(asha), 90)).await;
        let rajans = "Rs.90.00 credited to a/c **4471 on 15-11-26 by RAJAN (UPI Ref No 516588000002)";
        assert_eq!(seen(&shop, rajans).await, "booked", "Asha's is not Rajan's");
        assert_eq!(seen(&shop, "Rs.80.00 credited to your account").await, "question", "it names nothing to know it by");
        shop.assert_sound().await;
    }

    async fn what_is_told_late_is_asked_about_and_never_booked_twice(test: TestDb) {
        let shop = Shop::open(&test).await;
        let rajan = shop.contact("Rajan").await;
        shop.book(by_upi(Some(rajan), 500)).await;
        shop.book(by_upi(None, 60)).await;
        shop.clock.advance(5 * 60 * MINUTE);
        assert_eq!(seen(&shop, &bank("500.00", "q8812@ybl", "516588000001")).await, "question", "an address may be Rajan's");
        let longer = "Rs.500.00 credited to a/c **4471 on 15-11-26 by RAJAN KUMAR (UPI Ref No 516588000002)";
        assert_eq!(seen(&shop, longer).await, "question", "the bank knows more of his name");
        let other = "Rs.500.00 credited to a/c **4471 on 15-11-26 by MEENA (UPI Ref No 516588000003)";
        assert_eq!(seen(&shop, other).await, "booked", "Meena is somebody else, and it is hours later");
        assert_eq!(seen(&shop, &bank("60.00", "q8812@ybl", "516588000004")).await, "question", "nobody's may be anybody's");
        shop.clock.advance(30 * 60 * MINUTE);
        let day_after = "Rs.500.00 credited to a/c **4471 on 16-11-26 by RAJAN (UPI Ref No 516588000005)";
        assert_eq!(seen(&shop, day_after).await, "question", "of Rajan the owner may have told before the bank");
        shop.assert_sound().await;
    }

    async fn a_message_of_the_day_alone_is_asked_about(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.contact("Sita").await;
        let sita = shop.contact("Sita Devi").await;
        shop.book(by_upi(Some(sita), 300)).await;
        shop.book(by_upi(None, 40)).await;
        shop.clock.advance(MINUTE);
        for (text, why) in [
            (bank("300.00", "q77@ybl", "516588123402"), "from an address"),
            (bank("40.00", "q77@ybl", "516588123403"), "of nobody"),
            ("Rs.300.00 credited to a/c **4471 on 15-11-26 by SITA (UPI Ref No 516588123404)".to_owned(), "of a name that is near"),
        ] {
            let key = shop.key();
            let outcome = shop.write(move |tx, writing| {
                let arrived = IncomingSms { key, text: &text, sender: None, at: writing.now, told: SmsTimeSource::ByPerson, by: None };
                messages::book(tx, writing, &arrived, SmsConsent::Open)
            });
            assert_eq!(kind(&outcome.await.unwrap()), "question", "{why}");
        }
    }

    async fn a_late_message_of_a_payment_is_asked_about(test: TestDb) {
        let shop = Shop::open(&test).await;
        assert_eq!(seen(&shop, &app("500", "ramesh@ybl")).await, "booked");
        shop.clock.advance(40 * MINUTE);
        assert_eq!(seen(&shop, &bank("500.00", "ramesh@ybl", "516588123401")).await, "question", "it may have been on its way");
        let sale = ShopTransaction::Sale { amount: rupees(240), settled: PaymentTerms::Now(PaymentMeans::Cash), party: None, lines: Vec::new() };
        shop.book(sale).await;
        shop.clock.advance(2 * MINUTE);
        assert_eq!(seen(&shop, &bank("240.00", "q1@ybl", "516588123409")).await, "question", "nobody said how it was paid");
    }

    async fn the_same_paid_twice_is_never_passed_over(test: TestDb) {
        let shop = Shop::open(&test).await;
        assert_eq!(seen(&shop, &app("500", "ramesh@ybl")).await, "booked");
        shop.clock.advance(4 * MINUTE);
        assert_eq!(seen(&shop, &app("500", "ramesh@ybl")).await, "question", "the same words say nothing of which");
        let shop = Shop::open(&test).await;
        assert_eq!(seen(&shop, &bank("500.00", "ramesh@ybl", "516588123401")).await, "booked");
        assert_eq!(seen(&shop, &app("500", "ramesh@ybl")).await, "known", "the app tells of it too");
        shop.clock.advance(4 * MINUTE);
        assert_eq!(seen(&shop, &app("500", "ramesh@ybl")).await, "question", "the app has told of the first");
        assert_eq!(seen(&shop, &bank("500.00", "ramesh@ybl", "516588123402")).await, "booked");
        assert_eq!(shop.standing().await.bank, rupees(1000));
    }

    async fn what_was_corrected_is_known_again(test: TestDb) {
        let shop = Shop::open(&test).await;
        let first = take(&shop, &app("500", "ramesh@ybl"), shop.now(), SmsConsent::Open).await;
        let SmsOutcome::Booked(booked) = first else { panic!("not booked") };
        let by_bank = bank("500.00", "ramesh@ybl", "516588123401");
        assert_eq!(seen(&shop, &by_bank).await, "known");
        let (wrong, mut right) = (booked.entry.id, shop.new_entry(by_upi(None, 300)));
        right.said = EntryProvenance { words: booked.entry.words.clone(), ..EntryProvenance::new(LedgerEntrySource::Sms, "", booked.entry.happened_at) };
        shop.write(move |tx, writing| correct(tx, writing, wrong, &right, "wrong")).await.unwrap();
        assert_eq!(seen(&shop, &by_bank).await, "known", "by the number it was seen with");
        let other = "Received Rs.500 from ramesh@ybl on 15-11-26. -Paytm";
        assert_ne!(seen(&shop, other).await, "booked", "the bank's amount is still that payment's");
        shop.assert_sound().await;
    }

    async fn a_payment_stands_on_the_day_it_was_made(test: TestDb) {
        let shop = Shop::open(&test).await;
        let early = "Rs.500.00 credited to a/c **4471 on 03-11-26 from VPA ramesh@ybl (UPI Ref No 516588123401)";
        let SmsOutcome::Booked(booked) = take(&shop, early, shop.now(), SmsConsent::Open).await else { panic!("not booked") };
        assert_eq!(booked.entry.day.to_string(), "2026-11-03");
        let ahead = "Rs.600.00 credited to a/c **4471 on 03-12-26 from VPA ramesh@ybl (UPI Ref No 516588123402)";
        let SmsOutcome::Booked(booked) = take(&shop, ahead, shop.now(), SmsConsent::Open).await else { panic!("not booked") };
        assert_eq!(booked.entry.happened_at, shop.now(), "what lies ahead was misread");
    }

    async fn cash_from_a_machine_stays_in_the_shop(test: TestDb) {
        let shop = Shop::open(&test).await;
        let machine = "Rs.5000 withdrawn from HDFC Bank Debit Card x9981 at MG ROAD ATM on 15-11-26. Avl bal Rs.21,400";
        let SmsOutcome::Booked(booked) = take(&shop, machine, shop.now(), SmsConsent::Open).await else { panic!("not booked") };
        assert_eq!(booked.entry.kind, LedgerEntryKind::Transfer);
        let standing = shop.standing().await;
        assert_eq!((standing.cash, standing.bank), (rupees(5000), rupees(-5000)));
        assert_eq!(seen(&shop, machine).await, "known");
        shop.assert_sound().await;
    }

    async fn cash_put_into_the_bank_is_asked_about_for_it_may_be_a_customers(test: TestDb) {
        let shop = Shop::open(&test).await;
        let paid_in = "INR 8,000.00 has been CREDITED to your A/c XXX810 on 15/11/2026 by CASH. Total bal is INR 38,118.00.";
        assert_eq!(seen(&shop, paid_in).await, "question");
        let SmsOutcome::Booked(booked) = take(&shop, paid_in, shop.now(), SmsConsent::Given).await else { panic!("not booked") };
        assert_eq!(booked.entry.kind, LedgerEntryKind::Transfer);
        let standing = shop.standing().await;
        assert_eq!((standing.cash, standing.bank), (rupees(-8000), rupees(8000)));
        shop.assert_sound().await;
    }

    async fn money_between_own_accounts_changes_nothing(test: TestDb) {
        let shop = Shop::open(&test).await;
        for text in [
            "Rs 12,000 transferred from your A/c XX4471 to your A/c XX8890 on 15-11-26. Ref 515700112233",
            "Rs. 500 added to your Paytm Wallet on 15-11-26. Txn ID 66778899001. Updated balance: Rs 880",
        ] {
            assert_eq!(seen(&shop, text).await, "nothing", "{text}");
        }
        assert_eq!(shop.standing().await.entries, 0);
    }

    async fn a_telephone_number_in_an_address_finds_its_contact(test: TestDb) {
        let shop = Shop::open(&test).await;
        let new = NewContact { name: "Rajan".into(), phone: Some("9876543210".into()), ..NewContact::default() };
        let rajan = shop.write(move |tx, writing| contacts::add(tx, writing.ids, writing.now, &new)).await.unwrap().id;
        assert_eq!(seen(&shop, &bank("500.00", "9876543210@ybl", "516588123401")).await, "booked");
        assert_eq!(shop.balance(rajan).await, rupees(-500));
    }

    async fn a_phone_is_taken_once_however_often(test: TestDb) {
        let shop = Shop::open(&test).await;
        let now = shop.now().as_micros() / 1000;
        let line = |minutes: i64, text: &str, sender: &str| {
            serde_json::json!({ "text": text, "sender": sender, "date": now - minutes * 60_000 }).to_string()
        };
        let mut lines: Vec<String> = (0..250)
            .map(|number| line(10_000 - number * 30, &format!("Rs.{}.00 debited from a/c **4471 to VPA shop{number}@ybl (UPI Ref No 5165881{number:05})", 100 + number), "VM-HDFCBK"))
            .collect();
        lines.push(line(50, "448291 is your OTP for txn of INR 2,499.00 at AMAZON", "VM-HDFCBK"));
        lines.push(line(40, "hi, when do you open?", "+919812345678"));
        lines.push(line(30, "USD 20.00 spent on card XX1234 at OPENAI", "VM-HDFCBK"));
        lines.push("{\"sender\":\"VM-HDFCBK\"}".to_owned());
        lines.push("not json".to_owned());
        lines.push(lines[7].clone());
        lines.reverse();
        let text = lines.join("\n");

        let text = text.replacen("not json", "{not json", 1);
        let rehearsed = imported(&shop, &text, SmsImportMode::Rehearse, &[]).await;
        assert!(!rehearsed.is_applied);
        assert_eq!(shop.standing().await.entries, 0, "a rehearsal writes nothing");
        let mut said = Vec::new();
        let first = {
            let rows = phone::read(text.as_bytes(), &shop.zone.to_jiff()).unwrap();
            let into = SmsImport { db: shop.db.clone(), tenant: shop.tenant, zone: shop.zone.clone(), ids: shop.ids.clone(),
                now: shop.now(), mode: SmsImportMode::Apply, agreed: Arc::default() };
            import(&into, rows, |done| said.push(done)).await.unwrap()
        };
        assert_eq!(counted(&first), (250, 1, 1, 2, 2), "{:?}", first.reasons);
        assert_eq!((counted(&rehearsed), rehearsed.lines.clone()), (counted(&first), first.lines.clone()), "a rehearsal tells the truth");
        assert_eq!((said.last(), said.len() > 1), (Some(&256), true), "progress is told: {said:?}");
        assert_eq!(first.lines.len(), 256, "every row has its outcome");
        assert!(first.lines.is_sorted_by_key(|line| line.row));
        assert_eq!(first.count.went_out, rupees((0..250).map(|number| 100 + number).sum()));

        let again = imported(&shop, &text, SmsImportMode::Apply, &[]).await;
        assert_eq!(counted(&again), (0, 251, 1, 2, 2), "nothing is booked twice");
        let question = again.lines.iter().find(|line| matches!(line.taken, SmsImportOutcome::Question { .. })).unwrap();
        assert!(question.text.as_deref().unwrap().contains("OPENAI"));
        assert_eq!(shop.standing().await.entries, 250);
        shop.assert_sound().await;
    }

    async fn a_large_amount_of_an_import_waits_for_a_yes(test: TestDb) {
        let shop = Shop::open(&test).await;
        let text = format!(
            "date,address,body\n2026-11-14 10:20:30,VM-HDFCBK,\"{}\"\n2026-11-14 10:30:30,VM-HDFCBK,\"{}\"\n",
            bank("10000.00", "ramesh@ybl", "516588123401"), bank("10001.00", "ramesh@ybl", "516588123402"),
        );
        let first = imported(&shop, &text, SmsImportMode::Apply, &[]).await;
        assert_eq!(counted(&first), (1, 0, 1, 0, 0), "{:?}", first.lines);
        let large = first.lines.iter().find(|line| matches!(line.taken, SmsImportOutcome::Question { is_only_large: true, .. })).unwrap();
        let agreed = imported(&shop, &text, SmsImportMode::Apply, &[large.row]).await;
        assert_eq!(counted(&agreed), (1, 1, 0, 0, 0));
        assert_eq!(shop.standing().await.bank, rupees(20_001));
    }

    async fn a_question_of_an_import_is_booked_when_it_was_answered(test: TestDb) {
        let shop = Shop::open(&test).await;
        let text = "date,address,body\n2026-11-14 10:20:30,VM-HDFCBK,\"Rs.75.00 credited to your account\"\n";
        let first = imported(&shop, text, SmsImportMode::Apply, &[]).await;
        assert_eq!(counted(&first), (0, 0, 1, 0, 0), "{:?}", first.lines);
        let row = first.lines[0].row;
        let mut first = first;
        first.replace_rows(imported(&shop, text, SmsImportMode::Apply, &[row]).await).unwrap();
        assert_eq!(counted(&first), (1, 0, 0, 0, 0));
        assert_eq!(counted(&imported(&shop, text, SmsImportMode::Apply, &[]).await), (0, 1, 0, 0, 0));
        shop.assert_sound().await;
    }
}
