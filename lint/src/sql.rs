//! Telling SQL from English.

/// Whether a text is a statement. In capitals its first word is enough; otherwise it must also have the word
/// that the grammar asks for next, so that "Delete the file" is left alone and "delete from notes" is not.
pub fn is_statement(text: &str) -> bool {
    let text = skip_to_statement(text);
    let first: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
    let rest = &text[first.len()..];
    if !rest.is_empty() && !rest.starts_with(|c: char| c.is_whitespace() || c == '(' || c == '*') {
        return false;
    }
    let verb = first.to_uppercase();
    let needed = match verb.as_str() {
        "SELECT" | "DELETE" => "from",
        "INSERT" => "into",
        "UPDATE" => "set",
        "WITH" => "as",
        _ => return false,
    };
    let words = || rest.split(|c: char| !c.is_alphanumeric() && c != '_');
    (first == verb && !rest.is_empty()) || words().any(|word| word.eq_ignore_ascii_case(needed))
}

/// Whether a text is a statement that does not begin with a bracket: with one, it may be part of an expression.
pub fn is_bare_statement(text: &str) -> bool {
    !text.trim_start().starts_with('(') && is_statement(text)
}

/// Whether it is a kind of statement that could touch a tenant's rows past the check.
pub fn is_unchecked_statement(text: &str) -> bool {
    let text = skip_to_statement(text);
    ["REPLACE INTO ", "MERGE INTO ", "TRUNCATE ", "COPY ", "EXPLAIN ", "VALUES ("]
        .iter()
        .any(|start| text.starts_with(start))
        || text.strip_prefix("TABLE ").is_some_and(|name| !name.trim().contains(char::is_whitespace))
}

/// The text without what may stand before a statement: spaces, brackets and comments.
fn skip_to_statement(text: &str) -> &str {
    let mut text = text.trim_start();
    loop {
        let rest = if let Some(comment) = text.strip_prefix("--") {
            comment.split_once('\n').map_or("", |(_, rest)| rest)
        } else if let Some(comment) = text.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |(_, rest)| rest)
        } else if let Some(rest) = text.strip_prefix('(') {
            rest
        } else {
            return text;
        };
        text = rest.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_from_sentences() {
        for sql in [
            "SELECT 1",
            "SELECT*FROM a",
            "  \n SELECT a",
            "(SELECT 1)",
            "-- why\nSELECT 1",
            "/* x */ DELETE FROM a",
            "select a from b",
            "insert or ignore into a values (1)",
            "Update a set b = 1",
            "with a as (select 1)",
            "delete\nfrom a",
            "WITH a AS (SELECT 1) SELECT 1",
            "UPDATE a SET b = 1",
        ] {
            assert!(is_statement(sql), "{sql}");
        }
        for english in [
            "",
            "SELECT",
            "select a tenant first",
            "Delete the file and try again",
            "update",
            "with_hints",
            "Update Munshi",
            "without",
            "SELECTED rows",
            "insert a coin",
            "with care",
            "selects from",
        ] {
            assert!(!is_statement(english), "{english}");
        }
    }

    #[test]
    fn ways_around_the_check_are_known() {
        for sql in ["REPLACE INTO a VALUES (1)", "TRUNCATE a", "TABLE notes", "EXPLAIN SELECT 1"] {
            assert!(is_unchecked_statement(sql), "{sql}");
        }
        for other in ["TABLE of contents", "Replace into what?", "COPYRIGHT"] {
            assert!(!is_unchecked_statement(other), "{other}");
        }
    }
}
