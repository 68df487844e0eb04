//! Connectors: whether their programs are confined, and whether they start at all.

use munshi_config::Config;
use munshi_connectors::KernelSupport;
use munshi_store::Db;
use munshi_wiring::connectors::confinement;
use munshi_wiring::failure::CommandFailure;

use super::finding::DoctorFinding;

pub(super) async fn examine(config: &Config, db: Option<&Db>) -> DoctorFinding {
    match confinement(config, db.cloned()).admits_children().await {
        Ok(starts) => describe_confinement(KernelSupport::detect(), starts, KernelSupport::closes_sockets()),
        Err(error) => DoctorFinding::from_failure("connectors", CommandFailure::from(error)),
    }
}

fn describe_confinement(support: KernelSupport, starts: bool, closes_sockets: bool) -> DoctorFinding {
    const NAME: &str = "connectors";
    match (support, starts) {
        (KernelSupport::Full, _) if closes_sockets => {
            DoctorFinding::ok(NAME, "programs are confined (Landlock)")
        }
        (KernelSupport::Full, _) => DoctorFinding::ok(
            NAME,
            "programs are confined (Landlock), except from sockets of services that run as the same user",
        ),
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
        let level = |support, starts| describe_confinement(support, starts, true).level;
        assert_eq!(level(KernelSupport::Full, true), DoctorLevel::Ok);
        for (support, starts) in
            [(KernelSupport::Partial, true), (KernelSupport::None, true), (KernelSupport::None, false)]
        {
            assert_eq!(level(support, starts), DoctorLevel::Warn);
        }
        for support in [KernelSupport::Partial, KernelSupport::None] {
            assert!(describe_confinement(support, false, true).detail.contains("don't start"));
        }
        assert!(!describe_confinement(KernelSupport::Full, true, true).detail.contains("sockets"));
        assert!(
            describe_confinement(KernelSupport::Full, true, false).detail.contains("except from sockets")
        );
    }
}
