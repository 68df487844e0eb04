//! Pauses between wrong passwords.

use std::net::IpAddr;
use std::time::Duration;

use munshi_identity::login_backoff::{self, SignInAttempt, SignInThrottle};
use munshi_identity::operators::OPERATORS;
use munshi_identity::{Error, SecretToken};
use munshi_store::{PlatformTx, across_tenants};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{Clock, SystemRandom};

fn address(last: u8) -> Option<IpAddr> {
    Some(IpAddr::from([203, 0, 113, last]))
}

async fn begin(test: &TestDb, who: &SignInAttempt) -> SignInThrottle {
    let (who, now) = (who.clone(), test.clock.now());
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, Error> { who.begin(tx, now) };
    test.db.platform(OPERATORS).write(unit).await.unwrap()
}

async fn right(test: &TestDb, who: &SignInAttempt) {
    let (who, now) = (who.clone(), test.clock.now());
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, Error> { who.record_success(tx, now) };
    test.db.platform(OPERATORS).write(unit).await.unwrap();
}

/// How many of so many tries in a row are let through.
async fn let_through(test: &TestDb, tries: impl Iterator<Item = SignInAttempt>) -> usize {
    let mut count = 0;
    for one in tries {
        count += usize::from(matches!(begin(test, &one).await, SignInThrottle::Go { .. }));
    }
    count
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];

    async fn one_account_from_one_address_waits_longer_each_time(test: TestDb) {
        let who = SignInAttempt::new("Asha@shop.example", address(1));
        let mut waits = Vec::new();
        for _ in 0..9 {
            match begin(&test, &who).await {
                SignInThrottle::Go { .. } => waits.push(0),
                SignInThrottle::Wait(wait) => {
                    waits.push(wait.as_secs());
                    test.clock.advance(wait);
                    assert!(matches!(begin(&test, &who).await, SignInThrottle::Go { .. }));
                }
            }
        }
        assert_eq!(waits, [0, 0, 0, 0, 1, 2, 4, 8, 16]);
        // Asking in vain makes it no longer; a day later all is forgotten.
        let SignInThrottle::Wait(wait) = begin(&test, &who).await else { panic!("no pause") };
        assert_eq!(begin(&test, &who).await, SignInThrottle::Wait(wait));
        test.clock.advance(Duration::from_secs(24 * 3600));
        assert_eq!(let_through(&test, std::iter::repeat_n(who.clone(), 10)).await, 4);
        // A right password clears it.
        test.clock.advance(Duration::from_secs(1));
        assert!(matches!(begin(&test, &who).await, SignInThrottle::Go { .. }));
        right(&test, &who).await;
        assert_eq!(let_through(&test, std::iter::repeat_n(who, 10)).await, 4);
    }

    async fn many_accounts_from_one_address_are_held_up(test: TestDb) {
        let accounts = |number: usize| SignInAttempt::new(&format!("a{number}@b.example"), address(1));
        assert_eq!(let_through(&test, (0..200).map(accounts)).await, 20);
        assert!(matches!(begin(&test, &SignInAttempt::new("new@b.example", address(2))).await, SignInThrottle::Go { .. }));
        // Whoever signs in rightly there gets their own try back, and no more.
        test.clock.advance(Duration::from_secs(1));
        let own = SignInAttempt::new("own@b.example", address(1));
        for _ in 0..3 {
            assert!(matches!(begin(&test, &own).await, SignInThrottle::Go { .. }));
            right(&test, &own).await;
        }
        assert_eq!(let_through(&test, (300..310).map(accounts)).await, 1);
    }

    async fn a_try_that_is_refused_writes_nothing(test: TestDb) {
        let accounts = |number: usize| SignInAttempt::new(&format!("a{number}@b.example"), address(1));
        assert_eq!(let_through(&test, (0..20).map(accounts)).await, 20);
        let rows = || async {
            let count = |tx: &mut PlatformTx<'_>| tx.one(across_tenants("SELECT COUNT(*) FROM sign_in_pauses"), &[], |row| row.get::<i64>(0));
            test.db.platform(OPERATORS).read(count).await.unwrap()
        };
        let before = rows().await;
        assert_eq!(let_through(&test, (100..150).map(accounts)).await, 0);
        assert_eq!(rows().await, before);
        // It is known without a transaction that writes.
        let (who, now) = (accounts(200), test.clock.now());
        let read = move |tx: &mut PlatformTx<'_>| -> Result<_, Error> { who.find_wait(tx, now) };
        assert_eq!(test.db.platform(OPERATORS).read(read).await.unwrap(), Some(Duration::from_secs(1)));
    }

    async fn one_account_from_many_addresses_waits_but_a_known_browser_does_not(test: TestDb) {
        let strangers = (0..100).map(|last| SignInAttempt::new("asha@shop.example", address(last)));
        assert_eq!(let_through(&test, strangers).await, 10);
        let SignInThrottle::Wait(wait) = begin(&test, &SignInAttempt::new("asha@shop.example", address(250))).await else { panic!("no pause") };
        assert!(wait <= Duration::from_secs(300), "{wait:?}");
        let browser = SecretToken::random(&SystemRandom);
        let own = SignInAttempt::from_known_browser("asha@shop.example", &browser);
        assert!(matches!(begin(&test, &own).await, SignInThrottle::Go { .. }));
        assert_eq!(let_through(&test, std::iter::repeat_n(own, 20)).await, 5, "but it is no free pass");
        let other = SignInAttempt::new("farid@shop.example", address(200));
        assert!(matches!(begin(&test, &other).await, SignInThrottle::Go { .. }), "other accounts don't wait");
    }

    async fn tries_at_once_are_no_free_ones(test: TestDb) {
        let second = test.open_again().await;
        let mut racing = tokio::task::JoinSet::new();
        for number in 0..32 {
            let db = if number % 2 == 0 { &test.db } else { &second }.clone();
            let (who, now) = (SignInAttempt::new("asha@shop.example", address(1)), test.clock.now());
            racing.spawn(async move {
                let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, Error> { who.begin(tx, now) };
                db.platform(OPERATORS).write(unit).await.unwrap()
            });
        }
        let through = racing.join_all().await.into_iter().filter(|begun| matches!(begun, SignInThrottle::Go { .. })).count();
        assert_eq!(through, 4);
        let later = test.clock.now().plus(Duration::from_secs(25 * 3600));
        let swept = test.db.platform(OPERATORS).write(move |tx| login_backoff::sweep(tx, later)).await.unwrap();
        assert_eq!(swept, 3);
    }
}
