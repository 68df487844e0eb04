//! What a migration's text declares. Column types are the dialect's own, so this reads words, not a tree.

use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::literals::Literal;
use super::schema::Kind;
use crate::workspace::Source;

#[derive(Clone, Debug)]
pub(super) enum Declaration {
    Table {
        place: Place,
        name: String,
        kind: Kind,
        is_append_only: bool,
        items: Vec<Item>,
    },
    /// `ALTER TABLE … ADD …`
    Altered {
        place: Place,
        name: String,
        item: Item,
    },
    Renamed {
        from: String,
        to: String,
    },
    /// `CREATE TABLE` without saying whose.
    Unowned {
        place: Place,
        name: String,
    },
}

/// A column or a constraint, as words: names in small letters, brackets and commas as they are.
pub(super) type Item = Vec<String>;

#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) line: usize,
}

pub(super) fn read_migration(source: &Source) -> Vec<Declaration> {
    read(&source.path, &source.text, 0)
}

/// A migration that stands in the code, as tests' support has them.
pub(super) fn read_literal(path: &str, literal: &Literal) -> Vec<Declaration> {
    let declares = ["CREATE TENANT TABLE ", "CREATE SHARED TABLE ", "CREATE PLATFORM TABLE "]
        .iter()
        .any(|start| literal.text.contains(start));
    if declares { read(path, &literal.text, literal.line - 1) } else { Vec::new() }
}

/// The table that a plain `CREATE TABLE` text makes.
pub(super) fn find_plain_table(text: &str) -> Option<String> {
    let statements = statements(text);
    match declaration(statements.first()?, &Place { path: String::new(), line: 0 })? {
        Declaration::Unowned { name, .. } => Some(name),
        _ => None,
    }
}

fn read(path: &str, text: &str, lines_before: usize) -> Vec<Declaration> {
    let place = |statement: &Statement| Place { path: path.to_owned(), line: lines_before + statement.line };
    statements(text).iter().filter_map(|statement| declaration(statement, &place(statement))).collect()
}

struct Statement {
    line: usize,
    words: Vec<String>,
}

fn statements(text: &str) -> Vec<Statement> {
    let dialect = PostgreSqlDialect {};
    let tokens = Tokenizer::new(&dialect, text).tokenize_with_location().unwrap_or_default();
    let tokens: Vec<TokenWithSpan> = tokens
        .into_iter()
        .filter(|token| !matches!(token.token, Token::Whitespace(_) | Token::EOF))
        .collect();
    let split = tokens.split(|token| token.token == Token::SemiColon);
    split
        .filter_map(|statement| {
            let line = usize::try_from(statement.first()?.span.start.line).unwrap_or_default();
            Some(Statement { line, words: statement.iter().map(word).collect() })
        })
        .collect()
}

fn word(token: &TokenWithSpan) -> String {
    match &token.token {
        Token::Word(word) => word.value.to_lowercase(),
        other => other.to_string(),
    }
}

fn declaration(statement: &Statement, place: &Place) -> Option<Declaration> {
    let words: Vec<&str> = statement.words.iter().map(String::as_str).collect();
    let place = place.clone();
    match words.as_slice() {
        ["create", "tenant", "table", rest @ ..] => table(Kind::Tenant, rest, place),
        ["create", "shared", "table", rest @ ..] => table(Kind::Shared, rest, place),
        ["create", "platform", "table", rest @ ..] => table(Kind::Platform, rest, place),
        ["create", "table", "if", "not", "exists", name, ..] | ["create", "table", name, ..] => {
            Some(Declaration::Unowned { place, name: (*name).to_owned() })
        }
        ["alter", "table", from, "rename", "to", to] => {
            Some(Declaration::Renamed { from: (*from).to_owned(), to: (*to).to_owned() })
        }
        ["alter", "table", name, "add", "column", item @ ..] | ["alter", "table", name, "add", item @ ..] => {
            Some(Declaration::Altered { place, name: (*name).to_owned(), item: owned(item) })
        }
        _ => None,
    }
}

fn table(kind: Kind, rest: &[&str], place: Place) -> Option<Declaration> {
    let rest = rest.strip_prefix(&["if", "not", "exists"]).unwrap_or(rest);
    let name = (*rest.first()?).to_owned();
    let open = rest.iter().position(|word| *word == "(")?;
    let is_append_only = rest[..open].ends_with(&["append", "only"]);
    Some(Declaration::Table { place, name, kind, is_append_only, items: items(&rest[open..]) })
}

/// What stands between the outer brackets, cut at the commas that are not inside others.
fn items(words: &[&str]) -> Vec<Item> {
    let (mut items, mut item, mut depth) = (Vec::new(), Item::new(), 0);
    for word in words {
        match *word {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        match (*word, depth, item.is_empty()) {
            (",", 1, _) => items.push(std::mem::take(&mut item)),
            ("(", 1, true) => {}
            _ => item.push((*word).to_owned()),
        }
    }
    items.push(item);
    items
}

fn owned(words: &[&str]) -> Item {
    words.iter().map(|word| (*word).to_owned()).collect()
}
