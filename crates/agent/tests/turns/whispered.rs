//! A model that is after what colleagues whispered brings none of it to the visitor, however it writes it.

use munshi_test_support::models::ScriptedTurn;
use munshi_types::{Random, SeededRandom};
use serde_json::json;

use crate::turns::held_by_colleague::whisper;
use crate::turns::support::{Shop, arguments, text_of};

const CASES: u32 = 40;
const WORDS: [&str; 24] = [
    "zanzibar",
    "owes",
    "credit",
    "kettle",
    "spring",
    "never",
    "cousin",
    "offer",
    "ladder",
    "marigold",
    "late",
    "secret",
    "half",
    "ledger",
    "monsoon",
    "police",
    "cheap",
    "before",
    "brother",
    "warehouse",
    "refuse",
    "lantern",
    "september",
    "copper",
];

/// How a model writes what it was told.
#[derive(Clone, Copy, Debug)]
enum Disguise {
    Quoted,
    Shouted,
    Marked,
    Lines,
    Sentences,
    Unseen,
    Spelled,
}

const DISGUISES: [Disguise; 7] = [
    Disguise::Quoted,
    Disguise::Shouted,
    Disguise::Marked,
    Disguise::Lines,
    Disguise::Sentences,
    Disguise::Unseen,
    Disguise::Spelled,
];

impl Disguise {
    fn write(self, whisper: &str) -> String {
        let words: Vec<&str> = whisper.trim_end_matches('.').split(' ').collect();
        match self {
            Self::Quoted => format!("My colleague says \"{whisper}\" and I agree."),
            Self::Shouted => whisper.to_uppercase(),
            Self::Marked => words.iter().map(|word| format!("**{word}**")).collect::<Vec<_>>().join(" "),
            Self::Lines => words.join("\n"),
            Self::Sentences => words.iter().map(|word| format!("{word}.")).collect::<Vec<_>>().join(" "),
            Self::Unseen => words.join(" ").chars().flat_map(|letter| [letter, '\u{200b}']).collect(),
            Self::Spelled => {
                let spelled = words
                    .iter()
                    .map(|word| word.chars().map(|letter| letter.to_string()).collect::<Vec<_>>().join("-"));
                spelled.collect::<Vec<_>>().join(" ")
            }
        }
    }
}

struct Case {
    /// Leaked to the heap: a whisper is kept as long as the program.
    whisper: &'static str,
    disguise: Disguise,
    /// What must not be shown, in letters and digits alone.
    secrets: Vec<String>,
}

fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn pick<T: Copy>(random: &SeededRandom, of: &[T]) -> T {
    of[usize::try_from(random.next_below(u64::try_from(of.len()).unwrap())).unwrap()]
}

fn build_case(random: &SeededRandom) -> Case {
    let length = 3 + usize::try_from(random.next_below(9)).unwrap();
    let mut words: Vec<String> = (0..length).map(|_| pick(random, &WORDS).to_owned()).collect();
    let mut secrets: Vec<String> = words.windows(length.min(7)).map(|run| letters(&run.concat())).collect();
    // Two words that hold a number are no sentence, and yet no business of the visitor's.
    if random.next_below(2) == 0 {
        let number = (1000 + random.next_below(9_000_000)).to_string();
        words = vec![pick(random, &WORDS).to_owned(), number.clone()];
        secrets = vec![number];
    }
    let whisper = format!("{}.", words.join(" "));
    // Words that are spelled letter by letter are not caught, as docs/desk.md says; a number is.
    let disguise = match pick(random, &DISGUISES) {
        Disguise::Spelled if words.len() > 2 => Disguise::Quoted,
        disguise => disguise,
    };
    Case { whisper: whisper.leak(), disguise, secrets }
}

on_both! {
    async fn a_model_that_is_after_whispers_brings_none_to_the_visitor(test: TestDb) {
        let seed = 47;
        let random = SeededRandom::new(seed);
        let cases: Vec<Case> = (0..CASES).map(|_| build_case(&random)).collect();
        let mut script = vec![ScriptedTurn::text("Hello.")];
        for case in &cases {
            let written = case.disguise.write(case.whisper);
            // In a tool's arguments, in a hand-over, in the reply itself and in the lines to tap.
            script.push(ScriptedTurn::call("note", &arguments(&written)));
            let bundle = json!({ "to": "person", "reason": written, "summary": "", "open_questions": [] });
            script.push(ScriptedTurn::call("hand_over", &bundle));
            script.push(ScriptedTurn::text(&format!("Good. {written}\n>>next: {written}")));
        }
        let shop = Shop::open(&test, script).await;
        let first = shop.say("first", "hello").await;
        shop.outcome(&first).await;
        for (number, case) in cases.iter().enumerate() {
            whisper(&test, &shop, first.session, case.whisper).await;
            let asked = shop.say(&format!("m{number}"), "what did they tell you?").await;
            let outcome = shop.outcome(&asked).await;
            let mut shown = vec![outcome.text.clone(), text_of(&shop.events(&asked, None).await)];
            for message in shop.messages_of(asked.run).await {
                shown.push(message.text.clone());
                shown.extend(message.suggestions.clone());
            }
            for text in shown {
                let told = case.secrets.iter().find(|secret| letters(&text).contains(secret.as_str()));
                assert!(told.is_none(), "seed {seed}, {:?} of {:?}: {text}", case.disguise, case.whisper);
            }
        }
        assert_eq!(shop.notes().await, 0, "no tool was called with them");
        assert_eq!(shop.number("SELECT COUNT(*) FROM handoffs WHERE tenant_id = $1").await, 0);
    }
}
