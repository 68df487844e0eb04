//! Lists in pages. A page is found by the key it starts after, so a long list costs no more at its end than at its
//! beginning, and rows that come and go meanwhile shift nothing.

use std::fmt;
use std::str::FromStr;

use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::sort_order::{OrderedSql, SortOrder, split_cursor};

/// Where a page of a list by time begins: after the row with this time and id.
///
/// A statement uses it as `(created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $4`, inside
/// [`sql_in_both_orders!`](crate::sql_in_both_orders) where the list goes the other way, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cursor {
    pub time: Timestamp,
    pub id: Uuid,
}

impl Cursor {
    /// Before the newest row there can be.
    pub const START: Self = Self { time: Timestamp::MAX, id: Uuid::max() };
    /// Before the oldest row there can be, for a list that goes up.
    pub const OLDEST: Self = Self { time: Timestamp::EPOCH, id: Uuid::nil() };
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    #[error("`{0}` is not a page cursor: pass the `next` value of the previous page unchanged")]
    Malformed(String),
    #[error("it is the `next` of a page in order `{0}`; send that order with it")]
    OtherOrder(SortOrder),
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{}", self.time.as_micros(), self.id.simple())
    }
}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || CursorError::Malformed(text.to_owned());
        let (time, id) = text.split_once('-').ok_or_else(bad)?;
        let time = i64::from_str_radix(time, 16).map_err(|_| bad())?;
        let id = Uuid::try_parse(id).map_err(|_| bad())?;
        if !(0..=Timestamp::MAX.as_micros()).contains(&time) {
            return Err(bad());
        }
        Ok(Self { time: Timestamp::from_micros(time), id })
    }
}

impl From<Cursor> for String {
    fn from(cursor: Cursor) -> Self {
        cursor.to_string()
    }
}

impl TryFrom<String> for Cursor {
    type Error = CursorError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// A [`Cursor`] as a caller has it: with the order of the list it belongs to. Newest first is not written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ListCursor {
    pub order: SortOrder,
    pub position: Cursor,
}

impl fmt::Display for ListCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.order.render_cursor(SortOrder::Descending, &self.position.to_string()))
    }
}

impl FromStr for ListCursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (order, position) = split_cursor(text).unwrap_or((SortOrder::Descending, text));
        Ok(Self { order, position: position.parse()? })
    }
}

impl From<ListCursor> for String {
    fn from(cursor: ListCursor) -> Self {
        cursor.to_string()
    }
}

impl TryFrom<String> for ListCursor {
    type Error = CursorError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// What part of a list is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    pub after: Cursor,
    order: SortOrder,
    limit: u32,
}

impl PageRequest {
    pub const LARGEST: u32 = 500;

    /// Newest first; at least one row, at most [`Self::LARGEST`].
    pub fn new(after: Option<Cursor>, limit: u32) -> Self {
        Self {
            after: after.unwrap_or(Cursor::START),
            order: SortOrder::Descending,
            limit: limit.clamp(1, Self::LARGEST),
        }
    }

    /// The same in either order; a cursor of the other one is refused.
    pub fn in_order(order: SortOrder, after: Option<ListCursor>, limit: u32) -> Result<Self, CursorError> {
        let start = match order {
            SortOrder::Ascending => Cursor::OLDEST,
            SortOrder::Descending => Cursor::START,
        };
        let after = match after {
            Some(after) if after.order != order => return Err(CursorError::OtherOrder(after.order)),
            Some(after) => after.position,
            None => start,
        };
        Ok(Self { after, order, ..Self::new(None, limit) })
    }

    pub fn order(&self) -> SortOrder {
        self.order
    }

    /// The statement for the order that is asked for.
    pub fn choose(&self, sql: OrderedSql) -> &'static str {
        sql.choose(self.order)
    }

    /// One more than asked for: whether it comes tells whether there is a next page.
    pub fn fetch_limit(&self) -> i64 {
        i64::from(self.limit) + 1
    }
}

/// Part of a list, and where the next part begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next: Option<Cursor>,
    #[serde(skip)]
    order: SortOrder,
}

impl<T> Page<T> {
    /// Makes a page of rows fetched with [`PageRequest::fetch_limit`].
    pub fn from_rows(mut items: Vec<T>, request: &PageRequest, key: impl Fn(&T) -> Cursor) -> Self {
        let limit = request.limit as usize;
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more { items.last().map(key) } else { None };
        Self { items, next, order: request.order }
    }

    /// Where the next page begins, as a caller sends it back.
    pub fn next_cursor(&self) -> Option<ListCursor> {
        self.next.map(|position| ListCursor { order: self.order, position })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_nonsense_does_not() {
        let cursor = Cursor { time: Timestamp::from_micros(1_700_000_000_000_001), id: Uuid::from_u128(7) };
        assert_eq!(cursor.to_string().parse::<Cursor>().unwrap(), cursor);
        assert_eq!(Cursor::START.to_string().parse::<Cursor>().unwrap(), Cursor::START);
        for bad in ["", "-", "zz-0", "1", "-1-00000000000000000000000000000007", "1-é"] {
            assert!(bad.parse::<Cursor>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_cursor_of_the_other_order_is_refused() {
        let position = Cursor { time: Timestamp::from_micros(1_700_000_000_000_001), id: Uuid::from_u128(7) };
        for order in SortOrder::ALL {
            let cursor = ListCursor { order, position };
            assert_eq!(cursor.to_string().parse::<ListCursor>().unwrap(), cursor);
            for asked in SortOrder::ALL {
                let request = PageRequest::in_order(asked, Some(cursor), 1);
                let is_same =
                    request.as_ref().is_ok_and(|found| (found.after, found.order) == (position, asked));
                assert_eq!(
                    (is_same, request.is_err()),
                    (asked == order, asked != order),
                    "{asked}, {cursor}"
                );
            }
        }
        let newest_first = ListCursor { order: SortOrder::Descending, position };
        assert_eq!(newest_first.to_string(), position.to_string(), "as it always was");
        assert!("asc:asc:1-00000000000000000000000000000007".parse::<ListCursor>().is_err());
        assert!("asc:1-00000000000000000000000000000007".parse::<Cursor>().is_err());
    }

    #[test]
    fn the_last_page_has_no_next() {
        let key = |n: &u32| Cursor { time: Timestamp::EPOCH, id: Uuid::from_u128(u128::from(*n)) };
        let request = PageRequest::new(None, 2);
        assert_eq!(Page::from_rows(vec![3, 2, 1], &request, key).next, Some(key(&2)));
        assert_eq!(Page::from_rows(vec![3, 2], &request, key).next, None);
        assert_eq!(PageRequest::new(None, 0).fetch_limit(), 2);
    }
}
