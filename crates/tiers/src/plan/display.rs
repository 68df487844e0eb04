//! The plan for people to read.

use std::fmt;

use serde_json::Value;

use super::{ApplyPlan, DiffLine, FieldChange, TierAction, TierChange};

/// As much of a value as a line shows.
const LONGEST: usize = 70;
/// How much of what two long values have in common stands before the place where they part.
const BEFORE: usize = 24;

impl fmt::Display for ApplyPlan {
    /// A line for each tier begins with `+`, `~` or `-`; what differs stands under it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_new {
            writeln!(f, "+ tenant {}", self.tenant)?;
        }
        for change in &self.changes {
            change.fmt(f)?;
        }
        for file in &self.files {
            file.fmt(f)?;
        }
        if self.is_empty() {
            writeln!(f, "{}: no changes", self.tenant)?;
        }
        for left in &self.left {
            writeln!(f, "  {left} is not in the folder and stays unchanged; --prune archives it")?;
        }
        for file in &self.left_files {
            writeln!(
                f,
                "  {file} is not in the folder, so its settings stay in force; an empty file resets them"
            )?;
        }
        for warning in &self.warnings {
            writeln!(f, "! {warning}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TierChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, from, to, .. } = self;
        let before = from.unwrap_or_default();
        match self.action {
            TierAction::Create => write!(f, "+ {kind} {name}")?,
            TierAction::Update => write!(f, "~ {kind} {name}, version {before} to {to}")?,
            TierAction::Restore => write!(f, "+ {kind} {name}, restored as version {to}")?,
            TierAction::Archive => write!(f, "- {kind} {name}, archived at version {to}")?,
        }
        if self.tokens.total > 0 && self.action != TierAction::Archive {
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
            let added = lines.iter().filter(|line| matches!(line, DiffLine::Added(_))).count();
            let removed = lines.iter().filter(|line| matches!(line, DiffLine::Removed(_))).count();
            let noun = if added == 1 { "line" } else { "lines" };
            writeln!(f, "    {key}: {added} {noun} added, {removed} removed")?;
            return lines.iter().try_for_each(|line| match line {
                DiffLine::Added(text) => writeln!(f, "      + {}", strip_control(text)),
                DiffLine::Removed(text) => writeln!(f, "      - {}", strip_control(text)),
                DiffLine::Same(text) if text.trim().is_empty() => writeln!(f),
                DiffLine::Same(text) => writeln!(f, "        {}", strip_control(text)),
            });
        }
        match (before, after) {
            (Some(Value::Array(old)), Some(Value::Array(new))) => write_list_change(key, old, new, f),
            (Some(old), Some(new)) => {
                let (old, new) = render_differing_pair(old, new);
                writeln!(f, "    {key}: {old} is now {new}")
            }
            (None, Some(new)) => writeln!(f, "    {key}: is now {}", render_short(new)),
            (Some(old), None) => writeln!(f, "    {key}: no longer {}", render_short(old)),
            (None, None) => Ok(()),
        }
    }
}

impl FieldChange {
    /// The same with nothing cut: where what changes decides what is allowed, all of it has to be seen.
    pub fn render_full(&self) -> String {
        let Self { key, before, after, .. } = self;
        let items = |value: &Option<Value>| match value {
            None => Some(Vec::new()),
            Some(Value::Array(items)) => Some(items.clone()),
            Some(_) => None,
        };
        match (items(before), items(after)) {
            (Some(old), Some(new)) => render_list_change(key, &old, &new),
            _ => match (before, after) {
                (Some(old), Some(new)) => {
                    format!("    {key}: {} is now {}\n", render_value(old), render_value(new))
                }
                (None, Some(new)) => format!("    {key}: is now {}\n", render_value(new)),
                (Some(old), None) => format!("    {key}: no longer {}\n", render_value(old)),
                (None, None) => String::new(),
            },
        }
    }
}

/// A line for every item that went or came; of an empty list, that it is there; of another order, all of it.
fn render_list_change(key: &str, old: &[Value], new: &[Value]) -> String {
    let went =
        old.iter().filter(|item| !new.contains(item)).map(|item| format!("      - {}\n", render_value(item)));
    let came =
        new.iter().filter(|item| !old.contains(item)).map(|item| format!("      + {}\n", render_value(item)));
    let lines: String = went.chain(came).collect();
    match (lines.is_empty(), new.is_empty()) {
        (false, _) => format!("    {key}:\n{lines}"),
        (true, true) => format!("    {key}: is now empty\n"),
        (true, false) => {
            let items: Vec<String> = new.iter().map(render_value).collect();
            format!("    {key}: now {}\n", items.join(", "))
        }
    }
}

/// What came and went; where nothing did, the order changed.
fn write_list_change(key: &str, old: &[Value], new: &[Value], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let come: Vec<&Value> = new.iter().filter(|item| !old.contains(item)).collect();
    let gone: Vec<&Value> = old.iter().filter(|item| !new.contains(item)).collect();
    let (went, came): (Vec<String>, Vec<String>) = if come.len() == gone.len() {
        gone.iter().zip(&come).map(|(old, new)| render_differing_pair(old, new)).unzip()
    } else {
        (
            gone.iter().map(|item| render_short(item)).collect(),
            come.iter().map(|item| render_short(item)).collect(),
        )
    };
    let went = went.iter().map(|item| format!("- {item}"));
    let moves: Vec<String> = went.chain(came.iter().map(|item| format!("+ {item}"))).collect();
    if moves.is_empty() {
        let items: Vec<String> = new.iter().map(render_short).collect();
        return writeln!(f, "    {key}: now in the order {}", items.join(", "));
    }
    writeln!(f, "    {key}:")?;
    moves.iter().try_for_each(|item| writeln!(f, "      {item}"))
}

fn render_short(value: &Value) -> String {
    cut(&render_value(value), 0)
}

/// Two values side by side, such that where they part can be seen.
fn render_differing_pair(old: &Value, new: &Value) -> (String, String) {
    let (old, new) = (render_value(old), render_value(new));
    let same = old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count();
    let start = if same > LONGEST / 2 { same - BEFORE } else { 0 };
    (cut(&old, start), cut(&new, start))
}

fn render_value(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{}\"", strip_control(text)),
        other => strip_control(&other.to_string()),
    }
}

/// What stands from the `start`th letter on, as much as a line shows. A text that fits is shown from its beginning.
fn cut(text: &str, start: usize) -> String {
    let length = text.chars().count();
    let start = if length <= LONGEST { 0 } else { start };
    let inner: String = text.chars().skip(start).take(LONGEST).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if start + LONGEST < length { "…" } else { "" };
    format!("{before}{inner}{after}")
}

/// A text from outside must not break a line or drive the terminal.
fn strip_control(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_of_a_whole_change_is_cut() {
        let change = |before: Option<Value>, after: Option<Value>| {
            FieldChange { key: "write".to_owned(), before, after, lines: Vec::new() }.render_full()
        };
        let long = "x".repeat(300);
        assert_eq!(
            change(Some(json!(["a", "b"])), Some(json!(["b", long]))),
            format!("    write:\n      - \"a\"\n      + \"{long}\"\n")
        );
        assert_eq!(change(None, Some(json!(["a"]))), "    write:\n      + \"a\"\n");
        assert_eq!(change(None, Some(json!([]))), "    write: is now empty\n");
        assert_eq!(change(Some(json!(["a", "a"])), Some(json!(["a"]))), "    write: now \"a\"\n");
        assert_eq!(change(Some(json!(2)), Some(json!(3))), "    write: 2 is now 3\n");
        assert_eq!(change(Some(json!("act")), None), "    write: no longer \"act\"\n");
    }

    #[test]
    fn where_two_long_values_part_is_seen() {
        let text = |end: &str| json!(format!("{}{end}", "the same words again and again, ".repeat(5)));
        let change = |before: Value, after: Value| {
            let key = "voice.tone".to_owned();
            FieldChange { key, before: Some(before), after: Some(after), lines: Vec::new() }.to_string()
        };
        assert_eq!(
            change(text("then blue."), text("then green, for once.")),
            "    voice.tone: …s again and again, then blue.\" is now …s again and again, then green, for once.\"\n"
        );
        let items = change(json!([text("blue"), "a"]), json!([text("green"), "a"]));
        assert!(items.contains("again, blue\"\n") && items.contains("again, green\"\n"), "{items}");
        assert_eq!(change(json!("warm"), json!("brisk")), "    voice.tone: \"warm\" is now \"brisk\"\n");
        let (short, long) = (json!("so it is"), json!(format!("so it is{}", " and so".repeat(30))));
        assert!(change(short, long).starts_with("    voice.tone: \"so it is\" is now \"so it is and so"));
    }
}
