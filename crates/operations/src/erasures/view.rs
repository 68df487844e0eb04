//! A receipt as it is shown.

use munshi_erasure::{ErasureReceipt, ErasureState};
use munshi_types::{ErasureId, PersonId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The receipt of somebody forgotten. It names nobody: ids in it lead to empty rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Erasure)]
pub struct ErasureView {
    #[schema(value_type = uuid::Uuid)]
    pub id: ErasureId,
    /// `begun`, `keys_destroyed` (nobody can read their text any more) or `done`.
    #[schema(value_type = String, example = "done")]
    pub state: ErasureState,
    /// The person, with rows that were merged into them; empty where only a pack knew them.
    #[schema(value_type = Vec<uuid::Uuid>)]
    pub persons: Vec<PersonId>,
    /// How many encryption keys were destroyed.
    pub keys: usize,
    /// Who asked for it, as the audit knows them.
    pub asked_by: String,
    #[schema(value_type = String, format = DateTime)]
    pub asked_at: Timestamp,
    /// Since when nobody can read their text.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub destroyed_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
    pub removed: Vec<ErasedKindView>,
    /// What stayed, and why.
    pub kept: Vec<KeptDataView>,
}

/// One kind of row that was removed or emptied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ErasedKind)]
pub struct ErasedKindView {
    #[schema(example = "messages")]
    pub kind: String,
    pub rows: u64,
}

/// Something that stayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = KeptData)]
pub struct KeptDataView {
    pub what: String,
    pub why: String,
}

impl From<ErasureReceipt> for ErasureView {
    fn from(receipt: ErasureReceipt) -> Self {
        let erasure = receipt.erasure;
        let removed = erasure.counts.into_iter().map(|(kind, rows)| ErasedKindView { kind, rows });
        let kept = receipt.kept.into_iter().map(|kept| KeptDataView { what: kept.what, why: kept.why });
        Self {
            id: erasure.id,
            state: receipt.state,
            persons: erasure.persons,
            keys: erasure.keys.len(),
            asked_by: erasure.asked_by,
            asked_at: erasure.asked_at,
            destroyed_at: erasure.destroyed_at,
            ended_at: erasure.ended_at,
            removed: removed.collect(),
            kept: kept.collect(),
        }
    }
}
