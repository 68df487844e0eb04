//! The steps by which what is kept of somebody goes when they are forgotten. Each crate lists those of its own tables.

use munshi_store::{Result, Tx};
use munshi_types::PersonId;
use uuid::Uuid;

/// One kind of row that goes.
#[derive(Clone, Copy, Debug)]
pub struct ErasureStep {
    /// What goes, as the receipt names it.
    pub name: &'static str,
    /// The next rows of this person behind a row, in the order of their ids. It reads, so it may look through a whole table.
    pub list_next: fn(&mut Tx<'_>, PersonId, Uuid, u32) -> Result<Vec<Uuid>>,
    /// Removes or empties these rows and says how many there were. Done again it finds none. It reads nothing that is sealed: the keys
    /// are gone by then.
    pub erase: fn(&mut Tx<'_>, &[Uuid]) -> Result<u64>,
}
