//! What the kernel can do to confine a process.

use std::path::PathBuf;

/// How far this machine's kernel confines a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KernelSupport {
    /// Not at all: an older kernel, another system, or Landlock is switched off.
    None,
    /// Reading and writing, but a file that can't be opened can still be emptied by its path (before Linux 6.2).
    Partial,
    /// Reading, writing and emptying files.
    Full,
}

/// All that a child keeps of what this process may.
#[derive(Debug, Default)]
pub(super) struct ChildRights {
    pub(super) reads: Vec<PathBuf>,
    pub(super) writes: Vec<PathBuf>,
    /// Whether it may listen on TCP ports. Kernels before Linux 6.7 can't keep it from that.
    pub(super) listens: bool,
    /// Whether only what is granted exists for it at all: see [`super::mount_view`].
    pub(super) is_isolated: bool,
    /// Links and folders over which names lead to what is granted, for an isolated child.
    pub(super) waypoints: Vec<PathBuf>,
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::{AsFd, AsRawFd};
    use std::path::Path;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetStatus, Scope,
    };

    use super::{ChildRights, KernelSupport};
    use crate::confine::{mount_view, user_namespace};

    /// The newest rights we know of; an older kernel enforces those that it knows.
    const NEWEST: ABI = ABI::V9;

    /// Whether the kernel knows all rights of a version.
    fn takes(abi: ABI) -> bool {
        let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        rules.handle_access(AccessFs::from_all(abi)).and_then(Ruleset::create).is_ok()
    }

    impl KernelSupport {
        /// Asks the kernel. Nothing is confined by asking.
        pub fn detect() -> Self {
            match (takes(ABI::V3), takes(ABI::V1)) {
                (true, _) => Self::Full,
                (false, true) => Self::Partial,
                (false, false) => Self::None,
            }
        }

        /// Whether it keeps a process from sockets in the file system by itself, as services of the same user have them.
        pub fn closes_sockets() -> bool {
            takes(ABI::V9)
        }

        /// Whether it keeps a process from abstract sockets, which have a name and no file.
        pub fn closes_abstract_sockets() -> bool {
            let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
            rules.scope(Scope::AbstractUnixSocket).and_then(Ruleset::create).is_ok()
        }
    }

    /// Gives up, for this process and all it starts, everything but these rights. Where namespaces are wanted and can't be had,
    /// nothing is given up and nothing may be started. Nobody listens where a browser would send the
    /// cookies of our own pages: those of one port are sent to every other.
    pub(in crate::confine) fn restrict(child: &ChildRights) -> Result<(), String> {
        if child.is_isolated {
            user_namespace::enter()?;
            mount_view::enter(child)?;
        }
        let told = |error: landlock::RulesetError| error.to_string();
        let mut rules = Ruleset::default().handle_access(AccessFs::from_all(NEWEST)).map_err(told)?;
        if !child.listens {
            rules = rules.handle_access(AccessNet::BindTcp).map_err(told)?;
        }
        let mut rules = rules.scope(Scope::from_all(NEWEST)).and_then(Ruleset::create).map_err(told)?;
        let reads = child.reads.iter().map(|path| (path, AccessFs::from_read(NEWEST)));
        let writes = child.writes.iter().map(|path| (path, AccessFs::from_all(NEWEST)));
        for (path, rights) in reads.chain(writes) {
            let Some((opened, rights)) = open(path, rights)? else { continue };
            rules = rules.add_rule(PathBeneath::new(opened, rights)).map_err(told)?;
        }
        match rules.restrict_self().map_err(told)?.ruleset {
            RulesetStatus::NotEnforced => Err("the kernel does not enforce Landlock".to_owned()),
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        }
    }

    type Rights = landlock::BitFlags<AccessFs>;

    /// None for a path that is gone. One that leads elsewhere than when the rules were made is refused: whoever may write
    /// on the way could have put a link there.
    fn open(path: &Path, rights: Rights) -> Result<Option<(PathFd, Rights)>, String> {
        let Ok(opened) = PathFd::new(path) else { return Ok(None) };
        let link = format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd());
        let real = std::fs::read_link(&link).map_err(|error| format!("{}: {error}", path.display()))?;
        let own = Path::new("/proc/self");
        if real != path && path != own {
            return Err(format!("{} now resolves to {}", path.display(), real.display()));
        }
        let is_folder = std::fs::metadata(&link).is_ok_and(|found| found.is_dir());
        let rights = if is_folder { rights } else { rights & AccessFs::from_file(NEWEST) };
        Ok(Some((opened, rights)))
    }
}

#[cfg(target_os = "linux")]
pub(super) use linux::restrict;

#[cfg(not(target_os = "linux"))]
impl KernelSupport {
    /// Only Linux has Landlock.
    pub fn detect() -> Self {
        Self::None
    }

    pub fn closes_sockets() -> bool {
        false
    }

    pub fn closes_abstract_sockets() -> bool {
        false
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn restrict(_: &ChildRights) -> Result<(), String> {
    Err("this system has no Landlock".to_owned())
}
