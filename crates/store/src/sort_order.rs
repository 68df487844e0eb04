//! Which way a list goes, and the statement for each way.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::page::CursorError;

/// Which way a list goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SortOrder {
    /// Oldest first, or by name from A to Z.
    #[serde(rename = "asc")]
    Ascending,
    /// Newest first, or by name from Z to A.
    #[serde(rename = "desc")]
    Descending,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("use `asc` or `desc`")]
pub struct SortOrderError;

impl SortOrder {
    pub const ALL: [Self; 2] = [Self::Ascending, Self::Descending];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ascending => "asc",
            Self::Descending => "desc",
        }
    }

    /// The cursor of a list in this order. It names the order unless that is the list's default, so that it is not
    /// taken for a position in the other order.
    pub fn render_cursor(self, default: Self, position: &str) -> String {
        match split_cursor(position) {
            None if self == default => position.to_owned(),
            _ => format!("{self}:{position}"),
        }
    }

    /// The position that a cursor stands for; refused where it belongs to the other order.
    pub fn parse_cursor(self, default: Self, cursor: &str) -> Result<&str, CursorError> {
        let (order, position) = split_cursor(cursor).unwrap_or((default, cursor));
        if order == self { Ok(position) } else { Err(CursorError::OtherOrder(order)) }
    }
}

/// The order that a cursor names, and the rest of it.
pub(crate) fn split_cursor(cursor: &str) -> Option<(SortOrder, &str)> {
    let (order, position) = cursor.split_once(':')?;
    Some((order.parse().ok()?, position))
}

impl fmt::Display for SortOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SortOrder {
    type Err = SortOrderError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|order| order.as_str() == text).ok_or(SortOrderError)
    }
}

/// The statement of a list in both orders; made by [`sql_in_both_orders!`](crate::sql_in_both_orders).
#[derive(Clone, Copy, Debug)]
pub struct OrderedSql {
    pub descending: &'static str,
    pub ascending: &'static str,
}

impl OrderedSql {
    pub fn choose(self, order: SortOrder) -> &'static str {
        match order {
            SortOrder::Ascending => self.ascending,
            SortOrder::Descending => self.descending,
        }
    }
}

/// Makes the statement of a list in both orders from the one that goes down, when the program is compiled:
/// `… WHERE … (made_at, id) < ($2, $3) … ORDER BY made_at DESC, id DESC LIMIT $4`.
///
/// The other one has `>` for the comparison with a parameter, of which there must be one, and `ASC` for each `DESC` of
/// the last `ORDER BY`, which every column there must have.
#[macro_export]
macro_rules! sql_in_both_orders {
    ($descending:literal) => {{
        const DESCENDING: &str = $descending;
        const REVERSED: [u8; DESCENDING.len()] = $crate::reverse_sql(DESCENDING);
        const ASCENDING: &str = match ::core::str::from_utf8(&REVERSED) {
            Ok(text) => text,
            Err(_) => "",
        };
        const { assert!(ASCENDING.len() == DESCENDING.len(), "the reversed statement is no text") };
        $crate::OrderedSql { descending: DESCENDING, ascending: ASCENDING }
    }};
}

/// The bytes of the statement that goes up; both are equally long. For
/// [`sql_in_both_orders!`](crate::sql_in_both_orders): what it can't reverse does not compile.
#[doc(hidden)]
pub const fn reverse_sql<const N: usize>(descending: &str) -> [u8; N] {
    let text = descending.as_bytes();
    let mut out = [0; N];
    let (mut at, mut order_by) = (0, 0);
    while at < N {
        out[at] = text[at];
        if starts_with(text, at, b"ORDER BY ") {
            order_by = at;
        }
        at += 1;
    }
    assert!(order_by > 0, "the statement has no ORDER BY");
    let (mut comparisons, mut columns, mut reversed) = (0, 1, 0);
    at = 0;
    while at < N {
        if at < order_by && (starts_with(text, at, b" < $") || starts_with(text, at, b" < ($")) {
            out[at + 1] = b'>';
            comparisons += 1;
        }
        if at > order_by && text[at] == b',' {
            columns += 1;
        }
        if at > order_by && starts_with(text, at, b" DESC") {
            [out[at + 1], out[at + 2], out[at + 3], out[at + 4]] = *b"ASC ";
            reversed += 1;
        }
        at += 1;
    }
    assert!(comparisons == 1, "one comparison with the cursor is expected, as `< $2` or `< ($2, $3)`");
    assert!(reversed == columns, "every column of ORDER BY needs its DESC");
    out
}

const fn starts_with(text: &[u8], from: usize, word: &[u8]) -> bool {
    let mut at = 0;
    while at < word.len() {
        if from + at >= text.len() || text[from + at] != word[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_turned_round() {
        let sql = sql_in_both_orders!(
            "SELECT a FROM t WHERE b <> 'é' AND (SELECT c FROM u ORDER BY c DESC LIMIT 1) = 1 AND (made_at, id) < ($2, $3)
             ORDER BY made_at DESC, id DESC LIMIT $4"
        );
        assert_eq!(
            sql.choose(SortOrder::Ascending),
            "SELECT a FROM t WHERE b <> 'é' AND (SELECT c FROM u ORDER BY c DESC LIMIT 1) = 1 AND (made_at, id) > ($2, $3)
             ORDER BY made_at ASC , id ASC  LIMIT $4"
        );
        assert!(
            sql.choose(SortOrder::Descending)
                .ends_with("< ($2, $3)\n             ORDER BY made_at DESC, id DESC LIMIT $4")
        );
        let by_number = sql_in_both_orders!("SELECT a FROM t WHERE n < $2 ORDER BY n DESC LIMIT $3");
        assert_eq!(by_number.ascending, "SELECT a FROM t WHERE n > $2 ORDER BY n ASC  LIMIT $3");
    }

    #[test]
    fn what_cannot_be_turned_round_is_refused() {
        let reverse = |text: &'static str| {
            std::panic::catch_unwind(|| {
                reverse_sql::<{ "SELECT a FROM t WHERE n < $2 ORDER BY n DESC".len() }>(text)
            })
        };
        assert!(reverse("SELECT a FROM t WHERE n < $2 ORDER BY n DESC").is_ok());
        for bad in [
            "SELECT a FROM t WHERE n < $2 ORDER BY n ASC ",
            "SELECT a FROM t WHERE n > $2 ORDER BY n DESC",
            "SELECT a FROM t WHERE n < $2            DESC",
        ] {
            assert!(reverse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_cursor_belongs_to_its_order() {
        let (up, down) = (SortOrder::Ascending, SortOrder::Descending);
        for default in SortOrder::ALL {
            for order in SortOrder::ALL {
                for position in ["12", "asc:12", "desc:", "a:b", ""] {
                    let cursor = order.render_cursor(default, position);
                    assert_eq!(order.parse_cursor(default, &cursor).unwrap(), position, "{cursor}");
                    let other = if order == up { down } else { up };
                    assert_eq!(
                        other.parse_cursor(default, &cursor),
                        Err(CursorError::OtherOrder(order)),
                        "{cursor}"
                    );
                }
            }
        }
        assert_eq!(down.render_cursor(down, "12"), "12");
        assert_eq!(up.render_cursor(down, "12"), "asc:12");
    }
}
