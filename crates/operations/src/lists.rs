//! The input of lists that are read whole and paged by name.

use munshi_pack::operation::{ListView, OperationError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::named_list::paginate_by_name;

/// The input of a list in the order of names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NameListInput {
    /// The `next` of the previous page.
    pub after: Option<String>,
    /// Page size; default 25.
    #[schema(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
}

impl NameListInput {
    /// One page of the whole.
    pub(crate) fn paginate<T>(
        &self,
        all: Vec<T>,
        name: impl Fn(&T) -> String,
    ) -> Result<ListView<T>, OperationError> {
        paginate_by_name(all, self.after.as_deref(), self.limit, name)
    }
}
