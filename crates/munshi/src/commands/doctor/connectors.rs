//! Connectors: whether their programs are confined, and whether they start at all.

use munshi_config::Config;
use munshi_connectors::KernelSupport;
use munshi_store::Db;

use super::finding::DoctorFinding;
use crate::failure::CommandFailure;
use crate::wiring::connectors::confinement;

pub(super) async fn examine(config: &Config, db: Option<&Db>) -> DoctorFinding {
    match confinement(config, db.cloned()).admits_children().await {
        Ok(starts) => about(KernelSupport::detect(), starts),
        Err(error) => DoctorFinding::of("connectors", CommandFailure::from(error)),
    }
}

fn about(support: KernelSupport, starts: bool) -> DoctorFinding {
    const NAME: &str = "connectors";
    match (support, starts) {
        (KernelSupport::Full, _) => DoctorFinding::ok(NAME, "their programs are confined (Landlock)"),
        (KernelSupport::Partial, true) => DoctorFinding::warn(
            NAME,
            "their programs are confined, but this kernel can't keep them from emptying files of this user",
            "Linux 6.2 or newer can",
        ),
        (KernelSupport::Partial, false) => DoctorFinding::warn(
            NAME,
            "this kernel can't keep their programs from emptying files, so with several tenants they don't start",
            "run on Linux 6.2 or newer; connectors.unconfined = true starts them all the same, confined as far as it goes",
        ),
        (KernelSupport::None, true) => DoctorFinding::warn(
            NAME,
            "their programs can't be confined here: each can read whatever Munshi can",
            "run on Linux 5.13 or newer with Landlock, or use connectors by url alone",
        ),
        (KernelSupport::None, false) => DoctorFinding::warn(
            NAME,
            "their programs can't be confined here, so with several tenants they don't start",
            "run on Linux 5.13 or newer with Landlock; connectors.unconfined = true starts them all the same",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::DoctorLevel;

    #[test]
    fn what_is_not_confined_is_said() {
        let level = |support, starts| about(support, starts).level;
        assert_eq!(level(KernelSupport::Full, true), DoctorLevel::Ok);
        for (support, starts) in
            [(KernelSupport::Partial, true), (KernelSupport::None, true), (KernelSupport::None, false)]
        {
            assert_eq!(level(support, starts), DoctorLevel::Warn);
        }
        for support in [KernelSupport::Partial, KernelSupport::None] {
            assert!(about(support, false).detail.contains("don't start"));
        }
    }
}
