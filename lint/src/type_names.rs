//! Every type has a name of its own in the whole workspace, so that a search finds one thing.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenTree};

use crate::finding::Finding;
use crate::tokens;
use crate::workspace::{Source, Workspace};

const KEYWORDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];
/// Each crate has its own.
const SHARED: [&str; 2] = ["Error", "Result"];

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut known = BTreeMap::<String, Vec<(&str, usize)>>::new();
    for source in workspace.list_with_extension(".rs").filter(|source| is_shipped(&source.path)) {
        for (name, line) in types_of(source) {
            known.entry(name).or_default().push((&source.path, line));
        }
    }
    let mut findings = Vec::new();
    for (name, places) in known.into_iter().filter(|(name, _)| !SHARED.contains(&name.as_str())) {
        let Some(((first, _), others)) = places.split_first() else { continue };
        findings.extend(others.iter().map(|(path, line)| {
            let what = format!("`{name}` is a type of {first} too");
            Finding::new(path, *line, what, "say in the name which of the two it is")
        }));
    }
    findings
}

fn is_shipped(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(parts[..], ["crates" | "packs", _, "src", ..])
        && !parts.iter().any(|part| matches!(*part, "tests" | "tests.rs"))
}

/// The types of a file that others see, each with its line.
fn types_of(source: &Source) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    // A file that is no Rust is told by another rule.
    let Ok(all) = tokens::read(&source.text) else { return found };
    tokens::visit_all(&all, &mut |tokens, at| {
        if !tokens::is_word(tokens.get(at), "pub") {
            return;
        }
        let limit = usize::from(tokens::as_group(tokens.get(at + 1), Delimiter::Parenthesis).is_some());
        let keyword = tokens.get(at + 1 + limit);
        if let (true, Some(TokenTree::Ident(name))) =
            (KEYWORDS.iter().any(|word| tokens::is_word(keyword, word)), tokens.get(at + 2 + limit))
        {
            found.push((name.to_string(), name.span().start().line));
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        check(&Workspace::from_files(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_second_type_of_one_name_is_found() {
        let one = ("crates/a/src/lib.rs", "pub struct Run;\npub struct Error;");
        for (text, count) in [
            ("\npub(crate) enum Run {}", 1),
            ("pub(in crate::deep) type Run = u8;", 1),
            ("macro_rules! made { () => { pub trait Run {} } }", 1),
            ("struct Run;", 0),
            ("pub enum Error {}", 0),
            ("pub struct RunList;", 0),
            ("pub fn run() { let pub_struct = 1; }", 0),
        ] {
            let found = findings(&[one, ("packs/b/src/deep/c.rs", text)]);
            assert_eq!(found.len(), count, "{text}: {found:?}");
        }
        assert_eq!(findings(&[one, ("crates/a/tests/a.rs", "pub struct Run;")]), Vec::<String>::new());
        assert_eq!(findings(&[one, ("crates/a/src/b/tests.rs", "pub struct Run;")]), Vec::<String>::new());
        let told = findings(&[one, ("crates/b/src/lib.rs", "\n\npub struct Run;")]);
        assert_eq!(
            told,
            [
                "crates/b/src/lib.rs:3: `Run` is a type of crates/a/src/lib.rs too: say in the name which of the two it is"
            ]
        );
    }
}
