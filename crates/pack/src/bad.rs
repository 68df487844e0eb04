//! What is wrong with a pack, said when the binary starts.

use munshi_lang::PhraseError;
use munshi_safety::pipeline::BadTool;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadPack {
    #[error("there are two packs called {0}: leave one out")]
    Twice(String),
    #[error("pack {pack}: {bad}")]
    Tool { pack: String, bad: BadTool },
    #[error("pack {pack}: {why}")]
    Phrases { pack: String, why: PhraseError },
    #[error("pack {pack}: {what}")]
    Migration { pack: String, what: String },
    #[error("pack {pack}: {what}")]
    Other { pack: String, what: String },
}
