//! Connectors: whether their programs are confined, and whether they start at all.

use munshi_config::Config;
use munshi_connectors::{KernelSupport, ReachableSockets};
use munshi_store::Db;
use munshi_wiring::connectors::confinement;
use munshi_wiring::failure::CommandFailure;

use super::finding::DoctorFinding;

pub(super) async fn examine(config: &Config, db: Option<&Db>) -> DoctorFinding {
    let confinement = confinement(config, db.cloned());
    match confinement.admits_children().await {
        Ok(starts) => {
            let sockets = confinement.find_reachable_sockets().await;
            describe_confinement(KernelSupport::detect(), starts, &sockets)
        }
        Err(error) => DoctorFinding::from_failure("connectors", CommandFailure::from(error)),
    }
}

fn describe_confinement(support: KernelSupport, starts: bool, sockets: &ReachableSockets) -> DoctorFinding {
    const NAME: &str = "connectors";
    match (support, starts) {
        (KernelSupport::Full, _) => match sockets.describe() {
            None => DoctorFinding::ok(NAME, "programs are confined (Landlock)"),
            Some(open) => {
                DoctorFinding::ok(NAME, format!("programs are confined (Landlock), except from {open}"))
            }
        },
        (KernelSupport::Partial, true) => DoctorFinding::warn(
            NAME,
            "programs are confined, but this kernel can't stop them from truncating this user's files",
            "upgrade to Linux 6.2 or newer",
        ),
        (KernelSupport::Partial, false) => DoctorFinding::warn(
            NAME,
            "this kernel can't stop programs from truncating files, so with several tenants they don't start",
            "upgrade to Linux 6.2 or newer, or set connectors.unconfined = true to start them with partial confinement",
        ),
        (KernelSupport::None, true) => DoctorFinding::warn(
            NAME,
            "programs can't be confined here: each can read everything Munshi can",
            "use Linux 5.13 or newer with Landlock, or only connectors by url",
        ),
        (KernelSupport::None, false) => DoctorFinding::warn(
            NAME,
            "programs can't be confined here, so with several tenants they don't start",
            "use Linux 5.13 or newer with Landlock, or set connectors.unconfined = true to start them anyway",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::DoctorLevel;

    #[test]
    fn what_is_not_confined_is_said() {
        let describe = |support, starts| describe_confinement(support, starts, &ReachableSockets::None);
        assert_eq!(describe(KernelSupport::Full, true).level, DoctorLevel::Ok);
        for (support, starts) in
            [(KernelSupport::Partial, true), (KernelSupport::None, true), (KernelSupport::None, false)]
        {
            assert_eq!(describe(support, starts).level, DoctorLevel::Warn);
        }
        for support in [KernelSupport::Partial, KernelSupport::None] {
            assert!(describe(support, false).detail.contains("don't start"));
        }
        assert!(!describe(KernelSupport::Full, true).detail.contains("sockets"));
        let open = ReachableSockets::All("no user namespace".to_owned());
        for (sockets, words) in [
            (ReachableSockets::Abstract, "except from abstract sockets"),
            (open, "except from sockets of services that run as the same user (no user namespace)"),
        ] {
            let told = describe_confinement(KernelSupport::Full, true, &sockets);
            assert!(told.detail.contains(words), "{}", told.detail);
        }
    }
}
