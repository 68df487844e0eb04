//! Text to syntax tree, in the dialect of either engine.

use sqlparser::ast::Statement;
use sqlparser::dialect::{Dialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

use super::Complaint;

/// The one statement in a text.
pub fn parse(text: &str) -> Result<Statement, Complaint> {
    let parsed = parse_as(text, &PostgreSqlDialect {})
        .or_else(|postgres| parse_as(text, &SQLiteDialect {}).map_err(|_| postgres));
    let mut statements = parsed.map_err(|error| {
        let what = format!("the statement can't be parsed ({error})");
        Complaint::new(what, "fix it, or simplify it so that it can be checked")
    })?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err(Complaint::new("the text is not one statement", "give each statement a text of its own")),
    }
}

/// Whether a text in brackets is only part of an expression, such as `(SELECT 1) = 2`, which nobody can run.
pub fn is_expression(text: &str) -> bool {
    let parser = Parser::new(&PostgreSqlDialect {}).try_with_sql(text);
    let whole =
        |mut parser: Parser<'_>| parser.parse_expr().is_ok() && parser.peek_token().token == Token::EOF;
    text.trim_start().starts_with('(') && parser.is_ok_and(whole)
}

fn parse_as(text: &str, dialect: &dyn Dialect) -> Result<Vec<Statement>, String> {
    let tokens = Tokenizer::new(dialect, text).tokenize().map_err(|error| error.to_string())?;
    let tokens = without_key_locks(without_index_choice(without_conflict_condition(tokens)));
    Parser::new(dialect).with_tokens(tokens).parse_statements().map_err(|error| error.to_string())
}

/// `FROM t INDEXED BY name` tells SQLite which index to take and changes nothing of what is read; the parser does not
/// know it.
fn without_index_choice(tokens: Vec<Token>) -> Vec<Token> {
    let mut words: Vec<Token> =
        tokens.into_iter().filter(|token| !matches!(token, Token::Whitespace(_))).collect();
    let is = |token: &Token, word: &str| matches!(token, Token::Word(found) if found.value.eq_ignore_ascii_case(word));
    while let Some(at) = words.windows(2).position(|pair| is(&pair[0], "INDEXED") && is(&pair[1], "BY")) {
        words.drain(at..words.len().min(at + 3));
    }
    words
}

/// `FOR KEY SHARE` and `FOR NO KEY UPDATE` hold a row less tightly and read nothing else; the parser knows them without
/// those words.
fn without_key_locks(mut words: Vec<Token>) -> Vec<Token> {
    let is = |token: &Token, word: &str| matches!(token, Token::Word(found) if found.value.eq_ignore_ascii_case(word));
    let starts = |words: &[Token], text: &[&str]| {
        words.len() >= text.len() && words.iter().zip(text).all(|(token, word)| is(token, word))
    };
    let mut at = 0;
    while at < words.len() {
        let rest = &words[at..];
        if starts(rest, &["FOR", "KEY", "SHARE"]) {
            words.remove(at + 1);
        } else if starts(rest, &["FOR", "NO", "KEY", "UPDATE"]) {
            words.drain(at + 1..at + 3);
        }
        at += 1;
    }
    words
}

/// `ON CONFLICT (a, b) WHERE … DO` names a partial index. The parser does not know that, and the condition
/// touches no table, so it is taken out.
fn without_conflict_condition(tokens: Vec<Token>) -> Vec<Token> {
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut state = Conflict::Outside;
    for token in tokens {
        state = state.advance(&token);
        if state != Conflict::Condition {
            kept.push(token);
        }
    }
    kept
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Conflict {
    Outside,
    /// CONFLICT was read, and so many brackets are open since.
    Target {
        open: u32,
    },
    /// From WHERE up to DO.
    Condition,
}

impl Conflict {
    fn advance(self, token: &Token) -> Self {
        let keyword = match token {
            Token::Word(word) if word.quote_style.is_none() => word.keyword,
            _ => Keyword::NoKeyword,
        };
        match (self, token, keyword) {
            (Self::Outside, _, Keyword::CONFLICT) => Self::Target { open: 0 },
            (Self::Target { open }, Token::LParen, _) => Self::Target { open: open + 1 },
            (Self::Target { open }, Token::RParen, _) => Self::Target { open: open.saturating_sub(1) },
            (Self::Target { .. } | Self::Condition, _, Keyword::DO) => Self::Outside,
            (Self::Target { open: 0 }, _, Keyword::WHERE) => Self::Condition,
            (state, _, _) => state,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_engines_say_can_be_read() {
        for sql in [
            "SELECT a FROM b WHERE c = $1 ORDER BY d DESC LIMIT $2 OFFSET $3",
            "SELECT a FROM b WHERE c = $1 FOR UPDATE SKIP LOCKED",
            "SELECT a FROM b WHERE c = $1 FOR KEY SHARE OF b",
            "SELECT a FROM b WHERE c = $1 FOR NO KEY UPDATE",
            "SELECT a->>'x', b->'y'->>0, c @> $2, d #>> '{a,b}' FROM t",
            "SELECT count(*) FILTER (WHERE a > 1) FROM t WHERE (a, b) < ($2, $3)",
            "SELECT a FROM t WHERE b = ANY($2) AND c IS NOT DISTINCT FROM $3",
            "SELECT a::bigint, CAST(b AS TEXT), e <=> $2::vector FROM t",
            "SELECT j.value FROM t, json_each(t.items) AS j WHERE t.a = $1",
            "SELECT u.id FROM unnest($2::uuid[]) WITH ORDINALITY AS u(id, n)",
            "SELECT rowid FROM t WHERE t MATCH $2 ORDER BY rank",
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'a*'",
            "SELECT row_number() OVER (PARTITION BY a ORDER BY b) FROM t",
            "INSERT INTO t (a, b) VALUES ($1, $2), ($1, $3) ON CONFLICT (a, b) DO NOTHING RETURNING a",
            "INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) WHERE state <> 'done' DO UPDATE SET b = excluded.b WHERE t.a = $1",
            "INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) WHERE b IN ('x', 'y') AND c IS NULL DO NOTHING",
            "INSERT OR IGNORE INTO t (a) VALUES (?1)",
            "UPDATE t SET a = b.c, d = coalesce(d, 0) + 1 FROM b WHERE b.id = t.id RETURNING t.a",
            "DELETE FROM t USING b WHERE t.id = b.id",
            "SELECT a FROM t INDEXED BY t_by_a WHERE b = $1 ORDER BY a LIMIT 1",
            "WITH x AS MATERIALIZED (SELECT 1) SELECT * FROM x",
            "WITH x AS (UPDATE t SET a = 1 WHERE b = $1 RETURNING id) SELECT id FROM x",
            "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 5) SELECT n FROM x",
            "SELECT set_config('app.tenant_id', $1, true)",
        ] {
            assert!(parse(sql).is_ok(), "{sql}: {:?}", parse(sql));
        }
    }

    #[test]
    fn what_is_not_one_statement_is_refused() {
        for sql in ["SELECT a FROM", "SELECT a FROM b; DELETE FROM b", "SELECT 'open", "WITH a"] {
            assert!(parse(sql).is_err(), "{sql}");
        }
    }

    #[test]
    fn part_of_an_expression_is_told_from_a_statement() {
        assert!(is_expression("(SELECT current_setting('app.door', true)) IS NOT NULL"));
        for other in ["SELECT 1", "(SELECT 1) UNION (SELECT 2)", "(SELECT a FRM b)"] {
            assert!(!is_expression(other), "{other}");
        }
    }

    #[test]
    fn an_ordinary_condition_stays() {
        let text = "INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET b = 1 WHERE t.a = $1";
        assert!(parse(text).unwrap().to_string().contains("WHERE t.a = $1"));
    }
}
