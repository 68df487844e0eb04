//! The veil over one conversation's calls: tokens on the way to a cloud model, real values on the way back.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use munshi_llm::ChatRequest;
use munshi_llm::chat::Output;
use munshi_llm::gateway::{Reveal, Veil};
use munshi_types::Script;

use super::hide;
use super::known::{Entity, Known};
use super::mask::Mask;
use super::reveal::Revealing;
use super::session::{Crossed, Session};

/// Made for a turn and given to all its calls. What it hid is kept with the conversation: [`TokenVeil::session`] is
/// stored wherever a model's answer is, or a token of an earlier thought would come to stand for somebody else.
#[derive(Clone)]
pub struct TokenVeil {
    known: Arc<Known>,
    table: Arc<Table>,
    script: Script,
}

/// The conversation's tokens, which attempts and the turn share.
pub(super) struct Table(Mutex<Tokens>);

pub(super) struct Tokens {
    pub session: Session,
    /// The people of the conversation who stand in no list, ready to be found.
    met: Option<Arc<Known>>,
    /// Tokens in a text that stand for nothing.
    pub invented: Vec<String>,
}

impl Tokens {
    fn new(session: Session) -> Self {
        let mut tokens = Self { session, met: None, invented: Vec::new() };
        tokens.make_ready();
        tokens
    }

    fn make_ready(&mut self) {
        let met = self.session.met();
        let entity = |name: &String| Entity { names: vec![name.clone()], values: Vec::new() };
        let entities: Vec<Entity> = met.iter().map(entity).collect();
        self.met = (!met.is_empty()).then(|| Arc::new(Known::new(self.session.tenant, &entities)));
    }
}

impl Table {
    /// A table that somebody left in the middle of a change is whole all the same: it only grows.
    pub(super) fn with<T>(&self, read: impl FnOnce(&mut Tokens) -> T) -> T {
        read(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl TokenVeil {
    /// For a reply that is read in a script. Refused when the names are another tenant's.
    pub fn new(known: Arc<Known>, session: Session, script: Script) -> Result<Self, Crossed> {
        if known.tenant() != session.tenant {
            return Err(Crossed);
        }
        let table = Arc::new(Table(Mutex::new(Tokens::new(session))));
        Ok(Self { known, table, script })
    }

    /// The table as it stands now, to be kept with the conversation.
    pub fn session(&self) -> Session {
        self.table.with(|table| table.session.clone())
    }

    /// Names of people that nobody listed, such as a tool has told of: hidden from now on, for the whole conversation.
    pub fn meet(&self, names: impl IntoIterator<Item = String>) {
        self.table.with(|table| {
            if table.session.meet(names) {
                table.make_ready();
            }
        });
    }

    /// Tokens that replies had and nobody has given out: they were left as they are. A tool is never called with one.
    pub fn invented(&self) -> Vec<String> {
        self.table.with(|table| table.invented.clone())
    }
}

impl Veil for TokenVeil {
    fn hide(&self, request: &ChatRequest) -> ChatRequest {
        self.table.with(|table| {
            let met = table.met.clone();
            let known = std::iter::once(&*self.known).chain(met.as_deref()).collect();
            hide::request(&mut Mask::within(known, &mut table.session), request)
        })
    }

    fn reveal(&self, output: &Output) -> Box<dyn Reveal> {
        Box::new(Revealing::new(self.table.clone(), self.script, output))
    }
}

impl fmt::Debug for TokenVeil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenVeil").field("session", &self.session()).finish_non_exhaustive()
    }
}
