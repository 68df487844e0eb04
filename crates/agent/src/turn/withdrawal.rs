//! A message with which somebody takes back what they have consented to. It needs no model and no tool of the agent's: taking back is to be as
//! easy as agreeing was.

use munshi_conversations::Result;
use munshi_lang::consent_withdrawal::is_consent_withdrawal;
use munshi_safety::consents::{self, PurposeConsent};
use munshi_store::Tx;

use super::approval_questions::quote;
use super::notes::QuestionNotes;
use super::{Turn, TurnOutcome};

impl Turn {
    /// Ends all that they have consented to, and says what that was. None where the message is something else, or nothing is left to end.
    pub(super) async fn withdraw_consents(
        &mut self,
        questions: &mut QuestionNotes,
    ) -> Result<Option<TurnOutcome>> {
        let prepared = &self.setup.prepared;
        if prepared.is_program || !is_consent_withdrawal(&prepared.message.text) {
            return Ok(None);
        }
        let (act_services, person) = (self.setup.engine.act_services.clone(), self.setup.conversation.person);
        let now = self.setup.engine.clock.now();
        let unit = move |tx: &mut Tx<'_>| -> Result<Vec<PurposeConsent>> {
            Ok(consents::withdraw_all(tx, &act_services, person, "chat", now)?)
        };
        let withdrawn = self.setup.engine.db.write(self.setup.tenant(), unit).await?;
        if withdrawn.is_empty() {
            return Ok(None);
        }
        questions.is_answer = true;
        let words = withdrawn.iter().map(|consent| quote(&consent.words));
        let said: Vec<String> = [self.setup.phrase("stopped", &[])].into_iter().chain(words).collect();
        self.reply.say(&said.join("\n"));
        Ok(Some(TurnOutcome::Replied))
    }
}
