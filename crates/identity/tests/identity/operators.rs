//! Accounts, their roles, sign-ins and one-time links.

use std::sync::Arc;
use std::time::Duration;

use munshi_identity::keys::{self, KeyMaker, KeySpeaker, KeySubject, KeyText, NewApiKey};
use munshi_identity::links::{self, InvitationScope, LinkPurpose, NewOneTimeLink};
use munshi_identity::operators::{self, AddOperatorOutcome, NewOperator, OPERATORS, Operator, roles};
use munshi_identity::passwords::{Password, PasswordCost, PasswordHash, PasswordService};
use munshi_identity::sign_ins::{self, SignInMethod, SignInOrigin};
use munshi_identity::{ContactAddress, Error, Person, Role, SecretToken, persons};
use munshi_store::{PlatformTx, tenants};
use munshi_test_support::{
    DatabaseEngine, TestDb, UnitHold, administer, administer_platform, on_both_engines,
};
use munshi_types::{Clock, OperatorId, SystemRandom, TenantId, TenantStatus, Timestamp};

/// Runs a unit through the operators' door.
macro_rules! door {
    ($test:expr, |$tx:ident| $body:expr) => {
        $test
            .db
            .platform(OPERATORS)
            .write(move |$tx: &mut PlatformTx<'_>| -> Result<_, Error> { $body })
            .await
    };
}

/// The same as administration does.
macro_rules! administered {
    ($test:expr, |$tx:ident| $body:expr) => {
        door!($test, |tx| administer_platform(tx, |$tx| $body))
    };
}

fn new(email: &str) -> NewOperator {
    NewOperator {
        email: email.to_owned(),
        name: "Asha".to_owned(),
        password: None,
        elsewhere: None,
        keeper: false,
        first: false,
        proved: true,
        home: None,
    }
}

async fn operator(test: &TestDb, new: NewOperator) -> Operator {
    let (ids, now) = (test.ids.clone(), test.clock.now());
    match door!(test, |tx| operators::add(tx, &ids, &new, now)).unwrap() {
        AddOperatorOutcome::Made(operator) => operator,
        AddOperatorOutcome::Taken => panic!("taken"),
    }
}

async fn sign_in(test: &TestDb, id: OperatorId) -> SecretToken {
    let (ids, now) = (test.ids.clone(), test.clock.now());
    let from = SignInOrigin { address: "10.0.0.1".to_owned(), browser: "Firefox\u{0}\n".to_owned() };
    door!(test, |tx| sign_ins::begin(tx, &ids, &SystemRandom, id, (SignInMethod::Password, &from), now))
        .unwrap()
        .1
}

async fn who(test: &TestDb, token: &SecretToken) -> Option<OperatorId> {
    let (token, now) = (token.clone(), test.clock.now());
    door!(test, |tx| sign_ins::find(tx, &token, now)).unwrap().map(|(_, operator)| operator.id)
}

async fn link(test: &TestDb, purpose: LinkPurpose) -> SecretToken {
    let (ids, now) = (test.ids.clone(), test.clock.now());
    door!(test, |tx| links::make(
        tx,
        &ids,
        &SystemRandom,
        &NewOneTimeLink { purpose: &purpose, made_by: "asha", life: links::LIFE },
        now
    ))
    .unwrap()
    .1
}

async fn use_up(test: &TestDb, token: &SecretToken) -> bool {
    let (token, now) = (token.clone(), test.clock.now());
    door!(test, |tx| match links::find(tx, &token)? {
        Some(link) => links::redeem(tx, link.id, now),
        None => Ok(false),
    })
    .unwrap()
}

fn invitation(email: &str, tenant: TenantId) -> LinkPurpose {
    LinkPurpose::Invitation {
        email: email.to_owned(),
        place: InvitationScope::Workspace { tenant, role: Role::Staff },
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];

    async fn an_email_has_one_account(test: TestDb) {
        let asha = operator(&test, new(" Asha@Shop.example")).await;
        assert_eq!(asha.email, "asha@shop.example");
        let (ids, now) = (test.ids.clone(), test.clock.now());
        let again = door!(test, |tx| operators::add(tx, &ids, &new("asha@shop.example"), now)).unwrap();
        assert_eq!(again, AddOperatorOutcome::Taken);
        let found = door!(test, |tx| operators::find_by_email(tx, "ASHA@shop.example ")).unwrap();
        assert_eq!(found.unwrap().id, asha.id);
        for bad in [new("asha"), NewOperator { name: "  ".to_owned(), ..new("b@c.example") },
                    NewOperator { name: "A\u{202e}".to_owned(), ..new("b@c.example") }] {
            let (ids, bad) = (test.ids.clone(), bad);
            assert!(matches!(door!(test, |tx| operators::add(tx, &ids, &bad, now)), Err(Error::Invalid(_))));
        }
        let (id, now) = (asha.id, test.clock.now());
        let token = sign_in(&test, id).await;
        assert!(administered!(test, |tx| operators::remove(tx, id, now)).unwrap().is_some());
        assert!(administered!(test, |tx| operators::remove(tx, id, now)).unwrap().is_none());
        assert!(who(&test, &token).await.is_none() && !door!(test, |tx| operators::has_any(tx)).unwrap());
        assert_ne!(operator(&test, new("asha@shop.example")).await.id, id, "the e-mail is free again");
    }

    async fn there_is_one_first_operator_whoever_is_quick(test: TestDb) {
        let second = test.open_again().await;
        let mut racing = tokio::task::JoinSet::new();
        for number in 0..8 {
            let db = if number % 2 == 0 { &test.db } else { &second }.clone();
            let (ids, now) = (test.ids.clone(), test.clock.now());
            let new = NewOperator { keeper: true, first: true, ..new(&format!("a{number}@b.example")) };
            racing.spawn(async move {
                db.platform(OPERATORS).write(move |tx| operators::add(tx, &ids, &new, now)).await.unwrap()
            });
        }
        let made = racing.join_all().await.into_iter().filter(|added| matches!(added, AddOperatorOutcome::Made(_))).count();
        assert_eq!(made, 1);
    }

    async fn a_role_is_of_one_tenant_and_a_keeper_has_all(test: TestDb) {
        let (shop, clinic) = (test.add_tenant("shop").await, test.add_tenant("clinic").await);
        let asha = operator(&test, new("asha@shop.example")).await;
        let farid = operator(&test, NewOperator { keeper: true, ..new("farid@house.example") }).await;
        let (id, now) = (asha.id, test.clock.now());
        assert_eq!(administered!(test, |tx| roles::grant(tx, id, shop, Role::Admin, now)).unwrap().before, None);
        let role = |operator: &Operator, tenant| {
            let operator = operator.clone();
            let door = test.db.platform(OPERATORS);
            async move {
                let role = door.read(move |tx| roles::find_effective(tx, &operator, tenant)).await.unwrap();
                role.map(|(_, role)| role)
            }
        };
        assert_eq!((role(&asha, shop).await, role(&asha, clinic).await), (Some(Role::Admin), None));
        assert_eq!((role(&farid, shop).await, role(&farid, clinic).await), (Some(Role::Owner), Some(Role::Owner)));
        let names = |operator: &Operator| {
            let operator = operator.clone();
            let door = test.db.platform(OPERATORS);
            async move {
                let found = door.read(move |tx| roles::list_workspaces(tx, &operator)).await.unwrap();
                found.into_iter().map(|one| one.tenant.name.to_string()).collect::<Vec<_>>()
            }
        };
        assert_eq!((names(&asha).await, names(&farid).await), (vec!["shop".to_owned()], vec!["clinic".to_owned(), "shop".to_owned()]));
        // A changed role is a new sign-in; the same role is none.
        let token = sign_in(&test, id).await;
        assert_eq!(administered!(test, |tx| roles::grant(tx, id, shop, Role::Admin, now)).unwrap().before, Some(Role::Admin));
        assert!(who(&test, &token).await.is_some());
        assert_eq!(administered!(test, |tx| roles::grant(tx, id, shop, Role::Viewer, now)).unwrap().before, Some(Role::Admin));
        assert!(who(&test, &token).await.is_none());
        assert_eq!(door!(test, |tx| roles::list_members(tx, shop)).unwrap().len(), 1);
        assert!(door!(test, |tx| roles::list_members(tx, clinic)).unwrap().is_empty());
        let token = sign_in(&test, id).await;
        assert_eq!(administered!(test, |tx| roles::revoke(tx, id, shop, now)).unwrap().before, Some(Role::Viewer));
        assert!(who(&test, &token).await.is_none() && role(&asha, shop).await.is_none());
        test.db.platform(tenants::TENANTS).write(move |tx| administer_platform(tx, |tx| tenants::set_status(tx, shop, TenantStatus::Archived))).await.unwrap();
        assert_eq!(role(&farid, shop).await, None);
    }

    async fn a_sign_in_ends_by_itself_and_by_hand(test: TestDb) {
        let id = operator(&test, new("asha@shop.example")).await.id;
        let (one, two, three) = (sign_in(&test, id).await, sign_in(&test, id).await, sign_in(&test, id).await);
        test.clock.advance(sign_ins::IDLE / 2);
        let now = test.clock.now();
        let listed = door!(test, |tx| sign_ins::list(tx, id, now)).unwrap();
        assert_eq!((listed.len(), listed[0].browser.as_str()), (3, "Firefox"));
        let first = { let one = one.clone(); door!(test, |tx| sign_ins::find(tx, &one, now)).unwrap().unwrap().0 };
        assert!(sign_ins::should_record_seen(&first, now));
        let keep = first.id;
        door!(test, |tx| sign_ins::record_seen(tx, keep, now)).unwrap();
        // Another's can't be ended.
        let stranger = operator(&test, new("b@c.example")).await.id;
        assert!(!door!(test, |tx| sign_ins::end(tx, stranger, keep)).unwrap());
        test.clock.advance(sign_ins::IDLE / 2);
        assert!(who(&test, &one).await.is_some() && who(&test, &two).await.is_none(), "idle");
        // A new token, and the one before is good for nothing.
        let fresh = door!(test, |tx| sign_ins::rotate(tx, keep, &SystemRandom)).unwrap().unwrap();
        assert!(who(&test, &one).await.is_none() && who(&test, &fresh).await == Some(id));
        let now = test.clock.now();
        assert_eq!(door!(test, |tx| sign_ins::sweep(tx, now)).unwrap(), 2);
        let four = sign_in(&test, id).await;
        assert_eq!(door!(test, |tx| sign_ins::end_others(tx, id, keep)).unwrap(), 1);
        assert!(who(&test, &four).await.is_none() && who(&test, &three).await.is_none());
        // However often somebody comes, it ends.
        for _ in 0..=(sign_ins::LIFE.as_secs() / 3600 / 12) {
            test.clock.advance(Duration::from_secs(12 * 3600));
            let now = test.clock.now();
            door!(test, |tx| sign_ins::record_seen(tx, keep, now)).unwrap();
        }
        assert!(who(&test, &fresh).await.is_none());
    }

    async fn a_link_is_used_once_within_its_time(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let old = link(&test, invitation("a@b.example", shop)).await;
        let other = link(&test, invitation("c@d.example", shop)).await;
        let newer = link(&test, invitation("a@b.example", shop)).await;
        assert!(!use_up(&test, &old).await, "another was made since");
        assert!(use_up(&test, &newer).await && !use_up(&test, &newer).await);
        test.clock.advance(links::LIFE);
        assert!(!use_up(&test, &other).await, "its time is over");
        let first = link(&test, LinkPurpose::First).await;
        let second = link(&test, LinkPurpose::First).await;
        assert!(!use_up(&test, &first).await && use_up(&test, &second).await);
        let now = test.clock.now();
        let open = link(&test, invitation("e@f.example", shop)).await;
        let listed = door!(test, |tx| links::list_invitations(tx, shop, now)).unwrap();
        assert_eq!(listed.len(), 1);
        let (id, clinic) = (listed[0].id, test.add_tenant("clinic").await);
        assert!(!administered!(test, |tx| links::withdraw(tx, clinic, id, now)).unwrap(), "another tenant's");
        assert!(administered!(test, |tx| links::withdraw(tx, shop, id, now)).unwrap() && !use_up(&test, &open).await);
        let later = now.plus(Duration::from_secs(8 * 24 * 3600));
        assert!(door!(test, |tx| links::sweep(tx, later)).unwrap() >= 5);
    }

    async fn an_invitation_waits_for_days_and_ends_with_the_right_to_make_it(test: TestDb) {
        let (shop, clinic) = (test.add_tenant("shop").await, test.add_tenant("clinic").await);
        let asha = operator(&test, new("asha@shop.example")).await.id;
        let now = test.clock.now();
        for tenant in [shop, clinic] {
            administered!(test, |tx| roles::grant(tx, asha, tenant, Role::Owner, now)).unwrap();
        }
        let by = links::render_maker(asha);
        let made = |email: &'static str, tenant: TenantId| {
            let (ids, by, now, door) = (test.ids.clone(), by.clone(), test.clock.now(), test.db.platform(OPERATORS));
            async move {
                let unit = move |tx: &mut PlatformTx<'_>| {
                    let purpose = invitation(email, tenant);
                    links::make(tx, &ids, &SystemRandom, &NewOneTimeLink { purpose: &purpose, made_by: &by, life: links::INVITATION_LIFE }, now)
                };
                door.write(unit).await.unwrap().1
            }
        };
        let (one, two) = (made("b@c.example", shop).await, made("b@c.example", clinic).await);
        test.clock.advance(links::INVITATION_LIFE - Duration::from_secs(1));
        let now = test.clock.now();
        // What is still open is never swept away, however old it is.
        assert_eq!(door!(test, |tx| links::sweep(tx, now)).unwrap(), 0);
        assert_eq!(door!(test, |tx| links::list_all_invitations(tx, now)).unwrap().len(), 2);
        administered!(test, |tx| roles::grant(tx, asha, shop, Role::Admin, now)).unwrap();
        assert!(!use_up(&test, &one).await, "who made it may not any more");
        assert!(use_up(&test, &two).await, "elsewhere they may");
        let (three, four) = (made("d@e.example", shop).await, made("f@g.example", clinic).await);
        assert_eq!(administered!(test, |tx| links::withdraw_all(tx, "D@E.example", now)).unwrap().len(), 1);
        assert!(!use_up(&test, &three).await, "taken back by its e-mail");
        administered!(test, |tx| operators::remove(tx, asha, now)).unwrap();
        assert!(!use_up(&test, &four).await, "who made it is gone");
        let after = now.plus(Duration::from_secs(8 * 24 * 3600));
        assert_eq!(door!(test, |tx| links::sweep(tx, after)).unwrap(), 4);
    }

    async fn whom_an_operator_is_has_their_role_and_loses_it_with_them(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let asha = operator(&test, new("asha@shop.example")).await;
        let (ids, now, id) = (test.ids.clone(), test.clock.now(), asha.id);
        // Somebody has said that this e-mail is theirs: they get nothing by it.
        let said = Person::new(&ids, "Somebody", now);
        let (posing, email) = (said.id, ContactAddress::email("asha@shop.example").unwrap());
        test.db.write(shop, move |tx| { persons::upsert(tx, &said)?; persons::add_address(tx, posing, &email) }).await.unwrap();
        administered!(test, |tx| roles::grant(tx, id, shop, Role::Owner, now)).unwrap();
        let is = |role: Role| {
            let (ids, asha, db) = (ids.clone(), asha.clone(), test.db.clone());
            async move { db.write(shop, move |tx| persons::find_or_add_operator(tx, &ids, &asha, role, now)).await.unwrap() }
        };
        let person = is(Role::Owner).await;
        assert_eq!((person.role, person.id == posing), (Some(Role::Owner), false));
        assert_eq!(is(Role::Owner).await.id, person.id, "the same each time");
        let role = |id: munshi_types::PersonId| {
            let db = test.db.clone();
            async move { db.read(shop, move |tx| persons::find(tx, id)).await.unwrap().unwrap().role }
        };
        assert_eq!(role(posing).await, None);
        administered!(test, |tx| roles::grant(tx, id, shop, Role::Staff, now)).unwrap();
        assert_eq!(role(person.id).await, Some(Role::Staff), "with the operator's");
        administered!(test, |tx| roles::revoke(tx, id, shop, now)).unwrap();
        assert_eq!(role(person.id).await, None);
        // Who is known here by the same e-mail in the same role is the same.
        let known = Person { role: Some(Role::Staff), ..test.db.read(shop, move |tx| persons::find(tx, posing)).await.unwrap().unwrap() };
        test.db.write(shop, move |tx| persons::upsert(tx, &known)).await.unwrap();
        assert_eq!(is(Role::Staff).await.id, posing);
        assert_eq!(is(Role::Viewer).await.id, person.id, "in another role they are not");
    }

    async fn of_two_owners_at_once_one_stays(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let second = test.open_again().await;
        for round in 0..5 {
            let now = test.clock.now();
            let mut owners = Vec::new();
            for number in 0..2 {
                let id = operator(&test, new(&format!("o{round}{number}@shop.example"))).await.id;
                administered!(test, |tx| roles::grant(tx, id, shop, Role::Owner, now)).unwrap();
                owners.push(id);
            }
            let mut racing = tokio::task::JoinSet::new();
            for (db, id) in [(test.db.clone(), owners[0]), (second.clone(), owners[1])] {
                racing.spawn(async move {
                    let unit = move |tx: &mut PlatformTx<'_>| -> Result<bool, Error> {
                        let may = roles::lock_owners(tx, shop)? > 1;
                        if may {
                            administer_platform(tx, |tx| roles::grant(tx, id, shop, Role::Staff, now))?;
                        }
                        Ok(may)
                    };
                    db.platform(OPERATORS).write(unit).await.unwrap()
                });
            }
            assert_eq!(racing.join_all().await.into_iter().filter(|won| *won).count(), 1, "round {round}");
            for id in owners {
                administered!(test, |tx| roles::revoke(tx, id, shop, now)).unwrap();
            }
        }
    }

    async fn of_two_uses_at_once_one_wins(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let second = test.open_again().await;
        for round in 0..5 {
            let token = link(&test, invitation(&format!("a{round}@b.example"), shop)).await;
            let mut racing = tokio::task::JoinSet::new();
            for number in 0..8 {
                let db = if number % 2 == 0 { &test.db } else { &second }.clone();
                let (token, now) = (token.clone(), test.clock.now());
                racing.spawn(async move {
                    let unit = move |tx: &mut PlatformTx<'_>| -> Result<bool, Error> {
                        let link = links::find(tx, &token)?.unwrap();
                        links::redeem(tx, link.id, now)
                    };
                    db.platform(OPERATORS).write(unit).await.unwrap()
                });
            }
            assert_eq!(racing.join_all().await.into_iter().filter(|won| *won).count(), 1, "round {round}");
        }
    }

    async fn a_browser_is_known_for_its_own_account(test: TestDb) {
        let asha = operator(&test, new("asha@shop.example")).await.id;
        let farid = operator(&test, new("farid@shop.example")).await.id;
        let now = test.clock.now();
        let token = door!(test, |tx| sign_ins::remember_browser(tx, &SystemRandom, asha, now)).unwrap();
        let knows = |who: OperatorId, now: Timestamp| {
            let (token, door) = (token.clone(), test.db.platform(OPERATORS));
            async move { door.read(move |tx| sign_ins::is_known_browser(tx, &token, who, now)).await.unwrap() }
        };
        assert!(knows(asha, now).await && !knows(farid, now).await);
        assert!(!knows(asha, now.plus(sign_ins::KNOWN)).await);
    }

    async fn an_account_that_nobody_proved_has_roles_in_one_tenant_alone(test: TestDb) {
        let (shop, clinic) = (test.add_tenant("shop").await, test.add_tenant("clinic").await);
        let unproved = NewOperator { proved: false, home: Some(shop), ..new("asha@shop.example") };
        let (asha, now) = (operator(&test, unproved).await.id, test.clock.now());
        administered!(test, |tx| roles::grant(tx, asha, shop, Role::Staff, now)).unwrap();
        let refused = |result: Result<roles::RoleChange, Error>| assert!(matches!(result, Err(Error::Unproved(_))), "{result:?}");
        refused(administered!(test, |tx| roles::grant(tx, asha, clinic, Role::Viewer, now)));
        assert!(matches!(door!(test, |tx| operators::make_keeper(tx, asha)), Err(Error::Unproved(_))));
        // Nor once nothing is left where it was made; there it may come back.
        administered!(test, |tx| roles::revoke(tx, asha, shop, now)).unwrap();
        refused(administered!(test, |tx| roles::grant(tx, asha, clinic, Role::Viewer, now)));
        administered!(test, |tx| roles::grant(tx, asha, shop, Role::Staff, now)).unwrap();
        // The first proof ends what was before it, a second nothing.
        let token = sign_in(&test, asha).await;
        assert!(door!(test, |tx| operators::mark_verified(tx, asha, now)).unwrap());
        assert!(who(&test, &token).await.is_none());
        let token = sign_in(&test, asha).await;
        assert!(!door!(test, |tx| operators::mark_verified(tx, asha, now)).unwrap());
        assert!(who(&test, &token).await.is_some());
        administered!(test, |tx| roles::grant(tx, asha, clinic, Role::Viewer, now)).unwrap();
    }

    async fn keys_end_with_the_role_of_whoever_made_them(test: TestDb) {
        let (shop, clinic) = (test.add_tenant("shop").await, test.add_tenant("clinic").await);
        let (asha, now) = (operator(&test, new("asha@shop.example")).await.id, test.clock.now());
        let farid = operator(&test, NewOperator { keeper: true, ..new("farid@house.example") }).await.id;
        for tenant in [shop, clinic] {
            administered!(test, |tx| roles::grant(tx, asha, tenant, Role::Owner, now)).unwrap();
        }
        let key = |name: &'static str, maker: OperatorId, tenant: TenantId| {
            let (ids, db) = (test.ids.clone(), test.db.clone());
            async move {
                let new = NewApiKey {
                    name: name.to_owned(), carries: KeySubject::Role(Role::Staff), areas: None, bindings: None, expires_at: None,
                    speaks_as: KeySpeaker::Program, made_by: "api key x".to_owned(), maker: KeyMaker::from_name(links::render_maker(maker)),
                };
                db.write(tenant, move |tx| administer(tx, |tx| keys::add(tx, &ids, &SystemRandom, &new, now))).await.unwrap().text
            }
        };
        let good = async |text: &KeyText| keys::authenticate(&test.db, text.reveal(), now).await.unwrap().is_some();
        let (here, there, keepers) = (key("a", asha, shop).await, key("b", asha, clinic).await, key("c", farid, clinic).await);
        // As high as before, or higher: nothing ends.
        assert!(administered!(test, |tx| roles::grant(tx, asha, shop, Role::Owner, now)).unwrap().revoked.is_empty());
        let change = administered!(test, |tx| roles::grant(tx, asha, shop, Role::Admin, now)).unwrap();
        assert_eq!(change.revoked.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["a"]);
        assert!(!good(&here).await && good(&there).await && good(&keepers).await);
        let gone = administered!(test, |tx| operators::remove(tx, asha, now)).unwrap().unwrap();
        assert_eq!(gone.iter().map(|(tenant, key)| (*tenant, key.name.as_str())).collect::<Vec<_>>(), [(clinic, "b")]);
        assert!(!good(&there).await);
        // A keeper who loses a role that was given is owner still, until they go.
        administered!(test, |tx| roles::grant(tx, farid, clinic, Role::Admin, now)).unwrap();
        assert!(administered!(test, |tx| roles::revoke(tx, farid, clinic, now)).unwrap().revoked.is_empty());
        assert!(good(&keepers).await);
        administered!(test, |tx| operators::remove(tx, farid, now)).unwrap();
        assert!(!good(&keepers).await);
    }

    async fn an_unproved_account_rises_only_where_it_was_made(test: TestDb) {
        let (shop, clinic) = (test.add_tenant("shop").await, test.add_tenant("clinic").await);
        let (asha, now) = (operator(&test, NewOperator { home: Some(shop), ..new("asha@shop.example") }).await.id, test.clock.now());
        for tenant in [shop, clinic] {
            administered!(test, |tx| roles::grant(tx, asha, tenant, Role::Staff, now)).unwrap();
        }
        // Whoever let somebody in by a recovery link may be in it.
        door!(test, |tx| operators::mark_unverified(tx, asha)).unwrap();
        for tenant in [shop, clinic] {
            assert!(matches!(administered!(test, |tx| roles::grant(tx, asha, tenant, Role::Owner, now)), Err(Error::Unproved(_))));
        }
        assert!(matches!(door!(test, |tx| operators::make_keeper(tx, asha)), Err(Error::Unproved(_))));
        administered!(test, |tx| roles::grant(tx, asha, clinic, Role::Viewer, now)).unwrap();
        // With a role in one tenant alone, its owner is who let them in, wherever the account was made.
        administered!(test, |tx| roles::revoke(tx, asha, shop, now)).unwrap();
        door!(test, |tx| operators::mark_unverified(tx, asha)).unwrap();
        assert!(matches!(administered!(test, |tx| roles::grant(tx, asha, shop, Role::Viewer, now)), Err(Error::Unproved(_))), "where it was made");
        administered!(test, |tx| roles::grant(tx, asha, clinic, Role::Owner, now)).unwrap();
    }

    async fn nobody_rises_while_their_proof_is_taken_back(test: TestDb) {
        // SQLite has one writer: neither meets the other.
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let (shop, clinic) = (test.add_tenant("shop").await, test.add_tenant("clinic").await);
        let (asha, now) = (operator(&test, NewOperator { home: Some(shop), ..new("asha@shop.example") }).await.id, test.clock.now());
        for everywhere in [true, false] {
            let rise = move |tx: &mut PlatformTx<'_>| match everywhere {
                true => operators::make_keeper(tx, asha),
                false => administer_platform(tx, |tx| roles::grant(tx, asha, clinic, Role::Viewer, now)).map(|_| ()),
            };
            door!(test, |tx| operators::mark_verified(tx, asha, now)).unwrap();
            let hold = UnitHold::default();
            let held = hold.clone();
            let unproving = async {
                door!(test, |tx| {
                    operators::mark_unverified(tx, asha)?;
                    held.wait();
                    Ok(())
                })
            };
            let rising = hold.run_against(&test, async { door!(test, |tx| rise(tx)) });
            let (unproved, risen) = tokio::join!(unproving, rising);
            unproved.unwrap();
            assert!(matches!(risen, Err(Error::Unproved(_))), "{everywhere}: {risen:?}");
            let found = door!(test, |tx| Ok((operators::find(tx, asha)?, roles::list(tx, asha)?))).unwrap();
            let account = found.0.unwrap();
            assert_eq!((account.keeper, account.proved_at, found.1.len()), (false, None, 0), "{everywhere}");
        }
    }

    async fn what_was_looked_at_before_a_proof_is_good_for_nothing_after_it(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let passwords = PasswordService::with_cost(Arc::new(SystemRandom), PasswordCost::LEAST).unwrap();
        let hash = passwords.hash(Password::new("correct horse battery")).await.unwrap();
        let other = passwords.hash(Password::new("correct horse battery")).await.unwrap();
        let squatted = NewOperator { password: Some(hash.clone()), proved: false, home: Some(shop), ..new("asha@shop.example") };
        let (asha, now) = (operator(&test, squatted).await.id, test.clock.now());
        let token = sign_in(&test, asha).await;
        let id = door!(test, |tx| sign_ins::find(tx, &token, now)).unwrap().unwrap().0.id;
        let seen = door!(test, |tx| operators::find_password(tx, asha)).unwrap();
        assert!(seen == Some(hash));
        let held = async |seen: Option<PasswordHash>| {
            door!(test, |tx| Ok((operators::lock_if_password_unchanged(tx, asha, seen.as_ref())?, sign_ins::exists(tx, asha, id)?))).unwrap()
        };
        assert_eq!(held(seen.clone()).await, (true, true));
        assert_eq!(held(None).await, (false, true), "there was one");
        door!(test, |tx| operators::mark_verified(tx, asha, now)).unwrap();
        assert_eq!(held(seen.clone()).await, (false, false));
        // Nor once a password was set again, be it the same.
        door!(test, |tx| operators::set_password(tx, asha, &other)).unwrap();
        assert_eq!(held(seen).await, (false, false));
    }

    async fn the_first_proof_ends_links_and_keys_of_whoever_was_in_before(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let unproved = NewOperator { proved: false, home: Some(shop), ..new("asha@shop.example") };
        let (asha, now) = (operator(&test, unproved).await.id, test.clock.now());
        administered!(test, |tx| roles::grant(tx, asha, shop, Role::Owner, now)).unwrap();
        let made = |name: &'static str| {
            let (ids, door, db, by) = (test.ids.clone(), test.db.platform(OPERATORS), test.db.clone(), links::render_maker(asha));
            async move {
                let (kept, maker) = (ids.clone(), by.clone());
                let unit = move |tx: &mut PlatformTx<'_>| {
                    let purpose = invitation(&format!("{name}@b.example"), shop);
                    links::make(tx, &kept, &SystemRandom, &NewOneTimeLink { purpose: &purpose, made_by: &maker, life: links::LIFE }, now)
                };
                let link = door.write(unit).await.unwrap().1;
                let new = NewApiKey {
                    name: name.to_owned(), carries: KeySubject::Role(Role::Staff), areas: None, bindings: None, expires_at: None,
                    speaks_as: KeySpeaker::Program, made_by: by.clone(), maker: KeyMaker::from_name(by),
                };
                (link, db.write(shop, move |tx| administer(tx, |tx| keys::add(tx, &ids, &SystemRandom, &new, now))).await.unwrap().text)
            }
        };
        let good = async |text: &KeyText| keys::authenticate(&test.db, text.reveal(), now).await.unwrap().is_some();
        let (link, key) = made("a").await;
        assert!(good(&key).await);
        let ended = door!(test, |tx| operators::mark_verified_revoking(tx, asha, now)).unwrap().unwrap();
        assert_eq!(ended.iter().map(|(tenant, key)| (*tenant, key.name.as_str())).collect::<Vec<_>>(), [(shop, "a")]);
        assert!(!good(&key).await && !use_up(&test, &link).await);
        // A second proof ends nothing.
        let (link, key) = made("b").await;
        assert!(door!(test, |tx| operators::mark_verified_revoking(tx, asha, now)).unwrap().is_none());
        assert!(good(&key).await && use_up(&test, &link).await);
    }

    async fn a_key_made_while_its_makers_role_went_opens_nothing(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let (asha, now) = (operator(&test, new("asha@shop.example")).await.id, test.clock.now());
        let (ids, by) = (test.ids.clone(), links::render_maker(asha));
        let new = NewApiKey {
            name: "late".to_owned(), carries: KeySubject::Role(Role::Owner), areas: None, bindings: None, expires_at: None,
            speaks_as: KeySpeaker::Program, made_by: by.clone(), maker: KeyMaker::from_name(by),
        };
        let text = test.db.write(shop, move |tx| administer(tx, |tx| keys::add(tx, &ids, &SystemRandom, &new, now))).await.unwrap().text;
        let role = async || {
            let caller = keys::authenticate(&test.db, text.reveal(), now).await.unwrap();
            caller.map(|caller| (caller.principal.role(), caller.ceiling.role))
        };
        assert_eq!(role().await, None, "they are nothing here");
        for (given, found) in [
            (Role::Viewer, None),
            (Role::Staff, None),
            (Role::Admin, Some((Some(Role::Admin), Some(Role::Admin)))),
            (Role::Owner, Some((Some(Role::Owner), Some(Role::Owner)))),
        ] {
            administered!(test, |tx| roles::grant(tx, asha, shop, given, now)).unwrap();
            assert_eq!(role().await, found, "{given}");
        }
    }

    async fn a_rotated_key_ends_with_whoever_rotated_it(test: TestDb) {
        let (shop, now) = (test.add_tenant("shop").await, test.clock.now());
        let mut owners = Vec::new();
        for email in ["asha@shop.example", "farid@shop.example", "lata@shop.example"] {
            let id = operator(&test, new(email)).await.id;
            administered!(test, |tx| roles::grant(tx, id, shop, Role::Owner, now)).unwrap();
            owners.push(id);
        }
        let (asha, farid, lata) = (owners[0], owners[1], owners[2]);
        let (ids, by) = (test.ids.clone(), links::render_maker(asha));
        let new = NewApiKey {
            name: "till".to_owned(), carries: KeySubject::Role(Role::Staff), areas: None, bindings: None, expires_at: None,
            speaks_as: KeySpeaker::Program, made_by: by.clone(), maker: KeyMaker::from_name(by),
        };
        let made = test.db.write(shop, move |tx| administer(tx, |tx| keys::add(tx, &ids, &SystemRandom, &new, now))).await.unwrap();
        let id = made.key.id;
        let rotated_by = |who| move |tx: &mut munshi_store::Tx<'_>| -> Result<_, Error> {
            let rotated = administer(tx, |tx| keys::rotate(tx, &SystemRandom, id, Duration::from_secs(3600), now))?.unwrap();
            administer(tx, |tx| keys::transfer_maker(tx, id, &KeyMaker::from_name(links::render_maker(who))))?;
            Ok(rotated.text)
        };
        let second = test.db.write(shop, rotated_by(farid)).await.unwrap();
        let third = test.db.write(shop, rotated_by(lata)).await.unwrap();
        let good = async |text: &KeyText| keys::authenticate(&test.db, text.reveal(), now).await.unwrap().is_some();
        assert!(good(&made.text).await && good(&second).await && good(&third).await);
        assert!(administered!(test, |tx| roles::revoke(tx, asha, shop, now)).unwrap().revoked.is_empty());
        assert!(!good(&made.text).await, "the secret that Asha knows");
        assert!(good(&second).await);
        assert!(administered!(test, |tx| roles::revoke(tx, farid, shop, now)).unwrap().revoked.is_empty());
        assert!(!good(&second).await && good(&third).await, "the secret that Farid knows");
        let taken = administered!(test, |tx| roles::revoke(tx, lata, shop, now)).unwrap();
        assert_eq!(taken.revoked.len(), 1);
        assert!(!good(&third).await);
    }
}
