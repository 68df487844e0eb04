//! A whole turn's prompt: from an address to the request, 7,700 tokens, from memory.
//!
//! Every part is filled to its budget. Counts are stored with the texts, as they come from the database; nothing is
//! counted but the line with the time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use munshi_test_support::TestDb;
use munshi_tiers::precedence::TurnSituation;
use munshi_tiers::prompt::{
    AssembledPrompt, FenceKey, PersonFact, PromptSpeaker, PromptTiers, PromptTurn, RecallItem, StaticPrompt,
    TenantWord, TurnContext, TurnEnvelope, UntrustedText, UtteranceText, assemble,
};
use munshi_tiers::{AddressResolution, BindingResolver};
use munshi_types::tier::{Channel, RoutingKey, RoutingKeyKind, TierKind};
use munshi_types::{Timestamp, Zone};
use tokio::runtime::Runtime;

use super::fill;
use crate::report::{Goal, Table, render_verdict};

const TIMES: usize = 20_000;
const ADDRESS: &str = "full.example";

pub(super) fn run(runtime: &Runtime, test: &TestDb) -> Result<()> {
    runtime.block_on(fill(test, "full", tiers()))?;
    let (resolver, key) =
        (BindingResolver::new(test.db.clone()), RoutingKey::new(RoutingKeyKind::Host, ADDRESS)?);
    let AddressResolution::Bound(found) = runtime.block_on(resolver.resolve(&key, None))? else {
        bail!("{ADDRESS} leads nowhere")
    };
    let stored = Stored::new();
    let moment = stored.turn_context();
    let full = assemble(&found.static_prompt, &moment)?;
    ensure!((7_500..=7_700).contains(&full.report.total), "a full prompt has {}", full.report.total);

    let turn = |moment: &TurnContext| -> Result<AssembledPrompt> {
        match resolver.resolve_cached(&key, Some("+919812345678")) {
            Some(AddressResolution::Bound(found)) => Ok(assemble(&found.static_prompt, moment)?),
            _ => bail!("{ADDRESS} was forgotten"),
        }
    };
    let tiers = PromptTiers {
        human: &found.human.body,
        team: &found.team.body,
        agent: &found.agent.body,
        installed: &[],
    };
    let mut table = Table::new(["", "median, µs", "p99, µs", "goal for the median"]);
    let mut row = |what: &str, (median, worst): (f64, f64), goal: Option<f64>| {
        let goal = goal.map_or_else(String::new, |most| render_verdict(median, Goal::AtMost(most), 0));
        table.add_row([what.to_owned(), format!("{median:.1}"), format!("{worst:.1}"), goal]);
    };
    row("from the address to the prompt", measure(|| turn(&moment)), Some(100.0));
    row("the same, the moment made from stored texts", measure(|| turn(&stored.turn_context())), Some(100.0));
    row("the prompt alone", measure(|| assemble(&found.static_prompt, &moment)), None);
    row("the text of three tiers, once a version", measure(|| StaticPrompt::new(&tiers)), None);
    table.print(&format!(
        "A prompt of {} tokens, {} parts left out; {TIMES} times, one thread",
        full.report.total,
        full.report.cuts.len()
    ));
    Ok(())
}

/// The median and the 99th of a hundred, in microseconds.
fn measure<T>(mut run: impl FnMut() -> T) -> (f64, f64) {
    let mut times: Vec<Duration> = (0..TIMES)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let at = |place: usize| times.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6);
    (at(TIMES / 2), at(TIMES * 99 / 100))
}

/// Prose of so many words, in the mix that such prompts have.
fn words(count: usize) -> String {
    let said = "Every rupee tells a story, and udhaar is not a flaw; हिसाब साफ़ रखो.";
    said.split(' ').cycle().take(count).collect::<Vec<_>>().join(" ")
}

/// Human, team and agent, each as large as it may be.
fn tiers() -> Vec<(TierKind, String, String)> {
    let human = format!(
        "+++\nname = \"Meera\"\nidentity = \"The munshi of a kirana shop.\"\nguardrails = [\"never-human\"]\n+++\n\n{}\n",
        words(465)
    );
    let team = format!("+++\nname = \"Counter\"\nrole = \"You keep the books.\"\n+++\n\n{}\n", words(728));
    let agent = format!("guidance = \"{}\"\n\n[memory]\nhistory = 40\nepisodes = 8\n", words(860));
    let binding =
        format!("human = \"meera\"\nteam = \"counter\"\nagent = \"full\"\nkeys = [\"host:{ADDRESS}\"]\n");
    [
        (TierKind::Human, "meera", human),
        (TierKind::Team, "counter", team),
        (TierKind::Agent, "full", agent),
        (TierKind::Binding, "full", binding),
    ]
    .map(|(kind, name, text)| (kind, name.to_owned(), text))
    .into()
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
        let data = |text: String| {
            (UntrustedText::new(&text).as_str().to_owned(), UntrustedText::new(&text).tokens())
        };
        let said = |text: String| {
            (UtteranceText::new(&text).as_str().to_owned(), UtteranceText::new(&text).tokens())
        };
        Self {
            facts: (0..25).map(|at| data(format!("fact {at}: {}", words(12)))).collect(),
            recall: (0..8).map(|at| data(format!("{at} days ago: {}", words(55)))).collect(),
            history: (0..40).map(|at| said(format!("{at}: {}", words(47)))).collect(),
            message: said(words(60)),
        }
    }

    fn turn_context(&self) -> TurnContext {
        let data = |(text, tokens): &(String, u32)| UntrustedText::from_stored(text.as_str(), *tokens);
        let speakers = [PromptSpeaker::Person, PromptSpeaker::Persona].into_iter().cycle();
        let turn = |((text, tokens), speaker): (&(String, u32), _)| PromptTurn {
            speaker,
            text: UtteranceText::from_stored(text.as_str(), *tokens),
        };
        TurnContext {
            envelope: TurnEnvelope {
                now: Timestamp::from_micros(1_794_733_920_000_000),
                zone: Zone::default(),
                channel: Channel::Whatsapp,
                locale: "hi-IN".into(),
                language: "hi".parse().ok(),
                situation: TurnSituation::Usual,
            },
            profile: Vec::new(),
            facts: self.facts.iter().map(|row| PersonFact { text: data(row), confidence: 900 }).collect(),
            recall: self.recall.iter().map(|row| RecallItem::episode(data(row), 700)).collect(),
            summary: None,
            history: self.history.iter().zip(speakers).map(turn).collect(),
            message: UtteranceText::from_stored(self.message.0.as_str(), self.message.1),
            whispers: Vec::new(),
            exchanges: Vec::new(),
            tools: Vec::new(),
            packs: munshi_types::TenantPacks::all(),
            purposes: None,
            words: (0..9).map(|at| TenantWord::new(&format!("thing {at}"), "maal")).collect(),
            key: FenceKey::new([7; 16]),
        }
    }
}
