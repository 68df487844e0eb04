//! What the person may want to say next: two to four short lines with every reply, in their language.
//!
//! A question that waits comes first: its yes and no, or its choices. Then what the called tools declare as follow-ups, what
//! the model proposed, and what else can be asked here. What is offered is a wish or a question, never a claim.
//!
//! # Layout
//! - [`suggest`]: the choice; `candidates`: what may be offered, and how tools are asked for
//! - [`SuggestionSplitter`], [`ASKING`]: the model's own line, and what asks for it

mod candidates;
mod splitter;

use munshi_lang::{Locale, PhraseError, Phrasebook, fold};
use munshi_safety::pipeline::{Taint, TaintSource};
use munshi_types::ToolSpec;

use crate::choices::{ChoiceQuestion, MOST_SHOWN};
pub use candidates::LONGEST;
pub use splitter::{ASKING, SuggestionSplitter};

pub const LEAST: usize = 2;
pub const MOST: usize = 4;
/// The module of the built-in tools: no pack brings them.
const BUILTIN_MODULE: &str = "house";

/// What a turn knows when it ends.
#[derive(Clone, Debug)]
pub struct SuggestionContext<'h> {
    pub voice: Locale,
    /// What the person wrote: it is not offered back.
    pub message: &'h str,
    pub waits: ExpectedAnswer<'h>,
    /// The tools that were called.
    pub called: Vec<&'h ToolSpec>,
    /// The tools the agent has, with those that are named as follow-ups.
    pub offered: Vec<&'h ToolSpec>,
    /// The model's own line, as [`SuggestionSplitter::finish`] gave it.
    pub proposed: &'h [String],
    /// What the run has read. After others' words the model's line is not offered: whoever taps it makes its words their
    /// own, and what stands in those is done unasked.
    pub taint: &'h Taint,
}

/// What the reply leaves open.
#[derive(Clone, Copy, Debug, Default)]
pub enum ExpectedAnswer<'h> {
    #[default]
    Nothing,
    /// What yes or no answers: an approval that this person may give, or whether to go on.
    YesOrNo,
    Choice(&'h ChoiceQuestion),
}

/// Two to four suggestions, the likeliest first.
pub fn suggest(hints: &SuggestionContext<'_>, book: &Phrasebook) -> Result<Vec<String>, PhraseError> {
    let mut list = List { said: key(hints.message), texts: Vec::new() };
    let core = |name: &str| book.render(name, hints.voice, &[]);
    match hints.waits {
        ExpectedAnswer::YesOrNo => return Ok(vec![core("say-yes")?, core("say-no")?]),
        ExpectedAnswer::Choice(asked) if asked.choices().len() == 1 => {
            return Ok(vec![core("say-yes")?, core("say-no")?]);
        }
        ExpectedAnswer::Choice(asked) => render_choices(asked).into_iter().for_each(|text| list.add(text)),
        ExpectedAnswer::Nothing => {}
    }
    if list.texts.len() >= LEAST {
        return Ok(list.texts);
    }
    for spec in follow_ups(hints) {
        list.add_some(candidates::render_request(spec, hints.voice, book)?);
    }
    let is_others = hints.taint.sources.iter().any(|source| *source != TaintSource::Visitor);
    let proposed =
        hints.proposed.iter().filter(|_| !is_others).filter_map(|text| candidates::clean_line(text));
    proposed.filter(|text| candidates::is_harmless(text, hints.voice)).for_each(|text| list.add(text));
    // What only looks is offered before what writes, and what any agent can do after what this one is for.
    let others = |is_built_in: bool, writes: bool| {
        let fits = move |spec: &&&ToolSpec| {
            (spec.module() == BUILTIN_MODULE) == is_built_in && spec.effect.writes() == writes
        };
        hints.offered.iter().filter(fits)
    };
    let own = others(false, false).chain(others(false, true));
    let built_in = others(true, false).chain(others(true, true));
    for spec in own.chain(built_in).filter(|spec| !is_called(hints, spec)) {
        if list.texts.len() < MOST - 1 {
            list.add_some(candidates::render_request(spec, hints.voice, book)?);
        }
    }
    for name in ["suggest-help", "suggest-more", "suggest-thanks"] {
        if list.texts.len() < LEAST {
            list.add(core(name)?);
        }
    }
    Ok(list.texts)
}

/// Those that the called tools declare, if the agent has them, the last call's first.
fn follow_ups<'h>(hints: &'h SuggestionContext<'h>) -> impl Iterator<Item = &'h ToolSpec> {
    let named = hints.called.iter().rev().flat_map(|spec| &spec.follow_ups);
    let has = |name: &munshi_types::ToolName| hints.offered.iter().find(|spec| spec.name == *name).copied();
    named.filter_map(has).filter(|spec| !is_called(hints, spec))
}

fn is_called(hints: &SuggestionContext<'_>, spec: &ToolSpec) -> bool {
    hints.called.iter().any(|called| called.name == spec.name)
}

/// `1. Ramesh Kumar`: the number alone where the label holds what nobody should say by a tap.
fn render_choices(asked: &ChoiceQuestion) -> Vec<String> {
    let shown = (1..).zip(asked.choices().iter().take(MOST_SHOWN));
    let text = |(number, choice): (usize, &munshi_tools::ChoiceOption)| {
        let full = format!("{number}. {}", choice.label.split_whitespace().collect::<Vec<_>>().join(" "));
        let cut: String = full.chars().take(LONGEST).collect();
        if candidates::is_plain_label(&choice.label) { cut } else { format!("{number}.") }
    };
    shown.map(text).collect()
}

struct List {
    /// The key of what the person said.
    said: String,
    texts: Vec<String>,
}

impl List {
    fn add(&mut self, text: String) {
        let own = key(&text);
        let is_new = own != self.said && self.texts.iter().all(|other| key(other) != own);
        if is_new && self.texts.len() < MOST {
            self.texts.push(text);
        }
    }

    fn add_some(&mut self, text: Option<String>) {
        if let Some(text) = text {
            self.add(text);
        }
    }
}

/// What two writings of one wish share.
fn key(text: &str) -> String {
    let plain: String = fold::normalize_spelling(text)
        .chars()
        .filter(|c| c.is_alphanumeric() || fold::is_indic(*c))
        .collect();
    plain
}

#[cfg(test)]
mod tests;
