//! Every SQL statement in the code parses, names tables that exist, and is held to its tenant.
//!
//! A tenant's handle binds the tenant as `$1`; this check makes sure that every statement uses it, on every
//! table and at every depth. A statement inside `across_tenants(…)` may see all tenants: it need only parse and
//! name known tables.
//!
//! # Layout
//! - [`literals`]: the statements in a Rust file; `platform_scope` knows `across_tenants`
//! - [`schema`]: whose rows each table holds, as the migrations declare it; `declarations` reads their text, and
//!   `references` holds foreign keys to the tenant
//! - [`parse`]: text to syntax tree
//! - [`walk`]: every part of a statement; `level` is one FROM with its WHERE, `insert` what is written

mod declarations;
mod filter;
mod insert;
mod level;
pub mod literals;
pub mod parse;
mod platform_scope;
mod references;
pub mod schema;
pub mod walk;

use crate::finding::Finding;
use crate::sql::is_unchecked_statement;
use crate::workspace::{Source, Workspace};

use literals::{Literal, Whose};
use schema::Schema;

/// The column that every tenant's table has.
pub const TENANT: &str = "tenant_id";

/// What is wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    pub what: String,
    pub advice: &'static str,
}

impl Complaint {
    pub fn new(what: impl Into<String>, advice: &'static str) -> Self {
        Self { what: what.into(), advice }
    }
}

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let files: Vec<(&Source, Vec<Literal>)> =
        list_shipped(workspace).map(|source| (source, literals::read(&source.text))).collect();
    let (schema, mut findings) = Schema::read(workspace, &files);
    for (source, literals) in &files {
        for literal in literals {
            for complaint in check_literal(literal, is_store(source), &schema) {
                findings.push(Finding::new(&source.path, literal.line, complaint.what, complaint.advice));
            }
        }
    }
    findings
}

/// How many statements there are to check.
pub fn count(workspace: &Workspace) -> usize {
    let literals = list_shipped(workspace).flat_map(|source| literals::read(&source.text));
    literals.filter(|literal| crate::sql::is_statement(&literal.text)).count()
}

fn check_literal(literal: &Literal, in_store: bool, schema: &Schema) -> Vec<Complaint> {
    if is_unchecked_statement(&literal.text) {
        let advice = "use SELECT, INSERT, UPDATE, DELETE or WITH, which are checked for their tenant";
        return vec![Complaint::new("this kind of statement is not checked", advice)];
    }
    if !crate::sql::is_statement(&literal.text) {
        return Vec::new();
    }
    match parse::parse(&literal.text) {
        Ok(statement) => walk::check(&statement, literal.whose, &schema.view_from(in_store)),
        Err(_) if parse::is_expression(&literal.text) => Vec::new(),
        Err(error) => vec![error],
    }
}

/// Code that ships: `src` of the crates and packs.
fn list_shipped(workspace: &Workspace) -> impl Iterator<Item = &Source> {
    workspace.list_with_extension(".rs").filter(|source| {
        matches!(source.path.split('/').collect::<Vec<_>>()[..], ["crates" | "packs", _, "src", ..])
    })
}

/// The store alone looks at the engines' own tables and keeps the list of migrations.
fn is_store(source: &Source) -> bool {
    source.path.starts_with("crates/store/")
}

/// A tenant's statement, judged by a schema; for tests.
pub fn check_text(text: &str, whose: Whose, schema: &Schema) -> Vec<Complaint> {
    check_literal(&Literal { text: text.to_owned(), line: 1, whose }, false, schema)
}
