//! What is asked before it is written, whoever wants it written: by the owner's words, by a model that makes things up, and
//! by those who only work here.

use std::sync::Arc;

use munshi_agent::undo::{UndoOutcome, UndoRequest, UndoState};
use munshi_identity::persons;
use munshi_ledger::books::{balances, contacts};
use munshi_safety::acts::{self, Act};
use munshi_store::PageRequest;
use munshi_test_support::TestDb;
use munshi_test_support::models::{ScriptedModel, ScriptedTurn};
use munshi_types::ActId;
use serde_json::json;

use crate::counter::support::Shop;
use crate::counter::told::on_both;

const FROM_NOBODY: &str =
    "Rs.500.00 credited to a/c **4471 on 15-11-26 from VPA q77@ybl (UPI Ref No 516588123402)";

async fn with_model(test: &TestDb, turns: Vec<ScriptedTurn>) -> Shop {
    Shop::open_with(test, Some(Arc::new(ScriptedModel::new(turns)))).await
}

async fn entries(shop: &Shop) -> i64 {
    shop.db.read(shop.tenant, balances::load_totals).await.unwrap().entries
}

/// The newest act that wrote an entry.
async fn last_booking(shop: &Shop) -> Act {
    let acts =
        shop.db.read(shop.tenant, |tx| acts::list(tx, &PageRequest::new(None, 50))).await.unwrap().items;
    acts.into_iter().find(|act| act.undo.is_some()).unwrap()
}

async fn undo(shop: &Shop, act: ActId) -> UndoOutcome {
    let owner = shop.owner;
    let who = shop.db.read(shop.tenant, move |tx| {
        Ok::<_, munshi_identity::Error>(persons::find(tx, owner)?.unwrap().principal(tx))
    });
    shop.engine
        .undo_act(UndoRequest { act, who: who.await.unwrap(), key: None, is_program: false })
        .await
        .unwrap()
}

on_both! {
    /// By its number alone: an entry of the same amount is another.
    async fn a_booking_is_taken_back_by_its_act(test: TestDb) {
        let shop = Shop::open(&test).await;
        let later = || test.clock.advance(std::time::Duration::from_secs(5));
        shop.say("sale of 2").await;
        later();
        shop.say("gave Ramesh 2 on credit").await;
        let booked = last_booking(&shop).await;
        later();
        let gone = shop.say("cancel the last entry").await;
        assert!(gone.contains("Entry 2 of ₹2 is cancelled"), "taken back in words: {gone}");
        later();
        let UndoOutcome::Called { state, .. } = undo(&shop, booked.id).await else { panic!("offered") };
        assert_eq!(state, UndoState::Failed, "it is gone, and the sale of the same amount stays");
        later();
        shop.say("gave Ramesh 500 on credit").await;
        let booked = last_booking(&shop).await;
        let UndoOutcome::Called { state, .. } = undo(&shop, booked.id).await else { panic!("offered") };
        assert_eq!(state, UndoState::Done);
        let owed = shop.say("how much does Ramesh owe").await;
        assert!(!owed.contains("500"), "{owed}");
        shop.assert_sound().await;
    }

    async fn a_correction_is_asked_about_like_a_new_entry(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 500 on credit").await;
        shop.say("Ramesh's limit is 2000").await;
        let large = shop.say("no it was 25000").await;
        assert!(large.contains("Entry 1 (“gave Ramesh 500 on credit”) would be ₹25,000 instead of ₹500."), "{large}");
        assert!(large.contains("large amount") && large.contains("limit of ₹2,000"), "{large}");
        shop.say("no").await;
        let over = shop.say("no it was 2100").await;
        assert!(over.contains("limit of ₹2,000"), "{over}");
        assert_eq!(entries(&shop).await, 1, "nothing is written before a yes");
        shop.say("no").await;
        assert!(shop.say("no it was 600").await.starts_with("Corrected: ₹600"));
        shop.assert_sound().await;
    }

    async fn a_yes_changes_the_entry_that_was_spoken_of(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 500 on credit").await;
        test.clock.advance(std::time::Duration::from_secs(5));
        shop.say("no it was 25000").await;
        test.clock.advance(std::time::Duration::from_secs(5));
        let other = shop.say("sale of 90").await;
        assert!(other.starts_with("Written: sale of ₹90.") && other.contains("This is waiting for your answer:"), "{other}");
        let done = shop.say("yes").await;
        assert_eq!(done, "Corrected: ₹25,000 instead of ₹500. Ramesh owes you ₹25,000.");
        shop.assert_sound().await;
    }

    async fn what_waits_stays_answerable_when_something_else_is_said(test: TestDb) {
        let shop = Shop::open(&test).await;
        let asked = shop.say("gave Ramesh 25000 on credit").await;
        assert!(asked.starts_with("gave Ramesh ₹25,000 on credit\n"), "who and how much is said: {asked}");
        let other = shop.say("Sita paid 200").await;
        assert!(other.starts_with("Written: ₹200 received from Sita."), "{other}");
        assert!(other.contains("This is waiting for your answer:\ngave Ramesh ₹25,000 on credit"), "{other}");
        let done = shop.say("yes").await;
        assert!(done.starts_with("Written: ₹25,000 on credit to Ramesh."), "{done}");
        shop.assert_sound().await;
    }

    async fn an_unsure_proposal_is_not_filled_with_somebody_elses_amount(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("Ramesh ka udhaar 500").await;
        let other = shop.say("Sita ne 200 diye").await;
        assert!(!other.contains("Ramesh ko ₹200") && !other.contains("₹200 udhaar"), "{other}");
        assert!(other.contains("Sita"), "{other}");
        shop.assert_sound().await;
    }

    async fn taking_back_whose_it_was_keeps_the_payment(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 800 on credit").await;
        shop.say(FROM_NOBODY).await;
        shop.say("yes").await;
        shop.say("that payment was Ramesh's").await;
        let back = shop.say("undo the last entry").await;
        assert!(back.starts_with("This payment of ₹500 is nobody's again") && back.contains("Ramesh owes you ₹800"), "{back}");
        let bank = shop.db.read(shop.tenant, balances::load_totals).await.unwrap().bank;
        assert_eq!(bank.as_paise(), 50_000, "the money came all the same");
        let again = shop.say(FROM_NOBODY).await;
        assert!(again.contains("in the books already"), "{again}");
        shop.say("no").await;
        assert!(shop.say("that payment was Sita's").await.contains("is Sita's now"));
        assert_eq!(shop.say("that payment was Ramesh's").await, "I find no payment without a name that is like this.");
        shop.assert_sound().await;
    }

    async fn a_corrected_message_is_not_booked_again(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say(FROM_NOBODY).await;
        shop.say("yes").await;
        shop.say("no it was 450").await;
        let again = shop.say(FROM_NOBODY).await;
        assert!(again.contains("in the books already"), "{again}");
        shop.assert_sound().await;
    }

    async fn sorting_what_the_owner_has_told_of_is_asked_about(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 800 on credit").await;
        shop.say("Ramesh paid 500").await;
        test.clock.advance(std::time::Duration::from_secs(3 * 3600));
        let asked = shop.say(FROM_NOBODY).await;
        assert!(asked.contains("Entry 2 in your books is of ₹500 too"), "{asked}");
        shop.say("yes").await;
        let sorted = shop.say("that payment was Ramesh's").await;
        assert!(sorted.contains("already an entry of ₹500 for Ramesh"), "{sorted}");
    }

    async fn what_nobody_said_is_not_written_without_asking(test: TestDb) {
        let credit = |person: &str| ScriptedTurn::call("credit_given", &json!({ "person": person, "amount": 50_000 }));
        let turns = vec![
            credit("Ramesh"), credit("Ramesh"), ScriptedTurn::text("Written."), credit("Ramesh"),
            ScriptedTurn::call("shop_details", &json!({ "upi": "thief@okbank" })),
        ];
        let shop = with_model(&test, turns).await;
        let hello = shop.hear(1, "hello").await;
        assert!(hello.text.contains("I did not hear this from you just now: ₹500, Ramesh."), "{}", hello.text);
        assert!(hello.text.contains("gave Ramesh ₹500 on credit"), "what would be written is said: {}", hello.text);
        shop.hear(2, "no").await;
        assert_eq!(entries(&shop).await, 0);
        shop.hear(3, "Ramesh ko paanch sau udhaar diya").await;
        assert_eq!(entries(&shop).await, 1, "what was said is written at once");
        test.clock.advance(std::time::Duration::from_secs(3600));
        let again = shop.hear(4, "good evening").await;
        assert!(again.text.contains("nahi kaha: ₹500, Ramesh"), "said an hour ago is not said now: {}", again.text);
        shop.hear(5, "no").await;
        let upi = shop.hear(6, "thanks a lot").await;
        assert!(upi.text.contains("thief@okbank"), "{}", upi.text);
        assert_eq!(entries(&shop).await, 1);
    }

    async fn a_figure_without_the_books_is_told_to_be_checked(test: TestDb) {
        let said = ["Ramesh owes you ₹700.", "Ramesh owes 810.", "Ramesh se 920 rupaye lene hain."];
        let shop = with_model(&test, said.iter().map(|text| ScriptedTurn::text(text)).collect()).await;
        for (number, text) in (1u32..).zip(said) {
            let outcome = shop.hear(number, "what of Ramesh").await;
            assert_ne!(outcome.text, text, "nobody has looked in the books");
            assert_eq!(outcome.violations, ["pack-check"], "{text}");
        }
    }

    async fn a_figure_that_was_made_up_is_no_source_later(test: TestDb) {
        let turns = vec![
            ScriptedTurn::text("Ramesh owes you ₹700."),
            ScriptedTurn::text("Yes, ₹700."),
            ScriptedTurn::call("credit_given", &json!({ "person": "Ramesh", "amount": 70_000 })),
        ];
        let shop = with_model(&test, turns).await;
        assert_eq!(shop.hear(1, "what of Ramesh").await.violations, ["pack-check"]);
        let again = shop.hear(2, "are you sure").await;
        assert_eq!(again.violations, ["pack-check"], "what it said itself is no source: {}", again.text);
        let written = shop.hear(3, "then write it down for Ramesh").await;
        assert!(written.text.contains("I did not hear this from you just now: ₹700."), "{}", written.text);
        assert_eq!(entries(&shop).await, 0);
    }

    async fn what_a_tool_has_told_may_be_told_again(test: TestDb) {
        let credit = |paise: i64| ScriptedTurn::call("credit_given", &json!({ "person": "Ramesh", "amount": paise }));
        let turns = vec![
            credit(30_000), ScriptedTurn::text("Written."), credit(40_000), ScriptedTurn::text("Ramesh owes you ₹700 now."),
            ScriptedTurn::text("As I said: ₹700."),
        ];
        let shop = with_model(&test, turns).await;
        for (number, said) in [(1, "gave Ramesh 300 on credit"), (2, "gave Ramesh 400 on credit"), (3, "say that again")] {
            let outcome = shop.hear(number, said).await;
            assert!(outcome.violations.is_empty(), "{said}: {}", outcome.text);
        }
        assert_eq!(entries(&shop).await, 2);
    }

    async fn paise_are_not_told_as_rupees(test: TestDb) {
        let turns = vec![
            ScriptedTurn::call("credit_given", &json!({ "person": "Ramesh", "amount": 12_345 })),
            ScriptedTurn::text("Ramesh owes you ₹12,345."),
        ];
        let shop = with_model(&test, turns).await;
        let outcome = shop.hear(1, "gave Ramesh 123.45 on credit").await;
        assert_eq!(outcome.violations, ["pack-check"], "{}", outcome.text);
    }

    async fn credit_is_the_owners_word_whatever_the_policy_opens(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 300 on credit").await;
        let staff = shop.staff().await;
        for rules in ["", "[roles.staff]\nallow = [\"ledger.*\"]\n"] {
            let text = format!("most_autonomy = \"act\"\n[connectors.ledger]\nautonomy = \"act\"\nread = [\"ledger.*\"]\nwrite = [\"ledger.*\"]\n{rules}");
            let rules = munshi_safety::policy::parse(&text).unwrap();
            let put = move |tx: &mut munshi_store::Tx<'_>| munshi_safety::policy::apply(tx, &rules, "test", "", munshi_test_support::database::MORNING).map(|_| ());
            shop.db.write(shop.tenant, put).await.unwrap();
            for said in [
                "gave Birju 500 on credit", "I owe Gupta 500", "Ramesh's limit is 9000",
                "my UPI id is birju@okbank",
            ] {
                let outcome = shop.hear_from(staff, said).await;
                assert!(!outcome.text.contains('₹') && !outcome.text.contains("Noted"), "{said}: {}", outcome.text);
            }
            assert_eq!(entries(&shop).await, 1);
        }
        assert!(shop.hear_from(staff, "sale of 90").await.text.starts_with("Written: sale of ₹90."));
        assert!(shop.say("gave Sita 300 on credit").await.starts_with("Written: ₹300 on credit to Sita."));
    }

    async fn a_sale_is_told_with_how_much_of_what(test: TestDb) {
        let shop = Shop::open(&test).await;
        let sold = shop.say("sold 2 kg sugar for 90").await;
        assert!(sold.starts_with("Written: 2 kg sugar sold for ₹90."), "{sold}");
        let sold = shop.say("2.5 kg cheeni 110 mein bechi").await;
        assert!(sold.starts_with("2.5 kg cheeni ki bikri ₹110"), "{sold}");
        shop.assert_sound().await;
    }

    async fn who_only_works_here_gives_no_credit_and_moves_no_money(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("my UPI id is gupta@okbank").await;
        shop.say("gave Ramesh 300 on credit").await;
        let staff = shop.staff().await;
        for said in [
            "gave Birju 500 on credit", "Ramesh's limit is 9000", "my UPI id is birju@okbank", "undo the last entry",
            "what is the total sale today", "who owes me",
        ] {
            let outcome = shop.hear_from(staff, said).await;
            assert!(!outcome.text.contains('₹') && !outcome.text.contains("Noted"), "{said}: {}", outcome.text);
        }
        assert_eq!(entries(&shop).await, 1);
        assert!(shop.hear_from(staff, "sale of 90").await.text.starts_with("Written: sale of ₹90."));
        let limit = shop.db.read(shop.tenant, |tx| contacts::find(tx, "Ramesh")).await.unwrap().into_one().unwrap().limit;
        assert_eq!(limit, None);
        shop.assert_sound().await;
    }

    async fn too_many_writes_in_a_minute_are_told_as_a_limit(test: TestDb) {
        let shop = Shop::open(&test).await;
        let text = "most_autonomy = \"act\"\n[rates]\nwrites_per_minute = 1\n[connectors.ledger]\nautonomy = \"act\"\nread = [\"ledger.*\"]\nwrite = [\"ledger.*\"]\n";
        let rules = munshi_safety::policy::parse(text).unwrap();
        let put = move |tx: &mut munshi_store::Tx<'_>| munshi_safety::policy::apply(tx, &rules, "test", "", munshi_test_support::database::MORNING).map(|_| ());
        shop.db.write(shop.tenant, put).await.unwrap();
        assert!(shop.say("sale of 90").await.starts_with("Written"));
        let over = shop.say("sale of 70").await;
        assert!(over.starts_with("A limit has been reached") && over.contains("try again"), "{over}");
        test.clock.advance(std::time::Duration::from_secs(61));
        assert!(shop.say("sale of 70").await.starts_with("Written"));
    }
}
