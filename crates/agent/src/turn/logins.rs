//! A connector whose service wants somebody to log in: whoever may do that gets a link, in their language, and can show
//! here that a browser in which they opened it is theirs.

use munshi_conversations::{Result, runs};
use munshi_identity::codes::extract_digits;
use munshi_identity::{Role, persons};
use munshi_store::Tx;
use munshi_types::{PersonId, RunId};

use super::notes::QuestionNotes;
use super::{Turn, TurnOutcome};
use crate::engine::TurnEngineInner;
use crate::expired_approvals::find_conversation;
use crate::notify::{self, ConversationNotice};
use crate::phrases::log_unrendered;

impl Turn {
    /// A message with the code that a page shows to whoever opened a link: it shows that the browser is this person's. None
    /// where it is something else.
    pub(super) async fn accept_login_code(
        &mut self,
        questions: &mut QuestionNotes,
    ) -> Result<Option<TurnOutcome>> {
        if !self.state.snapshot.may_wait || !self.speaker_can_log_in() {
            return Ok(None);
        }
        let (engine, person) = (self.setup.engine.clone(), self.setup.conversation.person);
        let words = self.setup.prepared.message.text.clone();
        if extract_digits(&words).is_none() {
            return Ok(None);
        }
        let unit = move |tx: &mut Tx<'_>| -> Result<_> {
            Ok(engine.dispatcher.verify_login_code(tx, person, &words)?)
        };
        let Some(connector) = self.setup.engine.db.write(self.setup.tenant(), unit).await? else {
            return Ok(None);
        };
        questions.is_answer = true;
        self.say_phrase("login-proved", &slots(&connector));
        Ok(Some(TurnOutcome::Replied))
    }

    /// Says what has to be done before this goes on. What was said and has not been done since is not said again.
    pub(super) async fn ask_to_log_in(&mut self) -> Result<()> {
        for connector in self.state.snapshot.connectors_awaiting_login() {
            let told_at = self
                .state
                .snapshot
                .told_logins
                .iter()
                .find(|(known, _)| *known == connector)
                .map(|told| told.1);
            let (engine, run, person) =
                (self.setup.engine.clone(), self.setup.lease.run, self.setup.conversation.person);
            let is_theirs = self.speaker_can_log_in();
            let name = connector.clone();
            let unit = move |tx: &mut Tx<'_>| -> Result<Option<Option<String>>> {
                let last = engine.dispatcher.find_login_time(tx, &name)?;
                if told_at.is_some_and(|told| last.is_none_or(|last| last < told)) {
                    return Ok(None);
                }
                if is_theirs {
                    return Ok(Some(engine.dispatcher.create_login_link(tx, &name, person)?));
                }
                notify_admins(tx, &engine, run, &name)?;
                Ok(Some(None))
            };
            let Some(offered) = self.setup.engine.db.write(self.setup.tenant(), unit).await? else {
                continue;
            };
            let words = match offered {
                Some(link) => {
                    let words = self.setup.phrase("login-needed", &slots(&connector));
                    format!("{words}\n{link}\n{}", self.setup.phrase("login-code", &[]))
                }
                None => self.setup.phrase("login-asked", &slots(&connector)),
            };
            self.reply.say(&words);
            self.state.snapshot.told_logins.retain(|(known, _)| *known != connector);
            self.state.snapshot.told_logins.push((connector, self.setup.engine.clock.now()));
        }
        Ok(())
    }

    /// Whether the words are those of somebody who lets us in. A program reads the page that shows the code and writes it
    /// here by itself: its word shows nothing about whose browser it is, and its reply carries no link.
    fn speaker_can_log_in(&self) -> bool {
        !self.setup.prepared.is_program && can_log_in(self.setup.prepared.principal.role())
    }
}

/// Who lets us in: those who answer for the business.
fn can_log_in(role: Option<Role>) -> bool {
    matches!(role, Some(Role::Owner | Role::Admin))
}

fn slots(connector: &str) -> Vec<(String, String)> {
    vec![("name".to_owned(), connector.to_owned())]
}

/// Owners and admins get a link, each in their own conversation.
fn notify_admins(tx: &mut Tx<'_>, inner: &TurnEngineInner, run: RunId, connector: &str) -> Result<()> {
    let Some(run) = runs::find(tx, run)? else { return Ok(()) };
    let members = persons::list_members(tx)?;
    let those: Vec<PersonId> = members.iter().filter(|one| can_log_in(one.role)).map(|one| one.id).collect();
    let mut met = Vec::new();
    for person in those {
        met.extend(find_conversation(tx, &run, person)?);
    }
    // One order for all who hold more than one session.
    met.sort_by_key(|session| session.id);
    for session in met {
        let Some(link) = inner.dispatcher.create_login_link(tx, connector, session.person)? else {
            return Ok(());
        };
        let voice = notify::find_voice(tx, &session)?;
        let fills = [("name", munshi_lang::PlaceholderValue::Text(connector))];
        let say = |name: &str| {
            log_unrendered(inner.phrasebook.render(name, voice, &fills), name).unwrap_or_default()
        };
        let text = format!("{}\n{link}\n{}", say("login-needed"), say("login-code"));
        let purpose = notify::choose_purpose(&run, session.person);
        let notice = ConversationNotice { text, purpose, ..ConversationNotice::default() };
        notify::post_notice(tx, inner, &session, run.id, notice)?;
    }
    Ok(())
}
