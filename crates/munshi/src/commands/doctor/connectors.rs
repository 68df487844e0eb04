//! Connectors: whether their programs are confined, and whether they start at all.

use munshi_config::Config;
use munshi_connectors::KernelSupport;
use munshi_store::Db;

use super::finding::Finding;
use crate::failure::Failure;
use crate::wiring::connectors::confinement;

pub(super) async fn examine(config: &Config, db: Option<&Db>) -> Finding {
    match confinement(config, db.cloned()).admits_children().await {
        Ok(starts) => about(KernelSupport::detect(), starts),
        Err(error) => Finding::of("connectors", Failure::from(error)),
    }
}

fn about(support: KernelSupport, starts: bool) -> Finding {
    const NAME: &str = "connectors";
    match (support, starts) {
        (KernelSupport::Full, _) => Finding::ok(NAME, "their programs are confined (Landlock)"),
        (KernelSupport::Partial, true) => Finding::warn(
            NAME,
            "their programs are confined, but this kernel can't keep them from emptying files of this user",
            "Linux 6.2 or newer can",
        ),
        (KernelSupport::Partial, false) => Finding::warn(
            NAME,
            "this kernel can't keep their programs from emptying files, so with several tenants they don't start",
            "run on Linux 6.2 or newer; connectors.unconfined = true starts them all the same, confined as far as it goes",
        ),
        (KernelSupport::None, true) => Finding::warn(
            NAME,
            "their programs can't be confined here: each can read whatever Munshi can",
            "run on Linux 5.13 or newer with Landlock, or use connectors by url alone",
        ),
        (KernelSupport::None, false) => Finding::warn(
            NAME,
            "their programs can't be confined here, so with several tenants they don't start",
            "run on Linux 5.13 or newer with Landlock; connectors.unconfined = true starts them all the same",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::Level;

    #[test]
    fn what_is_not_confined_is_said() {
        let level = |support, starts| about(support, starts).level;
        assert_eq!(level(KernelSupport::Full, true), Level::Ok);
        for (support, starts) in
            [(KernelSupport::Partial, true), (KernelSupport::None, true), (KernelSupport::None, false)]
        {
            assert_eq!(level(support, starts), Level::Warn);
        }
        for support in [KernelSupport::Partial, KernelSupport::None] {
            assert!(about(support, false).detail.contains("don't start"));
        }
    }
}
