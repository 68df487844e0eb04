//! Short lists that are read whole and shown in the order of their names.

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

/// One page of such a list; `next` is the last name that was given.
pub(crate) fn paginate_by_name<T>(
    all: Vec<T>,
    after: Option<&str>,
    limit: Option<u32>,
    name: impl Fn(&T) -> String,
) -> Result<ListView<T>, OperationError> {
    let request = ListInput { after: None, limit }.page_request()?;
    let rows = usize::try_from(request.fetch_limit() - 1).unwrap_or(1);
    let mut named: Vec<(String, T)> = all.into_iter().map(|one| (name(&one), one)).collect();
    named.sort_by(|one, other| one.0.cmp(&other.0));
    named.retain(|(name, _)| after.is_none_or(|after| name.as_str() > after));
    let more = named.len() > rows;
    named.truncate(rows);
    let next = named.last().filter(|_| more).map(|(name, _)| name.clone());
    Ok(ListView { items: named.into_iter().map(|(_, one)| one).collect(), next })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_list_comes_in_pages_too() {
        let all = || vec!["b", "d", "a", "c"];
        let part = |after| paginate_by_name(all(), after, Some(3), |one| (*one).to_owned()).unwrap();
        let first = part(None);
        assert_eq!((first.items, first.next.as_deref()), (vec!["a", "b", "c"], Some("c")));
        let last = part(Some("c"));
        assert_eq!((last.items, last.next), (vec!["d"], None));
        assert!(part(Some("z\0")).items.is_empty());
        assert!(paginate_by_name(all(), None, Some(0), |one| (*one).to_owned()).is_err());
    }
}
