//! The house rules that clippy can't know. `cargo run -q -p munshi-lint` prints one line per finding.
//!
//! # Layout
//! - [`workspace`]: the repository's files, read once; [`tokens`]: a Rust file as tokens with places
//! - [`floors`]: dependencies point down the floors, and packages have no features
//! - [`dependencies`]: licences, sources and versions of what is taken from others; one test program for each package
//! - [`sizes`], [`names`], [`type_names`], [`comments`]: what keeps the code easy to read
//! - [`sql_formatting`]: SQL is a literal, never put together
//! - [`migrations`]: their names and numbers
//! - [`sealed_columns`]: every column of text is sealed at rest, or says why it is plain
//! - [`statements`]: every statement parses and is held to its tenant
//!
//! To add a rule: a file with a `check` that returns findings, its line in [`check`], and tests with an
//! example that breaks it.

pub mod comments;
pub mod dependencies;
pub mod finding;
pub mod floors;
pub mod migrations;
pub mod names;
pub mod sealed_columns;
pub mod sizes;
pub mod sql;
pub mod sql_formatting;
pub mod statements;
pub mod tokens;
pub mod type_names;
pub mod workspace;

use std::path::Path;

pub use finding::Finding;
pub use workspace::Workspace;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path} can't be read: {source}")]
    Read { path: String, source: std::io::Error },
    #[error("`cargo metadata` failed: {0}")]
    Metadata(String),
}

/// Everything that breaks a rule in the repository at `root`, in the order of its files.
pub fn check(root: &Path) -> Result<Vec<Finding>, Error> {
    let workspace = Workspace::read(root)?;
    let mut findings = floors::check(root)?;
    findings.extend(dependencies::check(root)?);
    findings.extend(sizes::check(&workspace));
    findings.extend(names::check(&workspace));
    findings.extend(type_names::check(&workspace));
    findings.extend(comments::check(&workspace));
    findings.extend(sql_formatting::check(&workspace));
    findings.extend(migrations::check(&workspace));
    findings.extend(sealed_columns::check(&workspace));
    findings.extend(statements::check(&workspace));
    findings.sort();
    findings.dedup();
    Ok(findings)
}
