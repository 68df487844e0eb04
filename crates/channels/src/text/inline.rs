//! Marks within a line: bold, links, code.

use std::collections::HashSet;

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InlinePart {
    Text(String),
    Code(String),
    Strong(Vec<Self>),
    Emphasis(Vec<Self>),
    Struck(Vec<Self>),
    Link { label: Vec<Self>, url: String },
}

/// Marks inside marks beyond this are shown as they are written.
const DEEPEST: usize = 6;

/// A link's words and address are no longer.
const LONGEST_LABEL: usize = 1000;
const LONGEST_URL: usize = 2000;

/// What ends a sentence stands behind an address, and not in it.
const TRAILING: &str = ".,;:!?'\"।॥۔*_~";

pub(super) fn parse(line: &str) -> Vec<InlinePart> {
    parse_within(line, 0)
}

/// Where marks, links and code stand in a line, from the first byte to behind the last: what is cut there is broken.
pub(super) fn list_ranges(line: &str) -> Vec<(usize, usize)> {
    let mut scanner = LineScanner::new(line, 0);
    let mut found = Vec::new();
    while let Some((start, part)) = scanner.read_next() {
        if !matches!(part, InlinePart::Text(_)) {
            found.push((start, scanner.at));
        }
    }
    found
}

fn parse_within(line: &str, depth: usize) -> Vec<InlinePart> {
    let mut scanner = LineScanner::new(line, depth);
    let mut parts: Vec<InlinePart> = Vec::new();
    while let Some((_, part)) = scanner.read_next() {
        match (parts.last_mut(), part) {
            (Some(InlinePart::Text(before)), InlinePart::Text(more)) => before.push_str(&more),
            (_, part) => parts.push(part),
        }
    }
    parts
}

/// Goes through a line, part by part.
struct LineScanner<'a> {
    line: &'a str,
    at: usize,
    depth: usize,
    /// Marks that nothing closes from here on: nobody looks for that again.
    unclosed: HashSet<&'a str>,
}

impl<'a> LineScanner<'a> {
    fn new(line: &'a str, depth: usize) -> Self {
        Self { line, at: 0, depth, unclosed: HashSet::new() }
    }

    /// The next part, and where it begins.
    fn read_next(&mut self) -> Option<(usize, InlinePart)> {
        let (start, line) = (self.at, self.line);
        let rest = &line[start..];
        let first = rest.chars().next()?;
        let found = match first {
            '\\' => self.read_escape(rest),
            '`' => self.read_code(rest),
            '*' | '_' | '~' => self.read_marked(rest, first),
            '!' if rest.starts_with("![") => self.read_link(rest, 1),
            '[' => self.read_link(rest, 0),
            '<' => read_angle(rest),
            _ => self.read_address(rest),
        };
        let (length, part) = found.unwrap_or_else(|| self.read_text(rest, first));
        self.at = start + length;
        Some((start, part))
    }

    /// As far as no mark can begin.
    fn read_text(&self, rest: &str, first: char) -> (usize, InlinePart) {
        let is_mark = |c: char| "\\`*_~![<".contains(c);
        let begins_word = |at: usize| {
            let before = rest[..at].chars().next_back();
            before.is_some_and(|c| !c.is_ascii_alphanumeric())
        };
        // A run of marks that opened nothing is one piece, so that none of it opens something.
        let run = if "*_~`".contains(first) {
            rest.chars().take_while(|c| *c == first).map(char::len_utf8).sum()
        } else {
            first.len_utf8()
        };
        let end = rest[run..]
            .char_indices()
            .map(|(at, c)| (at + run, c))
            .find(|(at, c)| is_mark(*c) || (c.is_ascii_alphabetic() && begins_word(*at)));
        let end = end.map_or(rest.len(), |(at, _)| at);
        (end, InlinePart::Text(rest[..end].to_owned()))
    }

    fn read_escape(&self, rest: &str) -> Option<(usize, InlinePart)> {
        let mark = rest[1..].chars().next().filter(char::is_ascii_punctuation)?;
        Some((2, InlinePart::Text(mark.to_string())))
    }

    fn read_code(&mut self, rest: &'a str) -> Option<(usize, InlinePart)> {
        let length = rest.bytes().take_while(|byte| *byte == b'`').count();
        let ticks = &rest[..length];
        if self.unclosed.contains(ticks) {
            return None;
        }
        let mut from = length;
        while let Some(found) = rest[from..].find('`') {
            let begin = from + found;
            let run = rest[begin..].bytes().take_while(|byte| *byte == b'`').count();
            if run == length {
                let code = &rest[length..begin];
                let code = match code.strip_prefix(' ').and_then(|code| code.strip_suffix(' ')) {
                    Some(inner) if !inner.trim().is_empty() => inner,
                    _ => code,
                };
                return Some((begin + run, InlinePart::Code(code.to_owned())));
            }
            from = begin + run;
        }
        self.unclosed.insert(ticks);
        None
    }

    fn read_marked(&mut self, rest: &'a str, mark: char) -> Option<(usize, InlinePart)> {
        let run = rest.chars().take_while(|c| *c == mark).count();
        let opens = rest[run..].chars().next().is_some_and(|c| !c.is_whitespace());
        let before = self.line[..self.at].chars().next_back();
        // `2*3*4` is no emphasis, and neither is a name_with_lines.
        let is_inside = (mark == '_' || run == 1) && before.is_some_and(is_word);
        if !opens || is_inside || self.depth >= DEEPEST || run > 3 || (mark == '~' && run != 2) {
            return None;
        }
        let marks = &rest[..run];
        if self.unclosed.contains(marks) {
            return None;
        }
        let Some(end) = find_close(rest, marks, mark) else {
            self.unclosed.insert(marks);
            return None;
        };
        let inner = parse_within(&rest[run..end], self.depth + 1);
        let part = match (mark, run) {
            ('~', _) => InlinePart::Struck(inner),
            (_, 1) => InlinePart::Emphasis(inner),
            (_, 2) => InlinePart::Strong(inner),
            _ => InlinePart::Strong(vec![InlinePart::Emphasis(inner)]),
        };
        Some((end + run, part))
    }

    /// `[words](address)`, and the same of a picture, whose words stand for it.
    fn read_link(&self, rest: &str, bang: usize) -> Option<(usize, InlinePart)> {
        if self.depth >= DEEPEST {
            return None;
        }
        let inside = &rest[bang + 1..];
        let label_end = find_bracket(inside)?;
        let target = inside[label_end + 1..].strip_prefix('(')?;
        let (target_end, url) = read_target(target)?;
        let length = bang + 1 + label_end + 2 + target_end + 1;
        let label = strip_links(parse_within(&inside[..label_end], self.depth + 1));
        let url = url.to_owned();
        let label = if label.is_empty() { vec![InlinePart::Text(url.clone())] } else { label };
        Some((length, InlinePart::Link { label, url }))
    }

    /// An address as it stands in a text.
    fn read_address(&self, rest: &str) -> Option<(usize, InlinePart)> {
        let before = self.line[..self.at].chars().next_back();
        if before.is_some_and(|c| c.is_ascii_alphanumeric()) {
            return None;
        }
        let scheme =
            rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(byte)).count();
        if !(2..=20).contains(&scheme) || !rest[scheme..].starts_with("://") {
            return None;
        }
        let end = rest.find(|c: char| c.is_whitespace() || c.is_control() || "<>`".contains(c));
        let url = trim_address(&rest[..end.unwrap_or(rest.len())]);
        let is_whole = url.len() > scheme + 3 && url.len() <= LONGEST_URL;
        is_whole.then(|| {
            let label = vec![InlinePart::Text(url.to_owned())];
            (url.len(), InlinePart::Link { label, url: url.to_owned() })
        })
    }
}

/// No link stands in another.
fn strip_links(parts: Vec<InlinePart>) -> Vec<InlinePart> {
    let strip = |part| match part {
        InlinePart::Link { label, .. } => label,
        InlinePart::Strong(inner) => vec![InlinePart::Strong(strip_links(inner))],
        InlinePart::Emphasis(inner) => vec![InlinePart::Emphasis(strip_links(inner))],
        InlinePart::Struck(inner) => vec![InlinePart::Struck(strip_links(inner))],
        other @ (InlinePart::Text(_) | InlinePart::Code(_)) => vec![other],
    };
    parts.into_iter().flat_map(strip).collect()
}

/// A letter, and a sign that belongs to one.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && !c.is_whitespace() && !"।॥۔…—–“”‘’«»".contains(c))
}

/// Where these marks close, from where they begin; none where they don't.
fn find_close(rest: &str, marks: &str, mark: char) -> Option<usize> {
    let mut skipping = 0;
    let mut before = None;
    let mut at = marks.len();
    while let Some(c) = rest[at..].chars().next() {
        let length = c.len_utf8();
        if at < skipping {
            at += length;
            before = Some(c);
            continue;
        }
        match c {
            '\\' => skipping = at + 1 + rest[at + 1..].chars().next().map_or(0, char::len_utf8),
            '`' => {
                let ticks = rest[at..].bytes().take_while(|byte| *byte == b'`').count();
                let code = rest[at + ticks..].find(&rest[at..at + ticks]);
                skipping = at + ticks + code.map_or(0, |code| code + ticks);
            }
            c if c == mark => {
                let run = rest[at..].bytes().take_while(|byte| *byte == c as u8).count();
                let is_behind = before.is_some_and(|before: char| !before.is_whitespace());
                let after = rest[at + run..].chars().next();
                let is_inside = mark == '_' && after.is_some_and(is_word);
                if run == marks.len() && is_behind && !is_inside && at > marks.len() {
                    return Some(at);
                }
                skipping = at + run;
            }
            _ => {}
        }
        at += length;
        before = Some(c);
    }
    None
}

/// Where a link's words end. Brackets in them are paired.
fn find_bracket(inside: &str) -> Option<usize> {
    let mut open = 0usize;
    let mut is_escaped = false;
    for (at, c) in inside.char_indices() {
        if at > LONGEST_LABEL {
            return None;
        }
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => open += 1,
            ']' if open == 0 => return Some(at),
            ']' => open -= 1,
            _ => {}
        }
    }
    None
}

/// The address in a link's brackets, and where they close. What is said of it behind is left out.
fn read_target(target: &str) -> Option<(usize, &str)> {
    let mut open = 0usize;
    for (at, c) in target.char_indices() {
        if at > LONGEST_URL {
            return None;
        }
        match c {
            '(' => open += 1,
            ')' if open == 0 => {
                let words = target[..at].trim();
                let url = match words.strip_prefix('<') {
                    Some(url) => url.split('>').next().unwrap_or_default(),
                    None => words.split_whitespace().next().unwrap_or_default(),
                };
                return (!url.is_empty()).then_some((at, url));
            }
            ')' => open -= 1,
            _ => {}
        }
    }
    None
}

/// `<https://…>` and `<name@host>`.
fn read_angle(rest: &str) -> Option<(usize, InlinePart)> {
    let end = rest.bytes().take(LONGEST_URL).position(|byte| byte == b'>')?;
    let inside = &rest[1..end];
    let is_plain = !inside.is_empty() && !inside.contains(|c: char| c.is_whitespace() || c == '<');
    let is_address = inside.contains("://") || inside.starts_with("mailto:") || inside.starts_with("tel:");
    let url = match () {
        () if is_plain && is_address => inside.to_owned(),
        () if is_plain && inside.contains('@') && !inside.starts_with('@') => format!("mailto:{inside}"),
        () => return None,
    };
    let label = vec![InlinePart::Text(inside.to_owned())];
    Some((end + 1, InlinePart::Link { label, url }))
}

/// Without what ends a sentence, and without a bracket that the text closes.
fn trim_address(url: &str) -> &str {
    let mut url = url;
    loop {
        let shorter = url.trim_end_matches(|c| TRAILING.contains(c));
        let closes = |open: char, close: char| {
            shorter.ends_with(close) && shorter.matches(close).count() > shorter.matches(open).count()
        };
        let trimmed = match closes('(', ')') || closes('[', ']') || closes('{', '}') {
            true => &shorter[..shorter.len() - 1],
            false => shorter,
        };
        if trimmed.len() == url.len() {
            return url;
        }
        url = trimmed;
    }
}
