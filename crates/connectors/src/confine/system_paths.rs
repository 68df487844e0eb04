//! What every program needs of the system, and what none may have.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::symlinks;

/// Programs, libraries, certificates, zones, the way to a name server, and what a runtime asks about the machine.
const READABLE: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
    "/run/systemd/resolve",
    "/run/NetworkManager/resolv.conf",
    "/var/lib/ca-certificates",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys",
    "/proc/uptime",
    "/proc/version",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Of `/etc`, what programs look up; the rest of it may hold secrets of others.
const SETTINGS: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "fonts",
    "gai.conf",
    "group",
    "host.conf",
    "hostname",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "machine-id",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "protocols",
    "resolv.conf",
    "rpc",
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "timezone",
];

const WRITABLE: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// What the processes of this machine hold, and its memory and disks, by whatever name.
const NEVER: &[&str] =
    &["/proc", "/dev/mem", "/dev/kmem", "/dev/port", "/dev/block", "/dev/disk", "/dev/mapper"];

/// Where they really are; those that are not there are left out.
pub(super) fn list_readable() -> Vec<PathBuf> {
    list_readable_names().filter_map(|path| path.canonicalize().ok()).collect()
}

/// The names by which programs look for them.
pub(super) fn list_readable_names() -> impl Iterator<Item = PathBuf> {
    let settings = SETTINGS.iter().map(|name| Path::new("/etc").join(name));
    READABLE.iter().map(PathBuf::from).chain(settings)
}

pub(super) fn list_writable() -> Vec<PathBuf> {
    WRITABLE.iter().map(PathBuf::from).filter(|path| path.exists()).collect()
}

/// Everything that is protected, where it really is.
pub(super) fn list_protected(own: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    own.iter().map(|path| symlinks::resolve(path)).chain(NEVER.iter().map(PathBuf::from))
}

pub(super) fn is_block_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device())
}
