//! The reference of every key, as `docs/configuration.md` holds it.

use crate::config::SECTIONS;
use crate::outline::{SectionCardinality, SectionOutline, SettingDefinition};

const INTRODUCTION: &str = "\
# Configuration

Munshi runs without any settings. Set one in a TOML file or an environment variable. A variable overrides the file,
and the file overrides the default.

Munshi reads the file given with `--config` or `MUNSHI_CONFIG`, or else the first of these that exists:
`munshi.toml` in the current folder, `$XDG_CONFIG_HOME/munshi/munshi.toml` (or `~/.config/munshi/munshi.toml`), and
`/etc/munshi/munshi.toml`.

- `munshi config example` prints a complete file to start from
- `munshi config check` validates the settings and lists every problem
- `munshi config show` prints every key, its value and its source; secrets are redacted

A list is an array in the file and comma-separated in a variable (headers: one per line).

This page is generated from the code by `UPDATE_DOCS=1 cargo test -p munshi-config`.
";

/// The page as Markdown.
pub fn render_docs() -> String {
    let sections: String = SECTIONS.iter().map(section).collect();
    format!("{INTRODUCTION}{sections}")
}

fn section(outline: &SectionOutline) -> String {
    let doc: Vec<&str> = outline.doc.iter().map(|line| line.trim()).collect();
    let rows: String = outline.keys.iter().map(row).collect();
    let value = if outline.many == SectionCardinality::No { "default" } else { "example" };
    format!(
        "\n## {}\n\n{}\n\n| key and variable | {value} | what it does |\n|---|---|---|\n{rows}",
        outline.heading(),
        doc.join(" ")
    )
}

fn row(key: &SettingDefinition) -> String {
    let doc: Vec<&str> = key.doc_lines().collect();
    let meaning = format!("{} Write {}.", doc.join(" "), (key.expects)());
    format!(
        "| `{}`<br>`{}` | `{}` | {} |\n",
        key.path(),
        key.variable(),
        key.default,
        meaning.replace('|', "\\|")
    )
}
