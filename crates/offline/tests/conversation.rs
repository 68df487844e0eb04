//! Conversations: questions back, answers to them, corrections, another subject, and results put into words.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking")]

#[path = "../shop/mod.rs"]
mod shop;

use std::sync::{Arc, OnceLock};

use munshi_lang::{Form, Phrasebook, Voice, detect};
use munshi_llm::chat::{Output, ToolResult};
use munshi_llm::provider::Provider;
use munshi_llm::{ChatRequest, Fault, Message, Part, Reply, Role, StopReason, Target, ToolChoice};
use munshi_offline::{Offline, SURE, Verdict};
use munshi_types::Language;
use munshi_types::tool::ToolSpec;
use serde_json::{Value, json};

/// A conversation with the shop's tools, turn by turn.
struct Talk {
    offline: &'static Offline,
    request: ChatRequest,
}

impl Talk {
    fn new() -> Self {
        static SHOP: OnceLock<(Offline, Vec<Arc<ToolSpec>>)> = OnceLock::new();
        let (offline, tools) =
            SHOP.get_or_init(|| (Offline::new(Phrasebook::core().unwrap()).unwrap(), shop::tools()));
        Self { offline, request: ChatRequest { tools: tools.clone(), ..ChatRequest::default() } }
    }

    async fn say(&mut self, text: &str) -> Reply {
        self.request.messages.push(Message::user(text));
        self.answer().await
    }

    async fn answer(&mut self) -> Reply {
        let reply = self.offline.complete(&Target::offline(), &self.request).await.unwrap();
        self.request.messages.push(reply.message.clone());
        reply
    }

    async fn result(&mut self, name: &str, content: &Value) -> String {
        let result = ToolResult {
            call_id: "offline-1-0".to_owned(),
            name: name.to_owned(),
            content: content.to_string(),
            is_error: false,
        };
        self.request.messages.push(Message { role: Role::User, parts: vec![Part::ToolResult(result)] });
        self.answer().await.text()
    }
}

fn call(reply: &Reply) -> Option<(String, Value)> {
    let calls: Vec<_> = reply.tool_calls().map(|call| (call.name.clone(), call.arguments.clone())).collect();
    assert!(calls.len() < 2, "{calls:?}");
    calls.into_iter().next()
}

fn called(reply: &Reply, tool: &str, arguments: Value) {
    assert_eq!(call(reply), Some((tool.to_owned(), arguments)), "{}", reply.text());
}

#[tokio::test]
async fn what_is_missing_is_asked_for_and_then_done() {
    let mut talk = Talk::new();
    let asked = talk.say("Ramesh ko udhaar diya").await;
    assert_eq!(asked.text(), "Rakam samajh nahi aayi. Kripya bataiye kitne rupaye hain.");
    let done = talk.say("paanch sau").await;
    called(&done, "credit_given", json!({"person": "Ramesh", "amount": 50_000}));
    assert_eq!(done.stop, StopReason::ToolUse);
    assert!(done.usage.estimated && done.usage.total() == 0);
}

#[tokio::test]
async fn answers_come_in_every_script() {
    for (first, second, tool, arguments) in [
        ("रमेश को उधार दिया", "पाँच सौ", "credit_given", json!({"person": "रमेश", "amount": 50_000})),
        ("ரமேஷுக்கு கடன் கொடுத்தேன்", "500", "credit_given", json!({"person": "ரமேஷ", "amount": 50_000})),
        (
            "gave credit to Ramesh",
            "five hundred",
            "credit_given",
            json!({"person": "Ramesh", "amount": 50_000}),
        ),
        ("500 udhaar diye", "Ramesh ko", "credit_given", json!({"person": "Ramesh", "amount": 50_000})),
    ] {
        let mut talk = Talk::new();
        let asked = talk.say(first).await;
        assert_eq!(call(&asked), None, "{first}");
        let done = talk.say(second).await;
        called(&done, tool, arguments);
    }
}

#[tokio::test]
async fn two_readings_are_asked_about_with_both() {
    let mut talk = Talk::new();
    let asked = talk.say("Ramesh ne do lakh pachas diye").await;
    assert!(asked.text().contains("₹2,00,050") && asked.text().contains("₹2,50,000"), "{}", asked.text());
    let done = talk.say("2,50,000").await;
    called(&done, "payment_received", json!({"person": "Ramesh", "amount": 25_000_000}));
}

#[tokio::test]
async fn a_question_can_be_given_up_or_left_for_another_subject() {
    for word in ["rehne do", "cancel", "nahi"] {
        let mut talk = Talk::new();
        talk.say("Ramesh ko udhaar diya").await;
        let given_up = talk.say(word).await;
        assert_eq!(
            (call(&given_up), given_up.text().starts_with("Radd")),
            (None, true),
            "{word}: {}",
            given_up.text()
        );
        let later = talk.say("500").await;
        assert_eq!(call(&later), None, "the question is forgotten");
    }
    let mut talk = Talk::new();
    talk.say("Ramesh ko udhaar diya").await;
    let other = talk.say("Suresh ka kitna baaki hai").await;
    called(&other, "balance_of", json!({"person": "Suresh"}));
}

#[tokio::test]
async fn a_question_is_not_asked_for_ever() {
    let mut talk = Talk::new();
    talk.say("Ramesh ko udhaar diya").await;
    let again = talk.say("pata hai aapko").await;
    assert!(again.text().contains("kitne rupaye"), "{}", again.text());
    let stuck = talk.say("arre yaar").await;
    assert!(stuck.text().contains("do baar"), "{}", stuck.text());
}

#[tokio::test]
async fn a_slip_is_corrected() {
    let mut talk = Talk::new();
    let done = talk.say("Ramesh ne 500 diye").await;
    called(&done, "payment_received", json!({"person": "Ramesh", "amount": 50_000}));
    let said =
        talk.result("payment_received", &json!({"ok": true, "amount": 50_000, "name": "Ramesh"})).await;
    assert_eq!(said, "Ramesh ke naam ₹500 likh diya hai.");
    let corrected = talk.say("nahi 600 tha").await;
    called(&corrected, "correct_last", json!({"amount": 60_000}));
}

#[tokio::test]
async fn what_is_only_likely_is_confirmed_first() {
    let mut talk = Talk::new();
    let asked = talk.say("aaje tran kilo bataka sau rupiya ma vechya").await;
    assert_eq!(call(&asked), None);
    assert!(asked.text().contains("₹100"), "{}", asked.text());
    let done = talk.say("haa").await;
    assert_eq!(call(&done).unwrap().1["amount"], 10_000);

    let mut talk = Talk::new();
    talk.say("aaje tran kilo bataka sau rupiya ma vechya").await;
    let corrected = talk.say("na 150 rupiya").await;
    assert_eq!(call(&corrected).unwrap().1["amount"], 15_000);
}

#[tokio::test]
async fn two_things_are_both_done_or_asked_about() {
    let mut talk = Talk::new();
    let both = talk.say("Ramesh ko 500 diye aur Suresh se 300 mile").await;
    let names: Vec<&str> = both.tool_calls().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["payment_made", "payment_received"]);
    for half in ["Ramesh ko 500 aur Suresh ko 300", "Ramesh ne 500 diye, Suresh 300"] {
        let mut talk = Talk::new();
        let asked = talk.say(half).await;
        assert_eq!(call(&asked), None, "{half}");
        assert!(asked.text().contains("ek-ek"), "{half}: {}", asked.text());
    }
}

#[tokio::test]
async fn failures_and_strange_results_are_told_kindly() {
    let mut talk = Talk::new();
    talk.say("Ramesh ka kitna baaki hai").await;
    let gone =
        talk.result("balance_of", &json!({"ok": false, "code": "not_permitted", "retryable": false})).await;
    assert_eq!(gone, "Aapko iski anumati nahi hai. Kripya maalik se poochhiye.");
    let passing =
        talk.result("balance_of", &json!({"ok": false, "code": "db_busy", "retryable": true})).await;
    assert!(passing.starts_with("Kuch gadbad"), "{passing}");
    let plain = talk
        .result(
            "who_owes_me",
            &json!({"ok": true, "total": 150_050, "people": [{"name": "Ramesh", "amount": 50_000}]}),
        )
        .await;
    assert_eq!(plain, "people:\n• ₹500, Ramesh\ntotal: ₹1,500.50");
    for strange in [json!(null), json!([]), json!({}), json!("done"), json!({"a": {"b": [1, {"c": null}]}})] {
        let text = talk.result("who_owes_me", &strange).await;
        assert!(!text.contains('{') && !text.contains('"'), "{text}");
    }
}

#[tokio::test]
async fn greetings_thanks_and_help_need_no_tool() {
    for (said, start) in [
        ("namaste", "Namaste"),
        ("வணக்கம்", "வணக்கம்"),
        ("thank you", "You are welcome"),
        ("ধন্যবাদ", "আপনাকে"),
        ("help", "I did not understand"),
    ] {
        let mut talk = Talk::new();
        let reply = talk.say(said).await;
        assert!(reply.text().starts_with(start), "{said}: {}", reply.text());
        assert_eq!(call(&reply), None);
    }
}

#[tokio::test]
async fn the_callers_choice_of_tools_is_kept() {
    let mut talk = Talk::new();
    talk.request.tool_choice = ToolChoice::None;
    assert_eq!(call(&talk.say("Ramesh ne 500 diye").await), None);
    let mut talk = Talk::new();
    talk.request.tool_choice = ToolChoice::Named("credit_given".to_owned());
    called(&talk.say("Ramesh ko 500").await, "credit_given", json!({"person": "Ramesh", "amount": 50_000}));
    let mut talk = Talk::new();
    talk.request.tools.clear();
    assert!(!talk.say("Ramesh ne 500 diye").await.text().is_empty());
}

#[tokio::test]
async fn json_is_given_when_it_is_sure_and_refused_otherwise() {
    let schema = json!({
        "type": "object",
        "properties": {"mode": {"enum": ["upi", "cash"]}, "amount": {"type": "integer"}},
        "required": ["mode"],
    });
    let offline = Offline::new(Phrasebook::core().unwrap()).unwrap();
    let asked = |text: &str| ChatRequest {
        messages: vec![Message::user(text)],
        output: Output::Json { name: "payment".to_owned(), schema: schema.clone() },
        ..ChatRequest::default()
    };
    let given = offline.complete(&Target::offline(), &asked("500 by upi")).await.unwrap();
    assert_eq!(given.text(), r#"{"amount":50000,"mode":"upi"}"#);
    for unsure in ["500 somehow", "upi or cash", ""] {
        let fault = offline.complete(&Target::offline(), &asked(unsure)).await.unwrap_err();
        assert!(matches!(fault, Fault::Rejected { status: 422, .. }), "{unsure}: {fault}");
    }
}

#[tokio::test]
async fn nothing_is_made_up() {
    for text in
        ["", "   ", "asdf qwer zxcv", "🙂", "what is the meaning of life", "500", "{\"tool\": \"pay\"}"]
    {
        let mut talk = Talk::new();
        let reply = talk.say(text).await;
        assert_eq!(call(&reply), None, "{text}");
        assert!(!reply.text().is_empty(), "{text}");
        let judged =
            talk.offline.judge(&ChatRequest { messages: vec![Message::user(text)], ..talk.request.clone() });
        assert!(judged.verdict == Verdict::Unknown && judged.confidence < SURE, "{text}: {judged:?}");
    }
}

/// Replies to what is missing, unknown and unreal, in the voice of the message.
#[tokio::test]
async fn replies_are_in_the_persons_language_and_script() {
    for (text, language) in [
        ("Ramesh ko udhaar diya", Language::Hindi),
        ("रमेश को उधार दिया", Language::Hindi),
        ("রমেশকে ধার দিয়েছি", Language::Bengali),
        ("Ramesh ke dhar diyechi", Language::Bengali),
        ("રમેશને ઉધાર આપ્યા", Language::Gujarati),
        ("ರಮೇಶನಿಗೆ ಸಾಲ ಕೊಟ್ಟೆ", Language::Kannada),
        ("Rameshanige saalavaagi kotte", Language::Kannada),
        ("രമേശിന് കടം കൊടുത്തു", Language::Malayalam),
        ("रमेशला उधार दिले", Language::Marathi),
        ("ରମେଶକୁ ଉଧାର ଦେଲି", Language::Odia),
        ("ਰਮੇਸ਼ ਨੂੰ ਉਧਾਰ ਦਿੱਤਾ", Language::Punjabi),
        ("ரமேஷுக்கு கடன் கொடுத்தேன்", Language::Tamil),
        ("Ramesh ku kadan kuduthen", Language::Tamil),
        ("రమేష్‌కి అప్పు ఇచ్చాను", Language::Telugu),
        ("gave credit to Ramesh", Language::English),
    ] {
        let mut talk = Talk::new();
        let reply = talk.say(text).await;
        let form = detect(text).map_or(Form::Latin, |found| found.form());
        let book = Phrasebook::core().unwrap();
        let expected = book.say("ask-amount", Voice::new(language, form), &[]).unwrap();
        assert_eq!(reply.text(), expected, "{text}");
    }
}

#[test]
fn the_same_request_gives_the_same_answer() {
    let offline = Arc::new(Offline::new(Phrasebook::core().unwrap()).unwrap());
    let request = ChatRequest {
        messages: vec![Message::user("Ramesh ko 500 diye")],
        tools: shop::tools(),
        ..ChatRequest::default()
    };
    let first = offline.judge(&request);
    assert!((0..20).all(|_| offline.judge(&request) == first));
    let other = Offline::new(Phrasebook::core().unwrap()).unwrap();
    assert_eq!(other.judge(&request), first);
}
