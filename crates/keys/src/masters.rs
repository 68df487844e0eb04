//! The installation's keys as a process knows them.

use std::sync::{Arc, PoisonError, RwLock};

use munshi_types::Random;

use crate::error::{Error, Result};
use crate::master::{MasterKey, MasterKeySource};

/// The installation's keys as they were last read; read again when one is missing, since another process may rotate them.
#[derive(Debug)]
pub struct MasterKeys {
    source: MasterKeySource,
    known: RwLock<Vec<Arc<MasterKey>>>,
}

impl From<MasterKeySource> for Arc<MasterKeys> {
    fn from(source: MasterKeySource) -> Self {
        Self::new(MasterKeys::new(source))
    }
}

impl MasterKeys {
    pub fn new(source: MasterKeySource) -> Self {
        Self { source, known: RwLock::default() }
    }

    pub fn source(&self) -> &MasterKeySource {
        &self.source
    }

    /// The key of this id. `what` says what is encrypted with it, for whoever has to find it.
    pub fn load(&self, id: &str, what: &str) -> Result<Arc<MasterKey>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        let find = |masters: &[Arc<MasterKey>]| masters.iter().find(|master| master.id == id).cloned();
        if let Some(master) = find(&known) {
            return Ok(master);
        }
        let masters = self.reload()?;
        find(&masters).ok_or_else(|| self.wrong_key(id, what, &masters))
    }

    /// The key in use, made where it is a file that is not there yet.
    pub fn load_or_create(&self, random: &dyn Random) -> Result<Option<Arc<MasterKey>>> {
        self.source.make_first(random)?;
        Ok(self.reload()?.first().cloned())
    }

    fn reload(&self) -> Result<Vec<Arc<MasterKey>>> {
        let masters = self.source.load()?;
        self.known.write().unwrap_or_else(PoisonError::into_inner).clone_from(&masters);
        Ok(masters)
    }

    fn wrong_key(&self, wanted: &str, what: &str, found: &[Arc<MasterKey>]) -> Error {
        let source = &self.source;
        let problem = match found.first() {
            None => format!("the key file {source} is missing"),
            Some(master) => format!("{source} contains another key ({})", master.id),
        };
        Error::Key(format!(
            "{problem}: {what} encrypted with key {wanted}. Restore that key from your copy, or copy it from another node"
        ))
    }
}
