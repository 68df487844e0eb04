//! What is kept of people, kind by kind: told to them when they ask, and gone when they are forgotten. Each crate lists that of its
//! own tables, so that nothing goes which was not told, and nothing is told which does not go.

use munshi_store::{Result, Tx};
use munshi_types::PersonId;
use serde_json::Value;
use uuid::Uuid;

/// One kind of row that is somebody's.
#[derive(Clone, Copy, Debug)]
pub struct PersonalData {
    /// What it is, as receipts and exports name it.
    pub name: &'static str,
    /// The next rows of this person behind a row, in the order of their ids. It reads, so it may look through a whole table.
    pub list_next: fn(&mut Tx<'_>, PersonId, Uuid, u32) -> Result<Vec<Uuid>>,
    /// What a row says of them, in words of the trade; none where it is gone or says nothing that another kind does not say.
    pub show: fn(&mut Tx<'_>, Uuid) -> Result<Option<Value>>,
    /// Removes or empties these rows and says how many there were. Done again it finds none. It reads nothing that is sealed: the keys
    /// are gone by then.
    pub erase: fn(&mut Tx<'_>, &[Uuid]) -> Result<u64>,
}
