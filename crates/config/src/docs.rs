//! The reference of every key, as `docs/configuration.md` holds it.

use crate::config::SECTIONS;
use crate::section::{SectionCardinality, SectionOutline, SettingDefinition};

const INTRODUCTION: &str = "\
# Configuration

Munshi runs without any settings. To change one, write it in a TOML file or set its variable: a variable wins
over the file, and the file over the default.

The file is the one given with `--config` or `MUNSHI_CONFIG`; without that, the first of these that exists:
`munshi.toml` in the current folder, `$XDG_CONFIG_HOME/munshi/munshi.toml` (or `~/.config/munshi/munshi.toml`), and
`/etc/munshi/munshi.toml`.

- `munshi config example` prints a complete file to start from
- `munshi config check` reads the settings and lists every problem
- `munshi config show` prints every key, its value and where that came from; secrets are dots

A list is written in brackets in the file, and with commas in a variable (headers: a line each).

This page is made from the code by `UPDATE_DOCS=1 cargo test -p munshi-config`.
";

/// The page as Markdown.
pub fn docs() -> String {
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
