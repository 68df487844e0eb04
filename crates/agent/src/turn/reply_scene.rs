//! What the rules over words know of a conversation before anything is answered: the same for a turn and for a draft.

use std::sync::Arc;

use munshi_conversations::messages::{Message, MessageSpeaker};
use munshi_conversations::whispers::Whisper;
use munshi_guardrails::{
    AllowedLanguage, GuardrailContext, GuardrailRuleSet, MessageSignals, PromptFingerprint,
};
use munshi_lang::Language;
use munshi_tiers::BindingResolution;
use munshi_types::tier::LanguageLock;

use crate::engine::TurnEngineInner;

/// So many replies back a price still counts, and so many messages back a danger that nobody was sent to help for.
const PRICES: usize = 24;
const DANGERS: usize = 6;

/// What is about to be answered, and by whom.
pub(crate) struct ReplyScene<'a> {
    pub(crate) engine: &'a TurnEngineInner,
    pub(crate) binding: &'a BindingResolution,
    pub(crate) rules: &'a GuardrailRuleSet,
    /// What was said before.
    pub(crate) history: &'a [Message],
    /// What the person wrote.
    pub(crate) said: &'a str,
    pub(crate) person_name: Option<&'a str>,
    pub(crate) language: Language,
    pub(crate) whispers: &'a [Whisper],
}

/// The rules of a binding, with the one about whispers where somebody whispered.
pub(crate) fn choose_rules(rules: &GuardrailRuleSet, whispers: &[Whisper]) -> GuardrailRuleSet {
    match whispers.is_empty() {
        true => rules.clone(),
        false => rules.with_whispers(),
    }
}

impl ReplyScene<'_> {
    pub(crate) fn build_guardrail_context(&self) -> GuardrailContext {
        let speech = &self.binding.human.body.speech;
        let listed = match speech.lock {
            LanguageLock::Open => &[],
            LanguageLock::Listed => speech.languages.as_slice(),
            LanguageLock::First => speech.languages.get(..1).unwrap_or_default(),
        };
        let allowed = listed.iter().filter_map(|code| {
            let form = code.is_latin().then_some(munshi_lang::ScriptForm::Latin);
            Some(AllowedLanguage { language: code.language()?, form })
        });
        let has = |id: &str| self.rules.rules().iter().any(|rule| rule.id == id);
        let said = MessageSignals::new(self.said);
        GuardrailContext {
            asked_if_ai: has("admits-ai") && said.asks_if_ai(),
            turns_since_price: has("price-cooldown").then(|| count_turns_since_price(self.history)).flatten(),
            asked_price: has("price-cooldown") && said.asks_price(),
            red_flag: has("red-flag") && has_unresolved_danger(self.history),
            persona: Some(self.binding.human.body.name.clone()),
            model_names: self.engine.remote_model_names(),
            lock: allowed.collect(),
            person_language: Some(self.language),
            person_said: self.said.to_owned(),
            person_name: self.person_name.filter(|name| !name.is_empty()).map(str::to_owned),
            whispers: self.fingerprint_whispers().map(Arc::new),
            ..GuardrailContext::default()
        }
    }

    /// What colleagues whispered, to be known again in what a model gives away. A number that was said in the conversation is no secret.
    fn fingerprint_whispers(&self) -> Option<PromptFingerprint> {
        if self.whispers.is_empty() {
            return None;
        }
        let told = PromptFingerprint::of_whispers(self.whispers.iter().map(|whisper| whisper.text.as_str()));
        let said = self.history.iter().map(|said| said.text.as_str()).chain([self.said]);
        Some(said.fold(told, PromptFingerprint::without_numbers_of))
    }
}

/// How many replies ago a price was named.
fn count_turns_since_price(history: &[Message]) -> Option<u32> {
    let replies = history.iter().rev().filter(|said| said.speaker.is_ours()).take(PRICES);
    replies.zip(0..).find(|(said, _)| MessageSignals::new(&said.text).names_price()).map(|(_, turns)| turns)
}

/// Whether somebody told of danger and nothing that was said since has sent them to help: an excuse did not.
fn has_unresolved_danger(history: &[Message]) -> bool {
    for said in history.iter().rev().take(DANGERS) {
        let heard = MessageSignals::new(&said.text);
        match said.speaker {
            MessageSpeaker::Person if heard.tells_of_danger() => return true,
            MessageSpeaker::Persona | MessageSpeaker::Colleague(_) if heard.sends_to_help() => return false,
            MessageSpeaker::Person | MessageSpeaker::Persona | MessageSpeaker::Colleague(_) => {}
        }
    }
    false
}
