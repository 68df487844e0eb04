//! Short lists that are read whole and shown in the order of their names.

use munshi_pack::operation::{ListInput, ListView, OperationError, describe_order};
use munshi_store::SortOrder;
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
    #[schema(schema_with = describe_order)]
    pub order: Option<SortOrder>,
}

impl NameListInput {
    /// One page of the whole, from A to Z unless the other order is asked for.
    pub(crate) fn paginate<T>(
        &self,
        all: Vec<T>,
        name: impl Fn(&T) -> String,
    ) -> Result<ListView<T>, OperationError> {
        self.paginate_from(SortOrder::Ascending, all, name)
    }

    /// One page of a list whose places rise in its default order, whichever that is called. `next` is the last place that
    /// was given.
    pub(crate) fn paginate_from<T>(
        &self,
        default: SortOrder,
        all: Vec<T>,
        place: impl Fn(&T) -> String,
    ) -> Result<ListView<T>, OperationError> {
        let rows = self.page_size()? as usize;
        let order = self.order.unwrap_or(default);
        let after = self.after.as_deref().map(|cursor| order.parse_cursor(default, cursor));
        let after = after.transpose()?;
        let mut placed: Vec<(String, T)> = all.into_iter().map(|one| (place(&one), one)).collect();
        placed.sort_by(|one, other| one.0.cmp(&other.0));
        if order == default {
            placed.retain(|(place, _)| after.is_none_or(|after| place.as_str() > after));
        } else {
            placed.reverse();
            placed.retain(|(place, _)| after.is_none_or(|after| place.as_str() < after));
        }
        let more = placed.len() > rows;
        placed.truncate(rows);
        let next = placed.last().filter(|_| more).map(|(place, _)| order.render_cursor(default, place));
        Ok(ListView { items: placed.into_iter().map(|(_, one)| one).collect(), next })
    }

    /// How many rows are asked for.
    pub(crate) fn page_size(&self) -> Result<u32, OperationError> {
        ListInput { limit: self.limit, ..ListInput::default() }.page_size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(order: Option<SortOrder>, after: Option<&str>) -> Result<ListView<&'static str>, OperationError> {
        let input = NameListInput { after: after.map(str::to_owned), limit: Some(3), order };
        input.paginate(vec!["b", "d", "a", "c"], |one| (*one).to_owned())
    }

    #[test]
    fn a_short_list_comes_in_pages_too() {
        let first = list(None, None).unwrap();
        assert_eq!((first.items, first.next.as_deref()), (vec!["a", "b", "c"], Some("c")));
        let last = list(None, Some("c")).unwrap();
        assert_eq!((last.items, last.next), (vec!["d"], None));
        assert!(list(None, Some("z\0")).unwrap().items.is_empty());
        let none = NameListInput { limit: Some(0), ..NameListInput::default() };
        assert!(none.paginate(vec!["a"], |one| (*one).to_owned()).is_err());
    }

    #[test]
    fn it_goes_the_other_way_too() {
        let (up, down) = (Some(SortOrder::Ascending), Some(SortOrder::Descending));
        let first = list(down, None).unwrap();
        assert_eq!((first.items, first.next.as_deref()), (vec!["d", "c", "b"], Some("desc:b")));
        let last = list(down, Some("desc:b")).unwrap();
        assert_eq!((last.items, last.next), (vec!["a"], None));
        for (order, cursor) in [(down, "b"), (up, "desc:b"), (None, "desc:b")] {
            assert!(list(order, Some(cursor)).unwrap_err().message.contains("`after`"), "{order:?} {cursor}");
        }
    }
}
