//! What the workspace takes from others: permissive licences, from the registry, one version of each, and not ever more.
//! And what it builds for tests: one program for each package.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::Error;
use crate::finding::Finding;

const WORKSPACE: &str = "Cargo.toml";
const LOCK: &str = "Cargo.lock";
const PRODUCT: &str = "munshi";
const REGISTRY: &str = "registry+";
/// So many packages of others may the product be built of.
const MOST_SHIPPED: usize = 353;
/// Others have not agreed on one version of these yet.
const TWICE: [&str; 13] = [
    "base64",
    "bitflags",
    "const-oid",
    "fallible-iterator",
    "getrandom",
    "hashbrown",
    "miniz_oxide",
    "rand",
    "rand_core",
    "strum",
    "strum_macros",
    "syn",
    "tower-http",
];
const PERMISSIVE: [&str; 11] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// What `cargo metadata` says of everything that is built.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    pub packages: Vec<Package>,
    pub resolve: Resolve,
}

#[derive(Debug, Deserialize)]
pub struct Package {
    pub id: String,
    pub name: String,
    pub version: String,
    pub license: Option<String>,
    /// None for a package of this workspace.
    pub source: Option<String>,
    pub targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
pub struct Target {
    pub kind: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct Resolve {
    pub nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
pub struct Node {
    pub id: String,
    pub deps: Vec<Arrow>,
}

#[derive(Debug, Deserialize)]
pub struct Arrow {
    pub pkg: String,
    pub dep_kinds: Vec<ArrowKind>,
}

#[derive(Debug, Deserialize)]
pub struct ArrowKind {
    /// `dev`, `build`, or none for a normal one.
    pub kind: Option<String>,
}

pub fn check(root: &Path) -> Result<Vec<Finding>, Error> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root)
        .output()
        .map_err(|error| Error::Metadata(error.to_string()))?;
    if !output.status.success() {
        return Err(Error::Metadata(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let metadata =
        serde_json::from_slice(&output.stdout).map_err(|error| Error::Metadata(error.to_string()))?;
    Ok(check_metadata(&metadata))
}

/// Everything wrong with what is taken.
pub fn check_metadata(metadata: &Metadata) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let Package { name, version, .. } = package;
        let Some(source) = &package.source else {
            let tests = package.targets.iter().filter(|target| target.kind.iter().any(|kind| kind == "test"));
            if tests.count() > 1 {
                let what = format!("`{name}` has several test programs");
                findings.push(Finding::new(
                    WORKSPACE,
                    1,
                    what,
                    "make them modules of one: each is linked separately",
                ));
            }
            continue;
        };
        if !source.starts_with(REGISTRY) {
            let what = format!("`{name}` comes from {source}");
            findings.push(Finding::new(LOCK, 1, what, "use a release from the registry, which can't change"));
        }
        let license = package.license.as_deref().unwrap_or_default();
        if !is_permissive(license) {
            let what = format!("`{name}` {version} is under `{license}`");
            findings.push(Finding::new(LOCK, 1, what, "use one with a permissive licence"));
        }
    }
    findings.extend(check_shipped(&list_shipped(metadata)));
    findings
}

/// The versions of what the product is built of, by name.
fn list_shipped(metadata: &Metadata) -> BTreeMap<&str, BTreeSet<&str>> {
    let nodes: BTreeMap<&str, &Node> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let product = metadata.packages.iter().find(|package| package.name == PRODUCT);
    let (mut seen, mut next) = (BTreeSet::new(), Vec::from_iter(product.map(|package| package.id.as_str())));
    while let Some(id) = next.pop() {
        if !seen.insert(id) {
            continue;
        }
        let arrows = nodes.get(id).into_iter().flat_map(|node| &node.deps);
        let built =
            arrows.filter(|arrow| arrow.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev")));
        next.extend(built.map(|arrow| arrow.pkg.as_str()));
    }
    let mut versions = BTreeMap::<&str, BTreeSet<&str>>::new();
    for package in metadata.packages.iter().filter(|package| seen.contains(package.id.as_str())) {
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    versions
}

fn check_shipped(versions: &BTreeMap<&str, BTreeSet<&str>>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let others = versions.iter().filter(|(name, _)| !name.starts_with(PRODUCT));
    let count: usize = others.map(|(_, versions)| versions.len()).sum();
    if count > MOST_SHIPPED {
        let what = format!("the product is built of {count} packages of others");
        let advice =
            format!("remove one, or explain in ARCHITECTURE.md why it may be more than {MOST_SHIPPED}");
        findings.push(Finding::new(LOCK, 1, what, advice));
    }
    for (name, versions) in versions {
        let is_known = TWICE.contains(name);
        if versions.len() > 1 && !is_known {
            let all = Vec::from_iter(versions.iter().copied()).join(", ");
            let advice =
                "choose the version that others take, or add it to the list in lint/src/dependencies.rs";
            findings.push(Finding::new(LOCK, 1, format!("`{name}` is built in versions {all}"), advice));
        }
        if versions.len() == 1 && is_known {
            let what = format!("`{name}` is built once");
            findings.push(Finding::new(LOCK, 1, what, "remove it from the list in lint/src/dependencies.rs"));
        }
    }
    findings
}

/// Whether somebody may take it under permissive terms alone: an expression of names with `OR`, `AND` and brackets.
fn is_permissive(license: &str) -> bool {
    let spaced = license.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    parse_or(&mut rest) && rest.is_empty()
}

fn parse_or(rest: &mut &[&str]) -> bool {
    let mut is = parse_and(rest);
    while let Some(("OR", after)) = rest.split_first().map(|(word, after)| (*word, after)) {
        *rest = after;
        is |= parse_and(rest);
    }
    is
}

fn parse_and(rest: &mut &[&str]) -> bool {
    let mut is = parse_term(rest);
    while let Some(("AND", after)) = rest.split_first().map(|(word, after)| (*word, after)) {
        *rest = after;
        is &= parse_term(rest);
    }
    is
}

fn parse_term(rest: &mut &[&str]) -> bool {
    let Some((word, after)) = rest.split_first() else { return false };
    *rest = after;
    if *word == "(" {
        let is = parse_or(rest);
        let closed = rest.split_first().filter(|(word, _)| **word == ")");
        *rest = closed.map_or(*rest, |(_, after)| after);
        return is && closed.is_some();
    }
    // An exception only permits more.
    if let Some(("WITH", after)) = rest.split_first().map(|(word, after)| (*word, after)) {
        *rest = after.get(1..).unwrap_or_default();
    }
    PERMISSIVE.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissive_terms_are_told_from_others() {
        for license in [
            "MIT",
            "MIT/Apache-2.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "GPL-3.0-only OR MIT",
            "MIT AND BSD-3-Clause",
        ] {
            assert!(is_permissive(license), "{license}");
        }
        for license in
            ["", "GPL-3.0-only", "MIT AND AGPL-3.0-only", "(MIT", "OR", "MPL-2.0", "MIT Apache-2.0"]
        {
            assert!(!is_permissive(license), "{license}");
        }
    }

    fn package(name: &str, version: &str, more: &str) -> String {
        format!(
            r#"{{"id": "{name} {version}", "name": "{name}", "version": "{version}", "license": "MIT", "targets": [],
                "source": "registry+x"{more}}}"#
        )
    }

    /// The product, and these packages that it leans on in this way.
    fn findings(others: &[String], kind: &str) -> Vec<String> {
        let own = r#"{"id": "munshi 0", "name": "munshi", "version": "0", "license": null, "source": null,
            "targets": [{"kind": ["test"]}, {"kind": ["lib"]}]}"#;
        let arrows: Vec<String> = others
            .iter()
            .map(|other| serde_json::from_str::<serde_json::Value>(other).unwrap()["id"].clone())
            .map(|id| format!(r#"{{"pkg": {id}, "dep_kinds": [{{"kind": {kind}}}]}}"#))
            .collect();
        let json = format!(
            r#"{{"packages": [{own}{}], "resolve": {{"nodes": [{{"id": "munshi 0", "deps": [{}]}}]}}}}"#,
            others.iter().map(|other| format!(", {other}")).collect::<String>(),
            arrows.join(", ")
        );
        check_metadata(&serde_json::from_str(&json).unwrap()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn two_versions_are_found_where_they_are_shipped() {
        let two = [package("dice", "1.0.0", ""), package("dice", "2.0.0", "")];
        assert!(findings(&two, "null")[0].contains("`dice` is built in versions 1.0.0, 2.0.0"));
        assert_eq!(findings(&two, "\"dev\""), Vec::<String>::new());
        assert_eq!(
            findings(&[package("rand", "1", ""), package("rand", "2", "")], "null"),
            Vec::<String>::new()
        );
        assert!(findings(&[package("rand", "1", "")], "null")[0].contains("`rand` is built once"));
    }

    #[test]
    fn other_sources_licences_and_test_programs_are_found() {
        let far = package("far", "1", "").replace("registry+x", "git+https://example.invalid/far");
        assert!(findings(&[far], "\"dev\"")[0].contains("`far` comes from git+"));
        let bound = package("bound", "1", "").replace("\"MIT\"", "\"GPL-3.0-only\"");
        assert!(findings(&[bound], "\"dev\"")[0].contains("`bound` 1 is under `GPL-3.0-only`"));
        let own = package("munshi-x", "0", "").replace("\"registry+x\"", "null");
        let tests = own.replace("\"targets\": []", r#""targets": [{"kind": ["test"]}, {"kind": ["test"]}]"#);
        assert_eq!(findings(&[own], "\"dev\""), Vec::<String>::new());
        assert!(findings(&[tests], "\"dev\"")[0].contains("several test programs"));
    }

    #[test]
    fn many_packages_are_too_many() {
        let many: Vec<String> =
            (0..=MOST_SHIPPED).map(|number| package(&format!("p{number}"), "1", "")).collect();
        assert!(findings(&many, "\"build\"")[0].contains(&format!("built of {} packages", MOST_SHIPPED + 1)));
        assert_eq!(findings(&many[1..], "null"), Vec::<String>::new());
    }
}
