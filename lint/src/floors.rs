//! Dependencies point down the floors, never up or along one. Packages have no features of their own.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::Error;
use crate::finding::Finding;

/// Databases, doubles and harnesses for tests: nothing that is shipped may lean on them.
const FOR_TESTS: [&str; 2] = ["munshi-test-support", "munshi-test-app"];
/// Tools of this repository, which are not shipped.
const TOOLS: [&str; 2] = ["munshi-bench", "munshi-lint"];
const WORKSPACE: &str = "Cargo.toml";

/// What `cargo metadata` says of the workspace.
#[derive(Debug, Default, Deserialize)]
pub struct Metadata {
    pub packages: Vec<Package>,
    /// `[workspace.metadata]`
    #[serde(default, rename = "metadata")]
    pub notes: Option<Notes>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Notes {
    #[serde(default)]
    pub floors: BTreeMap<String, u32>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Package {
    pub name: String,
    pub manifest_path: String,
    pub dependencies: Vec<Dependency>,
    #[serde(default)]
    pub features: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize)]
pub struct Dependency {
    pub name: String,
    /// `dev`, `build`, or none for a normal one.
    pub kind: Option<String>,
}

pub fn check(root: &Path) -> Result<Vec<Finding>, Error> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .output()
        .map_err(|error| Error::Metadata(error.to_string()))?;
    if !output.status.success() {
        return Err(Error::Metadata(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let metadata =
        serde_json::from_slice(&output.stdout).map_err(|error| Error::Metadata(error.to_string()))?;
    let root =
        root.canonicalize().map_err(|source| Error::Read { path: root.display().to_string(), source })?;
    Ok(check_metadata(&metadata, &root))
}

/// Everything wrong with the packages; manifests are looked at only to name the line.
pub fn check_metadata(metadata: &Metadata, root: &Path) -> Vec<Finding> {
    let none = BTreeMap::new();
    let floors = metadata.notes.as_ref().map_or(&none, |notes| &notes.floors);
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let manifest = Manifest::load(package, root);
        if !floors.contains_key(&package.name) {
            let what = format!("`{}` has no floor", package.name);
            findings.push(Finding::new(WORKSPACE, 1, what, "give it one in [workspace.metadata.floors]"));
        }
        if !package.features.is_empty() {
            let what = format!("`{}` has features", package.name);
            findings.push(manifest.finding("[features]", what, "let settings choose at run time"));
        }
        for dependency in &package.dependencies {
            findings.extend(
                check_dependency(package, dependency, floors)
                    .map(|(what, advice)| manifest.finding(&dependency.name, what, advice)),
            );
        }
    }
    findings
}

/// What is wrong with one dependency, and what to do.
fn check_dependency(
    package: &Package,
    dependency: &Dependency,
    floors: &BTreeMap<String, u32>,
) -> Option<(String, &'static str)> {
    let (from, to) = (package.name.as_str(), dependency.name.as_str());
    let (upper, lower) = (floors.get(from)?, floors.get(to)?);
    if dependency.kind.as_deref() == Some("dev") {
        return None;
    }
    if FOR_TESTS.contains(&to) && !FOR_TESTS.contains(&from) && !TOOLS.contains(&from) {
        return Some((format!("`{from}` ships with `{to}`"), "make it a dev-dependency"));
    }
    if lower >= upper {
        let what = format!("`{from}` on floor {upper} depends on `{to}` on floor {lower}");
        return Some((what, "arrows point down: move the code, or take what it needs as a trait"));
    }
    None
}

struct Manifest {
    path: String,
    text: String,
}

impl Manifest {
    fn load(package: &Package, root: &Path) -> Self {
        let path = Path::new(&package.manifest_path);
        let text = std::fs::read_to_string(path).unwrap_or_default();
        Self { path: path.strip_prefix(root).unwrap_or(path).display().to_string(), text }
    }

    fn finding(&self, word: &str, what: String, advice: &str) -> Finding {
        let line = self.text.lines().position(|line| line.trim_start().starts_with(word));
        Finding::new(&self.path, line.map_or(1, |line| line + 1), what, advice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(json: &str) -> Vec<String> {
        let metadata: Metadata = serde_json::from_str(json).unwrap();
        check_metadata(&metadata, Path::new("/w")).iter().map(ToString::to_string).collect()
    }

    fn workspace(from: &str, to: &str, kind: &str) -> String {
        format!(
            r#"{{"packages": [{{"name": "{from}", "manifest_path": "/w/a/Cargo.toml", "features": {{}},
                "dependencies": [{{"name": "{to}", "kind": {kind}}}, {{"name": "serde", "kind": null}}]}}],
              "metadata": {{"floors": {{"low": 1, "high": 2, "level": 2, "munshi-test-support": 1, "munshi-test-app": 2, "munshi-bench": 3}}}}}}"#
        )
    }

    #[test]
    fn arrows_point_down() {
        assert_eq!(findings(&workspace("high", "low", "null")), Vec::<String>::new());
        for kind in ["null", "\"build\""] {
            let along = findings(&workspace("high", "level", kind)).join("\n");
            assert!(
                along.starts_with("a/Cargo.toml:1: `high` on floor 2 depends on `level` on floor 2"),
                "{along}"
            );
            assert_eq!(findings(&workspace("low", "high", kind)).len(), 1);
        }
        assert_eq!(findings(&workspace("low", "high", "\"dev\"")), Vec::<String>::new());
    }

    #[test]
    fn what_is_for_tests_is_not_shipped() {
        let [support, app] = FOR_TESTS;
        assert_eq!(findings(&workspace("high", support, "\"dev\"")), Vec::<String>::new());
        for tool in ["munshi-bench", app] {
            assert_eq!(findings(&workspace(tool, support, "null")), Vec::<String>::new());
        }
        for to in FOR_TESTS {
            assert!(findings(&workspace("high", to, "null"))[0].contains("make it a dev-dependency"));
        }
    }

    #[test]
    fn every_package_has_a_floor_and_none_has_features() {
        let lost = findings(&workspace("lost", "low", "null"));
        assert_eq!(lost, ["Cargo.toml:1: `lost` has no floor: give it one in [workspace.metadata.floors]"]);
        let json =
            workspace("high", "low", "null").replace(r#""features": {}"#, r#""features": {"fast": []}"#);
        assert!(findings(&json)[0].contains("`high` has features"));
    }

    #[test]
    fn the_real_workspace_is_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert_eq!(check(&root).unwrap(), Vec::new());
    }
}
