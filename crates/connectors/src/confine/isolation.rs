//! Whether children get a file system of their own here, found out by trying.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::{Confinement, KernelSupport, launcher, system_paths};

/// A launcher that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(20);

/// Tries whether the launcher can isolate a child. Kernels, their settings, security modules and containers each forbid it in
/// their own way, some of them only halfway through, so a process of its own does all of it but start a program. That it works
/// is remembered; that it does not may change.
#[derive(Clone, Default)]
pub struct IsolationProbe {
    works: Arc<OnceCell<()>>,
}

impl IsolationProbe {
    /// Gives back why not.
    pub(super) async fn run(&self, launcher: &Path) -> Result<(), String> {
        self.works.get_or_try_init(|| try_isolation(launcher)).await.copied()
    }
}

/// Sockets of services that run as the same user, to which a confined child can still connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReachableSockets {
    None,
    /// Those that have a name and no file (before Linux 6.12).
    Abstract,
    /// Those in the file system, too; and why that is not a child's own.
    All(String),
}

impl ReachableSockets {
    /// What a child is not confined from. None where that is nothing.
    pub fn describe(&self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Abstract => Some("abstract sockets of services that run as the same user".to_owned()),
            Self::All(why) => Some(format!("sockets of services that run as the same user ({why})")),
        }
    }
}

impl Confinement {
    /// Whether children get a file system of their own, in which only what they may read and write exists; or why not.
    pub(crate) async fn probe_isolation(&self) -> Result<(), String> {
        match &self.launcher {
            Some(launcher) => self.isolation.run(launcher).await,
            None => Err("no Landlock".to_owned()),
        }
    }

    pub async fn find_reachable_sockets(&self) -> ReachableSockets {
        if KernelSupport::closes_sockets() {
            return ReachableSockets::None;
        }
        match self.probe_isolation().await {
            Err(why) => ReachableSockets::All(why),
            Ok(()) if KernelSupport::closes_abstract_sockets() => ReachableSockets::None,
            Ok(()) => ReachableSockets::Abstract,
        }
    }
}

async fn try_isolation(launcher: &Path) -> Result<(), String> {
    let reads = system_paths::list_readable();
    let mut command = Command::new(launcher);
    command.args([launcher::COMMAND, launcher::ISOLATE]);
    for path in &reads {
        command.arg(launcher::READ).arg(path);
    }
    command.arg(launcher::PROBE).current_dir("/usr").env_clear().stdin(Stdio::null()).kill_on_drop(true);
    let ended =
        timeout(LIMIT, command.output()).await.map_err(|_| "no answer from the launcher".to_owned())?;
    let ended = ended.map_err(|error| format!("the launcher can't be started: {error}"))?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    match said.lines().last() {
        Some(last) => Err(last.rsplit_once("confinement failed: ").map_or(last, |(_, why)| why).to_owned()),
        None => Err(format!("the launcher ended with {}", ended.status)),
    }
}
