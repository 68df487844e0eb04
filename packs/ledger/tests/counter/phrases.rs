//! Whatever people say for the tools of the counter, in eleven languages and two scripts, leads to that tool.

use std::collections::BTreeMap;
use std::sync::Arc;

use munshi_ledger::LedgerPack;
use munshi_llm::provider::Provider;
use munshi_llm::{ChatMessage, ChatRequest, ModelTarget};
use munshi_offline::OfflineProvider;
use munshi_pack::{Pack, PackRegistry};
use munshi_types::{Clock, IdGenerator, SystemClock, SystemRandom, ToolSpec};

const TOOLS: [&str; 10] = [
    "merge_contacts",
    "shop_details",
    "day_book",
    "payment_link",
    "draft_reminder",
    "reminder_sent",
    "send_reminder",
    "make_bill",
    "item_tax",
    "sort_payment",
];

/// A phrase with names and an amount in its braces, in letters as the phrase has them.
fn said(phrase: &str) -> String {
    let latin = phrase.is_ascii();
    let fills: BTreeMap<&str, &str> = match latin {
        true => [
            ("{person}", "Ramesh"),
            ("{buyer}", "Ramesh"),
            ("{first}", "Ramesh"),
            ("{second}", "Suresh"),
            ("{item}", "cheeni"),
            ("{amount}", "500"),
        ]
        .into(),
        false => [
            ("{person}", "रमेश"),
            ("{buyer}", "रमेश"),
            ("{first}", "रमेश"),
            ("{second}", "सुरेश"),
            ("{item}", "चीनी"),
            ("{amount}", "500"),
        ]
        .into(),
    };
    fills.iter().fold(phrase.to_owned(), |text, (brace, with)| text.replace(brace, with))
}

#[tokio::test]
async fn what_people_say_for_a_tool_leads_to_it() {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let pack: Arc<dyn Pack> =
        Arc::new(LedgerPack::new(clock.clone(), IdGenerator::new(clock, Arc::new(SystemRandom))));
    let house = PackRegistry::install_all(&[pack]).unwrap();
    let known = house.tools.all();
    let tools: Vec<Arc<ToolSpec>> = known.map(|tool| Arc::new(tool.known.spec.clone())).collect();
    let offline = OfflineProvider::new(house.book.clone()).unwrap();
    let (mut all, mut missed) = (0, Vec::new());
    for tool in tools.iter().filter(|tool| TOOLS.contains(&tool.name.as_str())) {
        for (language, phrase) in
            tool.phrases.iter().flat_map(|(language, all)| all.iter().map(move |one| (language, one)))
        {
            let text = said(phrase);
            let request = ChatRequest {
                messages: vec![ChatMessage::user(&text)],
                tools: tools.clone(),
                ..ChatRequest::default()
            };
            let reply = offline.complete(&ModelTarget::offline(), &request).await.unwrap();
            let calls: Vec<String> =
                reply.tool_calls().map(|call| format!("{} {}", call.name, call.arguments)).collect();
            let name = tool.name.as_str();
            all += 1;
            let is_right = reply.tool_calls().all(|call| call.name == name) && !calls.is_empty();
            // A question is no wrong act.
            if !is_right {
                missed.push((
                    calls.is_empty(),
                    format!("{} {name}: {text} -> {calls:?} {}", language.code(), reply.text()),
                ));
            }
        }
    }
    let wrong: Vec<&String> = missed.iter().filter(|(asked, _)| !asked).map(|(_, line)| line).collect();
    assert!(wrong.is_empty(), "led elsewhere:\n{wrong:#?}");
    let asked: Vec<&String> = missed.iter().map(|(_, line)| line).collect();
    assert!(asked.len() * 20 <= all, "{} of {all} were asked about:\n{asked:#?}", asked.len());
}
