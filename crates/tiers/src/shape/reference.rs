//! Every key, for people to read.

use munshi_types::tier::TierKind;

use super::{FieldRequirement, TierField, ValueShape, fields};

/// The reference in `docs/tiers.md`: a table for each kind.
pub fn render_reference() -> String {
    TierKind::ALL.into_iter().map(section).collect::<Vec<_>>().join("\n")
}

fn section(kind: TierKind) -> String {
    let mut text = format!(
        "### {}/NAME.{}\n\n| key | write | what it is |\n|---|---|---|\n",
        kind.folder(),
        kind.extension()
    );
    rows(fields(kind), "", &mut text);
    text
}

fn rows(fields: &[TierField], path: &str, text: &mut String) {
    for field in fields {
        let name = if path.is_empty() { field.name.to_owned() } else { format!("{path}.{}", field.name) };
        let needed = if field.needed == FieldRequirement::Always { " (needed)" } else { "" };
        let expects = field.shape.describe().replace('|', "\\|");
        text.push_str(&format!("| `{name}`{needed} | {expects} | {} |\n", field.doc));
        if let ValueShape::Table(inner) | ValueShape::List(ValueShape::Table(inner)) = &field.shape {
            rows(inner, &name, text);
        }
    }
}
