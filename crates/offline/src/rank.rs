//! Which tool a message asks for, by the tools' own phrases.
//!
//! Every word of the message that some phrase has votes for the tools that have it; the phrase that is said most
//! completely counts as much; and what the grammar says must fit: who gave and who received, what is asked or denied,
//! and which things the tool has a place for.

use munshi_lang::NumberKind;
use munshi_types::Language;

use crate::mood::SentenceMood;
use crate::name_roles::{NameRole, is_opposite};
use crate::prepared_tools::{
    PhrasePattern, PreparedTool, PreparedToolSet, ToolArgumentKind, VocabularyMatch,
};
use crate::small_words::SmallWordClass;
use crate::tool_view::{MessageToolView, person_likelihood};

/// From here a phrase is said whole.
const WHOLE: f32 = 0.9;

#[derive(Clone, Copy, Debug)]
pub(crate) struct RankedTool {
    /// Its place in the palette.
    pub tool: usize,
    pub score: f32,
    /// How much of its best phrase was said, before the grammar had its say.
    pub cover: f32,
    /// The message asks, denies, supposes or foresees what the phrase tells as done.
    pub is_unreal: bool,
    /// The person has another part in the message than in any phrase of the tool.
    pub is_turned: bool,
    /// Its best phrase is said whole, and no other word that says what is wanted.
    pub is_exact: bool,
    /// The place of its best phrase among the tool's; none when no word speaks for it.
    pub pattern: Option<usize>,
}

impl RankedTool {
    /// A tool that no word speaks for.
    pub(crate) const fn unscored(tool: usize) -> Self {
        Self {
            tool,
            score: 0.0,
            cover: 0.0,
            is_unreal: false,
            is_turned: false,
            is_exact: false,
            pattern: None,
        }
    }
}

/// Every tool with its score, the best first.
pub(crate) fn rank(sight: &MessageToolView<'_>, palette: &PreparedToolSet) -> Vec<RankedTool> {
    let (votes, explained) = votes(sight, palette);
    let said: Vec<f32> = {
        let mut all = vec![0.0; palette.vocabulary.entries.len()];
        for found in sight.matches.iter().flatten() {
            if let Some(best) = all.get_mut(found.entry) {
                *best = f32::max(*best, found.likeness);
            }
        }
        all
    };
    let mut ranked: Vec<RankedTool> = palette
        .tools
        .iter()
        .enumerate()
        .filter_map(|(at, tool)| {
            let best = best_pattern(sight, palette, tool, &said)?;
            let of = |all: &[f32]| all.get(at).copied().unwrap_or(0.0);
            // What a tool's phrases have no word for is asked of another tool: udhaar diya is not only diya.
            let fit = best.fit * (0.35 + 0.65 * of(&explained));
            let score = (0.35 * of(&votes) + 0.65 * fit) * score_fields(sight, tool, palette);
            Some(RankedTool {
                tool: at,
                score,
                cover: best.cover,
                is_unreal: best.is_unreal,
                is_turned: best.is_turned,
                is_exact: best.is_exact,
                pattern: Some(best.pattern),
            })
        })
        .collect();
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.tool.cmp(&other.tool)));
    ranked
}

/// Each tool's share of the words that any tool knows, and how much of them, by weight, it knows at all.
fn votes(sight: &MessageToolView<'_>, palette: &PreparedToolSet) -> (Vec<f32>, Vec<f32>) {
    let mut votes = vec![0.0; palette.tools.len()];
    let mut explained = vec![0.0; palette.tools.len()];
    let mut all = 0.0;
    for (at, found) in sight.matches.iter().enumerate() {
        let Some(best) = found.first() else { continue };
        let word = sight.reading.words.get(at);
        if word.is_some_and(|word| word.classes.has(SmallWordClass::Trade)) || is_counted_thing(sight, at) {
            continue;
        }
        let key = word.map_or("", |word| word.key.as_str());
        let is_goods = word.is_some_and(|word| word.classes.has(SmallWordClass::Goods));
        // The word itself votes, and not its other forms beside it.
        let voters: Vec<&VocabularyMatch> = found.iter().filter(|one| best.is_form || !one.is_form).collect();
        #[allow(clippy::cast_precision_loss, reason = "a few")]
        let part = 1.0 / voters.len() as f32;
        for one in voters {
            let Some(entry) = palette.vocabulary.entries.get(one.entry) else { continue };
            all += entry.weight * part;
            for (tool, share) in &entry.shares {
                if let Some(vote) = votes.get_mut(*tool) {
                    *vote += entry.weight * part * share * best.likeness;
                }
            }
            for (tool, explained) in palette.tools.iter().zip(&mut explained) {
                // How it was paid, and goods of no name, are words of every tool that has a place for them.
                let has_place =
                    tool.has_choice(key) || (is_goods && tool.find_field(&ToolArgumentKind::Item).is_some());
                let is_cue = entry.is_cue && one.likeness >= 0.95;
                let knows = if has_place { 1.0 } else { tool.explanation_weight(one.entry, is_cue) };
                *explained += entry.weight * part * knows;
            }
        }
    }
    if all > 0.0 {
        votes.iter_mut().chain(&mut explained).for_each(|sum| *sum /= all);
    }
    (votes, explained)
}

/// Whether a word is what a quantity counts: dal is lentils there, whatever it is in another language.
fn is_counted_thing(sight: &MessageToolView<'_>, at: usize) -> bool {
    let mut spans = sight.spans.iter().filter(|span| (span.from..span.to).contains(&at));
    spans.any(|span| span.is_counted)
}

struct Fit {
    pattern: usize,
    fit: f32,
    cover: f32,
    is_unreal: bool,
    is_turned: bool,
    is_exact: bool,
}

fn best_pattern(
    sight: &MessageToolView<'_>,
    palette: &PreparedToolSet,
    tool: &PreparedTool,
    said: &[f32],
) -> Option<Fit> {
    let mut best: Option<Fit> = None;
    let beside = find_phrase_words(sight, palette, tool);
    for (at, pattern) in tool.patterns.iter().enumerate() {
        let cover = cover(pattern, palette, said, &beside);
        if cover <= 0.0 || best.as_ref().is_some_and(|best| best.fit >= cover) {
            continue;
        }
        let fit = fit(sight, pattern, tool, cover);
        let is_exact = fit.fit >= WHOLE && covers_message(sight, palette, pattern);
        let fit = Fit { pattern: at, is_exact, ..fit };
        if best.as_ref().is_none_or(|best| fit.fit > best.fit) {
            best = Some(fit);
        }
    }
    best
}

/// The words of a message that some phrase of a tool has, with their weights. Where somebody or
/// something is named, other words may give them another part, and none is taken.
fn find_phrase_words(
    sight: &MessageToolView<'_>,
    palette: &PreparedToolSet,
    tool: &PreparedTool,
) -> Vec<(usize, f32)> {
    if tool.find_field(&ToolArgumentKind::Person).is_some() || !sight.spans.is_empty() {
        return Vec::new();
    }
    let found = sight.matches.iter().filter_map(|found| {
        let is_own = |one: &&VocabularyMatch| {
            one.likeness >= 0.95 && tool.has_cue(one.entry, &sight.reading.languages)
        };
        found.iter().find(is_own)
    });
    let weight = |entry: usize| palette.vocabulary.entries.get(entry).map_or(0.0, |entry| entry.weight);
    found.map(|one| (one.entry, weight(one.entry))).collect()
}

/// How much of a pattern's words, by weight, the message has. A word of another phrase of the tool stands for one that
/// was not said: magchi nond for shevatchi entry.
fn cover(pattern: &PhrasePattern, palette: &PreparedToolSet, said: &[f32], beside: &[(usize, f32)]) -> f32 {
    let (mut have, mut want) = (0.0, 0.0);
    let words =
        pattern.words.iter().map(|word| (word, 1.0)).chain(pattern.named.iter().map(|word| (word, 0.8)));
    for (word, part) in words {
        let weight = part * palette.vocabulary.entries.get(*word).map_or(0.0, |entry| entry.weight);
        want += weight;
        have += weight * said.get(*word).copied().unwrap_or(0.0);
    }
    if have <= 0.0 {
        return 0.0;
    }
    let others = beside.iter().filter(|(entry, _)| !pattern.words.contains(entry));
    let beside: f32 = others.map(|(_, weight)| weight).sum();
    f32::max(have, (have + 0.8 * beside).min(0.95 * want)) / want
}

fn fit(sight: &MessageToolView<'_>, pattern: &PhrasePattern, tool: &PreparedTool, cover: f32) -> Fit {
    let reading = &sight.reading;
    let is_foreign = !reading.languages.contains(&pattern.language);
    let beyond = reading.mood.difference(pattern.mood);
    let writes = tool.spec.effect.writes();
    // A question is how one asks to see something; about something to be written it changes everything.
    let is_unreal = match writes {
        true => !beyond.is_plain(),
        false => beyond.has(SentenceMood::NEGATED) || beyond.has(SentenceMood::CONDITIONAL),
    };
    let is_turned = pattern.has_person && has_opposite_role(sight, pattern, tool);
    let mut fit = cover;
    if is_foreign {
        fit *= if pattern.language == Language::English { 0.97 } else { 0.92 };
    }
    if is_unreal {
        fit *= 0.6;
    }
    let has_other_part = writes && pattern.has_person && has_other_role(sight, pattern);
    if is_turned {
        fit *= 0.4;
    } else if has_other_part {
        fit *= 0.75;
    }
    // A phrase that asks or denies is not what a plain sentence says.
    if writes && !pattern.mood.difference(reading.mood).is_plain() {
        fit *= 0.75;
    }
    // What is said to have come to the speaker is not what somebody has given.
    if writes && pattern.has_speaker && !reading.has_receiver() {
        fit *= 0.6;
    }
    if let (Some(said), Some(meant)) = (reading.actor, pattern.actor)
        && said != meant
        && writes
    {
        fit *= 0.5;
    }
    Fit { pattern: 0, fit, cover, is_unreal, is_turned: is_turned || has_other_part, is_exact: false }
}

/// Whether a phrase has every word of the message that says in some phrase what is wanted.
fn covers_message(sight: &MessageToolView<'_>, palette: &PreparedToolSet, pattern: &PhrasePattern) -> bool {
    let is_cue =
        |one: &VocabularyMatch| palette.vocabulary.entries.get(one.entry).is_some_and(|entry| entry.is_cue);
    sight.matches.iter().enumerate().all(|(at, found)| {
        !found.iter().any(is_cue)
            || is_counted_thing(sight, at)
            || found.iter().any(|one| pattern.words.contains(&one.entry))
    })
}

/// Whether the person has the opposite part.
fn has_opposite_role(sight: &MessageToolView<'_>, pattern: &PhrasePattern, tool: &PreparedTool) -> bool {
    let Some(person) = sight.person().filter(|_| tool.find_field(&ToolArgumentKind::Person).is_some()) else {
        return false;
    };
    match (person.role(), pattern.role) {
        (Some(said), Some(meant)) => is_opposite(said, meant),
        // Whoever has no marker acts, where the language marks whom it is done to.
        (None, Some(NameRole::To)) | (Some(NameRole::To), None) => tool.spec.effect.writes(),
        _ => false,
    }
}

/// Whether the person has another part, be it not the opposite: se udhaar liya is not ne udhaar liya. Whoever has no
/// marker acts.
fn has_other_role(sight: &MessageToolView<'_>, pattern: &PhrasePattern) -> bool {
    let Some(person) = sight.person() else { return false };
    let (said, meant) = (person.role().unwrap_or(NameRole::By), pattern.role.unwrap_or(NameRole::By));
    ![said, meant].contains(&NameRole::Of) && said != meant
}

/// Whether the tool has a place for what the message has, and the message has what the tool cannot do without.
fn score_fields(sight: &MessageToolView<'_>, tool: &PreparedTool, palette: &PreparedToolSet) -> f32 {
    let money = sight.count_numbers(&[NumberKind::Money]) > 0;
    let number = money || sight.count_numbers(&[NumberKind::Plain]) > 0;
    let quantity = sight.count_numbers(&[NumberKind::Quantity]) > 0;
    let person = sight.person().is_some_and(|span| person_likelihood(span) >= 2.0);
    let has = |kind: &ToolArgumentKind| tool.find_field(kind).is_some();
    let needs = |kind: &ToolArgumentKind| tool.needs(kind);
    // Whose account is asked for is not the day's.
    let is_nameless = !has(&ToolArgumentKind::Person) && !has(&ToolArgumentKind::Item);
    let spans = if is_nameless { sight.spans_for(tool, palette) } else { Vec::new() };
    let is_owned = spans.iter().any(|span| span.role() == Some(NameRole::Of));
    let is_named = !tool.spec.effect.writes() && !spans.is_empty();
    let mut fit = 1.0;
    for (is_so, factor) in [
        (money && !has(&ToolArgumentKind::Money), 0.55),
        // A number that is said belongs somewhere: 1250 bikri is no question for the day's sales.
        (
            number
                && !money
                && !has(&ToolArgumentKind::Money)
                && !has(&ToolArgumentKind::Quantity)
                && !tool.takes_sentence(),
            0.6,
        ),
        (quantity && !has(&ToolArgumentKind::Quantity), 0.7),
        (person && !has(&ToolArgumentKind::Person), 0.6),
        (is_owned && !person, 0.6),
        // What names somebody or something is asked of a tool that has a place for it.
        (is_named && !is_owned && !person, 0.8),
        (!number && needs(&ToolArgumentKind::Money), 0.85),
        (!quantity && !number && needs(&ToolArgumentKind::Quantity), 0.8),
        (sight.spans.is_empty() && needs(&ToolArgumentKind::Person), 0.7),
        (sight.spans.is_empty() && needs(&ToolArgumentKind::Item), 0.85),
    ] {
        if is_so {
            fit *= factor;
        }
    }
    fit
}
