//! One file: front matter and prose, or all TOML.

use std::ops::Range;

use munshi_toml::writer::FENCE;
use munshi_toml::{TextPosition, decode_utf8, locate};
use munshi_types::tier::{TierKind, TierName};
use serde_json::Value;

use crate::draft::TierDraft;
use crate::problem::FolderProblem;
use crate::shape::{self, CheckedFile};

/// Reads one file. `file` is how errors name it.
pub fn parse(
    kind: TierKind,
    name: TierName,
    file: &str,
    bytes: &[u8],
) -> Result<TierDraft, Vec<FolderProblem>> {
    let text = decode_text(file, bytes)?;
    let (front, prose) = match shape::prose_key(kind) {
        Some(key) => {
            let (front, rest) = split(file, &text)?;
            (front, Some((key, prose_of(&text[rest..]))))
        }
        None => (0..text.len(), None),
    };
    let CheckedFile { mut body, spots, mut problems } = shape::check(kind, file, &text, front);
    if let Some((key, prose)) = prose.filter(|(_, prose)| !prose.is_empty()) {
        if let Some(at) = text.find('\0') {
            problems.push(
                FolderProblem::in_file(file, "the text contains a NUL character")
                    .at_position(locate(&text, at)),
            );
        }
        body.insert(key.to_owned(), Value::String(prose.to_owned()));
    }
    let draft = TierDraft { kind, name, body, file: file.to_owned(), spots };
    if problems.is_empty() {
        problems = draft.problems();
    }
    if problems.is_empty() { Ok(draft) } else { Err(problems) }
}

/// UTF-8 without a mark at its start, and with lines that end in one way.
pub(super) fn decode_text(file: &str, bytes: &[u8]) -> Result<String, Vec<FolderProblem>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = decode_utf8(bytes).map_err(|slip| vec![FolderProblem::from_syntax(file, slip)])?;
    Ok(text.replace("\r\n", "\n"))
}

/// Where the front matter is, and where the rest begins.
fn split(file: &str, text: &str) -> Result<(Range<usize>, usize), Vec<FolderProblem>> {
    let mut lines = text.split_inclusive('\n').scan(0, |end, line| {
        let start = *end;
        *end += line.len();
        Some((start, line))
    });
    let is_fence = |line: &str| line.trim_end() == FENCE;
    let begins = lines.find(|(_, line)| !line.trim().is_empty());
    let Some((at, first)) = begins.filter(|(_, line)| is_fence(line)) else {
        let place = begins.map_or(TextPosition::START, |(at, _)| locate(text, at));
        let mut problem = FolderProblem::in_file(file, "the front matter is missing").at_position(place);
        problem =
            problem.hint("start with a line +++, then keys such as name = \"Meera\", then another line +++");
        if begins.is_some_and(|(_, line)| line.trim_end() == "---") {
            problem = problem.hint("the front matter is TOML: use +++ instead of ---, and key = value");
        }
        return Err(vec![problem]);
    };
    let front = at + first.len();
    match lines.find(|(_, line)| is_fence(line)) {
        Some((end, fence)) => Ok((front..end, end + fence.len())),
        None => {
            let problem =
                FolderProblem::in_file(file, "the front matter is not closed").at_position(locate(text, at));
            Err(vec![problem.hint("add a line +++ after the last key")])
        }
    }
}

/// Without the empty line that parts it from the front matter, and the end of its last line: what `render` adds.
fn prose_of(rest: &str) -> &str {
    let rest = rest.strip_prefix('\n').unwrap_or(rest);
    rest.strip_suffix('\n').unwrap_or(rest)
}
