//! The plan for people to read.

use std::fmt;

use serde_json::Value;

use super::{Action, Change, FieldChange, Line, Plan};

/// As much of a value as a line shows.
const LONGEST: usize = 70;

impl fmt::Display for Plan {
    /// A line for each tier begins with `+`, `~` or `-`; what differs stands under it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_new {
            writeln!(f, "+ tenant {}", self.tenant)?;
        }
        for change in &self.changes {
            change.fmt(f)?;
        }
        if self.is_empty() {
            writeln!(f, "{}: no changes", self.tenant)?;
        }
        for left in &self.left {
            writeln!(f, "  {left} is not in the folder and stays as it is; --prune archives it")?;
        }
        for warning in &self.warnings {
            writeln!(f, "! {warning}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, from, to, .. } = self;
        let before = from.unwrap_or_default();
        match self.action {
            Action::Create => write!(f, "+ {kind} {name}")?,
            Action::Update => write!(f, "~ {kind} {name}, version {before} to {to}")?,
            Action::Restore => write!(f, "+ {kind} {name}, back from the archive with version {to}")?,
            Action::Archive => write!(f, "- {kind} {name}, archived at version {to}")?,
        }
        if self.tokens.total > 0 && self.action != Action::Archive {
            write!(f, " ({} tokens)", self.tokens.total)?;
        }
        writeln!(f)?;
        self.fields.iter().try_for_each(|field| field.fmt(f))
    }
}

impl fmt::Display for FieldChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, before, after, lines } = self;
        if !lines.is_empty() {
            let added = lines.iter().filter(|line| matches!(line, Line::Added(_))).count();
            let removed = lines.iter().filter(|line| matches!(line, Line::Removed(_))).count();
            let noun = if added == 1 { "line" } else { "lines" };
            writeln!(f, "    {key}: {added} {noun} in, {removed} out")?;
            return lines.iter().try_for_each(|line| match line {
                Line::Added(text) => writeln!(f, "      + {}", harmless(text)),
                Line::Removed(text) => writeln!(f, "      - {}", harmless(text)),
                Line::Same(text) if text.trim().is_empty() => writeln!(f),
                Line::Same(text) => writeln!(f, "        {}", harmless(text)),
            });
        }
        match (before, after) {
            (Some(Value::Array(old)), Some(Value::Array(new))) => listed(key, old, new, f),
            (Some(old), Some(new)) => writeln!(f, "    {key}: {} is now {}", shown(old), shown(new)),
            (None, Some(new)) => writeln!(f, "    {key}: is now {}", shown(new)),
            (Some(old), None) => writeln!(f, "    {key}: no longer {}", shown(old)),
            (None, None) => Ok(()),
        }
    }
}

/// What came and went; where nothing did, the order changed.
fn listed(key: &str, old: &[Value], new: &[Value], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let come = new.iter().filter(|item| !old.contains(item)).map(|item| format!("+ {}", shown(item)));
    let gone = old.iter().filter(|item| !new.contains(item)).map(|item| format!("- {}", shown(item)));
    let moves: Vec<String> = gone.chain(come).collect();
    if moves.is_empty() {
        let items: Vec<String> = new.iter().map(shown).collect();
        return writeln!(f, "    {key}: now in the order {}", items.join(", "));
    }
    writeln!(f, "    {key}:")?;
    moves.iter().try_for_each(|item| writeln!(f, "      {item}"))
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => format!("\"{}\"", harmless(text)),
        other => other.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

/// A text from outside must not break a line or drive the terminal.
fn harmless(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
