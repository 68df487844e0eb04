//! With a model configured: what plainly asks for the books is answered by templates, and the model hears the rest.

use std::sync::Arc;

use munshi_test_support::models::{ScriptedModel, ScriptedTurn};

use crate::counter::support::Shop;
use crate::counter::told::on_both;

/// One of its turns answers by calling a tool, the next tells what came of it.
fn model() -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new([
        ScriptedTurn::text("Good day, and what a fine shop it is."),
        ScriptedTurn::text("There is no such name in the books."),
    ]))
}

on_both! {
    async fn the_books_are_written_and_told_with_no_model_asked(test: TestDb) {
        let model = model();
        let shop = Shop::open_beside(&test, model.clone()).await;
        for said in [
            "Ramesh ko 500 ka udhaar diya",
            "रमेश का कितना बाकी है",
            "sold 2 kg sugar for 90 rupees",
            "who owes me money",
            "aaj ka hisab batao",
        ] {
            let outcome = shop.hear_next(said).await;
            assert!(!outcome.text.is_empty() && !outcome.calls.is_empty(), "{said}: {outcome:?}");
            assert_eq!(outcome.usage.cost_micros, Some(0), "{said}: {outcome:?}");
        }
        assert!(shop.say("Ramesh ka kitna baaki hai").await.contains("500"));
        assert!(model.requests().is_empty(), "{:?}", model.requests());
        shop.assert_sound().await;
    }

    async fn a_tenant_without_the_pack_is_offered_none_of_it(test: TestDb) {
        let model = Arc::new(ScriptedModel::new(["I keep no books.", "A message from a bank."].map(ScriptedTurn::text)));
        let shop = Shop::open_beside(&test, model.clone()).await;
        let before = shop.say("Ramesh ko 500 ka udhaar diya").await;
        assert!(before.contains("500"), "{before}");
        shop.set_packs(&[]).await;
        assert_eq!(shop.say("Ramesh ka kitna baaki hai").await, "I keep no books.");
        let sms = "Rs.500.00 credited to a/c XX1234 on 18-11-26 by UPI ref 632100012345 from RAMESH. -SBI";
        assert_eq!(shop.say(sms).await, "A message from a bank.", "the pack reads nothing by itself");
        for asked in model.requests() {
            let told = format!("{:?} {:?}", asked.request.system, asked.request.messages);
            assert!(!asked.request.tools.iter().any(|tool| tool.module() == "ledger"), "{asked:?}");
            assert!(!told.contains("Ramesh"), "whom the pack knows stays hidden from models elsewhere: {told}");
        }
        shop.set_packs(&["ledger"]).await;
        assert!(shop.say("Ramesh ka kitna baaki hai").await.contains("500"), "nothing was lost");
    }

    async fn the_model_hears_talk_and_what_failed(test: TestDb) {
        let model = model();
        let shop = Shop::open_beside(&test, model.clone()).await;
        assert!(shop.say("hello").await.contains("fine shop"), "a greeting is no tool's");
        assert_eq!(model.requests().len(), 1);
        let said = shop.say("Jagdamba ka kitna baaki hai").await;
        assert!(said.contains("no such name"), "a tool that failed is the model's to explain: {said}");
        let asked = model.requests().remove(1).request;
        let calls = asked.messages.iter().flat_map(|message| &message.parts);
        assert!(calls.map(|part| format!("{part:?}")).any(|part| part.contains("balance_of")), "{asked:?}");
    }

    async fn what_answers_the_models_own_question_is_its_to_write(test: TestDb) {
        let turns = ["How much did Ramesh take on credit?", "I will write it down.", "No, that was Suresh."];
        let model = Arc::new(ScriptedModel::new(turns.map(ScriptedTurn::text)));
        let shop = Shop::open_beside(&test, model.clone()).await;
        shop.say("hmm, Ramesh came by").await;
        shop.say("Ramesh ko 500 ka udhaar diya").await;
        assert_eq!(model.requests().len(), 2, "it had asked");
        for said in ["usne 300 diye", "Ramesh ko 500 udhaar diya aur agar 2000 se zyada ho to reminder bhejo"] {
            let before = model.requests().len();
            shop.hear_next(said).await;
            assert!(model.requests().len() > before, "left to the model: {said}");
        }
        assert!(shop.say("who owes me money").await.len() > 2, "a look needs no model");
    }
}
