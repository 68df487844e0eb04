//! Where a path really leads, and over which links.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

const MOST_LINKS: usize = 40;

/// The real path, of which the last parts need not be there.
pub(super) fn resolve(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            return match path.strip_prefix(ancestor) {
                Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
                _ => real,
            };
        }
    }
    path.to_owned()
}

/// A file under every name that it has on the way: each link that is followed at its end, and the file itself. None where
/// `is_writable` holds of anything on the way: whoever may write there could lead us anywhere.
pub(super) fn follow(path: &Path, is_writable: &dyn Fn(&Path) -> bool) -> Option<Vec<PathBuf>> {
    let mut names = Vec::new();
    let mut note = |at, step| names.extend((step == PathStep::LinkAtEnd).then_some(at));
    let real = walk(path, is_writable, &mut note)?;
    names.push(real);
    Some(names)
}

/// What has to be there for a path to lead where it does, besides the folders above that: each link, and each folder that is left
/// again by `..`, where they really are.
pub(super) fn list_waypoints(path: &Path) -> Vec<PathBuf> {
    let mut waypoints = Vec::new();
    // One that leads nowhere leads the child nowhere, too.
    let _real = walk(path, &|_| false, &mut |at, _| waypoints.push(at));
    waypoints
}

#[derive(PartialEq)]
enum PathStep {
    LinkOnTheWay,
    LinkAtEnd,
    FolderLeft,
}

/// Tells of each step that is not simply down into a folder. Gives back where the path leads.
fn walk(
    path: &Path,
    is_writable: &dyn Fn(&Path) -> bool,
    on_step: &mut dyn FnMut(PathBuf, PathStep),
) -> Option<PathBuf> {
    let (mut at, mut links) = (PathBuf::from("/"), 0);
    let mut rest: Vec<OsString> = parts(path).collect();
    rest.reverse();
    while let Some(part) = rest.pop() {
        if part == ".." {
            on_step(at.clone(), PathStep::FolderLeft);
            at.pop();
            continue;
        }
        let next = at.join(part);
        if is_writable(&next) {
            return None;
        }
        let Ok(target) = std::fs::read_link(&next) else {
            at = next;
            continue;
        };
        links += 1;
        if links > MOST_LINKS {
            return None;
        }
        on_step(next, if rest.is_empty() { PathStep::LinkAtEnd } else { PathStep::LinkOnTheWay });
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        let parts: Vec<OsString> = parts(&target).collect();
        rest.extend(parts.into_iter().rev());
    }
    Some(at)
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_name_on_the_way_is_told_unless_somebody_could_change_it() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        for folder in ["venv/bin", "python/bin", "open"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::write(root.join("python/bin/python"), "").unwrap();
        symlink("../../python/bin/python", root.join("venv/bin/python")).unwrap();
        symlink(root.join("venv"), root.join("current")).unwrap();
        symlink(root.join("venv/bin/python"), root.join("open/python")).unwrap();
        let names = follow(&root.join("current/bin/python"), &|_| false).unwrap();
        assert_eq!(names, [root.join("venv/bin/python"), root.join("python/bin/python")]);
        let steps = ["current", "venv/bin/python", "venv/bin", "venv"].map(|name| root.join(name));
        assert_eq!(list_waypoints(&root.join("current/bin/python")), steps);
        assert_eq!(list_waypoints(&root.join("open/../python/bin/python")), [root.join("open")]);
        let open = root.join("open");
        assert_eq!(follow(&root.join("open/python"), &|path| path.starts_with(&open)), None);
        symlink("loop", root.join("loop")).unwrap();
        assert_eq!(follow(&root.join("loop"), &|_| false), None, "a link to itself leads nowhere");
        assert_eq!(resolve(&root.join("current/not/there")), root.join("venv/not/there"));
    }
}
