//! How long it takes to put a full prompt together: `cargo run --release -p munshi-tiers --example prompt`.
//!
//! Every part is filled to its budget, 7,700 tokens in all. Counts are stored with the texts, as they come from the
//! database; nothing is counted but the line with the time.

#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use munshi_llm::Target;
use munshi_llm::money::estimate_request;
use munshi_tiers::contract::Situation;
use munshi_tiers::prompt::{
    Assembled, Cast, Data, Envelope, Fact, FenceKey, Moment, Recalled, Section, Speaker, Spoken, TenantWord,
    Tiers, TooLarge, Turn, assemble,
};
use munshi_types::tier::{Agent, Channel, GuardrailRef, Human, MemoryPolicy, Team, TierKind};
use munshi_types::{Timestamp, Zone};

const TIMES: usize = 20_000;

/// Prose of so many words, in the mix that such prompts have.
fn words(count: usize) -> String {
    let said = [
        "Every",
        "rupee",
        "tells",
        "a",
        "story,",
        "and",
        "udhaar",
        "is",
        "not",
        "a",
        "flaw;",
        "हिसाब",
        "साफ़",
        "रखो.",
    ];
    said.iter().cycle().take(count).copied().collect::<Vec<_>>().join(" ")
}

fn cast() -> Cast {
    let human = Human {
        name: "Meera".into(),
        identity: "The munshi of a kirana shop.".into(),
        soul: words(465),
        guardrails: vec![GuardrailRef::new("never-human")],
        ..Human::default()
    };
    let role = "You keep the books.".into();
    let team = Team { name: "Counter".into(), role, sops: words(728), ..Team::default() };
    let memory = MemoryPolicy { history: 40, episodes: 8, ..MemoryPolicy::default() };
    let agent = Agent { guidance: words(860), memory, ..Agent::default() };
    let tiers = Tiers { human: &human, team: &team, agent: &agent, installed: &[] };
    Cast::new(&tiers)
}

/// As the rows of the database have it: texts with their counts.
struct Stored {
    facts: Vec<(String, u32)>,
    recall: Vec<(String, u32)>,
    history: Vec<(String, u32)>,
    message: (String, u32),
}

impl Stored {
    fn new() -> Self {
        let data = |text: String| (Data::new(&text).as_str().to_owned(), Data::new(&text).tokens());
        let said = |text: String| (Spoken::new(&text).as_str().to_owned(), Spoken::new(&text).tokens());
        Self {
            facts: (0..25).map(|at| data(format!("fact {at}: {}", words(12)))).collect(),
            recall: (0..8).map(|at| data(format!("{at} days ago: {}", words(55)))).collect(),
            history: (0..40).map(|at| said(format!("{at}: {}", words(47)))).collect(),
            message: said(words(60)),
        }
    }

    fn moment(&self) -> Moment {
        let data = |(text, tokens): &(String, u32)| Data::stored(text.as_str(), *tokens);
        let speakers = [Speaker::Person, Speaker::Persona].into_iter().cycle();
        let turn = |((text, tokens), speaker): (&(String, u32), _)| Turn {
            speaker,
            text: Spoken::stored(text.as_str(), *tokens),
        };
        Moment {
            envelope: Envelope {
                now: Timestamp::from_micros(1_794_733_920_000_000),
                zone: Zone::default(),
                channel: Channel::Whatsapp,
                locale: "hi-IN".into(),
                language: "hi".parse().ok(),
                situation: Situation::Usual,
            },
            profile: Vec::new(),
            facts: self.facts.iter().map(|row| Fact { text: data(row), confidence: 900 }).collect(),
            recall: self.recall.iter().map(|row| Recalled { text: data(row), score: 700 }).collect(),
            summary: None,
            history: self.history.iter().zip(speakers).map(turn).collect(),
            message: Spoken::stored(self.message.0.as_str(), self.message.1),
            exchanges: Vec::new(),
            words: (0..9).map(|at| TenantWord::new(&format!("thing {at}"), "maal")).collect(),
            key: FenceKey::new([7; 16]),
        }
    }
}

/// The median and the 99th of a hundred.
fn measure<T>(mut run: impl FnMut() -> T) -> (Duration, Duration) {
    let mut times: Vec<Duration> = (0..TIMES)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    (times[TIMES / 2], times[TIMES * 99 / 100])
}

fn main() -> Result<(), TooLarge> {
    let (cast, stored) = (cast(), Stored::new());
    let moment = stored.moment();
    let prompt: Assembled = assemble(&cast, &moment)?;
    let tokens = |section| prompt.report.tokens(section);
    println!(
        "human {}, team {}, agent {}",
        cast.tokens(TierKind::Human),
        cast.tokens(TierKind::Team),
        cast.tokens(TierKind::Agent)
    );
    let dynamic = [Section::Facts, Section::Recall, Section::History, Section::Message].map(tokens);
    println!(
        "facts, recall, history, message {dynamic:?}, envelope {}",
        tokens(Section::Envelope) + tokens(Section::Words)
    );
    println!("total {} of {}, {} cuts", prompt.report.total, prompt.report.most, prompt.report.cuts.len());
    println!("the gateway counts {}", estimate_request(&Target::offline(), &prompt.into_request()));
    let show = |what: &str, (median, worst): (Duration, Duration)| {
        println!(
            "{what}: median {:.1} us, p99 {:.1} us",
            median.as_secs_f64() * 1e6,
            worst.as_secs_f64() * 1e6
        );
    };
    show("assemble", measure(|| assemble(&cast, &moment)));
    show("assemble, with the moment made from stored texts", measure(|| assemble(&cast, &stored.moment())));
    show("make the tiers' text (once a version)", measure(self::cast));
    Ok(())
}
