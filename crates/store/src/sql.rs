//! Statement texts. One text serves both engines; a pair is given only where they must differ.

/// A statement of one tenant: `$1` is the tenant, bound by the handle, and the caller's parameters begin at `$2`.
///
/// Only a literal can become one, so a statement is never put together from strings at run time.
#[derive(Clone, Copy, Debug)]
pub struct Sql {
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
}

impl From<&'static str> for Sql {
    fn from(text: &'static str) -> Self {
        Self { sqlite: text, postgres: text }
    }
}

impl From<(&'static str, &'static str)> for Sql {
    fn from((sqlite, postgres): (&'static str, &'static str)) -> Self {
        Self { sqlite, postgres }
    }
}

/// A statement that may see every tenant. Only a [`PlatformTx`](crate::PlatformTx) takes it.
#[derive(Clone, Copy, Debug)]
pub struct PlatformSql(pub(crate) Sql);

/// Marks a statement as one that may see every tenant: the word to look for in a review.
/// The check that every other statement is held to its tenant knows this word too.
pub fn across_tenants(text: impl Into<Sql>) -> PlatformSql {
    PlatformSql(text.into())
}

/// SQLite numbers `$N` by first appearance, so `$2, $1` would swap; `?N` means what it says. Quoted text, quoted names
/// and comments are left as they are.
pub(crate) fn number_placeholders(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' | '"' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            other => other.len_utf8(),
        };
        out.push_str(if first == '$' { "?" } else { &rest[..length] });
        rest = &rest[length..];
    }
    out
}

/// Enough of a statement to recognise it in an error.
pub(crate) fn shorten(text: &str) -> String {
    let mut words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = words.char_indices().nth(120) {
        words.truncate(cut);
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_keep_their_numbers() {
        assert_eq!(number_placeholders("SELECT $2, '$1', $1"), "SELECT ?2, '$1', ?1");
        assert_eq!(number_placeholders("SELECT 'it''s $1', $3"), "SELECT 'it''s $1', ?3");
        assert_eq!(
            number_placeholders("-- it's $1\nSELECT $2 /* it's $1 */, \"a'$1\", $1"),
            "-- it's $1\nSELECT ?2 /* it's $1 */, \"a'$1\", ?1"
        );
    }
}
