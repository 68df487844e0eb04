//! Notes to oneself in comments: an unfinished thing is either finished or filed.

use std::ops::Range;

use proc_macro2::TokenTree;

use crate::finding::Finding;
use crate::tokens;
use crate::workspace::{Source, Workspace};

const MARKS: [&str; 3] = ["TODO", "FIXME", "XXX"];

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.sources.iter().flat_map(check_file).collect()
}

fn check_file(source: &Source) -> Vec<Finding> {
    let comments = match source.path.rsplit('.').next() {
        Some("rs") => find_rust_comments(&source.text),
        Some("sql") => find_line_comments(&source.text, "--"),
        _ => find_line_comments(&source.text, "#"),
    };
    comments.into_iter().flat_map(|comment| marks(source, comment)).collect()
}

fn marks(source: &Source, comment: Range<usize>) -> Vec<Finding> {
    let text = source.text.get(comment.clone()).unwrap_or_default();
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(mark) = line.split(|c| !word(c)).find(|part| MARKS.contains(part)) {
            let line = source.text[..comment.start].matches('\n').count() + 1 + number;
            let advice = "do it, or open an issue and remove the note";
            findings.push(Finding::new(&source.path, line, format!("a {mark} in a comment"), advice));
        }
    }
    findings
}

/// What lies between the tokens is comment or space; a doc comment is a token that begins with a slash.
fn find_rust_comments(text: &str) -> Vec<Range<usize>> {
    let Ok(tokens) = tokens::read(text) else { return Vec::new() };
    let mut code: Vec<Range<usize>> = Vec::new();
    add_code(&tokens, text, &mut code);
    code.sort_by_key(|range| range.start);
    let mut comments = Vec::new();
    let mut end = 0;
    for range in code {
        if range.start > end {
            comments.push(end..range.start);
        }
        end = end.max(range.end);
    }
    comments.push(end..text.len());
    comments
}

fn add_code(tokens: &[TokenTree], text: &str, code: &mut Vec<Range<usize>>) {
    for token in tokens {
        let written = text.get(token.span().byte_range()).unwrap_or_default();
        if written.starts_with("//") || written.starts_with("/*") {
            continue;
        }
        match token {
            TokenTree::Group(group) => {
                code.push(group.span_open().byte_range());
                code.push(group.span_close().byte_range());
                add_code(&tokens::group_tokens(group), text, code);
            }
            other => code.push(other.span().byte_range()),
        }
    }
}

/// Good enough for SQL and TOML: a mark inside a string there is taken for a comment too.
fn find_line_comments(text: &str, sign: &str) -> Vec<Range<usize>> {
    let mut comments = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some(at) = line.find(sign) {
            comments.push(start + at..start + line.len());
        }
        start += line.len();
    }
    comments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Workspace::from_files(&[(path, text)])).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn notes_are_found_in_every_kind_of_comment() {
        let text = "//! TODO one\n// नोट: FIXME two\nfn a() {\n    let x = 1; // XXX\n    /* a\n TODO: b */\n}\n/// TODO\nfn b() {}\n// TODO";
        assert_eq!(lines("a.rs", text), [1, 2, 4, 6, 8, 10]);
        assert_eq!(lines("a.sql", "SELECT 1;\n-- TODO\n"), [2]);
        assert_eq!(lines("a.toml", "a = 1 # FIXME\n"), [1]);
    }

    #[test]
    fn code_and_other_words_are_left_alone() {
        let text = "const TODO: &str = \"TODO // XXX\";\n// a todo list, TODOS, XXXL\nlet c = '\"'; let s = r#\"// TODO\"#;\n";
        assert_eq!(lines("a.rs", text), Vec::<usize>::new());
    }
}
