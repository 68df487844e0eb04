//! What is wrong with a pack, said when the binary starts.

use munshi_lang::PhraseError;
use munshi_safety::pipeline::InvalidTool;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidPack {
    #[error("duplicate pack {0}: remove one")]
    Twice(String),
    #[error("pack {pack}: {bad}")]
    Tool { pack: String, bad: InvalidTool },
    #[error("pack {pack}: {why}")]
    Phrases { pack: String, why: PhraseError },
    #[error("pack {pack}: {what}")]
    Migration { pack: String, what: String },
    #[error("pack {pack}: {what}")]
    Other { pack: String, what: String },
}
