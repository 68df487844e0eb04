//! What may happen between a question and its answer, and between two who speak at once: nothing is written twice, of
//! another day, or in the place of something else.

use std::time::Duration;

use munshi_conversations::holds::{self, ColleagueWords, TakeOutcome};
use munshi_conversations::sessions::{self, SessionFilter};
use munshi_ledger::books::{LedgerDay, balances, entry};
use munshi_store::{PageRequest, Tx};
use munshi_types::{Clock, HoldId, Money, PersonId, SessionId, Zone};

use crate::counter::support::Shop;
use crate::counter::told::on_both;

const FROM_RAMESH: &str =
    "Rs.340.00 credited to a/c **4471 on 15-11-26 from VPA ramesh@ybl (UPI Ref No 516588123409)";
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

async fn entries(shop: &Shop) -> i64 {
    shop.db.read(shop.tenant, balances::load_totals).await.unwrap().entries
}

/// A colleague takes the owner's conversation over, and says something in it.
async fn take_and_write(shop: &Shop, colleague: PersonId, text: &'static str) -> (SessionId, HoldId) {
    let (queue, ids, owner) = (shop.engine.job_queue(), shop.ids.clone(), shop.owner);
    let now = shop.clock.now();
    let unit = move |tx: &mut Tx<'_>| -> munshi_conversations::Result<_> {
        let newest = PageRequest::new(None, 1);
        let session = sessions::list(tx, SessionFilter::Person(owner), &newest)?.items.remove(0).id;
        let TakeOutcome::Taken(hold) = holds::take(tx, &queue, session, colleague, (ids.next(), now))? else {
            panic!("somebody has it")
        };
        let words = ColleagueWords { author: colleague, text, now };
        assert!(holds::write(tx, (&queue, &ids), session, &words)?.is_some());
        Ok((session, hold.id))
    };
    shop.db.write(shop.tenant, unit).await.unwrap()
}

async fn give_back(shop: &Shop, (session, hold): (SessionId, HoldId)) {
    let now = shop.clock.now();
    let unit = move |tx: &mut Tx<'_>| holds::give_back(tx, session, hold, now);
    assert!(shop.db.write(shop.tenant, unit).await.unwrap());
}

on_both! {
    async fn a_yes_behind_a_colleagues_words_books_nothing(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 500 on credit").await;
        let colleague = shop.staff().await;
        // They name a sum and ask for a yes, as the agent would.
        let held = take_and_write(&shop, colleague, "Shall I write ₹700 on credit to Ramesh?").await;
        give_back(&shop, held).await;
        shop.hear_next("yes").await;
        assert_eq!(entries(&shop).await, 1, "nobody but the agent had proposed it");
        // Nor does it answer what the agent had asked before.
        shop.say(FROM_RAMESH).await;
        let held = take_and_write(&shop, colleague, "Do you want your tea now?").await;
        give_back(&shop, held).await;
        shop.hear_next("yes").await;
        assert_eq!(entries(&shop).await, 1, "the yes was for the tea");
        shop.assert_sound().await;
    }

    async fn a_no_to_another_payment_says_which_it_is(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 800 on credit").await;
        shop.say("Ramesh paid 340").await;
        test.clock.advance(3 * HOUR);
        let asked = shop.say(FROM_RAMESH).await;
        assert!(asked.contains("Entry 2 in your books is of ₹340 too. Is this another payment?"), "{asked}");
        shop.say("no").await;
        test.clock.advance(HOUR);
        let again = shop.say(FROM_RAMESH).await;
        assert!(again.contains("in the books already, as entry 2") && !again.contains("another payment"), "{again}");
        shop.say("yes").await;
        assert_eq!(entries(&shop).await, 2);
        shop.assert_sound().await;
    }

    async fn a_no_to_what_was_misread_says_nothing_of_the_books(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say(FROM_RAMESH).await;
        shop.say("no").await;
        let again = shop.say(FROM_RAMESH).await;
        assert!(again.starts_with("The bank says: ₹340 came from ramesh@ybl."), "it can still be written: {again}");
        shop.say("yes").await;
        assert_eq!(entries(&shop).await, 1);
    }

    async fn a_payment_that_was_told_before_the_yes_is_not_written_twice(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 800 on credit").await;
        let asked = shop.say(FROM_RAMESH).await;
        assert!(!asked.contains("another payment"), "{asked}");
        test.clock.advance(MINUTE);
        shop.say("Ramesh paid 340").await;
        let late = shop.say("yes").await;
        assert_eq!(entries(&shop).await, 2, "the owner has told of it since: {late}");
        assert!(late.contains("since you were asked"), "{late}");
        let again = shop.say(FROM_RAMESH).await;
        assert!(again.contains("Is this another payment?"), "{again}");
        shop.assert_sound().await;
    }

    async fn a_limit_that_was_set_before_the_yes_holds(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 500 on credit").await;
        shop.say("gave Ramesh 12000 on credit").await;
        shop.say("Ramesh's limit is 2000").await;
        let late = shop.say("yes").await;
        assert!(late.contains("since you were asked"), "{late}");
        assert_eq!(entries(&shop).await, 1);
        let again = shop.say("gave Ramesh 12000 on credit").await;
        assert!(again.contains("limit of ₹2,000") && again.contains("large amount"), "{again}");
        let done = shop.say("yes").await;
        assert!(done.starts_with("Written: ₹12,000 on credit to Ramesh."), "{done}");
        shop.assert_sound().await;
    }

    async fn a_limit_that_was_set_before_the_yes_holds_for_a_correction(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 500 on credit").await;
        shop.say("no it was 12000").await;
        shop.say("Ramesh's limit is 2000").await;
        let late = shop.say("yes").await;
        assert!(late.contains("since you were asked"), "{late}");
        assert_eq!(entries(&shop).await, 1);
        test.clock.advance(2 * HOUR);
        let asked = shop.say("no it was 450").await;
        assert!(asked.contains("Entry 1 (“gave Ramesh 500 on credit”) would be ₹450"), "long ago, it is named first: {asked}");
        shop.assert_sound().await;
    }

    async fn who_is_paid_more_than_they_are_owed_is_held_to_their_limit(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 1500 on credit").await;
        shop.say("Ramesh's limit is 2000").await;
        let asked = shop.say("paid 900 to Ramesh").await;
        assert!(asked.contains("limit of ₹2,000"), "{asked}");
        shop.say("no").await;
        let paid = "Rs 900.00 debited from A/c XX4471 on 15-11-26 to VPA q77@ybl (UPI Ref No 516588123411)";
        shop.say(paid).await;
        shop.say("yes").await;
        let sorted = shop.say("that payment of 900 was Ramesh's").await;
        assert!(sorted.contains("limit of ₹2,000"), "{sorted}");
        assert_eq!(entries(&shop).await, 2);
        shop.assert_sound().await;
    }

    async fn two_who_tell_of_it_at_once_write_it_once(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 9000 on credit").await;
        let staff = shop.staff().await;
        for (round, amount) in (1i64..).zip([310, 320, 330, 340, 350, 360]) {
            let said = format!("Ramesh paid {amount}");
            let (one, other) = tokio::join!(shop.say(&said), shop.hear_from(staff, &said));
            assert_eq!(entries(&shop).await, 1 + round, "{one} / {}", other.text);
            shop.say("no").await;
            shop.hear_from(staff, "no").await;
        }
        shop.assert_sound().await;
    }

    async fn a_yes_after_midnight_is_of_the_day_it_was_said(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 12000 on credit").await;
        let said = LedgerDay::of(test.clock.now(), &Zone::default());
        test.clock.advance(20 * HOUR);
        let done = shop.say("yes").await;
        assert!(done.contains("Dated 15 November 2026."), "{done}");
        let day = shop.db.read(shop.tenant, |tx| entry::find_by_number(tx, 1)).await.unwrap().unwrap().day;
        assert_eq!(day, said);
        shop.assert_sound().await;
    }

    async fn taking_back_what_was_written_long_ago_names_it_first(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 500 on credit").await;
        test.clock.advance(2 * HOUR);
        let asked = shop.say("undo the last entry").await;
        assert!(asked.contains("Entry 1 of 15 November 2026"), "{asked}");
        assert!(asked.contains("Ramesh, ₹500, “gave Ramesh 500 on credit”"), "{asked}");
        assert_eq!(entries(&shop).await, 1, "nothing before the answer");
        test.clock.advance(MINUTE);
        let other = shop.say("sale of 90").await;
        assert!(other.contains("waiting for your answer") && other.contains("Entry 1 of"), "{other}");
        let done = shop.say("yes").await;
        assert!(done.starts_with("Entry 1 of ₹500 is cancelled."), "{done}");
        assert!(shop.say("undo the last entry").await.starts_with("Entry 2 of ₹90 is cancelled."), "what is fresh goes at once");
        shop.assert_sound().await;
    }

    /// "Cancel it" is said of what was written just now; nothing is told to be cancelled that stands.
    async fn a_bare_cancel_asks_about_the_last_entry(test: TestDb) {
        let shop = Shop::open(&test).await;
        for bare in ["cancel it", "cancel", "cancel karo", "रद्द करो", "বাতিল করো", "ବାତିଲ କର", "రద్దు చేయి", "ರದ್ದು ಮಾಡಿ"] {
            shop.say("Ramesh ne 300 diye").await;
            let asked = shop.say(bare).await;
            assert!(asked.contains("Ramesh") && asked.contains("₹300"), "{bare}: {asked}");
            shop.say("yes").await;
            assert_eq!(shop.db.read(shop.tenant, balances::load_totals).await.unwrap().payable, Money::ZERO, "{bare}");
            test.clock.advance(std::time::Duration::from_secs(3600));
        }
    }

    async fn taking_back_names_the_entry_also_where_the_wish_was_not_sure(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("Ramesh ko 500 udhaar diya").await;
        test.clock.advance(2 * HOUR);
        let asked = shop.say("last entry cancel karo").await;
        assert!(asked.contains("Ramesh, ₹500, “Ramesh ko 500 udhaar diya”") && asked.contains("15 November 2026"), "{asked}");
        let done = shop.say("haan").await;
        assert!(done.contains("entry 1 radd") || done.starts_with("Entry 1 of ₹500 is cancelled."), "asked once: {done}");
        shop.assert_sound().await;
    }

    async fn a_clock_that_goes_back_changes_not_what_was_last(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("gave Ramesh 500 on credit").await;
        test.clock.advance(MINUTE);
        shop.say("sale of 90").await;
        test.clock.set(test.clock.now().minus(10 * MINUTE));
        assert!(shop.say("no it was 80").await.starts_with("Corrected: ₹80 instead of ₹90."));
        assert!(shop.say("undo the last entry").await.contains("of ₹80 is cancelled."));
        shop.assert_sound().await;
    }
}
