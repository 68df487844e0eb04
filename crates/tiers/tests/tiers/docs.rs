//! What is published says what the program does.

use std::path::PathBuf;

use munshi_tiers::{build_schema, render_reference};
use munshi_types::tier::TierKind;

const BEGIN: &str = "UPDATE_DOCS=1 cargo test -p munshi-tiers -->\n";
const END: &str = "<!-- end -->";

fn docs(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(path)
}

#[allow(clippy::disallowed_methods, reason = "whether to write the docs is said in the environment")]
fn same(path: PathBuf, wanted: &str) {
    if std::env::var("UPDATE_DOCS").is_ok() {
        std::fs::write(path, wanted).unwrap();
        return;
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == wanted, "{} is not fresh: run UPDATE_DOCS=1 cargo test -p munshi-tiers", path.display());
}

#[test]
fn the_schemas_are_fresh() {
    for kind in TierKind::ALL {
        let text = serde_json::to_string_pretty(&build_schema(kind)).unwrap() + "\n";
        same(docs(&format!("schemas/{kind}.json")), &text);
    }
}

#[test]
fn the_reference_is_fresh() {
    let text = std::fs::read_to_string(docs("tiers.md")).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    same(docs("tiers.md"), &format!("{before}{BEGIN}\n{}\n{END}{after}", render_reference()));
}
