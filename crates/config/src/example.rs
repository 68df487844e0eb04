//! A complete settings file with every key at its default, for people to start from.

use std::fmt::Write;

use crate::config::SECTIONS;
use crate::outline::{SectionCardinality, SettingDefinition};

const INTRODUCTION: &str = "\
# Munshi settings. Every key is listed with its default; uncomment a key to change it.
# A section with a commented heading is an example.
# A variable such as MUNSHI__SERVER__LISTEN overrides this file. Validate it with `munshi config check`.
";

/// The file as text. Prose begins with `# `, a key at its default with `#` alone.
pub fn render_example() -> String {
    let mut text = INTRODUCTION.to_owned();
    for outline in SECTIONS.iter() {
        text.push('\n');
        for line in outline.doc {
            add(&mut text, format_args!("# {}", line.trim()));
        }
        match outline.many {
            SectionCardinality::No => add(&mut text, format_args!("[{}]", outline.name)),
            SectionCardinality::Named(name) => add(&mut text, format_args!("#[{}.{name}]", outline.name)),
        }
        for key in outline.keys {
            add_key(&mut text, key);
        }
    }
    text
}

fn add_key(text: &mut String, key: &SettingDefinition) {
    text.push('\n');
    for line in key.doc_lines() {
        add(text, format_args!("# {line}"));
    }
    add(text, format_args!("# Write {}.", (key.expects)()));
    add(text, format_args!("#{} = {}", key.name, key.default));
}

fn add(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a String can't fail.
    let _ = writeln!(text, "{line}");
}
