//! The veil over one conversation's calls: tokens on the way to a cloud model, real values on the way back.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use munshi_lang::text_words::TextWords;
use munshi_llm::ChatRequest;
use munshi_llm::chat::ReplyFormat;
use munshi_llm::gateway::{EventUnredactor, Redactor};
use munshi_types::Script;

use super::chat_masking;
use super::known_entities::{KnownEntities, ProtectedEntity};
use super::mask::PiiMasker;
use super::pseudonym_table::{ConversationMismatch, PseudonymTable};
use super::revealer::PseudonymRevealer;

/// Made for a turn and given to all its calls. What it hid is kept with the conversation: [`PseudonymRedactor::session`] is
/// stored wherever a model's answer is, or a token of an earlier thought would come to stand for somebody else.
#[derive(Clone)]
pub struct PseudonymRedactor {
    known: Arc<KnownEntities>,
    table: Arc<SharedPseudonyms>,
    script: Script,
}

/// The conversation's tokens, which attempts and the turn share.
pub(super) struct SharedPseudonyms(Mutex<PseudonymState>);

pub(super) struct PseudonymState {
    pub session: PseudonymTable,
    /// The people of the conversation who stand in no list, ready to be found.
    met: Option<Arc<KnownEntities>>,
    /// Tokens in a text that stand for nothing.
    pub invented: Vec<String>,
}

impl PseudonymState {
    fn new(session: PseudonymTable) -> Self {
        let mut tokens = Self { session, met: None, invented: Vec::new() };
        tokens.rebuild_met_index();
        tokens
    }

    fn rebuild_met_index(&mut self) {
        let met = self.session.met_names();
        let entity = |name: &String| ProtectedEntity { names: vec![name.clone()], values: Vec::new() };
        let entities: Vec<ProtectedEntity> = met.iter().map(entity).collect();
        self.met = (!met.is_empty()).then(|| Arc::new(KnownEntities::new(self.session.tenant, &entities)));
    }
}

impl SharedPseudonyms {
    /// A table that somebody left in the middle of a change is whole all the same: it only grows.
    pub(super) fn with_lock<T>(&self, read: impl FnOnce(&mut PseudonymState) -> T) -> T {
        read(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl PseudonymRedactor {
    /// For a reply that is read in a script. Refused when the names are another tenant's.
    pub fn new(
        known: Arc<KnownEntities>,
        session: PseudonymTable,
        script: Script,
    ) -> Result<Self, ConversationMismatch> {
        if known.tenant() != session.tenant {
            return Err(ConversationMismatch);
        }
        let table = Arc::new(SharedPseudonyms(Mutex::new(PseudonymState::new(session))));
        Ok(Self { known, table, script })
    }

    /// The table as it stands now, to be kept with the conversation.
    pub fn session(&self) -> PseudonymTable {
        self.table.with_lock(|table| table.session.clone())
    }

    /// Names of people that nobody listed, such as a tool has told of: hidden from now on, for the whole conversation.
    pub fn add_names(&self, names: impl IntoIterator<Item = String>) {
        self.table.with_lock(|table| {
            if table.session.add_names(names) {
                table.rebuild_met_index();
            }
        });
    }

    /// Of the people that no list has, those whom a text names: as the text writes them, and no more of them than that.
    pub fn find_met_names(&self, text: &str) -> Vec<String> {
        let Some(met) = self.table.with_lock(|table| table.met.clone()) else { return Vec::new() };
        let spots = met.name_finder().find_in(&TextWords::new(text));
        spots.into_iter().filter_map(|spot| text.get(spot.range).map(str::to_owned)).collect()
    }

    /// Tokens that replies had and nobody has given out: they were left as they are. A tool is never called with one.
    pub fn invented_tokens(&self) -> Vec<String> {
        self.table.with_lock(|table| table.invented.clone())
    }
}

impl Redactor for PseudonymRedactor {
    fn redact(&self, request: &ChatRequest) -> ChatRequest {
        self.table.with_lock(|table| {
            let met = table.met.clone();
            let known = std::iter::once(&*self.known).chain(met.as_deref()).collect();
            chat_masking::mask_request(&mut PiiMasker::with_lists(known, &mut table.session), request)
        })
    }

    fn new_unredactor(&self, output: &ReplyFormat) -> Box<dyn EventUnredactor> {
        Box::new(PseudonymRevealer::new(self.table.clone(), self.script, output))
    }
}

impl fmt::Debug for PseudonymRedactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PseudonymRedactor").field("session", &self.session()).finish_non_exhaustive()
    }
}
