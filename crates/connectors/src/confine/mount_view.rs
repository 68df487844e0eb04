//! A file system of the child's own, in which only what it was granted exists.
//!
//! Landlock keeps a process from opening files, but before Linux 7.1 not from connecting to a socket that lies in the file system.
//! So the launcher makes an empty root, binds every granted path into it under its own name, and leaves the old root for good.
//!
//! Links are made again where names lead over them: all that lie in a folder on the way to something granted (`/bin`, `/lib64`,
//! `/etc/resolv.conf`), and those that the launcher is told of. So are, empty, folders that a name leaves again (`app/bin/../lib`).

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};

use landlock::PathFd;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change,
    mount_remount, unmount,
};
use rustix::process::pivot_root;

use super::kernel::ChildRights;

/// Where the new root is made. Every system has it, and nothing is looked for there meanwhile.
const STAGE: &str = "/usr";
/// The old root as it is seen from the new one, until it is left.
const OLD: &str = "/.munshi-old-root";
const PROCESSES: &str = "/proc";

/// Leaves everything but what is granted. The process must have a mount namespace of its own.
pub(super) fn enter(rights: &ChildRights) -> Result<(), String> {
    let folder = std::env::current_dir().map_err(|error| format!("the working folder: {error}"))?;
    let roots = list_roots(rights);
    open_stage()?;
    bind(Path::new(PROCESSES))?;
    for root in &roots {
        bind(root)?;
    }
    for parent in roots.iter().flat_map(|root| root.ancestors().skip(1)).collect::<BTreeSet<_>>() {
        copy_links(parent)?;
    }
    // Those in what is bound are there.
    let is_bound =
        |path: &Path| path.starts_with(PROCESSES) || roots.iter().any(|root| path.starts_with(root));
    rights.waypoints.iter().filter(|path| !is_bound(path)).try_for_each(|path| copy_waypoint(path))?;
    hide_sockets(rights)?;
    let told = |what: &str, error: &dyn std::fmt::Display| format!("{what}: {error}");
    std::env::set_current_dir(&folder).map_err(|error| told(&folder.display().to_string(), &error))?;
    unmount(OLD, UnmountFlags::DETACH).map_err(|error| told("the old root can't be left", &error))?;
    std::fs::remove_dir(OLD).map_err(|error| told(OLD, &error))?;
    let closed = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    mount_remount("/", closed, c"").map_err(|error| told("the new root can't be closed", &error))
}

/// What is granted, without what lies in something else that is. Processes are there anyway.
fn list_roots(rights: &ChildRights) -> Vec<&Path> {
    let mut roots: Vec<&Path> = rights.reads.iter().chain(&rights.writes).map(PathBuf::as_path).collect();
    roots.retain(|path| !path.starts_with(PROCESSES));
    // Parts are compared, so whatever lies in a folder comes right behind it.
    roots.sort();
    roots.dedup_by(|inner, outer| inner.starts_with(*outer));
    roots
}

/// An empty root in the place of the old one, which is in it.
fn open_stage() -> Result<(), String> {
    let told = |error: rustix::io::Errno| format!("no file system of its own: {error}");
    // What is mounted outside later is seen in granted folders; nothing goes the other way.
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC).map_err(told)?;
    mount("munshi", STAGE, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=0755").map_err(told)?;
    let old = format!("{STAGE}{OLD}");
    std::fs::create_dir(&old).map_err(|error| format!("{old}: {error}"))?;
    pivot_root(STAGE, &old).map_err(told)?;
    std::env::set_current_dir("/").map_err(|error| format!("the new root: {error}"))
}

/// The path as it was before. Nothing of it is looked up here.
fn find_old(path: &Path) -> PathBuf {
    let mut old = OsString::from(OLD);
    old.push(path);
    PathBuf::from(old)
}

/// Shows a path under its own name. One that is gone is passed over; one that leads elsewhere than when the rules were made
/// is refused.
fn bind(path: &Path) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let old = find_old(path);
    let Ok(opened) = PathFd::new(&old) else { return Ok(()) };
    let source = format!("{OLD}/proc/self/fd/{}", opened.as_fd().as_raw_fd());
    let real = std::fs::read_link(&source).map_err(|error| told(&error))?;
    if real != old {
        return Err(format!("{} now resolves to {}", path.display(), real.display()));
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|error| told(&error))?;
    }
    let is_folder = std::fs::metadata(&source).map_err(|error| told(&error))?.is_dir();
    let created = match is_folder {
        true => std::fs::create_dir(path),
        false => std::fs::File::create_new(path).map(drop),
    };
    created.map_err(|error| told(&error))?;
    mount_bind_recursive(source.as_str(), path).map_err(|error| told(&error))
}

/// The links that lie in a folder. Of one that can't be listed, only those that the launcher is told of are made.
fn copy_links(folder: &Path) -> Result<(), String> {
    let Ok(inner) = std::fs::read_dir(find_old(folder)) else { return Ok(()) };
    let links = inner.flatten().filter(|found| found.file_type().is_ok_and(|kind| kind.is_symlink()));
    links.map(|link| folder.join(link.file_name())).try_for_each(|link| copy_link(&link))
}

fn copy_waypoint(path: &Path) -> Result<(), String> {
    let is_folder = std::fs::symlink_metadata(find_old(path)).is_ok_and(|found| found.is_dir());
    match is_folder {
        true => std::fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display())),
        false => copy_link(path),
    }
}

fn copy_link(link: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", link.display());
    // Gone meanwhile.
    let Ok(target) = std::fs::read_link(find_old(link)) else { return Ok(()) };
    if let Some(parent) = link.parent() {
        std::fs::create_dir_all(parent).map_err(told)?;
    }
    match symlink(target, link) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(told(error)),
        _ => Ok(()),
    }
}

/// Puts nothing in the place of sockets that somebody listens on in folders that may be read: to connect is to write, as Landlock
/// sees it where it can.
fn hide_sockets(rights: &ChildRights) -> Result<(), String> {
    let list = format!("{OLD}/proc/self/net/unix");
    let list = std::fs::read(&list).map_err(|error| format!("{list}: {error}"))?;
    let is_socket = |path: &Path| std::fs::metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let is_writable = |path: &Path| rights.writes.iter().any(|root| path.starts_with(root));
    // Those that are not in the new root lead nowhere.
    let sockets = list.split(|byte| *byte == b'\n').filter_map(parse_socket);
    let sockets = sockets.filter_map(|path| path.canonicalize().ok());
    let sockets: BTreeSet<PathBuf> = sockets.filter(|path| is_socket(path) && !is_writable(path)).collect();
    let nothing = format!("{OLD}/dev/null");
    sockets.iter().try_for_each(|socket| {
        let told = |error: rustix::io::Errno| format!("{}: {error}", socket.display());
        mount_bind_recursive(nothing.as_str(), socket).map_err(told)
    })
}

/// The path behind the seven fields of a line in the kernel's list of sockets, where it is one of the file system's.
fn parse_socket(line: &[u8]) -> Option<PathBuf> {
    const FIELDS: usize = 7;
    let mut rest = line;
    for _ in 0..FIELDS {
        rest = rest.trim_ascii_start();
        rest = &rest[rest.iter().position(|byte| *byte == b' ')?..];
    }
    let path = rest.strip_prefix(b" ").filter(|path| path.starts_with(b"/"))?;
    Some(PathBuf::from(OsStr::from_bytes(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_something_granted_comes_with_it() {
        let paths = |list: &[&str]| list.iter().map(PathBuf::from).collect();
        let rights = ChildRights {
            reads: paths(&["/usr", "/srv/app", "/proc/sys", "/usr/lib", "/srv/app-data"]),
            writes: paths(&["/srv/app/out", "/home/shop", "/srv/app"]),
            ..ChildRights::default()
        };
        let wanted = ["/home/shop", "/srv/app", "/srv/app-data", "/usr"];
        assert_eq!(list_roots(&rights), wanted.map(Path::new));
    }

    #[test]
    fn sockets_of_the_file_system_are_read_from_the_kernels_list() {
        let line = |path: &str| format!("000000005663a91c: 00000002 00000000 00010000 0001 01  1544{path}");
        let parsed = |path: &str| parse_socket(line(path).as_bytes());
        assert_eq!(parsed(" /run/user/1000/a bus"), Some(PathBuf::from("/run/user/1000/a bus")));
        for other in ["", " @/tmp/.X11-unix/X0", " relative"] {
            assert_eq!(parsed(other), None, "{other}");
        }
        assert_eq!(parse_socket(b"Num       RefCount Protocol Flags    Type St Inode Path"), None);
        assert_eq!(parse_socket(b""), None);
    }
}
