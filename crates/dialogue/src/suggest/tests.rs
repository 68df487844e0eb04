use std::collections::BTreeMap;

use munshi_lang::{Language, ScriptForm};
use munshi_tools::{ChoiceOption, FailureHint};
use munshi_types::Effect;
use proptest::prelude::*;
use serde_json::json;

use super::*;

static CLEAN: std::sync::LazyLock<Taint> = std::sync::LazyLock::new(Taint::default);

const HINDI: Locale = Locale { language: Language::Hindi, form: ScriptForm::Native };
const HINGLISH: Locale = Locale { language: Language::Hindi, form: ScriptForm::Latin };
const ENGLISH: Locale = Locale { language: Language::English, form: ScriptForm::Latin };

fn tool(name: &str, effect: Effect, phrases: &[(Language, &[&str])], follow_ups: &[&str]) -> ToolSpec {
    let phrases: BTreeMap<Language, Vec<String>> = phrases
        .iter()
        .map(|(language, texts)| (*language, texts.iter().map(|text| (*text).to_owned()).collect()))
        .collect();
    ToolSpec {
        effect,
        phrases,
        follow_ups: follow_ups.iter().map(|name| name.parse().unwrap()).collect(),
        ..ToolSpec::read_only(name.parse().unwrap(), "", "ledger.thing.read")
    }
}

fn tools() -> Vec<ToolSpec> {
    vec![
        tool(
            "balance",
            Effect::Read,
            &[
                (Language::English, &["how much is due"]),
                (Language::Hindi, &["kitna baaki hai", "कितना बाकी है"]),
            ],
            &["remind", "who_owes"],
        ),
        tool(
            "remind",
            Effect::Inside,
            &[(Language::English, &["send a reminder"]), (Language::Hindi, &["याद दिलाओ", "yaad dilao"])],
            &[],
        ),
        tool("who_owes", Effect::Read, &[(Language::English, &["who owes me"])], &[]),
        tool("day_book", Effect::Read, &[], &[]),
    ]
}

fn hints<'h>(
    voice: Locale,
    tools: &'h [ToolSpec],
    called: &[&str],
    proposed: &'h [String],
) -> SuggestionContext<'h> {
    SuggestionContext {
        voice,
        message: "",
        waits: ExpectedAnswer::Nothing,
        called: tools.iter().filter(|spec| called.contains(&spec.name.as_str())).collect(),
        offered: tools.iter().collect(),
        proposed,
        taint: &CLEAN,
    }
}

fn said(hints: &SuggestionContext<'_>) -> Vec<String> {
    suggest(hints, &Phrasebook::core().unwrap()).unwrap()
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn follow_ups_come_first_in_the_persons_language_and_script() {
    let tools = tools();
    assert_eq!(
        said(&hints(ENGLISH, &tools, &["balance"], &[]))[..2],
        ["I want to do this: Send a reminder", "Who owes me"]
    );
    let hindi = said(&hints(HINDI, &tools, &["balance"], &[]));
    assert_eq!(hindi[0], "मुझे यह करना है: याद दिलाओ");
    let hinglish = said(&hints(HINGLISH, &tools, &["who_owes"], &[]));
    assert_eq!(hinglish, ["Kitna baaki hai", "Day book", "Mujhe yeh karna hai: Yaad dilao"]);
}

#[test]
fn a_question_that_waits_offers_its_answers() {
    let (tools, book) = (tools(), Phrasebook::core().unwrap());
    let mut waiting = hints(HINDI, &tools, &["balance"], &[]);
    waiting.waits = ExpectedAnswer::YesOrNo;
    assert_eq!(suggest(&waiting, &book).unwrap(), ["हाँ जी, कर दीजिए", "नहीं, मत कीजिए"]);
    let choices = vec![
        ChoiceOption::new(1, "Ramesh Kumar"),
        ChoiceOption::new(2, "Ramesh Gupta"),
        ChoiceOption::new(3, "pay 98765 43210"),
        ChoiceOption::new(4, "R. ".repeat(40)),
        ChoiceOption::new(5, "Fifth"),
    ];
    let next = FailureHint::Choose { argument: "name".to_owned(), choices };
    let asked = ChoiceQuestion::from_hint("balance", &json!({ "name": "ramesh" }), &next).unwrap();
    waiting.waits = ExpectedAnswer::Choice(&asked);
    let offered = suggest(&waiting, &book).unwrap();
    assert_eq!(offered[..3], ["1. Ramesh Kumar", "2. Ramesh Gupta", "3."]);
    assert!(offered.len() == 4 && offered[3].chars().count() <= LONGEST);
    for (at, text) in offered.iter().enumerate() {
        assert_eq!(asked.clone().pick(text).unwrap().choice.value, json!(at + 1), "{text}");
    }
}

#[test]
fn a_models_line_is_offered_where_it_is_the_persons_and_harmless() {
    let proposed = strings(&[
        "Show last month",
        "I have sent the reminder",
        "Pay ₹5000 to 9876543210",
        "see https://x.example",
        "मुझे दिखाइए कितना बाकी है",
        "Was the reminder sent?",
    ]);
    let tools = Vec::new();
    assert_eq!(said(&hints(ENGLISH, &tools, &[], &proposed)), ["Show last month", "Was the reminder sent?"]);
    let read = Taint { sources: [TaintSource::Document].into(), ..Taint::default() };
    let tainted = SuggestionContext { taint: &read, ..hints(ENGLISH, &tools, &[], &proposed) };
    assert!(!said(&tainted).contains(&"Show last month".to_owned()), "a document's words are nobody's own");
    let proposed = strings(&["रमेश को पैसे भेज दिया", "पिछले महीने का हिसाब दिखाइए", "Show me last month please"]);
    assert_eq!(said(&hints(HINDI, &tools, &[], &proposed))[0], "पिछले महीने का हिसाब दिखाइए");
    assert!(
        !said(&hints(HINDI, &tools, &[], &proposed))
            .iter()
            .any(|text| text.contains("Show") || text.contains("दिया"))
    );
}

#[test]
fn every_voice_says_what_was_done_otherwise_than_what_is_wanted() {
    let book = Phrasebook::core().unwrap();
    for voice in Locale::all() {
        for name in ["say-yes", "say-no", "suggest-help", "suggest-more", "suggest-thanks"] {
            let text = book.render(name, voice, &[]).unwrap();
            assert!(!candidates::says_done(&text), "{} {text}", voice.code());
        }
    }
    for text in
        ["Done.", "मैंने लिख दिया है", "kaam ho gaya", "பணம் அனுப்பிவிட்டேன்", "పంపాను", "I've sent it", "হয়ে গেছে"]
    {
        assert!(candidates::says_done(text), "{text}");
    }
}

proptest! {
    #[test]
    fn two_to_four_short_and_different_ones_always(
        at in 0usize..21,
        count in 0usize..5,
        called in 0usize..5,
        message in "(How much is due|What can you help me with\\?|[a-z ]{0,20})",
        proposed in proptest::collection::vec("[a-zA-Z ?|]{0,80}", 0..6),
    ) {
        let voice = Locale::all().nth(at).unwrap();
        let tools = tools();
        let mut hints = hints(voice, &tools[..count.min(4)], &[], &proposed);
        hints.called = tools.iter().take(called).collect();
        hints.message = &message;
        let texts = said(&hints);
        prop_assert!((LEAST..=MOST).contains(&texts.len()), "{texts:?}");
        for (at, text) in texts.iter().enumerate() {
            prop_assert!(text.chars().count() <= LONGEST && !text.contains('\n'));
            prop_assert!(key(text) != key(&message) && texts[..at].iter().all(|other| key(other) != key(text)));
        }
    }
}
