//! What one thing said asks for, and how sure that is.

use munshi_lang::NumberKind;
use munshi_types::Language;

use crate::clauses::find_cuts;
use crate::coverage::WordCoverage;
use crate::fill::{FilledArguments, fill};
use crate::mood::SentenceMood;
use crate::name_roles::NameRole;
use crate::prepared_tools::{PhrasePattern, PreparedTool, PreparedToolSet};
use crate::rank::{RankedTool, rank};
use crate::reading::{OfflineReading, OfflineReadingContext};
use crate::spans::NameSpan;
use crate::tool_view::{MessageToolView, person_likelihood};

/// From this confidence on a reading is as good as certain: something is written without asking.
pub const SURE: f32 = 0.8;

/// From here a person is asked whether it was meant.
pub(crate) const LIKELY: f32 = 0.5;

/// A phrase that is so much likelier than the next has no rival.
const CLEAR: f32 = 0.3;

/// Looking does no harm, so less is enough.
pub(crate) const LOOK: f32 = 0.45;

#[derive(Debug)]
pub(crate) struct OfflineIntent {
    /// Its place in the palette.
    pub tool: usize,
    pub filled: FilledArguments,
    pub confidence: f32,
    /// It is asked, denied or supposed; never written, however well it is understood.
    pub is_unreal: bool,
    /// Another tool that is as likely.
    pub rival: Option<usize>,
    /// A part of the message says something else, which this would leave undone.
    pub is_half: bool,
}

impl OfflineIntent {
    pub(crate) fn tool<'p>(&self, palette: &'p PreparedToolSet) -> Option<&'p PreparedTool> {
        palette.tools.get(self.tool)
    }
}

/// The likeliest thing a message asks for; none when no word of it is known.
pub(crate) fn find_intent(
    reading: OfflineReading<'_>,
    palette: &PreparedToolSet,
    only: Option<&[String]>,
) -> (Option<OfflineIntent>, usize) {
    let sight = view_message(reading, palette);
    let known = sight.known_count();
    let mut ranked = rank(&sight, palette);
    if let Some(only) = only {
        ranked.retain(|one| {
            palette.tools.get(one.tool).is_some_and(|tool| only.iter().any(|name| name == tool.name()))
        });
    }
    // A tool that must be called needs no phrase.
    let named = || {
        only.and_then(|only| {
            palette.tools.iter().position(|tool| only.iter().any(|name| name == tool.name()))
        })
    };
    prefer_question_tool(&mut ranked, &sight, palette);
    let Some(best) = ranked.first().copied().or_else(|| named().map(RankedTool::unscored)) else {
        return (None, known);
    };
    let Some(tool) = palette.tools.get(best.tool) else { return (None, known) };
    let mut filled = fill(&sight, &sight.spans_for(tool, palette), &tool.fields, None);
    let second = ranked.get(1).copied();
    let mut confidence = confidence(&sight, tool, &best, second, &filled);
    let pattern = best.pattern.and_then(|at| tool.patterns.get(at));
    let wants_owner = |pattern: &PhrasePattern| {
        pattern.role == Some(NameRole::Of)
            || (pattern.role == Some(NameRole::From) && pattern.language == Language::Bengali)
    };
    if pattern.is_some_and(wants_owner) && filled.strip_owner_ending(tool, &sight.reading) {
        confidence = confidence.min(SURE - 0.05);
    }
    let account = WordCoverage { sight: &sight, palette, tool, best: &best, filled: &filled };
    if tool.spec.effect.writes() && (sight.is_verb_inflected(palette) || !account.is_settled()) {
        confidence = confidence.min(SURE - 0.05);
    }
    if tool.spec.effect.writes() && account.is_of_speaker() {
        confidence = confidence.min(LIKELY - 0.05);
    }
    let is_half = account.leaves_out(&find_cuts(&sight.reading));
    let rival = second
        .filter(|second| second.score > best.score * 0.92 && best.score > 0.35)
        .map(|second| second.tool);
    let is_unreal = best.is_unreal;
    (Some(OfflineIntent { tool: best.tool, filled, confidence, is_unreal, rival, is_half }), known)
}

/// A question is for a tool that answers, though one that writes has more of its words: what was sold yesterday.
fn prefer_question_tool(
    ranked: &mut Vec<RankedTool>,
    sight: &MessageToolView<'_>,
    palette: &PreparedToolSet,
) {
    let writes = |one: &RankedTool| palette.tools.get(one.tool).is_some_and(|tool| tool.spec.effect.writes());
    let is_asked = sight.reading.mood.has(SentenceMood::QUESTION)
        && sight.count_numbers(&[NumberKind::Money, NumberKind::Quantity]) == 0;
    if !is_asked || !ranked.first().is_some_and(|best| best.is_unreal && writes(best)) {
        return;
    }
    let least = ranked.first().map_or(0.0, |best| best.score * 0.5);
    if let Some(at) = ranked.iter().position(|one| !writes(one) && !one.is_unreal && one.score >= least) {
        let answer = ranked.remove(at);
        ranked.retain(|one| !(one.is_unreal && writes(one)));
        ranked.insert(0, answer);
    }
}

/// The message through the palette, read once more when the tools' phrases tell its language better.
fn view_message<'m>(reading: OfflineReading<'m>, palette: &PreparedToolSet) -> MessageToolView<'m> {
    let (message, before) = (reading.message, reading.context());
    let sight = MessageToolView::new(reading, palette);
    match sight.better_language(palette) {
        Some(language) => MessageToolView::new(
            OfflineReading::new(message, &OfflineReadingContext { language: Some(language), ..before }),
            palette,
        ),
        None => sight,
    }
}

fn confidence(
    sight: &MessageToolView<'_>,
    tool: &PreparedTool,
    best: &RankedTool,
    second: Option<RankedTool>,
    filled: &FilledArguments,
) -> f32 {
    let margin = (best.score - second.map_or(0.0, |second| second.score)) / best.score.max(0.01);
    // Said whole, it is no part of another tool's phrase: took on credit from is more than took from.
    let is_only = best.is_exact && second.is_some_and(|second| !second.is_exact);
    let margin = if is_only { f32::max(margin, CLEAR) } else { margin };
    let mut confidence = (best.score / 0.7).min(1.0) * (0.55 + 1.6 * margin).min(1.0);
    // Heard as one number, but not clearly: said back before it is written.
    if filled.is_faint {
        confidence = confidence.min(SURE - 0.05);
    }
    let is_unclear = sight.spans.iter().any(|span| span.told.is_some_and(|told| told.is_unclear));
    let writes = tool.spec.effect.writes();
    let is_careful = writes && !tool.takes_sentence();
    for (is_so, factor) in [
        (best.is_unreal, 0.35),
        (best.is_turned, 0.5),
        (is_unclear && is_careful, 0.6),
        (best.cover < 0.6, 0.8),
        (is_careful && is_among_others(sight), 0.4),
    ] {
        if is_so {
            confidence *= factor;
        }
    }
    // Words that name something the tool has no place for may change what is meant.
    confidence *= powers(if is_careful { 0.7 } else { 0.9 }, filled.left_over);
    confidence *= powers(if tool.takes_sentence() { 0.9 } else { 0.6 }, filled.unplaced);
    // Telephone and account numbers in something to be written belong to another kind of message.
    let strange = sight.count_numbers(&[NumberKind::Account]);
    confidence * powers(if is_careful { 0.7 } else { 1.0 }, strange)
}

/// Whether one person gives and another receives: what they do between them is not the speaker's.
fn is_among_others(sight: &MessageToolView<'_>) -> bool {
    let people =
        || sight.spans.iter().filter(|span| person_likelihood(span) >= 2.0).filter_map(NameSpan::role);
    people().any(|role| role == NameRole::To)
        && people().any(|role| matches!(role, NameRole::By | NameRole::From))
}

fn powers(base: f32, count: usize) -> f32 {
    base.powi(i32::try_from(count.min(8)).unwrap_or(8))
}
