//! Sentences that speak of money and goods and tell no plain fact of the shop: hedged, heard, hoped, intended, owed,
//! forgiven, rounded, somebody else's, quoted, joked. `said/unsaid.txt` has them, by language. None may be written
//! without asking first.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking")]

use crate::shop;
use std::sync::{Arc, OnceLock};

use munshi_lang::names::is_honorific;
use munshi_lang::{Phrasebook, UnderstandingContext, fold};
use munshi_llm::provider::Provider;
use munshi_llm::{ChatMessage, ChatRequest, ModelTarget};
use munshi_offline::OfflineProvider;
use munshi_types::tool::ToolSpec;
use proptest::prelude::*;
use serde_json::Value;

const UNSAID: &str = include_str!("said/unsaid.txt");

/// Sentences that are written without asking, each with its language's place in `SMALL`.
const SURE: [(usize, &str); 27] = [
    (0, "gave Suresh 700 on credit"),
    (0, "received 2000 from Mahesh"),
    (0, "Lata returned 300"),
    (0, "sold 3 kg sugar for 150"),
    (0, "paid shop rent 9000"),
    (1, "Suresh ko 700 udhaar diye"),
    (1, "aaj paanch kilo aata 200 mein becha"),
    (1, "Mohan ne 900 rupaye diye"),
    (1, "सुरेश को सात सौ रुपये उधार दिए"),
    (1, "पानी का बिल तीन सौ रुपये भरा"),
    (2, "Suman ke 700 taka bakite dilam"),
    (2, "সুমনকে সাতশো টাকা ধার দিয়েছি"),
    (3, "Lata e 500 rupiya aapya"),
    (3, "સુરેશને સાતસો રૂપિયા ઉધાર આપ્યા"),
    (4, "Sureshanige elunooru rupayi saala kotte"),
    (4, "ಸುರೇಶನಿಗೆ ಏಳುನೂರು ರೂಪಾಯಿ ಸಾಲ ಕೊಟ್ಟೆ"),
    (5, "Latha 500 roopa thannu"),
    (5, "സുരേഷിന് എഴുനൂറ് രൂപ കടം കൊടുത്തു"),
    (6, "Sureshla 700 rupaye udhaar dile"),
    (6, "लताने पाचशे रुपये परत दिले"),
    (7, "Suresh ku sata saha tanka udhara deli"),
    (7, "ସୁରେଶକୁ ସାତ ଶହ ଟଙ୍କା ଉଧାର ଦେଲି"),
    (8, "ਸੁਰੇਸ਼ ਨੂੰ ਸੱਤ ਸੌ ਰੁਪਏ ਉਧਾਰ ਦਿੱਤੇ"),
    (9, "Sureshku elunooru rubai kadan kuduthen"),
    (9, "லட்சுமி ஐநூறு ரூபாய் திருப்பி கொடுத்தாங்க"),
    (10, "Suresh ki 700 rupayalu appu icchanu"),
    (10, "సురేష్‌కి ఏడు వందల రూపాయలు అప్పు ఇచ్చాను"),
];

/// The small words of each language.
const SMALL: [&str; 11] = [
    include_str!("../words/en.txt"),
    include_str!("../words/hi.txt"),
    include_str!("../words/bn.txt"),
    include_str!("../words/gu.txt"),
    include_str!("../words/kn.txt"),
    include_str!("../words/ml.txt"),
    include_str!("../words/mr.txt"),
    include_str!("../words/or.txt"),
    include_str!("../words/pa.txt"),
    include_str!("../words/ta.txt"),
    include_str!("../words/te.txt"),
];

const NAMING: [&str; 6] = ["trade", "goods", "to", "by", "from", "of"];

/// Every word of a language's grammar, with what it is.
fn grammar(language: usize) -> Vec<(&'static str, &'static str)> {
    let lines = SMALL[language].lines().filter(|line| !line.starts_with('-'));
    let words = lines.filter_map(|line| line.split_once(' '));
    // Trades and goods name something, cases give a name another part, and a few words of grammar are numbers too.
    let names = |word: &str| {
        words.clone().any(|(class, all)| NAMING.contains(&class) && all.split(' ').any(|one| one == word))
    };
    let counts =
        |word: &str| !munshi_lang::understand(word, &UnderstandingContext::default()).numbers.is_empty();
    // Suresh sab is Suresh, with respect.
    let respects = |word: &str| is_honorific(&fold::key(word));
    words
        .clone()
        .flat_map(|(class, words)| words.split(' ').map(move |word| (class, word)))
        .filter(|(_, word)| !word.contains('_') && !names(word) && !counts(word) && !respects(word))
        .collect()
}

/// The tools called for a message that write, with their arguments.
fn written(text: &str) -> Vec<(String, Value)> {
    static SHOP: OnceLock<(OfflineProvider, Vec<Arc<ToolSpec>>)> = OnceLock::new();
    let (offline, tools) =
        SHOP.get_or_init(|| (OfflineProvider::new(Phrasebook::core().unwrap()).unwrap(), shop::tools()));
    let messages = vec![ChatMessage::user(text)];
    let request = ChatRequest { messages, tools: tools.clone(), ..ChatRequest::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let reply = runtime.block_on(offline.complete(&ModelTarget::offline(), &request)).unwrap();
    let writes = |name: &str| tools.iter().any(|tool| tool.name.as_str() == name && tool.effect.writes());
    let calls = reply.tool_calls().filter(|call| writes(&call.name));
    calls.map(|call| (call.name.clone(), call.arguments.clone())).collect()
}

#[test]
fn what_is_not_plainly_said_is_not_written() {
    let (mut all, mut wrong) = (0, Vec::new());
    for line in UNSAID.lines().filter(|line| !line.starts_with('#')) {
        all += 1;
        wrong.extend(
            written(line).into_iter().map(|(tool, arguments)| format!("{line}\n     {tool} {arguments}")),
        );
    }
    println!("{} of {all} written\n{}", wrong.len(), wrong.join("\n"));
    assert!(all >= 200, "only {all} sentences");
    assert!(wrong.is_empty(), "{} of {all} were written", wrong.len());
}

#[test]
fn what_is_plainly_said_is_written() {
    let asked: Vec<&&str> =
        SURE.iter().map(|(_, text)| text).filter(|text| written(text).len() != 1).collect();
    assert!(asked.is_empty(), "{asked:?}");
}

/// A word of no language, in Latin letters or in those of an Indian script.
fn unknown() -> impl Strategy<Value = String> {
    let latin = "(z|v|j|q|w|kr|bl|th){1}(o|u|e){1}[zvjqwxf][aeiou][bdgkmptz][aeiou]?";
    let native = prop_oneof![
        "[\u{915}-\u{939}][\u{93E}-\u{940}][\u{915}-\u{928}]\u{941}[\u{91C}-\u{926}]",
        "[\u{995}-\u{9A8}][\u{9BE}-\u{9C0}][\u{99C}-\u{9A6}]\u{9C1}[\u{99C}-\u{9A6}]",
        "[\u{A95}-\u{AA8}][\u{ABE}-\u{AC0}][\u{A9C}-\u{AA6}]\u{AC1}[\u{A9C}-\u{AA6}]",
        "[\u{C95}-\u{CA8}][\u{CBE}-\u{CC0}][\u{C9C}-\u{CA6}]\u{CC1}[\u{C9C}-\u{CA6}]",
        "[\u{D15}-\u{D28}][\u{D3E}-\u{D40}][\u{D1C}-\u{D26}]\u{D41}[\u{D1C}-\u{D26}]",
        "[\u{B15}-\u{B28}][\u{B3E}-\u{B40}][\u{B1C}-\u{B26}]\u{B41}[\u{B1C}-\u{B26}]",
        "[\u{A15}-\u{A28}][\u{A3E}-\u{A40}][\u{A1C}-\u{A26}]\u{A41}[\u{A1C}-\u{A26}]",
        "(க|ச|ட|த|ப)(ா|ி|ீ)(க|ச|ட|த|ப)ு(ம|ல|ர)ை",
        "[\u{C15}-\u{C28}][\u{C3E}-\u{C40}][\u{C1C}-\u{C26}]\u{C41}[\u{C1C}-\u{C26}]",
    ];
    prop_oneof![latin, native]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// A word nobody knows, wherever it stands, keeps a sentence from being written; or it changed nothing.
    #[test]
    fn an_unknown_word_is_never_passed_over(at in 0..SURE.len(), place in 0..12usize, word in unknown()) {
        let sentence = SURE[at].1;
        let mut words: Vec<&str> = sentence.split(' ').collect();
        words.insert(place % (words.len() + 1), &word);
        let said = words.join(" ");
        let done = written(&said);
        prop_assert!(done.is_empty(), "{} was written: {:?}", said, done);
    }

    /// A word of grammar, wherever it stands, keeps a sentence from being written or changes nothing of what is.
    #[test]
    fn grammar_names_nobody_and_nothing(at in 0..SURE.len(), place in 0..12usize, pick in any::<prop::sample::Index>()) {
        let (language, sentence) = SURE[at];
        static GRAMMAR: [OnceLock<Vec<(&str, &str)>>; 11] = [const { OnceLock::new() }; 11];
        let grammar = GRAMMAR[language].get_or_init(|| grammar(language));
        let (class, word) = grammar[pick.index(grammar.len())];
        let mut words: Vec<&str> = sentence.split(' ').collect();
        words.insert(place % (words.len() + 1), word);
        let said = words.join(" ");
        let done = written(&said);
        prop_assert!(done.is_empty() || done == written(sentence), "{} ({}) was written: {:?}", said, class, done);
        prop_assert!(done.is_empty() || !["doubt", "if"].contains(&class), "{}: {:?}", said, done);
    }
}
