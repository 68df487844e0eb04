//! What models are told is stored where the tenant wants it, and nowhere else.

use munshi_agent::MessageReceipt;
use munshi_conversations::stored_prompts::{self, StoredPrompt};
use munshi_llm::gateway::PromptTextRole;
use munshi_store::Tx;
use munshi_test_support::models::ScriptedTurn;
use munshi_types::Id;

use super::delayed::set_policy;
use super::support::{Plan, Shop, arguments};
use super::transient::FINDING;

const KEEP: &str = "[retention]\nprompts_days = 7\n";

async fn stored(shop: &Shop, received: &MessageReceipt) -> Vec<StoredPrompt> {
    let run = received.run;
    shop.db.read(shop.tenant, move |tx: &mut Tx<'_>| stored_prompts::list_all(tx, run)).await.unwrap()
}

on_both! {
    async fn what_a_model_was_told_is_read_back(test: TestDb) {
        let script = [
            ScriptedTurn::text("Hello."),
            ScriptedTurn::call("note", &arguments("two kettles")),
            ScriptedTurn::text("It is noted."),
        ];
        let shop = Shop::open(&test, script).await;
        let unasked = shop.say("1", "is the blue kettle there").await;
        shop.outcome(&unasked).await;
        assert_eq!(stored(&shop, &unasked).await, [], "nobody wants them");
        set_policy(&test, &shop, KEEP).await;
        let received = shop.say("2", "note two kettles").await;
        assert_eq!(shop.outcome(&received).await.text, "It is noted.");
        let prompts = stored(&shop, &received).await;
        assert_eq!(prompts.len(), 2, "one for each call");
        let run = received.run.as_uuid();
        let calls = shop.db.read(shop.tenant, move |tx| munshi_llm::calls::list_of_run(tx, run)).await.unwrap();
        let ids: Vec<_> = calls.iter().map(|call| call.id).collect();
        assert_eq!(prompts.iter().map(|prompt| prompt.call).collect::<Vec<_>>(), ids);
        let says = |prompt: &StoredPrompt, role, text: &str| {
            prompt.text.messages.iter().any(|message| message.role == role && message.text.contains(text))
        };
        for prompt in &prompts {
            assert!(says(prompt, PromptTextRole::User, "note two kettles"), "{prompt:?}");
            assert!(says(prompt, PromptTextRole::User, "blue kettle"), "the conversation so far: {prompt:?}");
            assert!(prompt.text.messages.iter().any(|message| message.role == PromptTextRole::System));
            assert!(prompt.text.tools.iter().any(|tool| tool == "note"), "{prompt:?}");
        }
        // The clock stands still: which came first is not known by it.
        let told = prompts.iter().filter(|&prompt| says(prompt, PromptTextRole::Tool, "note"));
        assert_eq!(told.count(), 1, "and in the second what its tool said: {prompts:?}");
    }

    async fn what_is_not_kept_stands_in_no_stored_prompt(test: TestDb) {
        let script = [ScriptedTurn::call("record", &arguments("a")), ScriptedTurn::text("It is looked up.")];
        let agent = Plan::default().agent.replace("\"fax\"]", "\"fax\", \"record\", \"own_record\"]");
        let shop = Shop::open_with(&test, script, Plan { agent, ..Plan::default() }).await;
        set_policy(&test, &shop, KEEP).await;
        let received = shop.say("1", "look it up").await;
        assert_eq!(shop.outcome(&received).await.text, "It is looked up.");
        assert!(format!("{:?}", shop.model.requests()[1].request).contains(FINDING), "the model hears it");
        let prompts = stored(&shop, &received).await;
        let (withheld, told): (Vec<_>, Vec<_>) = prompts.iter().partition(|&prompt| prompt.text.is_withheld);
        assert_eq!((withheld.len(), told.len()), (1, 1), "{prompts:?}");
        assert!(withheld[0].text.messages.is_empty() && withheld[0].text.tools.is_empty());
        assert!(!format!("{prompts:?}").contains(FINDING));
    }
}
