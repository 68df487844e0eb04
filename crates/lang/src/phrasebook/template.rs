//! The text of a phrase: words, slots, and a choice between one and many.

use std::collections::BTreeSet;

use super::PlaceholderValue;
use crate::format::{Locale, PluralForm, plural_form};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PhraseTemplate {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Slot(String),
    /// `{count: one | other}`
    Choice {
        slot: String,
        one: PhraseTemplate,
        other: PhraseTemplate,
    },
}

impl PhraseTemplate {
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (before, from) = rest.split_at(open);
            if before.contains('}') {
                return Err("a } closes nothing");
            }
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            let close = find_closing_brace(from).ok_or("a { is unclosed")?;
            let inside = from.get(1..close).unwrap_or_default();
            pieces.push(Self::piece(inside)?);
            rest = from.get(close + 1..).unwrap_or_default();
        }
        if rest.contains('}') {
            return Err("a } closes nothing");
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self { pieces })
    }

    fn piece(inside: &str) -> Result<Piece, &'static str> {
        let named =
            |slot: &str| !slot.is_empty() && slot.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        let Some((slot, choice)) = inside.split_once(':') else {
            return if named(inside) {
                Ok(Piece::Slot(inside.to_owned()))
            } else {
                Err("a placeholder has an invalid name")
            };
        };
        let (one, other) = choice.split_once('|').ok_or("a choice needs one | other")?;
        if !named(slot.trim()) {
            return Err("a choice has an invalid name");
        }
        Ok(Piece::Choice {
            slot: slot.trim().to_owned(),
            one: Self::parse(one.trim())?,
            other: Self::parse(other.trim())?,
        })
    }

    pub(super) fn placeholders(&self) -> BTreeSet<&str> {
        let mut slots = BTreeSet::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(_) => {}
                Piece::Slot(slot) => {
                    slots.insert(slot.as_str());
                }
                Piece::Choice { slot, one, other } => {
                    slots.insert(slot.as_str());
                    slots.extend(one.placeholders());
                    slots.extend(other.placeholders());
                }
            }
        }
        slots
    }

    /// The text with its slots filled, or the slot that nothing fills.
    pub(super) fn fill(&self, voice: Locale, fills: &[(&str, PlaceholderValue<'_>)]) -> Result<String, &str> {
        let mut out = String::new();
        self.write(voice, fills, &mut out)?;
        Ok(out)
    }

    fn write(
        &self,
        voice: Locale,
        fills: &[(&str, PlaceholderValue<'_>)],
        out: &mut String,
    ) -> Result<(), &str> {
        let find = |slot: &str| fills.iter().find(|(name, _)| *name == slot).map(|(_, fill)| *fill);
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Slot(slot) => find(slot).ok_or(slot.as_str())?.write(voice, out),
                Piece::Choice { slot, one, other } => {
                    let Some(PlaceholderValue::Count(count)) = find(slot) else { return Err(slot) };
                    let chosen =
                        if plural_form(count, voice.language) == PluralForm::One { one } else { other };
                    chosen.write(voice, fills, out)?;
                }
            }
        }
        Ok(())
    }
}

/// Where the bracket that opens a text is closed.
fn find_closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}
