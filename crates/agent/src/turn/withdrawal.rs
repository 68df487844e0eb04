//! A message with which somebody takes back what they have consented to. It needs no model and no tool of the agent's: taking back is to be as
//! easy as agreeing was. Where nobody can tell whether they mean it, they are asked.

use munshi_conversations::{Result, RunSnapshot};
use munshi_lang::consent_withdrawal::{
    WithdrawalIntent, classify_consent_withdrawal, classify_withdrawal_answer,
};
use munshi_lang::yes_no::{YesNoAnswer, classify_reply};
use munshi_safety::consents::{self, PurposeConsent, WithdrawalRequest, WithdrawnConsents};
use munshi_store::Tx;

use super::approval_questions::quote;
use super::consent::save_answered;
use super::notes::QuestionNotes;
use super::{Turn, TurnOutcome};

impl Turn {
    /// Ends all that they have consented to, and says what that was. None where the message is something else, or nothing is left to end.
    pub(super) async fn withdraw_consents(
        &mut self,
        questions: &mut QuestionNotes,
    ) -> Result<Option<TurnOutcome>> {
        let prepared = &self.setup.prepared;
        if prepared.is_program {
            return Ok(None);
        }
        let text = &prepared.message.text;
        if self.setup.last_shown_marks().is_some_and(|marks| marks.ends_consents) {
            // Whoever speaks of it once more without an answer is not asked again and again.
            return match (classify_withdrawal_answer(text), classify_reply(text)) {
                (WithdrawalIntent::Clear, _) | (_, YesNoAnswer::Yes) => self.end_consents(questions).await,
                (WithdrawalIntent::None, YesNoAnswer::No) => {
                    questions.is_answer = true;
                    self.say_phrase("cancelled", &[]);
                    Ok(Some(TurnOutcome::Replied))
                }
                (WithdrawalIntent::Unsure | WithdrawalIntent::None, _) => Ok(None),
            };
        }
        match classify_consent_withdrawal(text) {
            WithdrawalIntent::Clear => self.end_consents(questions).await,
            WithdrawalIntent::Unsure => self.ask_to_end_consents(questions).await,
            WithdrawalIntent::None => Ok(None),
        }
    }

    /// That they have ended, and that the person is to be told so, are one: whoever takes the turn up finds nothing left to end.
    async fn end_consents(&mut self, questions: &mut QuestionNotes) -> Result<Option<TurnOutcome>> {
        self.sync();
        let (lease, person) = (self.setup.lease, self.setup.conversation.person);
        let request = WithdrawalRequest {
            person,
            via: "chat",
            message: Some((self.setup.prepared.message.id, self.setup.conversation.channel)),
            key: self.setup.run.key_use.as_ref().map(|used| used.key),
            is_vouched: self.setup.prepared.is_vouched(),
        };
        let snapshot =
            RunSnapshot { phrase: Some("consents-ended".to_owned()), ..self.state.snapshot.clone() };
        let (act_services, sender) = (self.setup.engine.act_services.clone(), self.setup.run.person());
        let now = self.setup.engine.clock.now();
        let unit = move |tx: &mut Tx<'_>| -> Result<Option<(RunSnapshot, Vec<PurposeConsent>)>> {
            let WithdrawnConsents { consents, audit } = consents::withdraw_all(tx, &request, now)?;
            if consents.is_empty() {
                return Ok(None);
            }
            save_answered(tx, (lease, sender), &snapshot)?;
            audit.record(tx, &act_services, now)?;
            Ok(Some((snapshot, consents)))
        };
        let ended = self.setup.engine.db.write(self.setup.tenant(), unit).await?;
        let Some((snapshot, consents)) = ended else { return Ok(None) };
        self.state.snapshot = snapshot;
        questions.is_answer = true;
        self.say_with_consents("consents-ended", &consents);
        Ok(Some(TurnOutcome::Replied))
    }

    async fn ask_to_end_consents(&mut self, questions: &mut QuestionNotes) -> Result<Option<TurnOutcome>> {
        let (person, now) = (self.setup.conversation.person, self.setup.engine.clock.now());
        let read = move |tx: &mut Tx<'_>| -> Result<_> { Ok(consents::list_open(tx, person, now)?) };
        let open = self.setup.engine.db.read(self.setup.tenant(), read).await?;
        if open.is_empty() {
            return Ok(None);
        }
        (questions.is_answer, questions.ends_consents) = (true, true);
        self.say_with_consents("ask-end-consents", &open);
        Ok(Some(TurnOutcome::Replied))
    }

    fn say_with_consents(&mut self, phrase: &str, consents: &[PurposeConsent]) {
        let words = consents.iter().map(|consent| quote(&consent.words));
        let said: Vec<String> = [self.setup.phrase(phrase, &[])].into_iter().chain(words).collect();
        self.reply.say(&said.join("\n"));
    }
}
