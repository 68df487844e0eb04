//! A long text in pieces: at paragraphs, else at lines and sentences, else at words.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::block::Fence;
use super::inline;
use super::sentence;

/// A cut that leaves less of a piece than one in so many is no good one: the next kind is looked for.
const LEAST_SHARE: usize = 4;

/// Pieces of a text's Markdown, none with more characters than `most`: the same each time. No link or mark is cut unless it is
/// longer than half a piece. A block of code is cut only where it is longer than a piece: it is closed then, and opened again.
pub(crate) fn split(text: &str, most: usize) -> Vec<String> {
    let most = most.max(1);
    let mut pieces = Vec::new();
    let mut rest = text.trim_matches(['\n', '\r']).trim_end().to_owned();
    while !rest.is_empty() {
        let Some((window, _)) = rest.char_indices().nth(most) else {
            pieces.push(rest);
            break;
        };
        let (piece, left) = cut(&rest, window, most);
        if !piece.trim().is_empty() {
            pieces.push(piece);
        }
        rest = left;
    }
    pieces
}

/// The first piece, and what is left. What is left is shorter.
fn cut(text: &str, window: usize, most: usize) -> (String, String) {
    if let Some((piece, left)) = cut_code(text, window, most) {
        return (piece, left);
    }
    let whole = list_whole(text, window);
    let is_free = |at: usize| !whole.iter().any(|(start, end)| *start < at && at < *end);
    let at = find_cut(text, window, &is_free);
    let left = text[at..].trim_start_matches(['\n', '\r']);
    let begins_line = text[..at].ends_with('\n') || left.len() < text[at..].len();
    let left = if begins_line { left } else { left.trim_start() };
    (text[..at].trim_end().to_owned(), left.to_owned())
}

/// The best place up to the end of the window. It is never the beginning.
fn find_cut(text: &str, window: usize, is_free: &dyn Fn(usize) -> bool) -> usize {
    let seen = &text[..window];
    let least = window / LEAST_SHARE;
    let last = |places: &mut dyn Iterator<Item = usize>, least: usize| {
        places.filter(|at| *at > 0 && *at >= least && *at <= window && is_free(*at)).max()
    };
    let paragraphs = &mut seen.match_indices("\n\n").map(|(at, _)| at);
    if let Some(at) = last(paragraphs, least) {
        return at;
    }
    let lines = seen.match_indices('\n').map(|(at, _)| at);
    // One sign more is seen, so that a sentence that fills the window is known to end there.
    let beyond = text[window..].chars().next().map_or(window, |c| window + c.len_utf8());
    let sentences = sentence::list_ends(&text[..beyond]).into_iter();
    if let Some(at) = last(&mut lines.chain(sentences), least) {
        return at;
    }
    let words = &mut text[..beyond].char_indices().filter(|(_, c)| c.is_whitespace()).map(|(at, _)| at);
    if let Some(at) = last(words, 1).filter(|at| !text[..*at].trim().is_empty() && is_boundary(text, *at)) {
        return at;
    }
    let letters = || seen.grapheme_indices(true).map(|(at, _)| at).chain([window]);
    let whole = |at: &usize| *at > 0 && is_boundary(text, *at);
    let free = letters().filter(whole).filter(|at| is_free(*at)).max();
    // A link, or a letter with more signs than a piece has, is cut where there is no other way.
    free.or_else(|| letters().filter(whole).max()).unwrap_or(window)
}

fn is_boundary(text: &str, at: usize) -> bool {
    GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(true)
}

/// Where what is not to be cut stands: blocks of code, and marks and links within lines. As far as the window reaches.
fn list_whole(text: &str, window: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut open: Option<(usize, Fence<'_>)> = None;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let bare = line.trim_end_matches(['\n', '\r']);
        match &open {
            Some((begun, fence)) if fence.is_closed_by(bare) => {
                found.push((*begun, start + bare.len()));
                open = None;
            }
            Some(_) => {}
            None if start > window => break,
            None => match Fence::open(bare) {
                Some(fence) => open = Some((start, fence)),
                None => {
                    let ranges = inline::list_ranges(bare).into_iter();
                    let short = ranges.filter(|(from, until)| (until - from) * 2 <= window);
                    found.extend(short.map(|(from, until)| (start + from, start + until)));
                }
            },
        }
    }
    if let Some((begun, _)) = open {
        found.push((begun, text.len() + 1));
    }
    found
}

/// A block of code at the beginning that is longer than a piece: as many of its lines as fit, closed, and the rest opened again.
fn cut_code(text: &str, window: usize, most: usize) -> Option<(String, String)> {
    let (first, body) = text.split_once('\n')?;
    let fence = Fence::open(first)?;
    let closing: String = std::iter::repeat_n(fence.mark, fence.length).collect();
    let mut ends = 0;
    for line in body.split_inclusive('\n') {
        if fence.is_closed_by(line.trim_end_matches(['\n', '\r'])) {
            break;
        }
        ends += line.len();
    }
    let is_short = first.len() + 1 + ends + closing.len() <= window;
    // The frame takes more than half of a piece: then it is cut as any other text.
    let frame = first.chars().count() + closing.chars().count() + 2;
    if is_short || frame * 2 > most {
        return None;
    }
    let room = most - frame;
    let code = &body[..ends];
    let fits = code.char_indices().nth(room).map_or(code.len(), |(at, _)| at);
    if fits == code.len() {
        // The code fits, and what closes it does too: the rest goes on behind it.
        let behind = body[ends..].split_once('\n').map_or("", |(_, behind)| behind);
        let piece = format!("{first}\n{}\n{closing}", code.trim_end_matches('\n'));
        return Some((piece, behind.trim_start_matches(['\n', '\r']).to_owned()));
    }
    let at = match code[..fits].rfind('\n') {
        Some(line) if line > 0 => line + 1,
        _ => code[..fits]
            .grapheme_indices(true)
            .map(|(at, _)| at)
            .filter(|at| *at > 0 && is_boundary(code, *at))
            .max()
            .unwrap_or(fits),
    };
    let piece = format!("{first}\n{}\n{closing}", code[..at].trim_end_matches('\n'));
    Some((piece, format!("{first}\n{}", &body[at..])))
}
