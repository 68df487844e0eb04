//! API keys: made, used, rotated, revoked.

use std::sync::Arc;
use std::time::Duration;

use munshi_identity::keys::{
    self, ApiAccess, ApiKeyCache, Area, AreaGrant, IssuedApiKey, KeyMaker, KeySpeaker, KeySubject, KeyText,
    NewApiKey,
};
use munshi_identity::{Error, Person, Principal, PrincipalStanding, Role, persons};
use munshi_store::{PageRequest, Result, tenants};
use munshi_test_support::administer;
use munshi_test_support::{DatabaseEngine, TestDb, UnitHold, administer_platform, on_both_engines};
use munshi_types::{BindingId, Clock, KeyId, PersonId, SystemRandom, TenantId, TenantStatus};

fn new(name: &str, carries: KeySubject) -> NewApiKey {
    NewApiKey {
        name: name.to_owned(),
        carries,
        areas: None,
        bindings: None,
        expires_at: None,
        speaks_as: KeySpeaker::Person,
        made_by: "asha".to_owned(),
        maker: KeyMaker::from_name("asha"),
    }
}

async fn add(test: &TestDb, tenant: TenantId, new: NewApiKey) -> Result<IssuedApiKey, Error> {
    let (ids, now) = (test.ids.clone(), test.clock.now());
    test.db.write(tenant, move |tx| administer(tx, |tx| keys::add(tx, &ids, &SystemRandom, &new, now))).await
}

async fn caller(test: &TestDb, text: &KeyText) -> Option<keys::ApiCaller> {
    keys::authenticate(&test.db, text.reveal(), test.clock.now()).await.unwrap()
}

async fn find(test: &TestDb, tenant: TenantId, id: KeyId) -> keys::ApiKeyRecord {
    test.db.read(tenant, move |tx| keys::find(tx, id)).await.unwrap().unwrap()
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];

    async fn a_key_leads_to_its_tenant_and_standing(test: TestDb) {
        let (shop, clinic) = (test.add_tenant("shop").await, test.add_tenant("clinic").await);
        let binding: BindingId = test.ids.next();
        let narrow = NewApiKey {
            areas: Some(vec!["chat".parse().unwrap(), "persons:read".parse().unwrap()]),
            bindings: Some(vec![binding]),
            ..new("till", KeySubject::Role(Role::Staff))
        };
        let made = add(&test, shop, narrow).await.unwrap();
        let other = add(&test, clinic, new("till", KeySubject::Role(Role::Owner))).await.unwrap();
        assert_eq!(made.key.secrets[0].handle, made.text.handle());

        let staff = caller(&test, &made.text).await.unwrap();
        assert_eq!((staff.tenant, staff.key, staff.principal.standing), (shop, made.key.id, PrincipalStanding::Member(Role::Staff)));
        assert!(staff.reaches(binding) && !staff.reaches(test.ids.next::<BindingId>()));
        assert!(staff.authorize(Area::Chat, ApiAccess::Write).is_ok() && staff.authorize(Area::Persons, ApiAccess::Read).is_ok());
        assert!(staff.authorize(Area::Persons, ApiAccess::Write).is_err() && staff.authorize(Area::Usage, ApiAccess::Read).is_err());
        let owner = caller(&test, &other.text).await.unwrap();
        assert_eq!(owner.tenant, clinic);
        assert!(Area::ALL.iter().all(|area| owner.authorize(*area, ApiAccess::Write).is_ok() != area.must_be_named()));

        for wrong in ["", "mk_", "Bearer x", &made.text.reveal()[1..], &format!("{} ", made.text.reveal())] {
            assert!(keys::authenticate(&test.db, wrong, test.clock.now()).await.unwrap().is_none(), "{wrong}");
        }
        let listed = test.db.read(shop, |tx| keys::list(tx, &PageRequest::new(None, 10))).await.unwrap().items;
        assert_eq!(listed.iter().map(|key| key.id).collect::<Vec<_>>(), [made.key.id], "another tenant's is not seen");
        let told = format!("{listed:?}{}{made:?}", serde_json::to_string(&listed).unwrap());
        assert!(!told.contains(&made.text.reveal()[15..40]), "{told}");
    }

    async fn a_right_handle_with_a_wrong_secret_opens_nothing(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let made = add(&test, shop, new("till", KeySubject::Role(Role::Owner))).await.unwrap();
        let other = add(&test, shop, new("desk", KeySubject::Role(Role::Viewer))).await.unwrap();
        // As if somebody had two keys with the same handle: the hash alone decides.
        let (handle, hash) = (other.text.handle().to_owned(), vec![0_u8; 32]);
        test.db.write(shop, move |tx| tx.execute(
            "UPDATE api_key_secrets SET hash = $3 WHERE tenant_id = $1 AND handle = $2",
            munshi_store::params![handle, hash],
        )).await.unwrap();
        let keys = ApiKeyCache::new(test.db.clone(), test.clock.clone());
        assert!(caller(&test, &other.text).await.is_none());
        assert!(keys.authenticate(other.text.reveal()).await.unwrap().is_none());
        assert!(keys.authenticate(made.text.reveal()).await.unwrap().is_some());
    }

    async fn a_key_of_a_person_stands_as_they_stand_now(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let asha = Person { role: Some(Role::Admin), ..Person::new(&test.ids, "Asha", test.clock.now()) };
        let (id, stored) = (asha.id, asha.clone());
        test.db.write(shop, move |tx| persons::upsert(tx, &stored)).await.unwrap();
        let made = add(&test, shop, new("asha's", KeySubject::Person(id))).await.unwrap();
        assert_eq!(caller(&test, &made.text).await.unwrap().principal.person, Some(id));
        let set = |person: Person| test.db.write(shop, move |tx| persons::upsert(tx, &person));
        set(Person { role: Some(Role::Viewer), ..asha.clone() }).await.unwrap();
        assert_eq!(caller(&test, &made.text).await.unwrap().principal.standing, PrincipalStanding::Member(Role::Viewer));
        set(Person { left_at: Some(test.clock.now()), ..asha.clone() }).await.unwrap();
        assert!(caller(&test, &made.text).await.is_none(), "who left");
        assert!(matches!(add(&test, shop, new("x", KeySubject::Person(id))).await, Err(Error::Invalid(_))));
        // No key rises with a merge.
        set(Person { role: None, ..asha.clone() }).await.unwrap();
        assert_eq!(caller(&test, &made.text).await.unwrap().principal.standing, PrincipalStanding::Known);
        let owner = Person { role: Some(Role::Owner), ..Person::new(&test.ids, "Farid", test.clock.now()) };
        let into = owner.id;
        set(owner).await.unwrap();
        test.db.write(shop, move |tx| persons::merge(tx, id, into)).await.unwrap();
        assert!(caller(&test, &made.text).await.is_none());
        assert!(matches!(add(&test, shop, new("y", KeySubject::Person(id))).await, Err(Error::NoPerson(_))));
    }

    async fn a_key_ends_with_its_time_its_tenant_or_when_it_is_taken_back(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let ends = test.clock.now().plus(Duration::from_secs(60));
        let short = NewApiKey { expires_at: Some(ends), ..new("short", KeySubject::Role(Role::Viewer)) };
        let (short, long) = (add(&test, shop, short).await.unwrap(), add(&test, shop, new("long", KeySubject::Role(Role::Viewer))).await.unwrap());
        let taken = add(&test, shop, new("long", KeySubject::Role(Role::Owner))).await;
        assert!(matches!(taken, Err(Error::NameTaken(_))), "{taken:?}");
        test.clock.advance(Duration::from_millis(59_999));
        assert!(caller(&test, &short.text).await.is_some());
        test.clock.advance(Duration::from_millis(1));
        assert!(caller(&test, &short.text).await.is_none() && caller(&test, &long.text).await.is_some());
        let door = test.db.platform(tenants::TENANTS);
        let status = |status| door.write(move |tx| administer_platform(tx, |tx| tenants::set_status(tx, shop, status)));
        status(TenantStatus::Paused).await.unwrap();
        assert_eq!(caller(&test, &long.text).await.unwrap().tenant_status, TenantStatus::Paused);
        let (id, now) = (long.key.id, test.clock.now());
        let revoke = || test.db.write(shop, move |tx| administer(tx, |tx| keys::revoke(tx, id, now)));
        assert!(revoke().await.unwrap().unwrap().changed && !revoke().await.unwrap().unwrap().changed);
        assert!(caller(&test, &long.text).await.is_none());
        let nothing: KeyId = test.ids.next();
        assert!(test.db.write(shop, move |tx| administer(tx, |tx| keys::revoke(tx, nothing, now))).await.unwrap().is_none());
        let again = add(&test, shop, new("long", KeySubject::Role(Role::Viewer))).await.unwrap();
        status(TenantStatus::Archived).await.unwrap();
        assert!(caller(&test, &again.text).await.is_none());
    }

    async fn a_rotated_key_has_two_secrets_for_a_while(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let made = add(&test, shop, new("till", KeySubject::Role(Role::Viewer))).await.unwrap();
        let keys = ApiKeyCache::new(test.db.clone(), test.clock.clone());
        let rotate = |grace| {
            let (keys, id, now) = (keys.clone(), made.key.id, test.clock.now());
            test.db.write(shop, move |tx| administer(tx, |tx| keys.rotate(tx, &SystemRandom, id, grace, now)))
        };
        let second = rotate(Duration::from_secs(3600)).await.unwrap().unwrap();
        assert_eq!(second.key.secrets.len(), 2);
        assert!(caller(&test, &made.text).await.is_some() && caller(&test, &second.text).await.is_some());
        assert!(keys.authenticate(made.text.reveal()).await.unwrap().is_some());
        test.clock.advance(Duration::from_secs(3600));
        assert!(caller(&test, &made.text).await.is_none() && keys.authenticate(made.text.reveal()).await.unwrap().is_none());
        assert!(keys.authenticate(second.text.reveal()).await.unwrap().is_some());
        let third = rotate(Duration::ZERO).await.unwrap().unwrap();
        assert!(keys.authenticate(second.text.reveal()).await.unwrap().is_none(), "at once");
        assert!(keys.authenticate(third.text.reveal()).await.unwrap().is_some());
        let (id, now) = (made.key.id, test.clock.now());
        test.db.write(shop, move |tx| administer(tx, |tx| keys::revoke(tx, id, now))).await.unwrap();
        assert!(rotate(Duration::ZERO).await.unwrap().is_none(), "what was taken back stays so");
    }

    async fn of_rotations_at_once_one_secret_stays(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let made = add(&test, shop, new("till", KeySubject::Role(Role::Viewer))).await.unwrap();
        let second = test.open_again().await;
        for round in 0..5 {
            let mut rotations = tokio::task::JoinSet::new();
            for number in 0..8 {
                let db = if number % 2 == 0 { &test.db } else { &second }.clone();
                let (id, now) = (made.key.id, test.clock.now());
                let unit = move |tx: &mut munshi_store::Tx<'_>| administer(tx, |tx| keys::rotate(tx, &SystemRandom, id, Duration::ZERO, now));
                rotations.spawn(async move { db.write(shop, unit).await.unwrap().unwrap().text });
            }
            let texts = rotations.join_all().await;
            let mut open = usize::from(caller(&test, &made.text).await.is_some());
            for text in texts {
                open += usize::from(caller(&test, &text).await.is_some());
            }
            assert_eq!(open, 1, "round {round}");
        }
    }

    async fn a_node_remembers_for_a_second_and_forgets_what_it_revokes(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let made = add(&test, shop, new("till", KeySubject::Role(Role::Viewer))).await.unwrap();
        let other = add(&test, shop, new("desk", KeySubject::Role(Role::Viewer))).await.unwrap();
        let (here, there) = (ApiKeyCache::new(test.db.clone(), test.clock.clone()), ApiKeyCache::new(test.open_again().await, test.clock.clone()));
        let is_in = |keys: &ApiKeyCache, made: &IssuedApiKey| {
            let (keys, text) = (keys.clone(), made.text.clone());
            async move { keys.authenticate(text.reveal()).await.unwrap() }
        };
        let first = is_in(&here, &made).await.unwrap();
        assert!(Arc::ptr_eq(&first, &is_in(&here, &made).await.unwrap()), "no look into the database");
        assert!(is_in(&there, &made).await.is_some() && is_in(&here, &other).await.is_some());

        let (keys, id, now) = (here.clone(), made.key.id, test.clock.now());
        test.db.write(shop, move |tx| administer(tx, |tx| keys.revoke(tx, id, now))).await.unwrap();
        assert!(is_in(&here, &made).await.is_none(), "at once");
        assert!(is_in(&there, &made).await.is_some(), "not yet");
        test.clock.advance(Duration::from_secs(1));
        assert!(is_in(&there, &made).await.is_none());
        // A clock that is set back keeps nothing alive.
        is_in(&there, &other).await.unwrap();
        let (id, now) = (other.key.id, test.clock.now());
        test.db.write(shop, move |tx| administer(tx, |tx| keys::revoke(tx, id, now))).await.unwrap();
        test.clock.set(now.minus(Duration::from_secs(60)));
        assert!(is_in(&there, &other).await.is_none());
    }

    async fn what_is_rolled_back_is_not_forgotten_for(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let made = add(&test, shop, new("till", KeySubject::Role(Role::Viewer))).await.unwrap();
        let keys = ApiKeyCache::new(test.db.clone(), test.clock.clone());
        let (inside, id, now) = (keys.clone(), made.key.id, test.clock.now());
        let failed: Result<(), Error> = test.db.write(shop, move |tx| {
            administer(tx, |tx| inside.revoke(tx, id, now))?;
            Err(Error::Invalid("something else".to_owned()))
        }).await;
        assert!(failed.is_err() && keys.authenticate(made.text.reveal()).await.unwrap().is_some());
        assert_eq!(find(&test, shop, id).await.revoked_at, None);
    }

    async fn use_is_noted_once_a_minute(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let made = add(&test, shop, new("till", KeySubject::Role(Role::Viewer))).await.unwrap();
        let keys = ApiKeyCache::new(test.db.clone(), test.clock.clone());
        let began = test.clock.now();
        let mut noted = Vec::new();
        for _ in 0..25 {
            keys.authenticate(made.text.reveal()).await.unwrap().unwrap();
            noted.extend(find(&test, shop, made.key.id).await.last_used_at);
            test.clock.advance(Duration::from_secs(5));
        }
        noted.dedup();
        let minute = Duration::from_secs(60);
        assert_eq!(noted, [began, began.plus(minute), began.plus(minute * 2)]);
    }

    async fn a_key_that_makes_no_sense_is_refused(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let plain = || new("till", KeySubject::Role(Role::Viewer));
        for wrong in [
            NewApiKey { name: String::new(), ..plain() },
            NewApiKey { name: " till".to_owned(), ..plain() },
            NewApiKey { name: "till\u{202e}".to_owned(), ..plain() },
            NewApiKey { name: "x".repeat(101), ..plain() },
            NewApiKey { areas: Some(Vec::<AreaGrant>::new()), ..plain() },
            NewApiKey { bindings: Some(Vec::new()), ..plain() },
            NewApiKey { expires_at: Some(test.clock.now()), ..plain() },
        ] {
            let refused = add(&test, shop, wrong.clone()).await;
            assert!(matches!(refused, Err(Error::Invalid(_))), "{wrong:?}: {refused:?}");
        }
        let nobody = new("till", KeySubject::Person(test.ids.next()));
        assert!(matches!(add(&test, shop, nobody).await, Err(Error::NoPerson(_))));
    }

    async fn a_key_stays_below_what_its_person_was_when_it_was_made(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let ravi = Person::new(&test.ids, "Ravi", test.clock.now());
        let (id, stored) = (ravi.id, ravi.clone());
        test.db.write(shop, move |tx| persons::upsert(tx, &stored)).await.unwrap();
        let early = add(&test, shop, new("early", KeySubject::Person(id))).await.unwrap();
        let opened = vec!["books.*".parse().unwrap()];
        let owner = Person { role: Some(Role::Owner), opened: opened.clone(), ..ravi };
        test.db.write(shop, move |tx| persons::upsert(tx, &owner)).await.unwrap();
        let principal = caller(&test, &early.text).await.unwrap().principal;
        assert_eq!((principal.standing, principal.opened), (PrincipalStanding::Known, Vec::new()));
        let late = add(&test, shop, new("late", KeySubject::Person(id))).await.unwrap();
        let principal = caller(&test, &late.text).await.unwrap().principal;
        assert_eq!((principal.standing, principal.opened), (PrincipalStanding::Member(Role::Owner), opened));
    }

    async fn what_was_closed_when_a_key_was_made_stays_closed_to_it(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let closed = vec!["ledger.*".parse().unwrap()];
        let ravi = Person { role: Some(Role::Staff), closed: closed.clone(), ..Person::new(&test.ids, "Ravi", test.clock.now()) };
        let (id, stored) = (ravi.id, ravi.clone());
        test.db.write(shop, move |tx| persons::upsert(tx, &stored)).await.unwrap();
        let early = add(&test, shop, new("early", KeySubject::Person(id))).await.unwrap();
        let trusted = Person { closed: Vec::new(), ..ravi };
        test.db.write(shop, move |tx| persons::upsert(tx, &trusted)).await.unwrap();
        let late = add(&test, shop, new("late", KeySubject::Person(id))).await.unwrap();
        let (early, late) = (caller(&test, &early.text).await.unwrap(), caller(&test, &late.text).await.unwrap());
        assert_eq!((&early.principal.closed, &early.ceiling.closed), (&closed, &closed));
        assert_eq!((late.principal.closed, late.ceiling.closed), (Vec::new(), Vec::new()));
    }

    async fn a_key_of_a_role_opens_nothing_beyond_it(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let opened = vec!["ledger.credit.add".parse().unwrap()];
        let chitra = Principal { opened: opened.clone(), ..Principal::member(shop, test.ids.next(), Role::Staff) };
        for (role, left) in [(Role::Owner, opened), (Role::Admin, Vec::new()), (Role::Staff, Vec::new())] {
            let made = add(&test, shop, new(role.as_str(), KeySubject::Role(role))).await.unwrap();
            let ceiling = caller(&test, &made.text).await.unwrap().ceiling;
            assert_eq!(ceiling.cap(chitra.clone()).opened, left, "{role}");
        }
    }

    async fn what_somebody_made_with_their_key_ends_with_their_role_and_stays_ended(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let asha = Person { role: Some(Role::Admin), ..Person::new(&test.ids, "Asha", test.clock.now()) };
        let set = |person: Person| test.db.write(shop, move |tx| persons::upsert(tx, &person));
        set(asha.clone()).await.unwrap();
        let own = add(&test, shop, new("own", KeySubject::Person(asha.id))).await.unwrap();
        let made_with = |name: &str, person: Option<PersonId>, key: Option<KeyId>| {
            let maker = KeyMaker { name: format!("api key {}", own.key.id), person, key };
            NewApiKey { maker, ..new(name, KeySubject::Role(Role::Staff)) }
        };
        let child = add(&test, shop, made_with("child", Some(asha.id), Some(own.key.id))).await.unwrap();
        // As keys were stored before the person and the key that made them were.
        let legacy = add(&test, shop, made_with("legacy", None, None)).await.unwrap();
        let other = add(&test, shop, new("other", KeySubject::Role(Role::Staff))).await.unwrap();
        let lose = |before: Person, after: Person| {
            let now = test.clock.now();
            test.db.write(shop, move |tx| keys::revoke_after_role_loss(tx, &before, &after, now))
        };
        let lower = |role: Option<Role>| Person { role, ..asha.clone() };
        for (before, after) in [(asha.clone(), asha.clone()), (lower(Some(Role::Staff)), asha.clone()), (asha.clone(), lower(Some(Role::Owner)))] {
            assert_eq!(lose(before, after).await.unwrap(), Vec::new());
        }
        let revoked = lose(asha.clone(), lower(Some(Role::Staff))).await.unwrap();
        assert_eq!(revoked.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["child", "legacy"]);
        for text in [&child.text, &legacy.text] {
            assert!(caller(&test, text).await.is_none(), "also while they have the role again");
        }
        assert!(caller(&test, &own.text).await.is_some() && caller(&test, &other.text).await.is_some());
        add(&test, shop, made_with("child", Some(asha.id), Some(own.key.id))).await.unwrap();
        let left = Person { left_at: Some(test.clock.now()), ..asha.clone() };
        assert_eq!(lose(asha.clone(), left).await.unwrap().len(), 1);
    }

    async fn a_key_is_revoked_with_the_one_it_was_made_with(test: TestDb) {
        let (shop, now) = (test.add_tenant("shop").await, test.clock.now());
        let with = |parent: Option<KeyId>| KeyMaker { key: parent, ..KeyMaker::from_name("asha") };
        let parent = add(&test, shop, new("parent", KeySubject::Role(Role::Admin))).await.unwrap();
        let child = NewApiKey { maker: with(Some(parent.key.id)), ..new("child", KeySubject::Role(Role::Staff)) };
        let child = add(&test, shop, child).await.unwrap();
        let grandchild = NewApiKey { maker: with(Some(child.key.id)), ..new("grandchild", KeySubject::Role(Role::Staff)) };
        let grandchild = add(&test, shop, grandchild).await.unwrap();
        // From before the parent was stored.
        let old = NewApiKey { made_by: format!("api key {}", parent.key.id), ..new("old", KeySubject::Role(Role::Staff)) };
        let old = add(&test, shop, old).await.unwrap();
        let other = add(&test, shop, new("other", KeySubject::Role(Role::Staff))).await.unwrap();
        // One between was revoked before: what was made with it went with it.
        let id = child.key.id;
        let first = test.db.write(shop, move |tx| administer(tx, |tx| keys::revoke(tx, id, now))).await.unwrap().unwrap();
        assert_eq!(first.made_with_it.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["grandchild"]);
        let id = parent.key.id;
        let revoked = test.db.write(shop, move |tx| administer(tx, |tx| keys::revoke(tx, id, now))).await.unwrap().unwrap();
        assert_eq!(revoked.made_with_it.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["old"]);
        let late = NewApiKey { maker: with(Some(parent.key.id)), ..new("late", KeySubject::Role(Role::Staff)) };
        assert!(matches!(add(&test, shop, late).await, Err(Error::Invalid(_))), "a revoked key makes none");
        let brief = add(&test, shop, new("brief", KeySubject::Role(Role::Admin))).await.unwrap().key.id;
        assert!(test.db.write(shop, move |tx| keys::remove(tx, brief)).await.unwrap());
        let late = NewApiKey { maker: with(Some(brief)), ..new("late", KeySubject::Role(Role::Staff)) };
        assert!(matches!(add(&test, shop, late).await, Err(Error::Invalid(_))), "a removed key makes none");
        for gone in [&parent, &child, &grandchild, &old] {
            assert!(caller(&test, &gone.text).await.is_none(), "{}", gone.key.name);
        }
        assert!(caller(&test, &other.text).await.is_some());
    }

    async fn a_key_made_while_its_parent_is_revoked_ends_with_it(test: TestDb) {
        // SQLite has one writer: neither meets the other.
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let (shop, now) = (test.add_tenant("shop").await, test.clock.now());
        let parent = add(&test, shop, new("parent", KeySubject::Role(Role::Admin))).await.unwrap().key.id;
        let child = NewApiKey { maker: KeyMaker { key: Some(parent), ..KeyMaker::from_name("asha") }, ..new("child", KeySubject::Role(Role::Staff)) };
        let (hold, ids) = (UnitHold::default(), test.ids.clone());
        // A node lets the units of a tenant follow each other.
        let (held, second) = (hold.clone(), test.open_again().await);
        let making = second.write(shop, move |tx| {
            let made = administer(tx, |tx| keys::add(tx, &ids, &SystemRandom, &child, now))?;
            held.wait();
            Ok::<_, Error>(made)
        });
        let revoking = hold.run_against(&test, test.db.write(shop, move |tx| administer(tx, |tx| keys::revoke(tx, parent, now))));
        let (made, revoked) = tokio::join!(making, revoking);
        let revoked = revoked.unwrap().unwrap();
        assert_eq!(revoked.made_with_it.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["child"]);
        assert!(caller(&test, &made.unwrap().text).await.is_none());
    }

    async fn keys_share_a_maker_also_after_a_rotation_and_through_other_keys(test: TestDb) {
        let (shop, now) = (test.add_tenant("shop").await, test.clock.now());
        let made_with = |name: &'static str, key: KeyId, maker: &str| {
            let by = format!("api key {key}");
            NewApiKey { made_by: by, maker: KeyMaker::from_name(maker), ..new(name, KeySubject::Role(Role::Staff)) }
        };
        let first = add(&test, shop, new("first", KeySubject::Role(Role::Owner))).await.unwrap().key.id;
        let second = add(&test, shop, new("second", KeySubject::Role(Role::Owner))).await.unwrap().key.id;
        let by_lata = NewApiKey { made_by: "lata".to_owned(), maker: KeyMaker::from_name("lata"), ..new("hers", KeySubject::Role(Role::Owner)) };
        let hers = add(&test, shop, by_lata).await.unwrap().key.id;
        // Before makers were followed, a key that another made named that one.
        let child = add(&test, shop, made_with("child", first, &format!("api key {first}"))).await.unwrap().key.id;
        let grandchild = add(&test, shop, made_with("grandchild", child, &format!("api key {child}"))).await.unwrap().key.id;
        let share = async |one: KeyId, other: KeyId| {
            let shared = test.db.read(shop, move |tx| keys::has_common_maker(tx, one, other)).await.unwrap();
            let turned = test.db.read(shop, move |tx| keys::has_common_maker(tx, other, one)).await.unwrap();
            assert_eq!(shared, turned);
            shared
        };
        for (one, other) in [(first, first), (first, second), (first, child), (second, child), (first, grandchild), (second, grandchild)] {
            assert!(share(one, other).await);
        }
        assert!(!share(first, hers).await && !share(grandchild, hers).await);
        // Lata answers for the first from now on; who made it is not forgotten for that.
        let rotate = move |tx: &mut munshi_store::Tx<'_>| -> Result<_, Error> {
            administer(tx, |tx| keys::rotate(tx, &SystemRandom, first, Duration::ZERO, now))?;
            administer(tx, |tx| keys::transfer_maker(tx, first, &KeyMaker::from_name("lata")))
        };
        test.db.write(shop, rotate).await.unwrap();
        assert!(share(first, hers).await && share(first, second).await && share(grandchild, second).await);
        assert!(!share(second, hers).await);
    }
}
