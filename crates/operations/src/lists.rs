//! Lists that are read whole and paged by name.

use munshi_pack::operation::{ListInput, ListView, OperationError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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

/// One page of a list that is in the order of its names.
pub(crate) fn paginate_by_name<T>(
    input: &NameListInput,
    all: Vec<T>,
    name: impl Fn(&T) -> String,
) -> Result<ListView<T>, OperationError> {
    let limit = ListInput { after: None, limit: input.limit }.page_size()? as usize;
    let is_after = |one: &T| input.after.as_ref().is_none_or(|after| name(one) > *after);
    let mut items: Vec<T> = all.into_iter().filter(is_after).take(limit + 1).collect();
    let has_more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| has_more).map(&name);
    Ok(ListView { items, next })
}
