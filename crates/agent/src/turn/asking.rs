//! What a person is asked about an act, and whether it is theirs to answer.

use munshi_identity::Role;
use munshi_safety::approvals::Approval;
use munshi_safety::pipeline::{Needs, Reason};

use super::Turn;
use crate::act_words;

impl Turn {
    /// Whoever can say yes themselves is asked; others are told that somebody is.
    pub(crate) fn ask_first(&mut self, approvals: &[Approval]) {
        for approval in approvals {
            let words = self.confirming(approval).unwrap_or_else(|| self.asked_about(approval));
            self.reply.say(&words);
        }
        let phrase = if approvals.iter().all(|approval| self.may_say_yes(approval)) {
            "ask-go-ahead"
        } else {
            "waiting-approval"
        };
        let words = self.phrase(phrase, &[]);
        self.reply.say(&words);
    }

    /// What the packs found, in their phrases, where nothing else is asked about: those name what would be written, in
    /// the person's language. So they do of a message that a pack read by itself, where no model had a hand in it.
    fn confirming(&self, approval: &Approval) -> Option<String> {
        let is_read = self.snapshot.is_read && self.snapshot.model_calls == 0;
        let is_all = approval
            .question
            .reasons
            .iter()
            .all(|reason| *reason == Reason::Concern || (is_read && *reason == Reason::Foreign));
        let concerns = self.concerned.get(&approval.act).filter(|concerns| is_all && !concerns.is_empty())?;
        let said = concerns.iter().map(|concern| self.phrase(&concern.phrase, &concern.slots));
        Some(said.collect::<Vec<_>>().join("\n"))
    }

    pub(crate) fn may_say_yes(&self, approval: &Approval) -> bool {
        let principal = &self.prepared.principal;
        let is_own = approval.question.needs == Needs::Asker && principal.person == approval.asked_by;
        is_own || matches!(principal.role(), Some(Role::Owner | Role::Admin))
    }

    /// Whether the reply ends with our own question whether to go on, as the offline model asks it before what it is not
    /// sure of.
    pub(super) fn asks_to_go_on(&self) -> bool {
        let question = self.phrase("ask-go-ahead", &[]);
        !question.is_empty() && self.reply.text().trim_end().ends_with(question.trim_end())
    }

    /// What is asked about, in the person's own language as far as the tool has words in it.
    pub(super) fn asked_about(&self, approval: &Approval) -> String {
        let tool = self.tool(&approval.tool);
        let voice = self.prepared.tongue.voice;
        let told = tool.and_then(|tool| act_words::in_words(&tool.known.spec, &approval.arguments, voice));
        told.unwrap_or_else(|| approval.words.clone())
    }
}
