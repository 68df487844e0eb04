//! What a person is asked about an act, and whether it is theirs to answer.

use munshi_conversations::marks::{ReplyMarks, ShownApproval};
use munshi_conversations::runs;
use munshi_identity::Role;
use munshi_safety::approvals::Approval;
use munshi_safety::pipeline::{ActConcern, ConsentGiver, ConsentReason};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::Turn;
use super::notes::{PickedChoice, StageNotes};
use super::setup::TurnSetup;
use crate::act_words;

/// How often something is put before a person; after that it is told when its time is over.
const TIMES: usize = 3;
/// Letters of a text that tell which one it is.
const QUOTED: usize = 160;

impl Turn {
    /// Whoever can say yes themselves is asked; others are told that somebody is.
    pub(crate) fn ask_approvals(&mut self, approvals: &[Approval], notes: &StageNotes) {
        for approval in approvals {
            let words = self
                .render_concerns(approval, notes)
                .unwrap_or_else(|| self.describe_approval(approval, notes));
            self.reply.say(&words);
        }
        let phrase = if approvals.iter().all(|approval| self.setup.can_approve(approval)) {
            "ask-go-ahead"
        } else {
            "waiting-approval"
        };
        self.say_phrase(phrase, &[]);
    }

    /// Puts before the person once more what still waits for their answer, where they have spoken of something else: it is
    /// neither done nor forgotten.
    pub(crate) fn repeat_approvals(&mut self, notes: &mut StageNotes) {
        let is_busy = notes.questions.is_answer
            || self.setup.prepared.client_context.is_some()
            || self.setup.run.kind != runs::MESSAGE;
        if is_busy || self.asks_something(notes) || !self.setup.has_seen_last() {
            return;
        }
        let waiting: Vec<Approval> =
            self.setup.prepared.pending.iter().filter(|one| self.can_repeat_approval(one)).cloned().collect();
        for approval in &waiting {
            let words = format!(
                "{}\n{}",
                self.setup.phrase("approval-asked", &[]),
                self.describe_approval(approval, notes)
            );
            self.reply.say(&words);
            notes.questions.asks.push(ShownApproval::from(approval));
        }
        if !waiting.is_empty() {
            self.say_phrase("ask-go-ahead", &[]);
        }
    }

    /// Whether the reply asks something of its own: a yes would be to that.
    pub(super) fn asks_something(&self, notes: &StageNotes) -> bool {
        let asks = self.reply.text().trim_end().ends_with(['?', '？']);
        let is_open = self.state.entities.pending_question().is_some() || notes.questions.which.is_some();
        asks || is_open || !notes.model.state.is_empty()
    }

    fn can_repeat_approval(&self, approval: &Approval) -> bool {
        let now = self.setup.engine.clock.now();
        let is_open = approval.expires_at > now
            && self.state.snapshot.iter_calls().all(|called| called.act != approval.act);
        let marks =
            self.setup.prepared.history.iter().filter_map(|said| ReplyMarks::deserialize(&said.marks).ok());
        let asked = marks.filter(|marks| marks.find_approval(approval.id).is_some()).count();
        is_open && asked < TIMES && self.setup.is_own(approval) && self.setup.can_approve(approval)
    }

    /// What the packs found, in their phrases, where nothing else is asked about, after what would be written. A message
    /// that a pack read by itself, where no model had a hand in it, is told by those phrases alone.
    fn render_concerns(&self, approval: &Approval, notes: &StageNotes) -> Option<String> {
        let is_read = self.state.snapshot.is_read && self.state.snapshot.model_calls == 0;
        let is_all = approval.question.reasons.iter().all(|reason| {
            *reason == ConsentReason::Concern || (is_read && *reason == ConsentReason::Tainted)
        });
        let concerns = notes.acts.details.get(&approval.act).map(|details| &details.concerns);
        let concerns = concerns.filter(|concerns| is_all && !concerns.is_empty())?;
        let lead = (!is_read).then(|| self.describe_in_phrases(approval, notes)).flatten();
        // What is named already is not said twice.
        let named = notes.acts.find_named(approval, &self.setup.prepared).filter(|_| lead.is_some());
        let is_said = |concern: &&ActConcern| named.is_some_and(|named| named.contains(concern));
        let unsaid = concerns.iter().filter(|concern| !is_said(concern));
        let said = unsaid.map(|concern| self.setup.phrase(&concern.phrase, &concern.slots));
        Some(lead.into_iter().chain(said).collect::<Vec<_>>().join("\n"))
    }

    /// Whether the reply ends with our own question whether to go on, as the offline model asks it before what it is not
    /// sure of.
    pub(super) fn asks_to_go_on(&self) -> bool {
        let question = self.setup.phrase("ask-go-ahead", &[]);
        !question.is_empty() && self.reply.text().trim_end().ends_with(question.trim_end())
    }

    /// What is asked about, in the person's own language as far as the tool has words in it.
    pub(super) fn describe_approval(&self, approval: &Approval, notes: &StageNotes) -> String {
        let told = self.describe_in_phrases(approval, notes).or_else(|| quote_only_text(&approval.arguments));
        approval.render_question(told)
    }

    /// In the tool's own words, and what packs name of it.
    fn describe_in_phrases(&self, approval: &Approval, notes: &StageNotes) -> Option<String> {
        let tool = self.setup.tool(&approval.tool)?;
        let arguments = self.substitute_names(&approval.arguments, notes.questions.picked.as_ref());
        let words = act_words::render(&tool.known.spec, &arguments, self.setup.prepared.reply_language.voice);
        let named = notes.acts.find_named(approval, &self.setup.prepared).into_iter().flatten();
        let named = named.map(|named| self.setup.phrase(&named.phrase, &named.slots));
        let lines: Vec<String> = words.into_iter().chain(named).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// The arguments with names in the place of ids that the person has never seen. One whose name is not known any more
    /// says nothing.
    fn substitute_names(&self, arguments: &Value, picked: Option<&PickedChoice>) -> Value {
        let Value::Object(fields) = arguments else { return arguments.clone() };
        let named = fields.iter().filter_map(|(field, value)| {
            let picked = picked.filter(|picked| picked.value == *value);
            let name =
                picked.map(|picked| picked.label.clone()).or_else(|| self.state.find_entity_name(value));
            match name {
                Some(name) => Some((field.clone(), Value::from(name))),
                None if value.as_str().is_some_and(|text| text.parse::<Uuid>().is_ok()) => None,
                None => Some((field.clone(), value.clone())),
            }
        });
        Value::Object(named.collect())
    }
}

impl TurnSetup {
    pub(crate) fn can_approve(&self, approval: &Approval) -> bool {
        let principal = &self.prepared.principal;
        let is_asker = principal.person.is_some() && principal.person == approval.asked_by;
        match approval.question.needs {
            ConsentGiver::Subject => is_asker,
            ConsentGiver::Asker if is_asker => true,
            ConsentGiver::Asker | ConsentGiver::Approver => {
                matches!(principal.role(), Some(Role::Owner | Role::Admin))
            }
        }
    }
}

/// What is about one text alone, such as a message that was pasted, is told by that.
fn quote_only_text(arguments: &Value) -> Option<String> {
    let mut fields = arguments.as_object()?.values();
    let text = fields.next()?.as_str()?.trim();
    let is_only = fields.next().is_none() && text.contains(char::is_whitespace);
    is_only.then(|| quote(text))
}

/// As much of a text as tells which one it is.
pub(super) fn quote(text: &str) -> String {
    let beginning: String = text.chars().take(QUOTED).collect();
    let rest = if beginning.len() < text.len() { "…" } else { "" };
    format!("“{beginning}{rest}”")
}
