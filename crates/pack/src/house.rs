//! A pack, and what it is installed in.

use std::sync::Arc;

use munshi_safety::pipeline::BadTool;
use munshi_store::Migration;
use munshi_tools::Registry;

use crate::check::Check;
use crate::context::ContextSource;
use crate::reader::Reader;

pub trait Pack: Send + Sync {
    /// A plain word: `ledger`.
    fn name(&self) -> &'static str;

    /// Its tables, in the one order of all crates.
    fn migrations(&self) -> &'static [Migration] {
        &[]
    }

    /// Puts everything it has into the house.
    fn install(&self, house: &mut House) -> Result<(), BadPack>;
}

/// Everything that packs brought, filled when the binary starts and then only read.
#[derive(Clone, Default)]
pub struct House {
    pub tools: Registry,
    pub contexts: Vec<Arc<dyn ContextSource>>,
    pub readers: Vec<Arc<dyn Reader>>,
    pub checks: Vec<Arc<dyn Check>>,
}

/// What is wrong with a pack, said when the binary starts.
#[derive(Debug, thiserror::Error)]
pub enum BadPack {
    #[error(transparent)]
    Tool(#[from] BadTool),
    #[error("pack {pack}: {what}")]
    Other { pack: &'static str, what: String },
}
