//! SQL is a literal beside the function that runs it, never put together from pieces.

use proc_macro2::TokenTree;

use crate::finding::Finding;
use crate::sql::is_bare_statement;
use crate::tokens;
use crate::workspace::{Source, Workspace};

/// Macros that put text together.
pub const FORMATTING: [&str; 4] = ["format", "format_args", "write", "writeln"];

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.list_with_extension(".rs").flat_map(check_file).collect()
}

fn check_file(source: &Source) -> Vec<Finding> {
    let Ok(tokens) = tokens::read(&source.text) else { return Vec::new() };
    let mut findings = Vec::new();
    tokens::visit_all(&tokens, &mut |siblings, at| {
        if let Some(how) = find_assembled_sql(siblings, at) {
            let what = format!("SQL put together with {how}");
            let advice = "write the statement as one literal and bind what varies";
            findings.push(Finding::new(&source.path, tokens::line_of(&siblings[at]), what, advice));
        }
    });
    findings
}

fn find_assembled_sql(tokens: &[TokenTree], at: usize) -> Option<String> {
    if let Some((name, group)) = tokens::macro_call(tokens, at) {
        let given = tokens::group_tokens(group);
        let first = given.iter().find_map(text)?;
        let varies = name == "concat" && join_literals(&given).is_none();
        let builds = FORMATTING.contains(&name.as_str()) || varies;
        return (builds && is_bare_statement(&first)).then(|| format!("`{name}!`"));
    }
    find_concatenation(tokens, at)
}

/// `"SELECT …" + x`, also with `.to_owned()` and the like between.
fn find_concatenation(tokens: &[TokenTree], at: usize) -> Option<String> {
    let statement = text(tokens.get(at)?).filter(|text| is_bare_statement(text));
    statement?;
    let mut next = at + 1;
    while tokens::is_sign(tokens.get(next), '.') {
        next += 3;
    }
    let adds = tokens::is_sign(tokens.get(next), '+') && !tokens::is_sign(tokens.get(next + 1), '=');
    adds.then(|| "`+`".to_owned())
}

fn text(token: &TokenTree) -> Option<String> {
    match token {
        TokenTree::Literal(literal) => tokens::text_of(literal),
        _ => None,
    }
}

/// The text of a `concat!` of literals alone.
pub fn join_literals(given: &[TokenTree]) -> Option<String> {
    given
        .iter()
        .filter(|token| !tokens::is_sign(Some(token), ','))
        .map(|token| match token {
            TokenTree::Literal(literal) => tokens::text_of(literal),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> usize {
        check(&Workspace::from_files(&[("crates/a/src/lib.rs", text)])).len()
    }

    #[test]
    fn sql_put_together_is_refused() {
        for bad in [
            r#"fn a() { tx.run(&format!("SELECT {x} FROM a")) }"#,
            r#"fn a() { let s = format!("  insert into {table} values ($1)"); }"#,
            r##"fn a() { write!(out, r#"DELETE FROM {}"#, t) }"##,
            r#"fn a() { other!(format!("UPDATE {t} SET x = 1")) }"#,
            r#"const A: &str = concat!("WITH a AS (", ARM, ") SELECT 1");"#,
            r#"fn a() { "SELECT a FROM b WHERE ".to_owned() + filter }"#,
        ] {
            assert_eq!(findings(bad), 1, "{bad}");
        }
    }

    #[test]
    fn literals_and_sentences_are_let_be() {
        for good in [
            r#"const A: &str = concat!("SELECT a ", "FROM b");"#,
            r#"fn a() { format!("Delete {path} and try again") }"#,
            r#"fn a() { format!("GRANT {role} TO app") }"#,
            r#"fn a() { format!("(SELECT current_setting('x')) = '{door}'") }"#,
            r#"fn a() { tx.run("SELECT 1") + 1 }"#,
        ] {
            assert_eq!(findings(good), 0, "{good}");
        }
    }
}
