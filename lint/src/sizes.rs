//! Files and functions that have grown too long to take in.

use proc_macro2::{Delimiter, TokenTree};

use crate::finding::Finding;
use crate::tokens;
use crate::workspace::{Source, Workspace};

pub const LONGEST_FILE: usize = 600;
pub const LONGEST_FUNCTION: usize = 80;

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace
        .list_with_extension(".rs")
        .flat_map(|source| [file(source), functions(source)].concat())
        .collect()
}

fn file(source: &Source) -> Vec<Finding> {
    let lines = source.text.lines().count();
    let what = format!("the file has {lines} lines; the maximum is {LONGEST_FILE}");
    let finding = Finding::new(&source.path, lines, what, "find the seam and split it");
    if lines > LONGEST_FILE { vec![finding] } else { Vec::new() }
}

fn functions(source: &Source) -> Vec<Finding> {
    let tokens = match tokens::read(&source.text) {
        Ok(tokens) => tokens,
        Err(line) => return vec![Finding::new(&source.path, line, "this is not Rust", "make it compile")],
    };
    let mut findings = Vec::new();
    tokens::visit_all(&tokens, &mut |siblings, at| {
        if let Some((name, first, last)) = function(siblings, at)
            && last + 1 - first > LONGEST_FUNCTION
        {
            let lines = last + 1 - first;
            let what = format!("`{name}` has {lines} lines; the maximum is {LONGEST_FUNCTION}");
            findings.push(Finding::new(&source.path, first, what, "extract steps into their own functions"));
        }
    });
    findings
}

/// The function that begins here: its name, first and last line. A `fn(…)` type and a declaration without a
/// body are none.
fn function(tokens: &[TokenTree], at: usize) -> Option<(String, usize, usize)> {
    if !tokens::is_word(tokens.get(at), "fn") {
        return None;
    }
    let Some(TokenTree::Ident(name)) = tokens.get(at + 1) else { return None };
    for token in &tokens[at + 2..] {
        if tokens::is_sign(Some(token), ';') {
            return None;
        }
        if let Some(body) = tokens::as_group(Some(token), Delimiter::Brace) {
            return Some((name.to_string(), tokens::line_of(&tokens[at]), body.span_close().end().line));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        check(&Workspace::from_files(&[("a.rs", text)])).iter().map(ToString::to_string).collect()
    }

    fn long(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_of_eighty_lines_is_the_longest() {
        assert_eq!(findings(&long(80)), Vec::<String>::new());
        let advice = "extract steps into their own functions";
        assert_eq!(
            findings(&long(81)),
            [format!("a.rs:1: `long` has 81 lines; the maximum is 80: {advice}")]
        );
    }

    #[test]
    fn methods_tests_and_macros_are_looked_into() {
        let long = long(81);
        for text in [
            format!("impl A {{ pub async {long} }}"),
            format!("trait A {{ fn short(&self); {long} }}"),
            format!("mod tests {{ #[test] {long} }}"),
            format!("proptest! {{ #[test] {long} }}"),
            format!("fn outer() {{ {long} }}"),
        ] {
            assert!(findings(&text).iter().any(|line| line.contains("`long` has 81 lines")), "{text}");
        }
        assert_eq!(findings("type A = fn(u8) -> u8;\nextern { fn a(); }\n"), Vec::<String>::new());
    }

    #[test]
    fn a_file_of_six_hundred_lines_is_the_longest() {
        assert_eq!(findings(&"// line\n".repeat(600)), Vec::<String>::new());
        assert_eq!(findings(&"// line\n".repeat(601)).len(), 1);
        assert_eq!(findings("fn a() {\n\n\"").len(), 1, "a broken file is told");
    }
}
