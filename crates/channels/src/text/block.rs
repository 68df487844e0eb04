//! The lines of a text, by what they are. Line breaks are kept: whoever writes for a chat means them.

/// What stands on a line, or on several that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TextBlock<'a> {
    Blank,
    Heading(&'a str),
    Rule,
    Line(TextLine<'a>),
    /// As it is, to the letter.
    Code {
        language: &'a str,
        lines: Vec<&'a str>,
    },
    Table {
        head: Vec<&'a str>,
        rows: Vec<Vec<&'a str>>,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TextLine<'a> {
    /// How many quote this.
    pub quotes: usize,
    /// How far a list stands inside others.
    pub depth: usize,
    pub marker: Option<LineMarker<'a>>,
    pub text: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineMarker<'a> {
    Bullet,
    Number(&'a str),
    /// A task, and whether it is done.
    Open,
    Done,
}

/// Deeper is not shown.
const DEEPEST: usize = 4;

pub(super) fn parse(markdown: &str) -> Vec<TextBlock<'_>> {
    let lines: Vec<&str> = markdown.lines().collect();
    let mut blocks = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        if let Some(fence) = Fence::open(line) {
            let end = lines[at..].iter().position(|line| fence.is_closed_by(line));
            let until = end.map_or(lines.len(), |end| at + end);
            blocks.push(TextBlock::Code { language: fence.language, lines: lines[at..until].to_vec() });
            at = if end.is_some() { until + 1 } else { until };
        } else if let Some(next) = lines.get(at).filter(|next| line.contains('|') && is_table_rule(next)) {
            let columns = split_cells(next).len();
            let body: Vec<&str> =
                lines[at + 1..].iter().copied().take_while(|line| line.contains('|')).collect();
            blocks.push(TextBlock::Table {
                head: split_cells(line).into_iter().take(columns).collect(),
                rows: body.iter().copied().map(split_cells).collect(),
            });
            at += 1 + body.len();
        } else {
            blocks.push(parse_line(line));
        }
    }
    blocks
}

fn parse_line(line: &str) -> TextBlock<'_> {
    let mut text = line.trim_end();
    if text.trim().is_empty() {
        return TextBlock::Blank;
    }
    let mut quotes = 0;
    while let Some(rest) = text.trim_start().strip_prefix('>') {
        quotes += 1;
        text = rest.strip_prefix(' ').unwrap_or(rest);
    }
    let bare = text.trim_start();
    if quotes == 0 {
        let marks = bare.bytes().take_while(|byte| *byte == b'#').count();
        if let Some(heading) = bare.get(marks..).filter(|_| (1..=6).contains(&marks))
            && let Some(words) = heading.strip_prefix([' ', '\t'])
        {
            return TextBlock::Heading(words.trim().trim_end_matches('#').trim_end());
        }
        if is_rule(bare) {
            return TextBlock::Rule;
        }
    }
    let indent: usize = text[..text.len() - bare.len()].chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
    let depth = (indent / 2).min(DEEPEST);
    match parse_marker(bare) {
        Some((marker, text)) => TextBlock::Line(TextLine { quotes, depth, marker: Some(marker), text }),
        None => TextBlock::Line(TextLine { quotes, depth: 0, marker: None, text: bare }),
    }
}

fn parse_marker(text: &str) -> Option<(LineMarker<'_>, &str)> {
    let rest = text.strip_prefix(['-', '*', '+']).and_then(|rest| rest.strip_prefix([' ', '\t']));
    if let Some(rest) = rest {
        let rest = rest.trim_start();
        let task = |boxes: [&str; 2]| boxes.iter().find_map(|shown| rest.strip_prefix(*shown));
        return Some(match (task(["[ ] ", "[] "]), task(["[x] ", "[X] "])) {
            (Some(words), _) => (LineMarker::Open, words),
            (None, Some(words)) => (LineMarker::Done, words),
            (None, None) => (LineMarker::Bullet, rest),
        });
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=9).contains(&digits) {
        return None;
    }
    let rest = text[digits..].strip_prefix(['.', ')'])?.strip_prefix([' ', '\t'])?;
    Some((LineMarker::Number(&text[..=digits]), rest.trim_start()))
}

fn is_rule(text: &str) -> bool {
    let Some(mark) = text.chars().next().filter(|mark| "-*_".contains(*mark)) else { return false };
    let marks = text.chars().filter(|c| *c == mark).count();
    marks >= 3 && text.chars().all(|c| c == mark || c == ' ')
}

/// The line under a table's head.
fn is_table_rule(line: &str) -> bool {
    line.contains('-') && line.contains('|') && line.chars().all(|c| "|-: \t".contains(c))
}

fn split_cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').unwrap_or(line);
    line.split('|').map(str::trim).collect()
}

/// What opens a block that is shown as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence<'a> {
    pub mark: char,
    pub length: usize,
    pub language: &'a str,
}

impl<'a> Fence<'a> {
    pub(super) fn open(line: &'a str) -> Option<Self> {
        let bare = line.trim_start();
        let mark = bare.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let length = bare.chars().take_while(|c| *c == mark).count();
        let language = bare[length..].trim();
        (length >= 3 && !language.contains('`')).then_some(Self { mark, length, language })
    }

    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        let bare = line.trim();
        bare.chars().count() >= self.length && bare.chars().all(|c| c == self.mark)
    }
}
