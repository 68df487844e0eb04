//! The rules over a made-up repository, and over this one.

use std::path::{Path, PathBuf};

use munshi_lint::{Workspace, statements};

const MIGRATION: (&str, &str) = (
    "crates/notes/migrations/0001_notes.sql",
    "CREATE TENANT TABLE notes (tenant_id UUID NOT NULL, id UUID NOT NULL);\nCREATE PLATFORM TABLE keys VIA keys (id UUID);",
);

fn findings(path: &str, code: &str) -> Vec<String> {
    let workspace = Workspace::from_files(&[MIGRATION, (path, code)]);
    statements::check(&workspace).iter().map(ToString::to_string).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn a_finding_names_its_place_and_what_to_do() {
    let code = "fn all(tx: &Tx) {\n    tx.query(\n        \"SELECT id FROM notes\",\n    )\n}\n";
    assert_eq!(
        findings("packs/crm/src/list.rs", code),
        [
            "packs/crm/src/list.rs:3: `notes` is not held to the tenant: add tenant_id = $1 for it, joined by AND, \
          in the WHERE of its own query or the ON of its join"
        ]
    );
}

#[test]
fn both_texts_of_a_pair_are_checked() {
    let code =
        "const A: (&str, &str) = (\"SELECT id FROM notes WHERE tenant_id = $1\", \"SELECT id FROM notes\");";
    assert_eq!(findings("crates/notes/src/a.rs", code).len(), 1);
    let door =
        "fn a() { tx.query(across_tenants((\"SELECT id FROM keys\", \"SELECT id FROM keys FOR UPDATE\"))) }";
    assert_eq!(findings("crates/notes/src/a.rs", door), Vec::<String>::new());
}

#[test]
fn only_what_ships_is_checked() {
    let code = "const A: &str = \"SELECT id FROM notes\";";
    for path in ["crates/notes/tests/a.rs", "bench/src/main.rs", "lint/src/a.rs"] {
        assert_eq!(findings(path, code), Vec::<String>::new(), "{path}");
    }
    assert_eq!(findings("crates/notes/src/deep/er/a.rs", code).len(), 1);
}

#[test]
fn the_store_alone_sees_the_engines_own_tables() {
    let code = "const A: &str = \"CREATE TABLE IF NOT EXISTS schema_migrations (number INTEGER)\";
        const B: &str = \"SELECT number FROM schema_migrations\";
        const C: &str = \"SELECT 1 FROM pg_roles\"; const D: &str = \"SELECT 1 FROM information_schema.columns\";";
    assert_eq!(findings("crates/store/src/a.rs", code), Vec::<String>::new());
    assert_eq!(findings("crates/jobs/src/a.rs", code).len(), 3);
    let notes = "const A: &str = \"SELECT id FROM notes\";";
    assert_eq!(findings("crates/store/src/a.rs", notes).len(), 1, "a tenant's table is one there too");
}

#[test]
fn tables_declared_in_the_code_are_known() {
    let code = "const A: &str = \"CREATE TENANT TABLE probes (tenant_id UUID NOT NULL)\";
        const B: &str = \"SELECT 1 FROM probes WHERE tenant_id = $1\"; const C: &str = \"SELECT 1 FROM probes\";";
    let findings = findings("crates/test-support/src/a.rs", code);
    assert!(findings.len() == 1 && findings[0].contains("`probes` is not held"), "{findings:?}");
}

#[test]
fn every_statement_of_the_workspace_is_scoped() {
    let workspace = Workspace::read(&root()).unwrap();
    let findings: Vec<String> = statements::check(&workspace).iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    let has_tables = workspace.migrations().next().is_some();
    assert!(
        !has_tables || statements::count(&workspace) > 0,
        "tables but no statements: the check has gone blind"
    );
}

#[test]
fn the_repository_keeps_its_rules() {
    let findings: Vec<String> =
        munshi_lint::check(&root()).unwrap().iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn a_repository_is_read_without_what_is_built() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["target/debug/utils.rs", ".git/misc", "crates/a/src/lib.rs", "crates/a/src/utils.rs"] {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "fn a() {}\n").unwrap();
    }
    let workspace = Workspace::read(folder.path()).unwrap();
    let findings = munshi_lint::names::check(&workspace);
    assert_eq!(
        findings.iter().map(|finding| finding.path.as_str()).collect::<Vec<_>>(),
        ["crates/a/src/utils.rs"]
    );
}
