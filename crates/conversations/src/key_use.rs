//! A message that came through an API key: whose words it has, and how far they reach.

use munshi_identity::Principal;
use munshi_identity::keys::{KeyCeiling, KeySpeaker};
use munshi_types::KeyId;
use serde::{Deserialize, Serialize};

/// The key of a message, as it is stored with the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyUse {
    pub key: KeyId,
    /// What can't be read is a program's.
    #[serde(default = "default_speaker")]
    pub speaks_as: KeySpeaker,
    #[serde(default)]
    pub ceiling: KeyCeiling,
}

const fn default_speaker() -> KeySpeaker {
    KeySpeaker::Program
}

impl KeyUse {
    /// The key of a program: what it says is nobody's own words, and it says yes to nothing.
    pub fn program_key(&self) -> Option<KeyId> {
        (self.speaks_as == KeySpeaker::Program).then_some(self.key)
    }

    /// Nobody is more through a key than it may be.
    pub fn cap(&self, principal: Principal) -> Principal {
        self.ceiling.cap(principal)
    }
}
