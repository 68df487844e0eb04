//! A model that says it wrote what no tool has written is not believed.

use std::sync::Arc;

use munshi_ledger::books::balances;
use munshi_test_support::TestDb;
use munshi_test_support::models::{ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::counter::support::Shop;
use crate::counter::told::on_both;

const NOTHING: &str =
    "I have written nothing in the books just now. Please tell me once more what I should write.";

async fn shop(test: &TestDb, turns: Vec<ScriptedTurn>) -> Shop {
    Shop::open_with(test, Some(Arc::new(ScriptedModel::new(turns)))).await
}

async fn entries(shop: &Shop) -> i64 {
    shop.db.read(shop.tenant, balances::load_totals).await.unwrap().entries
}

on_both! {
    async fn what_was_not_written_is_not_said_to_be(test: TestDb) {
        let said = [
            ("gave Ramesh 500 on credit", "Done, booked ₹500 for Ramesh."),
            ("Ramesh ko paanch sau udhaar diya", "Ji, Ramesh ke naam ₹500 likh diye hain."),
            ("ரமேஷுக்கு 500 கடன்", "சரி, ₹500 எழுதிட்டேன்."),
        ];
        let turns = said.iter().map(|(_, claim)| ScriptedTurn::text(claim)).collect();
        let shop = shop(&test, turns).await;
        for (number, (message, claim)) in (1u32..).zip(said) {
            let outcome = shop.hear(number, message).await;
            assert!(!outcome.text.contains(claim), "{message}: {}", outcome.text);
            assert_eq!(outcome.violations, ["pack-check"], "{message}");
        }
        assert_eq!(shop.hear(1, said[0].0).await.text, NOTHING);
        assert_eq!(entries(&shop).await, 0);
    }

    async fn what_is_only_looked_at_was_not_written(test: TestDb) {
        let turns = vec![
            ScriptedTurn::call("log_sale", &json!({ "amount": 50_000 })),
            ScriptedTurn::text("I have noted the sale of ₹500."),
            ScriptedTurn::call("day_summary", &json!({ "period": "today" })),
            ScriptedTurn::text("Noted ₹700; your sales are ₹500."),
            ScriptedTurn::call("payment_received", &json!({ "person": "Ramesh" })),
            ScriptedTurn::text("I have recorded it."),
        ];
        let shop = shop(&test, turns).await;
        let sale = shop.hear(1, "sold for 500").await;
        assert_eq!((sale.text.as_str(), sale.violations.len()), ("I have noted the sale of ₹500.", 0));
        assert_eq!(shop.hear(2, "sold for 700 more").await.text, NOTHING, "it only looked");
        let failed = shop.hear(3, "Ramesh came by and paid").await;
        assert!(failed.text.ends_with(NOTHING), "a call that failed wrote nothing: {}", failed.text);
        assert_eq!(entries(&shop).await, 1);
    }

    async fn what_is_told_or_asked_is_left_alone(test: TestDb) {
        let said = [
            "Should I note ₹500 for Ramesh?",
            "I have not written anything yet.",
            "Ramesh owes you ₹500.",
            "If you say so, it will be noted.",
        ];
        let shop = shop(&test, said.iter().map(|text| ScriptedTurn::text(text)).collect()).await;
        for (number, text) in (1u32..).zip(said) {
            let outcome = shop.hear(number, "what of Ramesh's 500").await;
            assert_eq!((outcome.text.as_str(), outcome.violations.len()), (text, 0));
        }
    }
}
