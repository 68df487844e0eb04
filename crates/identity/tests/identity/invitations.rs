//! How many invitations a tenant has made, whichever of its keys they are made with.

use std::time::Duration;

use munshi_identity::links::{self, InvitationScope, LinkPurpose, NewOneTimeLink};
use munshi_identity::operators::OPERATORS;
use munshi_identity::{Error, Role};
use munshi_store::PlatformTx;
use munshi_test_support::on_both_engines;
use munshi_types::{Clock, SystemRandom};

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];

    async fn a_tenants_invitations_are_counted_whichever_key_makes_them(test: TestDb) {
        let (shop, clinic) = (test.add_tenant("shop").await, test.add_tenant("clinic").await);
        let keys = [links::render_key_maker(test.ids.next()), links::render_key_maker(test.ids.next())];
        for (number, tenant) in [shop, shop, clinic].into_iter().enumerate() {
            let (ids, made_by, now) = (test.ids.clone(), keys[number % 2].clone(), test.clock.now());
            let place = InvitationScope::Workspace { tenant, role: Role::Staff };
            let purpose = LinkPurpose::Invitation { email: format!("b{number}@c.example"), place };
            let make = move |tx: &mut PlatformTx<'_>| {
                let new = NewOneTimeLink { purpose: &purpose, made_by: &made_by, life: links::LIFE };
                links::make(tx, &ids, &SystemRandom, &new, now).map(drop)
            };
            test.db.platform(OPERATORS).write(make).await.unwrap();
        }
        let since = test.clock.now().minus(Duration::from_secs(1));
        let count = move |tx: &mut PlatformTx<'_>| -> Result<[i64; 4], Error> {
            Ok([
                links::count_made_by(tx, &keys[0], since)?,
                links::count_made_by(tx, &keys[1], since)?,
                links::count_invitations(tx, shop, since)?,
                links::count_invitations(tx, clinic, since)?,
            ])
        };
        assert_eq!(test.db.platform(OPERATORS).read(count).await.unwrap(), [2, 1, 2, 1]);
    }
}
