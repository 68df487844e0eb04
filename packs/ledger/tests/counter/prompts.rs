//! What a prompt tells of the books: to each as much as their role may see, and of those whom the message names.

use std::sync::Arc;

use munshi_test_support::models::{ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::counter::support::Shop;
use crate::counter::told::on_both;

on_both! {
    async fn a_prompt_tells_what_the_role_may_see(test: TestDb) {
        let model = Arc::new(ScriptedModel::new([
            ScriptedTurn::call("credit_given", &json!({ "person": "Ramesh", "amount": 30_000 })), ScriptedTurn::text("Written."),
            ScriptedTurn::call("stock_in", &json!({ "item": "sugar", "quantity": 12, "unit": "kg" })), ScriptedTurn::text("Written."),
            ScriptedTurn::text("Yes."), ScriptedTurn::text("Yes."),
        ]));
        let shop = Shop::open_with(&test, Some(model.clone())).await;
        let asked = || format!("{:?}", model.requests().last());
        shop.hear(1, "gave Ramesh 300 on credit").await;
        shop.hear(2, "12 kg sugar came").await;
        let staff = shop.staff().await;
        shop.hear(3, "ramesh wants sugar, is that fine").await;
        let owners = asked();
        for line in ["Books today: sales ₹300", "Customers owe ₹300", "Ramesh owes the shop ₹300.", "sugar: 12 kg in the shop"] {
            assert!(owners.contains(line), "{line}: {owners}");
        }
        shop.hear_from(staff, "is sugar there").await;
        let theirs = asked();
        assert!(theirs.contains("sugar: 12 kg in the shop"), "{theirs}");
        assert!(!theirs.contains("Books today") && !theirs.contains("Customers owe"), "{theirs}");
    }
}
