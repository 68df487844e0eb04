//! Every column of TEXT, JSON and BYTES says in `migrations/columns.toml` whether it is sealed at rest, and a sealed one is used as such.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Finding;
use crate::workspace::{Source, Workspace};

/// `table.column`.
type ColumnName = (String, String);

/// Where a column is declared, and how.
struct Declaration {
    path: String,
    line: usize,
    is_sealed: bool,
}

/// A column that a migration makes, and where.
struct CreatedColumn {
    path: String,
    line: usize,
}

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut sealed = BTreeMap::new();
    for folder in list_folders(workspace) {
        let declared = read_declarations(workspace, &folder, &mut findings);
        let created = list_columns(workspace, &folder);
        check_folder(&folder, &created, &declared, &mut findings);
        sealed.extend(declared.into_iter().filter(|(_, one)| one.is_sealed));
    }
    check_uses(workspace, &sealed, &mut findings);
    findings
}

/// The folders with migrations.
fn list_folders(workspace: &Workspace) -> BTreeSet<String> {
    let folder = |source: &Source| source.path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    workspace.migrations().filter_map(folder).collect()
}

fn check_folder(
    folder: &str,
    created: &BTreeMap<ColumnName, CreatedColumn>,
    declared: &BTreeMap<ColumnName, Declaration>,
    findings: &mut Vec<Finding>,
) {
    for ((table, column), CreatedColumn { path, line }) in created {
        if !declared.contains_key(&(table.clone(), column.clone())) {
            let advice =
                format!("say in {folder}/columns.toml by which key it is sealed, or why it is plain");
            findings.push(Finding::new(path, *line, format!("{table}.{column} is not declared"), advice));
        }
    }
    for ((table, column), one) in declared {
        let is_file = table.starts_with("file ");
        if !is_file && !created.contains_key(&(table.clone(), column.clone())) {
            let what = format!("there is no column {table}.{column} of TEXT, JSON or BYTES");
            findings.push(Finding::new(&one.path, one.line, what, "take it out"));
        }
    }
}

fn read_declarations(
    workspace: &Workspace,
    folder: &str,
    findings: &mut Vec<Finding>,
) -> BTreeMap<ColumnName, Declaration> {
    let path = format!("{folder}/columns.toml");
    let mut declared = BTreeMap::new();
    let Some(source) = workspace.sources.iter().find(|source| source.path == path) else { return declared };
    let mut table = String::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.trim_matches('"').clone_into(&mut table);
        } else if let Some((how, columns)) = line.split_once(" = ") {
            let Some(is_sealed) = parse_how(how.trim_matches('"')) else {
                let advice =
                    "write sealed(person), sealed(tenant), plain(reason) or unsealed(person or tenant)";
                findings.push(Finding::new(&path, number, format!("unknown declaration {how}"), advice));
                continue;
            };
            for column in columns.split('"').skip(1).step_by(2) {
                let one = Declaration { path: path.clone(), line: number, is_sealed };
                if declared.insert((table.clone(), column.to_owned()), one).is_some() {
                    let what = format!("{table}.{column} is declared twice");
                    findings.push(Finding::new(&path, number, what, "leave one"));
                }
            }
        }
    }
    declared
}

/// Whether what is declared so is sealed.
fn parse_how(how: &str) -> Option<bool> {
    let (word, reason) = how.strip_suffix(')')?.split_once('(')?;
    match word {
        "sealed" if matches!(reason, "person" | "tenant") => Some(true),
        "unsealed" if matches!(reason, "person" | "tenant") => Some(false),
        "plain" if !reason.is_empty() => Some(false),
        _ => None,
    }
}

/// Columns of TEXT, JSON and BYTES that the migrations of a folder make. A table that is rebuilt as `NAME_new` is NAME.
fn list_columns(workspace: &Workspace, folder: &str) -> BTreeMap<ColumnName, CreatedColumn> {
    let mut columns = BTreeMap::new();
    let prefix = format!("{folder}/");
    for source in workspace.migrations().filter(|source| source.path.starts_with(&prefix)) {
        let mut table = String::new();
        for (number, line) in (1..).zip(source.text.lines()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let column = match words[..] {
                ["--", ..] => continue,
                ["CREATE", "TENANT" | "SHARED" | "PLATFORM", "TABLE", name, ..] => {
                    name.strip_suffix("_new").unwrap_or(name).clone_into(&mut table);
                    None
                }
                ["ALTER", "TABLE", name, ref rest @ ..] => {
                    name.clone_into(&mut table);
                    find_added(rest)
                }
                ["ADD", "COLUMN", name, kind, ..] => Some((name, kind)),
                [name, kind, ..] if line.starts_with("  ") => Some((name, kind)),
                _ => None,
            };
            if let Some((name, _)) = column.filter(|(_, kind)| may_hold_words(kind)) {
                let created = CreatedColumn { path: source.path.clone(), line: number };
                columns.entry((table.clone(), name.to_owned())).or_insert(created);
            }
        }
    }
    columns
}

fn find_added<'a>(words: &[&'a str]) -> Option<(&'a str, &'a str)> {
    match words {
        ["ADD", "COLUMN", name, kind, ..] => Some((name, kind)),
        _ => None,
    }
}

/// Bytes may be a file of somebody's, or a hash that a guess of their words is tried on.
fn may_hold_words(kind: &str) -> bool {
    matches!(kind.trim_end_matches([',', ';']), "TEXT" | "JSON" | "BYTES")
}

/// Each sealed column has its `SealedColumn` in the code, and each of those a declaration.
fn check_uses(
    workspace: &Workspace,
    sealed: &BTreeMap<ColumnName, Declaration>,
    findings: &mut Vec<Finding>,
) {
    let mut used = BTreeSet::new();
    for source in workspace.list_with_extension(".rs").filter(|source| source.path.contains("/src/")) {
        for (number, line) in (1..).zip(source.text.lines()) {
            let Some((_, call)) = line.split_once("SealedColumn::new(\"") else { continue };
            let names: Vec<&str> = call.split('"').collect();
            let [table, _, column, ..] = names[..] else { continue };
            let file = (format!("file {table}"), column.to_owned());
            let name = (table.to_owned(), column.to_owned());
            let known = [name, file].into_iter().find(|name| sealed.contains_key(name));
            match known {
                Some(known) => drop(used.insert(known)),
                None if source.path.starts_with("lint/") => {}
                None => findings.push(Finding::new(
                    &source.path,
                    number,
                    format!("{table}.{column} is sealed here and not declared so"),
                    "declare it as sealed in the columns.toml of its migrations",
                )),
            }
        }
    }
    for (name, one) in sealed.iter().filter(|(name, _)| !used.contains(*name)) {
        let what = format!("nothing seals {}.{}", name.0, name.1);
        let advice = "seal it through a SealedColumn, or say that it is plain and why";
        findings.push(Finding::new(&one.path, one.line, what, advice));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "CREATE TENANT TABLE notes (\n  tenant_id UUID NOT NULL,\n  text TEXT NOT NULL,\n  seen INT,\n  scan BYTES\n);\nALTER TABLE notes ADD COLUMN more JSON;\n";
    const USE: &str = "const TEXT: SealedColumn = SealedColumn::new(\"notes\", \"text\");\n";

    fn findings(columns: &str, code: &str) -> Vec<String> {
        let files = [
            ("crates/notes/migrations/0001_notes.sql", TABLE),
            ("crates/notes/migrations/columns.toml", columns),
            ("crates/notes/src/lib.rs", code),
        ];
        check(&Workspace::from_files(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_column_is_declared_and_a_sealed_one_is_sealed() {
        let good = "[notes]\n\"sealed(person)\" = [\"text\"]\n\"plain(counts)\" = [\"more\", \"scan\"]\n";
        assert_eq!(findings(good, USE), Vec::<String>::new());
        let missing =
            findings("[notes]\n\"sealed(person)\" = [\"text\"]\n\"plain(counts)\" = [\"scan\"]\n", USE);
        assert!(missing[0].contains("0001_notes.sql:7: notes.more is not declared"), "{missing:?}");
        let unused = findings(good, "");
        assert!(unused[0].contains("nothing seals notes.text"), "{unused:?}");
        let unscanned =
            findings("[notes]\n\"sealed(person)\" = [\"text\"]\n\"plain(counts)\" = [\"more\"]\n", USE);
        assert!(unscanned[0].contains("0001_notes.sql:5: notes.scan is not declared"), "{unscanned:?}");
        let scanned = findings(
            "[notes]\n\"sealed(person)\" = [\"text\", \"scan\"]\n\"plain(counts)\" = [\"more\"]\n",
            USE,
        );
        assert!(scanned[0].contains("nothing seals notes.scan"), "{scanned:?}");
        let plain = findings("[notes]\n\"plain(counts)\" = [\"text\", \"more\", \"scan\"]\n", USE);
        assert!(plain[0].contains("notes.text is sealed here and not declared so"), "{plain:?}");
    }

    #[test]
    fn a_declaration_is_one_of_a_column_that_is_there() {
        let odd = "[notes]\n\"sealed(person)\" = [\"text\"]\n\"plain(a)\" = [\"more\", \"gone\", \"scan\"]\n";
        assert!(findings(odd, USE)[0].contains("there is no column notes.gone"));
        let twice =
            "[notes]\n\"sealed(person)\" = [\"text\", \"text\"]\n\"plain(a)\" = [\"more\", \"scan\"]\n";
        assert!(findings(twice, USE)[0].contains("declared twice"));
        let unknown = "[notes]\n\"sealed(person)\" = [\"text\"]\n\"plain()\" = [\"more\"]\n";
        assert!(findings(unknown, USE).iter().any(|one| one.contains("unknown declaration")));
    }
}
