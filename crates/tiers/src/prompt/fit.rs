//! What of a turn is told: everything, or what matters most within the budgets.
//!
//! First the policies (how many turns, how deep, how sure), then sections with a budget of their own, then all that
//! changes together: the oldest history goes first, then the weakest recall, then the facts that are least sure. Only
//! when nothing of these is left do the summary, the profile, long answers of tools and at last the message itself
//! give way. Human, team and agent never do.

use munshi_types::tier::PromptBudgets;

use super::fence::FenceLabel;
use super::report::{PromptCut, PromptCutReason, PromptReport, PromptSection};
use super::static_prompt::StaticPrompt;
use super::text::{UntrustedText, UtteranceText};
use super::turn_context::{PromptSpeaker, RecallItemKind, TurnContext, WRAPPING};

/// A fact that is less sure than this is no fact. In thousandths.
const SURE: u16 = 600;
const MOST_FACTS: usize = 30;
/// Below this nothing useful is left of a message or an answer.
const LEAST: u32 = 24;

/// The prompt can't be made: what must be in it is larger than all of it may be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what the prompt must hold takes {needed} tokens, and it may have {most}: {}", self.hint())]
pub struct PromptTooLarge {
    pub needed: u32,
    pub most: u32,
    /// Whether human, team, agent and tools alone are to blame.
    pub tiers: bool,
}

impl PromptTooLarge {
    const fn hint(&self) -> &'static str {
        if self.tiers {
            "shorten the tiers, offer fewer tools, or raise the agent's limits"
        } else {
            "end the turn here, and begin anew with its outcome"
        }
    }
}

/// Whether the static prompt leaves no room for the shortest message of a turn in which nothing else is known.
pub(crate) fn check_minimum_room(static_prompt: &StaticPrompt) -> Option<PromptTooLarge> {
    let turn = TurnContext::with_message_only(UtteranceText::new(&"word ".repeat(LEAST as usize * 2)));
    super::assemble(static_prompt, &turn).err()
}

/// What is told of a turn.
#[derive(Debug)]
pub(super) struct FittedContext {
    pub(super) profile: bool,
    pub(super) facts: Vec<bool>,
    pub(super) recall: Vec<bool>,
    pub(super) summary: bool,
    /// The first turn of the history that is told.
    pub(super) history_from: usize,
    /// None where it stays as it is.
    pub(super) message: Option<UtteranceText>,
    /// Answers that were shortened, by exchange and answer.
    pub(super) answers: Vec<(usize, usize, UntrustedText)>,
    pub(super) words: usize,
}

pub(super) fn fit(
    static_prompt: &StaticPrompt,
    turn: &TurnContext,
    (envelope, whispered): (u32, u32),
    report: &mut PromptReport,
) -> Result<FittedContext, PromptTooLarge> {
    let budgets = static_prompt.budgets();
    let fixed = report.total;
    let mut fitting = Fitting::new(turn, report);
    fitting.apply_policies(static_prompt);
    fitting.apply_section_budgets(budgets, envelope);
    let outside = fixed.saturating_add(envelope).saturating_add(whispered).saturating_add(fitting.words);
    let most = fitting.report.most;
    let tiers = outside.saturating_add(LEAST.min(fitting.message + WRAPPING)) > most;
    let room = budgets.dynamic.min(most.saturating_sub(outside));
    let why = if room < budgets.dynamic { PromptCutReason::Ceiling } else { PromptCutReason::DynamicBudget };
    fitting.shrink(room, why);
    let needed = outside.saturating_add(fitting.total());
    if tiers || fitting.total() > room {
        return Err(PromptTooLarge { needed, most: most.min(outside.saturating_add(room)), tiers });
    }
    fitting.report_shares();
    Ok(fitting.fitted)
}

struct Fitting<'a> {
    turn: &'a TurnContext,
    report: &'a mut PromptReport,
    fitted: FittedContext,
    // Tokens that are told, without fences.
    profile: u32,
    facts: u32,
    recall: u32,
    summary: u32,
    history: u32,
    message: u32,
    asked: u32,
    answers: u32,
    words: u32,
}

const fn with_message_overhead(tokens: u32) -> u32 {
    tokens + WRAPPING
}

/// With its fence, where there is anything to put in.
fn with_fence_overhead(label: FenceLabel, tokens: u32) -> u32 {
    if tokens == 0 { 0 } else { tokens + label.cost() }
}

impl<'a> Fitting<'a> {
    fn new(turn: &'a TurnContext, report: &'a mut PromptReport) -> Self {
        let answers = turn.exchanges.iter().flat_map(|exchange| &exchange.answers);
        Self {
            profile: turn.profile.iter().map(UntrustedText::tokens).sum(),
            facts: turn.facts.iter().map(|fact| fact.text.tokens()).sum(),
            recall: turn.recall.iter().map(|recalled| recalled.text.tokens()).sum(),
            summary: turn.summary.as_ref().map_or(0, UntrustedText::tokens),
            history: turn.history.iter().map(|earlier| with_message_overhead(earlier.text.tokens())).sum(),
            message: turn.message.tokens(),
            asked: turn.exchanges.iter().map(super::PromptExchange::tokens).sum(),
            answers: answers
                .map(|answer| {
                    with_message_overhead(with_fence_overhead(FenceLabel::ToolResult, answer.text.tokens()))
                })
                .sum(),
            words: turn.words.iter().map(|word| word.text().tokens()).sum(),
            fitted: FittedContext {
                profile: true,
                facts: vec![true; turn.facts.len()],
                recall: vec![true; turn.recall.len()],
                summary: true,
                history_from: 0,
                message: None,
                answers: Vec::new(),
                words: turn.words.len(),
            },
            turn,
            report,
        }
    }

    /// All that changes from turn to turn, the envelope aside.
    fn total(&self) -> u32 {
        with_fence_overhead(FenceLabel::Profile, self.profile)
            + self.memory()
            + with_fence_overhead(FenceLabel::Summary, self.summary)
            + self.history
            + with_message_overhead(self.message)
            + self.asked
            + self.answers
    }

    fn memory(&self) -> u32 {
        with_fence_overhead(FenceLabel::Facts, self.facts)
            + with_fence_overhead(FenceLabel::Recall, self.recall)
    }

    fn cut(&mut self, section: PromptSection, index: usize, tokens: u32, left: u32, why: PromptCutReason) {
        self.report.cuts.push(PromptCut { section, index, tokens, left, why });
    }

    fn apply_policies(&mut self, static_prompt: &StaticPrompt) {
        let told = self.turn.history.len().saturating_sub(usize::from(static_prompt.memory().history));
        while self.fitted.history_from < told {
            self.drop_oldest(PromptCutReason::Policy);
        }
        self.drop_answers_without_question();
        for at in 0..self.turn.facts.len() {
            if !static_prompt.memory().facts {
                self.drop_fact(at, PromptCutReason::Policy);
            } else if self.turn.facts.get(at).is_some_and(|fact| fact.confidence < SURE) {
                self.drop_fact(at, PromptCutReason::Unsure);
            }
        }
        while self.fitted.facts.iter().filter(|told| **told).count() > MOST_FACTS {
            self.drop_least_sure(PromptCutReason::Policy);
        }
        let (episodes, whose) = static_prompt.episodes();
        self.keep_strongest(RecallItemKind::Episode, episodes, whose);
        self.keep_strongest(RecallItemKind::Passage, static_prompt.passages(), PromptCutReason::Passages);
    }

    fn keep_strongest(&mut self, kind: RecallItemKind, most: u8, why: PromptCutReason) {
        let is_kind = |at: usize| self.turn.recall.get(at).is_some_and(|recalled| recalled.kind == kind);
        let told = self.fitted.recall.iter().enumerate().filter(|(at, told)| **told && is_kind(*at)).count();
        for _ in usize::from(most)..told {
            self.drop_weakest(Some(kind), why);
        }
    }

    fn apply_section_budgets(&mut self, budgets: &PromptBudgets, envelope: u32) {
        while self.fitted.words > 0 && envelope + self.words > budgets.envelope {
            self.fitted.words -= 1;
            let at = self.fitted.words;
            let size = self.turn.words.get(at).map_or(0, |word| word.text().tokens());
            self.words -= size;
            self.cut(PromptSection::Words, at, size, 0, PromptCutReason::SectionBudget);
        }
        if budgets.profile.is_some_and(|most| with_fence_overhead(FenceLabel::Profile, self.profile) > most) {
            self.drop_profile(PromptCutReason::SectionBudget);
        }
        if let Some(most) = budgets.history {
            while self.history > most && self.drop_oldest(PromptCutReason::SectionBudget) {}
            self.drop_answers_without_question();
        }
        if let Some(most) = budgets.memory {
            let why = PromptCutReason::SectionBudget;
            while self.memory() > most && (self.drop_weakest(None, why) || self.drop_least_sure(why)) {}
        }
        if let Some(most) = budgets.tool_results {
            self.shorten_answers(most, PromptCutReason::SectionBudget);
        }
    }

    /// The order in which things give way.
    fn shrink(&mut self, room: u32, why: PromptCutReason) {
        if self.total() <= room {
            return;
        }
        while self.total() > room && self.drop_oldest(why) {}
        self.drop_answers_without_question();
        while self.total() > room && (self.drop_weakest(None, why) || self.drop_least_sure(why)) {}
        if self.total() > room && self.summary > 0 {
            self.fitted.summary = false;
            let size = std::mem::take(&mut self.summary);
            self.cut(PromptSection::Summary, 0, size, 0, why);
        }
        if self.total() > room && self.profile > 0 {
            self.drop_profile(why);
        }
        if self.total() > room && self.answers > 0 {
            let over = self.total() - room;
            self.shorten_answers(self.answers.saturating_sub(over), why);
        }
        let over = self.total().saturating_sub(room);
        if over > 0 && self.message > LEAST {
            let short = self.turn.message.truncate_to(self.message.saturating_sub(over).max(LEAST));
            self.cut(PromptSection::Message, 0, self.message, short.tokens(), why);
            self.message = short.tokens();
            self.fitted.message = Some(short);
        }
    }

    fn drop_profile(&mut self, why: PromptCutReason) {
        self.fitted.profile = false;
        let size = std::mem::take(&mut self.profile);
        self.cut(PromptSection::Profile, 0, size, 0, why);
    }

    fn drop_oldest(&mut self, why: PromptCutReason) -> bool {
        let at = self.fitted.history_from;
        let Some(turn) = self.turn.history.get(at) else { return false };
        let size = with_message_overhead(turn.text.tokens());
        self.fitted.history_from += 1;
        self.history -= size;
        self.cut(PromptSection::History, at, size, 0, why);
        true
    }

    /// A conversation that was cut begins with the person: providers want it so, and an answer alone misleads.
    fn drop_answers_without_question(&mut self) {
        let begins = |at: usize| self.turn.history.get(at).map(|turn| turn.speaker);
        while self.fitted.history_from > 0 && begins(self.fitted.history_from) == Some(PromptSpeaker::Persona)
        {
            self.drop_oldest(PromptCutReason::NoQuestion);
        }
    }

    /// The one with the lowest score, of all or of one kind; of equals the later one.
    fn drop_weakest(&mut self, kind: Option<RecallItemKind>, why: PromptCutReason) -> bool {
        let told = self
            .turn
            .recall
            .iter()
            .enumerate()
            .rev()
            .filter(|(at, _)| self.fitted.recall.get(*at) == Some(&true))
            .filter(|(_, recalled)| kind.is_none_or(|kind| recalled.kind == kind));
        let Some((at, weakest)) = told.min_by_key(|(_, recalled)| recalled.score) else { return false };
        let size = weakest.text.tokens();
        self.recall -= size;
        if let Some(told) = self.fitted.recall.get_mut(at) {
            *told = false;
        }
        self.cut(PromptSection::Recall, at, size, 0, why);
        true
    }

    fn drop_least_sure(&mut self, why: PromptCutReason) -> bool {
        let told = self
            .turn
            .facts
            .iter()
            .enumerate()
            .rev()
            .filter(|(at, _)| self.fitted.facts.get(*at) == Some(&true));
        let Some((at, _)) = told.min_by_key(|(_, fact)| fact.confidence) else { return false };
        self.drop_fact(at, why);
        true
    }

    fn drop_fact(&mut self, at: usize, why: PromptCutReason) {
        let (Some(fact), Some(told)) = (self.turn.facts.get(at), self.fitted.facts.get_mut(at)) else {
            return;
        };
        *told = false;
        let size = fact.text.tokens();
        self.facts -= size;
        self.cut(PromptSection::Facts, at, size, 0, why);
    }

    /// The newest answers have what they need; older ones share what is left. None goes altogether: every call must
    /// have its answer, and the model must know what it has done.
    fn shorten_answers(&mut self, most: u32, why: PromptCutReason) {
        // The second time all are weighed anew.
        self.report.cuts.retain(|cut| cut.section != PromptSection::ToolResults);
        let places = self.turn.exchanges.iter().enumerate().flat_map(|(step, exchange)| {
            exchange.answers.iter().enumerate().map(move |(at, answer)| (step, at, &answer.text))
        });
        let places: Vec<_> = places.collect();
        let around = with_message_overhead(FenceLabel::ToolResult.cost());
        let least: u32 = places.iter().map(|(.., text)| text.tokens().min(LEAST) + around).sum();
        let mut spare = most.saturating_sub(least);
        let (mut total, mut shortened) = (0, Vec::new());
        for (index, (step, at, text)) in places.into_iter().enumerate().rev() {
            let wanted = text.tokens().saturating_sub(LEAST);
            let given = wanted.min(spare);
            spare -= given;
            let mut size = text.tokens();
            if given < wanted {
                let short = text.truncate_to(LEAST + given);
                size = short.tokens();
                shortened.push((step, at, short));
                self.cut(PromptSection::ToolResults, index, text.tokens(), size, why);
            }
            total += with_message_overhead(with_fence_overhead(FenceLabel::ToolResult, size));
        }
        self.answers = total;
        self.fitted.answers = shortened;
    }

    fn report_shares(&mut self) {
        let shares = [
            (PromptSection::Profile, with_fence_overhead(FenceLabel::Profile, self.profile)),
            (PromptSection::Facts, with_fence_overhead(FenceLabel::Facts, self.facts)),
            (PromptSection::Recall, with_fence_overhead(FenceLabel::Recall, self.recall)),
            (PromptSection::Summary, with_fence_overhead(FenceLabel::Summary, self.summary)),
            (PromptSection::Words, self.words),
            (PromptSection::History, self.history),
            (PromptSection::Message, with_message_overhead(self.message)),
            (PromptSection::ToolResults, self.asked + self.answers),
        ];
        shares.into_iter().for_each(|(section, tokens)| self.report.add(section, tokens));
    }
}
