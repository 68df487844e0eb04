//! Passwords tried out: one account, one address, many of each.

use std::time::Duration;

use munshi_identity::Role;
use munshi_identity::links::LinkPurpose;
use munshi_identity::operators::{self, OPERATORS};
use munshi_store::{PlatformTx, across_tenants};
use munshi_test_support::DatabaseEngine;

use crate::api::support::{Installation, PASSWORD};

on_both! {
    async fn wrong_passwords_wait_longer_and_the_owner_comes_in(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let mut evil = house.browser().at(66);
        let mut answers = Vec::new();
        for _ in 0..12 {
            answers.push(evil.sign_in("asha@shop.example", "wrong wrong wrong").await.status);
        }
        assert_eq!(answers, [401, 401, 401, 401, 429, 429, 429, 429, 429, 429, 429, 429]);
        let held = evil.sign_in("asha@shop.example", PASSWORD).await;
        held.says(429, "too many wrong tries");
        assert_eq!(held.header("retry-after"), "1");
        assert!(!evil.is_in().await, "not even by the right one");
        // Many addresses against one account.
        for last in 100..200 {
            house.browser().at(last).sign_in("asha@shop.example", "wrong wrong wrong").await;
        }
        assert_eq!(house.browser().at(201).sign_in("asha@shop.example", PASSWORD).await.status, 429);
        // The owner's own browser is known, and comes in meanwhile.
        asha.submit("/account/sign-out", &[]).await.moved("/account/sign-in");
        asha.sign_in("asha@shop.example", PASSWORD).await.moved("/account");
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'sign_in.refused'";
        assert_eq!(house.number(munshi_types::TenantId::PLATFORM, told).await, 1);
    }

    async fn a_link_lets_the_owner_in_whatever_strangers_do(test: TestDb) {
        let house = Installation::open(&test, []).await;
        house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        for last in 100..130 {
            house.browser().at(last).sign_in("asha@shop.example", "wrong wrong wrong").await;
        }
        let found = house.db.platform(OPERATORS).read(|tx| operators::find_by_email(tx, "asha@shop.example")).await;
        let operator = found.unwrap().unwrap().id;
        let link = house.link(LinkPurpose::Recovery { operator }).await;
        let mut fresh = house.browser().at(250);
        fresh.post(&format!("/account/link/{link}"), &[("password", "another good password")]).await.moved("/account");
        assert!(fresh.is_in().await);
    }

    async fn many_accounts_from_one_address_are_held_up(test: TestDb) {
        let house = Installation::open(&test, []).await;
        house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let mut tried = 0;
        for number in 0..40 {
            let status = house.browser().at(66).sign_in(&format!("a{number}@shop.example"), "wrong wrong wrong").await.status;
            tried += usize::from(status == 401);
        }
        assert_eq!(tried, 20);
        assert_eq!(house.browser().at(66).sign_in("asha@shop.example", PASSWORD).await.status, 429);
        house.browser().at(67).sign_in("asha@shop.example", PASSWORD).await.moved("/account");
        test.clock.advance(Duration::from_secs(2));
        house.browser().at(66).sign_in("asha@shop.example", PASSWORD).await.moved("/account");
    }

    /// Each account is new, and no address is known: nothing else would hold them up.
    async fn a_crowd_is_held_up_before_it_reaches_the_database(test: TestDb) {
        // It is counted in memory, and so many tries take long elsewhere.
        if test.engine() != DatabaseEngine::Sqlite {
            return;
        }
        let house = Installation::open(&test, []).await;
        let rows = async || {
            let count = |tx: &mut PlatformTx<'_>| tx.one(across_tenants("SELECT COUNT(*) FROM sign_in_pauses"), &[], |row| row.get::<i64>(0));
            house.db.platform(OPERATORS).read(count).await.unwrap()
        };
        for number in 0..600 {
            let status = house.browser().behind_proxy().sign_in(&format!("a{number}@shop.example"), "x").await.status;
            assert_eq!(status, 401, "{number}");
        }
        let before = rows().await;
        house.browser().behind_proxy().sign_in("late@shop.example", "x").await.says(429, "too many wrong tries");
        assert_eq!(rows().await, before);
        assert_eq!(house.browser().at(7).sign_in("late@shop.example", "x").await.status, 401, "who has an address is none of them");
    }

    async fn an_account_that_is_not_there_sounds_and_lasts_like_one_that_is(test: TestDb) {
        let house = Installation::open_with_slow_passwords(&test).await;
        house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let (mut pages, mut times) = (Vec::new(), Vec::new());
        for (last, email) in [(1, "asha@shop.example"), (2, "nobody@shop.example"), (3, "not an e-mail")] {
            let began = std::time::Instant::now();
            let reply = house.browser().at(last).sign_in(email, "wrong wrong wrong").await;
            times.push(began.elapsed());
            pages.push(reply.says(401, "is not right").replace(email, "-"));
        }
        assert!(pages.windows(2).all(|pair| pair[0] == pair[1]));
        // The hash is what takes long, and all three have one.
        let (least, most) = (times.iter().min().unwrap(), times.iter().max().unwrap());
        assert!(*most < *least * 20 && *least > Duration::from_millis(2), "{times:?}");
    }
}
