//! Names that say nothing about what lives there.

use crate::finding::Finding;
use crate::workspace::Workspace;

const REFUSED: [&str; 9] =
    ["common", "util", "utils", "helper", "helpers", "misc", "manager", "managers", "v2"];

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.paths.iter().filter(|path| is_refused(path)).map(|path| finding(path)).collect()
}

fn is_refused(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name).to_lowercase();
    REFUSED.contains(&stem.as_str()) || stem.starts_with("new_")
}

fn finding(path: &str) -> Finding {
    Finding::new(
        path,
        1,
        "the name does not say what is in it",
        "name it after what it holds, in one plain word",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_names_are_refused_wherever_they_stand() {
        for bad in
            ["crates/common", "a/utils.rs", "a/Helpers", "misc.md", "a/manager.rs", "api/v2", "new_queue.rs"]
        {
            assert!(is_refused(bad), "{bad}");
        }
        for good in ["crates/types", "a/commons.rs", "a/renewal.rs", "newest.rs", "a/v2ray.rs", "common/a.rs"]
        {
            assert!(!is_refused(good), "{good}");
        }
    }
}
