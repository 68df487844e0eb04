//! Lists in pages. A page is found by the key it starts after, so a long list costs no more at its end than at its
//! beginning, and rows that come and go meanwhile shift nothing.

use std::fmt;
use std::str::FromStr;

use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Where a newest-first page begins: after the row with this time and id.
///
/// A statement uses it as `(created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cursor {
    pub time: Timestamp,
    pub id: Uuid,
}

impl Cursor {
    /// Before the newest row there can be.
    pub const START: Self = Self { time: Timestamp::MAX, id: Uuid::max() };
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a page cursor: pass the `next` value of the previous page unchanged")]
pub struct CursorError(String);

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{}", self.time.as_micros(), self.id.simple())
    }
}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || CursorError(text.to_owned());
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

/// What part of a list is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    pub after: Cursor,
    limit: u32,
}

impl PageRequest {
    pub const LARGEST: u32 = 500;

    /// At least one row, at most [`Self::LARGEST`].
    pub fn new(after: Option<Cursor>, limit: u32) -> Self {
        Self { after: after.unwrap_or(Cursor::START), limit: limit.clamp(1, Self::LARGEST) }
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
}

impl<T> Page<T> {
    /// Makes a page of rows fetched with [`PageRequest::fetch_limit`].
    pub fn from_rows(mut items: Vec<T>, request: &PageRequest, key: impl Fn(&T) -> Cursor) -> Self {
        let limit = request.limit as usize;
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more { items.last().map(key) } else { None };
        Self { items, next }
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
    fn the_last_page_has_no_next() {
        let key = |n: &u32| Cursor { time: Timestamp::EPOCH, id: Uuid::from_u128(u128::from(*n)) };
        let request = PageRequest::new(None, 2);
        assert_eq!(Page::from_rows(vec![3, 2, 1], &request, key).next, Some(key(&2)));
        assert_eq!(Page::from_rows(vec![3, 2], &request, key).next, None);
        assert_eq!(PageRequest::new(None, 0).fetch_limit(), 2);
    }
}
