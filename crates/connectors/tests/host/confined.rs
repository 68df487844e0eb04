//! Where a machine can't confine, several tenants keep programs from starting.

use munshi_connectors::conformance::{self, ConnectorTest, ConnectorVerdict, WriteTestMode};
use munshi_connectors::{Confinement, ConnectorState};
use munshi_store::{PlatformTx, tenants};
use munshi_test_support::on_both_engines;
use munshi_types::TenantStatus;

use crate::support::{MIGRATIONS, Shop, odd};

on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    async fn a_program_that_can_not_be_confined_starts_for_one_tenant_alone(test: TestDb) {
        let shop = Shop::open(test, &odd("odd", "good", None)).await;
        let tried = async |allows_unconfined: bool| {
            let confinement =
                Confinement { db: Some(shop.test.db.clone()), allows_unconfined, ..Confinement::default() };
            let trial = ConnectorTest { confinement, ..shop.trial(&odd("odd", "good", None), WriteTestMode::Never) };
            conformance::test(&trial).await
        };
        let alone = tried(false).await;
        let confined = alone.findings.iter().find(|finding| finding.check == "confined").unwrap();
        assert_eq!(confined.verdict, ConnectorVerdict::Doubtful, "it is said: {alone:#?}");
        let another = shop.test.add_tenant("another").await;
        for archived in [false, true] {
            if archived {
                // Its data stays where it is.
                let archive = move |tx: &mut PlatformTx<'_>| munshi_test_support::administer_platform(tx, |tx| tenants::set_status(tx, another, TenantStatus::Archived));
                shop.test.db.platform(tenants::TENANTS).write(archive).await.unwrap();
            }
            let refused = tried(false).await;
            assert_eq!(refused.findings.len(), 1, "{refused:#?}");
            assert!(refused.findings[0].detail.contains("connectors.unconfined = true"), "{refused:#?}");
        }
        assert!(tried(true).await.tools > 0, "the operator has said so");
    }

    async fn one_that_runs_unconfined_ends_when_another_tenant_comes(test: TestDb) {
        let both = odd("odd", "good", None) + &odd("loud", "announcing", None);
        let shop = Shop::unconfined(test, &both).await;
        shop.start().await;
        for name in ["odd", "loud"] {
            shop.until_state(name, ConnectorState::Ready).await;
        }
        shop.test.add_tenant("another").await;
        // Also one that announces changes so often that nothing else would be looked at.
        for name in ["odd", "loud"] {
            let standing = shop.until_state(name, ConnectorState::Degraded).await;
            assert!(standing.why.contains("connectors.unconfined = true"), "{standing:?}");
        }
        shop.host.stop().await;
    }

    async fn how_a_program_runs_is_told(test: TestDb) {
        let shop = Shop::open(test, &odd("odd", "good", None)).await;
        shop.start().await;
        let standing = shop.until_state("odd", ConnectorState::Ready).await;
        assert_eq!(standing.confined, Some(false), "there is no launcher here");
        shop.host.stop().await;
    }
}
