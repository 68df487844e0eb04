//! The reply as it is told: what followers see is what is stored, byte for byte.

use std::sync::Arc;

use munshi_conversations::marks::ReplyMark;
use munshi_conversations::runs::RunLease;
use munshi_conversations::{EventId, RunEvent};
use munshi_guardrails::{
    ClearedOutput, GuardrailChecker, GuardrailContext, GuardrailRuleSet, GuardrailSeverity, GuardrailTier,
    GuardrailViolation, ReplyPiece,
};
use munshi_lang::{Locale, Phrasebook};

use crate::phrases::log_unrendered;
use crate::run_channels::RunChannel;

/// So many beginnings has one take-up of a run at most.
const BEGINNINGS: u32 = 1_000;
/// Between words that came before a tool was called and those that come after.
const GAP: &str = "\n\n";

/// The rules about what leaves in no form; the others are about how something is said.
const NEVER: [&str; 4] = ["prompt-leak", WHISPER_LEAK, "no-secrets", "identity-numbers"];
/// The one about what colleagues whispered.
const WHISPER_LEAK: &str = "whisper-leak";

/// One beginning of a reply, and what went out of it.
pub(crate) struct ReplyWriter {
    run_channel: Arc<RunChannel>,
    book: Arc<Phrasebook>,
    voice: Locale,
    rules: GuardrailRuleSet,
    context: GuardrailContext,
    generation: u32,
    number: u32,
    /// What was shown.
    text: String,
    marks: Vec<ReplyMark>,
    /// What the model said, before any rule looked at it; what a new beginning starts from.
    raw: String,
    /// None before the first word and after the last.
    checker: Option<GuardrailChecker>,
    violations: Vec<GuardrailViolation>,
}

/// The number of a take-up's first beginning: one that no other take-up of the run had.
pub(crate) fn first_generation(lease: RunLease) -> u32 {
    let epoch = u32::try_from(lease.epoch).unwrap_or(u32::MAX);
    epoch.saturating_sub(1).saturating_mul(BEGINNINGS).saturating_add(1)
}

/// What the rules let pass, with our own words in the place of what they did not.
pub(crate) fn render_pieces(pieces: Vec<ReplyPiece>, book: &Phrasebook, voice: Locale) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            ReplyPiece::Text(words) => text.push_str(&words),
            ReplyPiece::Say(phrase) => {
                let words = log_unrendered(book.render(phrase, voice, &[]), phrase);
                text.push_str(&words.unwrap_or_default());
            }
        }
    }
    text
}

/// What a reply is told with.
pub(crate) struct ReplySettings {
    pub(crate) phrasebook: Arc<Phrasebook>,
    pub(crate) voice: Locale,
    pub(crate) rules: GuardrailRuleSet,
    pub(crate) context: GuardrailContext,
}

impl ReplyWriter {
    /// The first beginning of a take-up, or of another try within it.
    pub(crate) fn begin(run_channel: Arc<RunChannel>, lease: RunLease, manner: ReplySettings) -> Self {
        let generation = run_channel.next_generation(first_generation(lease));
        run_channel.begin(generation, "the reply was restarted");
        let ReplySettings { phrasebook: book, voice, rules, context } = manner;
        Self {
            run_channel,
            book,
            voice,
            rules,
            context,
            generation,
            number: 0,
            text: String::new(),
            marks: Vec::new(),
            raw: String::new(),
            checker: None,
            violations: Vec::new(),
        }
    }

    /// Tells again what was told before: after a crash, or after a model broke off.
    pub(crate) fn replay(&mut self, raw: &str, marks: &[ReplyMark]) {
        (self.text, self.raw, self.number) = (String::new(), String::new(), 0);
        (self.marks, self.violations, self.checker) = (Vec::new(), Vec::new(), None);
        let shown = if raw.is_empty() { ClearedOutput::default() } else { self.read(raw) };
        let shown = self.render_pieces(shown.pieces);
        let shown = shown.trim_start();
        let mut from = 0;
        for mark in marks {
            let to = shown.len().min(mark.offset as usize);
            if let Some(piece) = shown.get(from..to.max(from)) {
                self.show(piece);
                from = to.max(from);
            }
            self.record_event(mark.event.clone());
        }
        self.show(shown.get(from..).unwrap_or_default());
    }

    /// All so far is void.
    pub(crate) fn reset(&mut self, why: &str, raw: &str, marks: &[ReplyMark]) {
        self.generation = self.generation.saturating_add(1);
        self.run_channel.begin(self.generation, why);
        self.replay(raw, marks);
    }

    /// Forgets what the model began to say; nothing of it was shown.
    pub(crate) fn rewind(&mut self, raw: &str) {
        (self.raw, self.checker, self.violations) = (String::new(), None, Vec::new());
        if !raw.is_empty() {
            self.read(raw);
        }
    }

    /// Something else is said in place of all that was.
    pub(crate) fn replace(&mut self, words: &str) {
        let marks = self.marks.clone();
        let violations = std::mem::take(&mut self.violations);
        self.reset("the reply was corrected", "", &marks);
        self.violations = violations;
        self.say(words);
    }

    /// More of what the model says; what may be shown is shown.
    pub(crate) fn push_model_text(&mut self, delta: &str) {
        let cleared = self.read(delta);
        let text = self.render_pieces(cleared.pieces);
        self.show(&text);
    }

    fn read(&mut self, delta: &str) -> ClearedOutput {
        self.raw.push_str(delta);
        let checker = self.checker.get_or_insert_with(|| self.rules.checker(self.context.clone()));
        let mut cleared = checker.push(delta);
        self.violations.append(&mut cleared.violations);
        cleared
    }

    /// The words before a tool is called are at their end, for now.
    pub(crate) fn break_paragraph(&mut self) {
        if !self.raw.is_empty() && !self.raw.ends_with(GAP) {
            self.push_model_text(GAP);
        }
    }

    /// What tools have said since, for the rules.
    pub(crate) fn update_context(&mut self, learn: impl Fn(&mut GuardrailContext)) {
        learn(&mut self.context);
        if let Some(checker) = &mut self.checker {
            checker.update_context(learn);
        }
    }

    /// The model has said all. What the rules held back comes out.
    pub(crate) fn finish(&mut self) {
        let Some(checker) = self.checker.take() else { return };
        let mut cleared = checker.finish();
        self.violations.append(&mut cleared.violations);
        let text = self.render_pieces(cleared.pieces);
        self.show(&text);
    }

    /// Whether what a model wants to give away otherwise than in its words may leave. What is found stands with what the
    /// reply broke.
    pub(crate) fn can_disclose(&mut self, text: &str) -> bool {
        let mut checker = self.rules.checker(self.context.clone());
        let mut found = checker.push(text).violations;
        found.append(&mut checker.finish().violations);
        found.retain(|broken| {
            NEVER.contains(&broken.rule.as_str()) && broken.severity != GuardrailSeverity::Log
        });
        let may = found.is_empty();
        self.violations.append(&mut found);
        may
    }

    /// Whether a longer piece of what colleagues whispered stands in what a model wrote otherwise than in its words. What is found
    /// stands with what the reply broke.
    pub(crate) fn repeats_whisper(&mut self, text: &str) -> bool {
        let is_repeated = self.context.whispers.as_ref().is_some_and(|told| told.is_repeated_in(text));
        if is_repeated {
            self.violations.push(GuardrailViolation {
                rule: WHISPER_LEAK.to_owned(),
                tier: GuardrailTier::Agent,
                severity: GuardrailSeverity::Block,
                span: 0..text.len(),
                what: "words of a colleague beside the reply".to_owned(),
            });
        }
        is_repeated
    }

    pub(crate) fn into_violations(self) -> Vec<GuardrailViolation> {
        self.violations
    }

    /// What was broken before somebody else went on with the reply.
    pub(crate) fn add_violations(&mut self, earlier: Vec<GuardrailViolation>) {
        self.violations.splice(0..0, earlier);
    }

    /// Our own words: no rule looks at them. What a model left unfinished before is dropped.
    pub(crate) fn say(&mut self, words: &str) {
        self.checker = None;
        let gap = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { GAP };
        self.show(&format!("{gap}{words}"));
    }

    fn render_pieces(&self, pieces: Vec<ReplyPiece>) -> String {
        render_pieces(pieces, &self.book, self.voice)
    }

    fn show(&mut self, text: &str) {
        // A reply does not begin with the line breaks that some models begin with.
        let text = if self.text.is_empty() { text.trim_start() } else { text };
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        let id = self.next();
        self.run_channel.push(id, RunEvent::Token { text: text.to_owned() });
    }

    /// Something between the words.
    pub(crate) fn record_event(&mut self, event: RunEvent) {
        let id = self.next();
        self.marks.push(ReplyMark { number: id.number, offset: id.offset, event: event.clone() });
        self.run_channel.push(id, event);
    }

    /// Something that passes and is not kept.
    pub(crate) fn emit_transient(&mut self, event: RunEvent) {
        let id = self.next();
        self.run_channel.push(id, event);
    }

    /// The places of what will be said once the reply is stored.
    pub(crate) fn plan_marks(&self, events: Vec<RunEvent>) -> Vec<ReplyMark> {
        let offset = self.offset();
        let numbered = events.into_iter().zip(self.number + 1..);
        numbered.map(|(event, number)| ReplyMark { number, offset, event }).collect()
    }

    fn next(&mut self) -> EventId {
        self.number += 1;
        EventId { generation: self.generation, number: self.number, offset: self.offset() }
    }

    fn offset(&self) -> u32 {
        u32::try_from(self.text.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn raw(&self) -> &str {
        &self.raw
    }

    pub(crate) fn marks(&self) -> &[ReplyMark] {
        &self.marks
    }

    pub(crate) const fn generation(&self) -> u32 {
        self.generation
    }

    pub(crate) fn violations(&self) -> &[GuardrailViolation] {
        &self.violations
    }

    pub(crate) fn run_channel(&self) -> &Arc<RunChannel> {
        &self.run_channel
    }
}
