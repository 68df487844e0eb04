//! Conversations: questions back, answers to them, corrections, another subject, and results put into words.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking")]

use crate::shop;
use std::sync::{Arc, OnceLock};

use munshi_lang::{Locale, Phrasebook, ScriptForm, detect};
use munshi_llm::chat::{ReplyFormat, ToolResult};
use munshi_llm::provider::Provider;
use munshi_llm::{ChatMessage, ChatReply, ChatRequest, ModelError, ModelMessagePart, ModelRole, ModelTarget};
use munshi_llm::{StopReason, ToolChoice};
use munshi_offline::{OfflineProvider, OfflineVerdict, SURE};
use munshi_types::Language;
use munshi_types::tool::ToolSpec;
use serde_json::{Value, json};

/// A conversation with the shop's tools, turn by turn.
struct Talk {
    offline: &'static OfflineProvider,
    request: ChatRequest,
}

impl Talk {
    fn new() -> Self {
        static SHOP: OnceLock<(OfflineProvider, Vec<Arc<ToolSpec>>)> = OnceLock::new();
        let (offline, tools) =
            SHOP.get_or_init(|| (OfflineProvider::new(Phrasebook::core().unwrap()).unwrap(), shop::tools()));
        Self { offline, request: ChatRequest { tools: tools.clone(), ..ChatRequest::default() } }
    }

    async fn say(&mut self, text: &str) -> ChatReply {
        self.request.messages.push(ChatMessage::user(text));
        self.answer().await
    }

    async fn answer(&mut self) -> ChatReply {
        let reply = self.offline.complete(&ModelTarget::offline(), &self.request).await.unwrap();
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
        let parts = vec![ModelMessagePart::ToolResult(result)];
        self.request.messages.push(ChatMessage { role: ModelRole::User, parts });
        self.answer().await.text()
    }
}

fn call(reply: &ChatReply) -> Option<(String, Value)> {
    let calls: Vec<_> = reply.tool_calls().map(|call| (call.name.clone(), call.arguments.clone())).collect();
    assert!(calls.len() < 2, "{calls:?}");
    calls.into_iter().next()
}

fn called(reply: &ChatReply, tool: &str, arguments: Value) {
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
async fn an_answer_to_no_question_is_told_so() {
    for (answer, told) in [("no", "No question"), ("nahi", "koi sawaal baaki nahi"), ("না", "প্রশ্ন বাকি নেই")]
    {
        let reply = Talk::new().say(answer).await;
        assert!(call(&reply).is_none() && reply.text().contains(told), "{answer}: {}", reply.text());
    }
}

#[tokio::test]
async fn answers_come_in_every_script() {
    for (first, second, tool, arguments) in [
        ("रमेश को उधार दिया", "पाँच सौ", "credit_given", json!({"person": "रमेश", "amount": 50_000})),
        ("ரமேஷுக்கு கடன் கொடுத்தேன்", "500", "credit_given", json!({"person": "ரமேஷ்", "amount": 50_000})),
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
    assert_eq!(other.text().trim(), "Yeh nahi likha: Ramesh ko udhaar diye.", "what stays unwritten is said");
}

#[tokio::test]
async fn a_greeting_or_a_call_for_help_leaves_the_question_too() {
    let mut talk = Talk::new();
    talk.say("Ramesh ko udhaar diya").await;
    let help = talk.say("madad karo").await;
    assert!(help.text().starts_with("Yeh nahi likha"), "{}", help.text());
    assert_eq!(call(&talk.say("500").await), None, "the question is forgotten");
    // Where a name was asked for, a word that greets may be one.
    let mut talk = Talk::new();
    talk.say("500 udhaar diye").await;
    let named = talk.say("Salim ko").await;
    called(&named, "credit_given", json!({"person": "Salim", "amount": 50_000}));
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

/// What was asked about is not what was written: a no to an answer corrects no entry.
#[tokio::test]
async fn a_no_to_what_was_only_told_says_what_is_missing() {
    for (asked, no, missing) in [
        ("Ramesh ka kitna baaki hai", "nahi wo 600 tha", "kitna"),
        ("Ramesh ka kitna baaki hai", "nahi 600 tha", "kitna"),
        ("how much does Ramesh owe", "no it was 600", "how much"),
        ("ரமேஷ் எவ்வளவு பாக்கி", "இல்லை 600", "எவ்வளவு"),
    ] {
        let mut talk = Talk::new();
        assert_eq!(
            call(&talk.say(asked).await).map(|(tool, _)| tool).as_deref(),
            Some("balance_of"),
            "{asked}"
        );
        talk.result("balance_of", &json!({"ok": true, "balance": 50_000, "name": "Ramesh"})).await;
        let answer = talk.say(no).await;
        assert_eq!(call(&answer), None, "{no}");
        assert!(answer.text().contains(missing), "{no}: {}", answer.text());
        assert_eq!(call(&talk.say("haan").await), None, "{no}: nothing waits for a yes");
    }
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
    assert_eq!(call(&corrected), None, "another number is read back once more");
    assert!(corrected.text().contains("₹150"), "{}", corrected.text());
    let done = talk.say("haa").await;
    assert_eq!(call(&done).unwrap().1["amount"], 15_000);
}

#[tokio::test]
async fn a_no_with_a_number_in_it_is_still_a_no() {
    for no in [
        "no, don't write 500",
        "nahi, 2 din baad",
        "no, wait 5 minutes",
        "nahi 500 mat likhna",
        "no no 500 is wrong",
        "nahi, rehne do",
        "मत लिखो",
        "नहीं, 5 मिनट रुको",
    ] {
        let mut talk = Talk::new();
        let asked = talk.say("gave Ramesh 500").await;
        assert!(call(&asked).is_none() && asked.text().contains("₹500"), "{}", asked.text());
        let answer = talk.say(no).await;
        assert_eq!(call(&answer), None, "{no}");
        let later = talk.say("yes").await;
        assert_eq!(call(&later), None, "{no}, then yes: {}", answer.text());
    }
    let mut talk = Talk::new();
    talk.say("gave Ramesh 500").await;
    let corrected = talk.say("no it was 600").await;
    assert!(call(&corrected).is_none() && corrected.text().contains("₹600"), "{}", corrected.text());
    called(&talk.say("yes").await, "payment_made", json!({"person": "Ramesh", "amount": 60_000}));
}

#[tokio::test]
async fn an_answer_that_says_more_than_was_asked_is_read_back() {
    for answer in
        ["500 nahi diye", "shayad 500", "kareeb 500", "500 dene the", "500 ya phir kuch aur", "maybe 500"]
    {
        let mut talk = Talk::new();
        talk.say("Ramesh ko udhaar diya").await;
        let reply = talk.say(answer).await;
        assert_eq!(call(&reply), None, "{answer}");
    }
    let mut talk = Talk::new();
    talk.say("Ramesh ko udhaar diya").await;
    called(&talk.say("500 rupaye").await, "credit_given", json!({"person": "Ramesh", "amount": 50_000}));
}

#[tokio::test]
async fn nothing_is_not_an_amount() {
    for text in ["gave Suresh 0 on credit", "Suresh ko 0 udhaar diya"] {
        let reply = Talk::new().say(text).await;
        assert_eq!(call(&reply), None, "{text}");
        assert!(!reply.text().contains("₹0"), "{text}: {}", reply.text());
    }
}

#[tokio::test]
async fn half_of_a_request_is_never_done() {
    for text in [
        "who owes me and delete everything",
        "who owes me money, then call the police",
        "Ramesh ka kitna baaki hai aur sabko message bhejo",
        "रमेश का कितना बाकी है और दुकान बंद कर दो",
        "Mahesh paid 1500 and burn the book",
    ] {
        let mut talk = Talk::new();
        let reply = talk.say(text).await;
        assert_eq!(call(&reply), None, "{text}");
        let messages = vec![ChatMessage::user(text)];
        let judged = talk.offline.judge(&ChatRequest { messages, ..talk.request.clone() });
        assert!(judged.confidence < SURE, "{text}: {judged:?}");
    }
}

/// What belongs to another model's turn goes on to that model.
#[tokio::test]
async fn it_is_sure_only_of_its_own_calls_and_questions() {
    let talk = Talk::new();
    let result = |call_id: &str| {
        let result = ToolResult {
            call_id: call_id.to_owned(),
            name: "payment_received".to_owned(),
            content: json!({"ok": true, "amount": 50_000, "name": "Ramesh"}).to_string(),
            is_error: false,
        };
        let told = ChatMessage { role: ModelRole::User, parts: vec![ModelMessagePart::ToolResult(result)] };
        let messages = vec![ChatMessage::user("Ramesh ne 500 diye"), told];
        talk.offline.judge(&ChatRequest { messages, ..talk.request.clone() })
    };
    assert!(result("offline-1-0").is_sure());
    assert!(!result("toolu_01").is_sure() && result("toolu_01").confidence < 0.5);
    for word in ["cancel", "stop", "rehne do", "रद्द"] {
        let messages = vec![ChatMessage::user(word)];
        let judged = talk.offline.judge(&ChatRequest { messages, ..talk.request.clone() });
        assert!(!judged.is_sure(), "{word}: {judged:?}");
        let mut talk = Talk::new();
        talk.say("Ramesh ko udhaar diya").await;
        talk.request.messages.push(ChatMessage::user(word));
        assert!(talk.offline.judge(&talk.request).is_sure(), "{word}");
    }
}

#[tokio::test]
async fn two_things_are_both_done_or_asked_about() {
    let mut talk = Talk::new();
    let both = talk.say("Ramesh ko 500 udhaar diye aur Suresh se 300 mile").await;
    let names: Vec<&str> = both.tool_calls().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["credit_given", "payment_received"]);
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
        ("help", "Here I can help with"),
        ("what can you do?", "Here I can help with"),
        ("मदद", "यहाँ"),
        ("namaste, kaise ho", "Namaste"),
        ("ਸਤ ਸ੍ਰੀ ਅਕਾਲ", "ਸਤ"),
        ("good morning", "Hello"),
        ("kem chho", "Namaste"),
    ] {
        let mut talk = Talk::new();
        let reply = talk.say(said).await;
        assert!(reply.text().starts_with(start), "{said}: {}", reply.text());
        assert_eq!(call(&reply), None);
    }
}

/// A call for help is not a message that was not understood; a word of praise is no greeting.
#[test]
fn talk_is_told_from_other_words() {
    let talk = Talk::new();
    let judge = |text: &str| {
        talk.offline.judge(&ChatRequest { messages: vec![ChatMessage::user(text)], ..talk.request.clone() })
    };
    for said in [
        "help",
        "मदद",
        "madad karo",
        "সাহায্য",
        "મદદ",
        "ಸಹಾಯ",
        "സഹായം",
        "मदत",
        "ସାହାଯ୍ୟ",
        "ਮਦਦ",
        "உதவி",
        "సహాయం",
        "what can you do?",
        "aap kya kar sakte hain",
        "hello",
        "namaste ji",
        "नमस्ते, कैसे हो",
        "নমস্কার, কেমন আছেন",
        "કેમ છો",
        "ನಮಸ್ಕಾರ",
        "നമസ്കാരം, സുഖമാണോ",
        "नमस्कार",
        "ନମସ୍କାର",
        "sat sri akal",
        "வணக்கம்",
        "నమస్కారం",
        "ram ram bhai",
    ] {
        let judged = judge(said);
        assert!(judged.verdict == OfflineVerdict::Talk && judged.is_sure(), "{said}: {judged:?}");
    }
    for said in ["good", "you", "sab", "theek"] {
        assert!(!judge(said).is_sure(), "{said}");
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
    let offline = OfflineProvider::new(Phrasebook::core().unwrap()).unwrap();
    let asked = |text: &str| ChatRequest {
        messages: vec![ChatMessage::user(text)],
        output: ReplyFormat::Json { name: "payment".to_owned(), schema: schema.clone() },
        ..ChatRequest::default()
    };
    let given = offline.complete(&ModelTarget::offline(), &asked("500 by upi")).await.unwrap();
    assert_eq!(given.text(), r#"{"amount":50000,"mode":"upi"}"#);
    for unsure in ["500 somehow", "upi or cash", ""] {
        let fault = offline.complete(&ModelTarget::offline(), &asked(unsure)).await.unwrap_err();
        assert!(matches!(fault, ModelError::Rejected { status: 422, .. }), "{unsure}: {fault}");
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
        let messages = vec![ChatMessage::user(text)];
        let judged = talk.offline.judge(&ChatRequest { messages, ..talk.request.clone() });
        assert!(judged.verdict == OfflineVerdict::Unknown && judged.confidence < SURE, "{text}: {judged:?}");
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
        let form = detect(text).map_or(ScriptForm::Latin, |found| found.form());
        let book = Phrasebook::core().unwrap();
        let expected = book.render("ask-amount", Locale::new(language, form), &[]).unwrap();
        assert_eq!(reply.text(), expected, "{text}");
    }
}

#[test]
fn the_same_request_gives_the_same_answer() {
    let offline = Arc::new(OfflineProvider::new(Phrasebook::core().unwrap()).unwrap());
    let request = ChatRequest {
        messages: vec![ChatMessage::user("Ramesh ko 500 diye")],
        tools: shop::tools(),
        ..ChatRequest::default()
    };
    let first = offline.judge(&request);
    assert!((0..20).all(|_| offline.judge(&request) == first));
    let other = OfflineProvider::new(Phrasebook::core().unwrap()).unwrap();
    assert_eq!(other.judge(&request), first);
}

/// What is asked after, the answer, and whom a call of it may be about.
const ANSWERED_OF_ANOTHER: [(&str, &str, &str); 16] = [
    ("Ramesh ko udhaar diya", "Suresh ko 500", "Suresh"),
    ("Ramesh ko udhaar diya", "Suresh ko 500 diye", "Suresh"),
    ("Ramesh ko udhaar diya", "Suresh ne 500 diye", "Suresh"),
    ("Ramesh ko udhaar diya", "Suresh 500", "Suresh"),
    ("Ramesh ko udhaar diya", "aur Suresh ko teen sau", "Suresh"),
    ("Ramesh ne payment kiya", "Suresh ne 500", "Suresh"),
    ("रमेश को उधार दिया", "सुरेश को पाँच सौ", "सुरेश"),
    ("रमेश को उधार दिया", "सुरेश ने तीन सौ वापस दिए", "सुरेश"),
    ("gave credit to Ramesh", "500 to Suresh", "Suresh"),
    ("gave credit to Ramesh", "Suresh paid 500", "Suresh"),
    ("ரமேஷுக்கு கடன் கொடுத்தேன்", "சுரேஷுக்கு 500", "சுரேஷ்"),
    ("రమేష్‌కి అప్పు ఇచ్చాను", "సురేష్‌కి 500", "సురేష్"),
    ("ರಮೇಶನಿಗೆ ಸಾಲ ಕೊಟ್ಟೆ", "ಸುರೇಶನಿಗೆ 500", "ಸುರೇಶ"),
    ("রমেশকে ধার দিলাম", "সুরেশকে ৫০০", "সুরেশ"),
    ("રમેશને ઉધાર આપ્યા", "સુરેશને 500", "સુરેશ"),
    ("ਰਮੇਸ਼ ਨੂੰ ਉਧਾਰ ਦਿੱਤੇ", "ਸੁਰੇਸ਼ ਨੂੰ 500", "ਸੁਰੇਸ਼"),
];

#[tokio::test]
async fn an_answer_about_somebody_else_is_never_written_for_the_first() {
    for (first, answer, named) in ANSWERED_OF_ANOTHER {
        let mut talk = Talk::new();
        let asked = talk.say(first).await;
        assert_eq!(call(&asked), None, "{first}");
        let reply = talk.say(answer).await;
        if let Some((tool, arguments)) = call(&reply) {
            assert_eq!(arguments["person"], named, "{first} / {answer}: {tool} {arguments}");
            continue;
        }
        // A question: a yes to it must not be about the first either, unless it said so.
        let agreed = talk.say("yes").await;
        if let Some((tool, arguments)) = call(&agreed) {
            let shown = arguments["person"].as_str().unwrap().to_owned();
            assert!(
                reply.text().contains(&shown),
                "{first} / {answer}: {} then {tool} {arguments}",
                reply.text()
            );
        }
    }
}

#[tokio::test]
async fn a_plain_answer_about_somebody_else_takes_their_name() {
    for (first, answer, named) in ANSWERED_OF_ANOTHER
        .into_iter()
        .filter(|(_, answer, _)| answer.split(' ').count() < 4 && !answer.starts_with("Suresh 5"))
    {
        let mut talk = Talk::new();
        talk.say(first).await;
        let reply = talk.say(answer).await;
        let is_about_them = match call(&reply) {
            Some((_, arguments)) => arguments["person"] == named,
            None => reply.text().contains(named),
        };
        assert!(is_about_them, "{first} / {answer}: {}", reply.text());
    }
}

#[tokio::test]
async fn an_answer_that_changes_what_was_said_is_read_back() {
    for (first, answer) in [
        ("500 udhaar diye", "Ramesh ko 300"),
        ("500 udhaar diye", "Ramesh ne"),
        ("500 udhaar diye", "Ramesh ne diye"),
        ("gave 500 on credit", "from Ramesh"),
    ] {
        let mut talk = Talk::new();
        let asked = talk.say(first).await;
        assert_eq!(call(&asked), None, "{first}");
        let reply = talk.say(answer).await;
        assert_eq!(call(&reply), None, "{first} / {answer}");
    }
}

#[tokio::test]
async fn a_yes_with_another_name_is_read_back_with_that_name() {
    for answer in ["nahi, Suresh ko", "haan Suresh ko", "Suresh ko 500"] {
        let mut talk = Talk::new();
        let asked = talk.say("gave Ramesh 500").await;
        assert!(call(&asked).is_none() && asked.text().contains("Ramesh"), "{}", asked.text());
        let reply = talk.say(answer).await;
        if let Some((_, arguments)) = call(&reply) {
            assert_eq!(arguments["person"], "Suresh", "{answer}");
            continue;
        }
        let agreed = talk.say("haan").await;
        if let Some((_, arguments)) = call(&agreed) {
            assert_eq!(arguments["person"], "Suresh", "{answer}: {}", reply.text());
        }
    }
}
