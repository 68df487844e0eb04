//! The data folder: whether it can be written, who can read it, and the room that is left.

use std::path::Path;

use munshi_config::Config;
use munshi_store::DatabaseAddress;

use super::finding::DoctorFinding;
use crate::output::formatting::format_size;

/// Below this the next busy day may fill the disk; below the other the next hour.
const LITTLE_ROOM: u64 = 1 << 30;
const NO_ROOM: u64 = 64 << 20;

pub(super) fn examine(config: &Config) -> Vec<DoctorFinding> {
    let folder = &config.data.dir;
    let written = match config.store_url().reveal().parse() {
        Ok(DatabaseAddress::Sqlite(file)) => file,
        _ => folder.clone(),
    };
    vec![check_permissions(folder), check_disk_space(&written)]
}

fn check_permissions(folder: &Path) -> DoctorFinding {
    let shown = folder.display();
    if !folder.exists() {
        return match find_existing_ancestor(folder) {
            Some(parent) if is_writable(parent) => {
                DoctorFinding::ok("folder", format!("{shown} is created on first run"))
            }
            _ => DoctorFinding::fail(
                "folder",
                format!("{shown} does not exist and this user can't create it"),
                "create it for this user, or choose another with data.dir",
            ),
        };
    }
    if !folder.is_dir() {
        return DoctorFinding::fail(
            "folder",
            format!("{shown} is not a folder"),
            "choose another with data.dir",
        );
    }
    if !is_writable(folder) {
        let hint = "chown it to this user, or choose another with data.dir";
        return DoctorFinding::fail("folder", format!("{shown} is not writable by this user"), hint);
    }
    if is_open_to_others(folder) {
        let detail = format!("{shown} is readable by other users");
        return DoctorFinding::warn("folder", detail, format!("chmod 700 {shown}"));
    }
    DoctorFinding::ok("folder", format!("{shown}, private to this user"))
}

/// On the disk where most is written.
fn check_disk_space(written: &Path) -> DoctorFinding {
    let free = find_existing_ancestor(written).and_then(|there| rustix::fs::statvfs(there).ok());
    let Some(free) = free.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize)) else {
        return DoctorFinding::warn("disk", "can't determine the free space", "check with `df -h`");
    };
    let detail = format!("{} free", format_size(free));
    match free {
        LITTLE_ROOM.. => DoctorFinding::ok("disk", detail),
        NO_ROOM..LITTLE_ROOM => {
            DoctorFinding::warn("disk", detail, "free some space soon; old backups are in the backups folder")
        }
        _ => DoctorFinding::fail("disk", detail, "free some space: writes fail when the disk is full"),
    }
}

/// The folder itself, or the closest one above it that is there.
fn find_existing_ancestor(folder: &Path) -> Option<&Path> {
    let there = folder.ancestors().find(|path| path.exists());
    // A relative path ends at the current folder.
    there.or_else(|| folder.is_relative().then(|| Path::new(".")))
}

fn is_writable(folder: &Path) -> bool {
    use rustix::fs::Access;
    rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Whether the rights let others than the owner read.
pub(super) fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o044 != 0)
}
