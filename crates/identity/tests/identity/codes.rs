//! One-time codes: asked for, answered, never guessed.

use std::time::Duration;

use munshi_identity::codes::{
    self, CodeAttempt, CodeKey, CodeProof, CodePurpose, CodeRequest, CodeRequestOutcome, CodeVerification,
    NewCode,
};
use munshi_identity::{ContactAddress, Error};
use munshi_store::{Result, params};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{Clock, SystemRandom, TenantId};
use tokio::task::JoinSet;

fn key() -> CodeKey {
    CodeKey::new(&[7; 32])
}

fn phone(number: usize) -> ContactAddress {
    ContactAddress::phone(&format!("98123{number:05}")).unwrap()
}

async fn ask(test: &TestDb, tenant: TenantId, asker: &str, address: ContactAddress) -> CodeRequestOutcome {
    let (ids, now) = (test.ids.clone(), test.clock.now());
    let wish = CodeRequest { purpose: CodePurpose::Link, asker: asker.to_owned(), address };
    test.db
        .write(tenant, move |tx| codes::request(tx, &key(), &ids, &SystemRandom, &wish, now))
        .await
        .unwrap()
}

async fn code(test: &TestDb, tenant: TenantId, asker: &str, address: ContactAddress) -> NewCode {
    match ask(test, tenant, asker, address).await {
        CodeRequestOutcome::Made(code) => code,
        CodeRequestOutcome::TooMany { again_at } => panic!("too many until {again_at}"),
    }
}

async fn say(test: &TestDb, tenant: TenantId, asker: &str, text: &str) -> CodeVerification<CodeProof> {
    let attempt = CodeAttempt { purpose: CodePurpose::Link, asker: asker.to_owned(), text: text.to_owned() };
    let right = |_: &mut munshi_store::Tx<'_>, proven| Ok::<_, Error>(proven);
    codes::verify(&test.db, tenant, &key(), attempt, test.clock.now(), right).await.unwrap()
}

fn another(code: &NewCode) -> String {
    let number: u32 = code.text.reveal().parse().unwrap();
    format!("{:06}", (number + 1) % 1_000_000)
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];

    async fn a_right_code_proves_its_address_once(test: TestDb) {
        let (shop, clinic) = (test.add_tenant("shop").await, test.add_tenant("clinic").await);
        assert_eq!(say(&test, shop, "s1", "123456").await, CodeVerification::NotAsked);
        let made = code(&test, shop, "s1", phone(1)).await;
        let text = made.text.reveal().to_owned();
        assert_eq!(say(&test, shop, "s1", "hello").await, CodeVerification::NoCode);
        assert_eq!(say(&test, shop, "s1", &another(&made)).await, CodeVerification::Wrong { left: 4 });
        assert_eq!(say(&test, shop, "s2", &text).await, CodeVerification::NotAsked, "another conversation");
        assert_eq!(say(&test, clinic, "s1", &text).await, CodeVerification::NotAsked, "another tenant");
        let sign_in = CodeAttempt { purpose: CodePurpose::SignIn, asker: "s1".to_owned(), text: text.clone() };
        let key = key();
        let other = codes::verify(&test.db, shop, &key, sign_in, test.clock.now(), |_, _| Ok::<_, Error>(()));
        assert_eq!(other.await.unwrap(), CodeVerification::NotAsked, "another purpose");
        let spaced = format!("{} {}", &text[..3], &text[3..]);
        let proven = CodeProof { code: made.id, purpose: CodePurpose::Link, address: phone(1) };
        assert_eq!(say(&test, shop, "s1", &spaced).await, CodeVerification::Right(proven));
        assert_eq!(say(&test, shop, "s1", &text).await, CodeVerification::Used);
    }

    async fn a_code_is_not_kept_in_clear_and_needs_its_key(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let made = code(&test, shop, "s1", phone(1)).await;
        let rows: Vec<Vec<u8>> = test.db.read(shop, |tx| {
            tx.all("SELECT hash FROM one_time_codes WHERE tenant_id = $1", &[], |row| row.get(0))
        }).await.unwrap();
        assert_eq!((rows.len(), rows[0].len()), (1, 32));
        let attempt = CodeAttempt { purpose: CodePurpose::Link, asker: "s1".to_owned(), text: made.text.reveal().to_owned() };
        let other = CodeKey::new(&[8; 32]);
        let answer = codes::verify(&test.db, shop, &other, attempt, test.clock.now(), |_, _| Ok::<_, Error>(()));
        assert_eq!(answer.await.unwrap(), CodeVerification::Wrong { left: 4 });
        assert!(!format!("{made:?}").contains(made.text.reveal()));
    }

    async fn a_code_ends_after_ten_minutes_five_answers_or_with_the_next(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let made = code(&test, shop, "s1", phone(1)).await;
        test.clock.advance(Duration::from_secs(599));
        assert_eq!(say(&test, shop, "s1", &another(&made)).await, CodeVerification::Wrong { left: 4 });
        test.clock.advance(Duration::from_secs(1));
        assert_eq!(say(&test, shop, "s1", made.text.reveal()).await, CodeVerification::Expired);

        let made = code(&test, shop, "s2", phone(2)).await;
        for left in [4, 3, 2, 1] {
            assert_eq!(say(&test, shop, "s2", &another(&made)).await, CodeVerification::Wrong { left });
        }
        assert_eq!(say(&test, shop, "s2", &another(&made)).await, CodeVerification::TooMany);
        assert_eq!(say(&test, shop, "s2", made.text.reveal()).await, CodeVerification::TooMany, "even the right one");

        let (first, second) = (code(&test, shop, "s3", phone(3)).await, code(&test, shop, "s3", phone(4)).await);
        if first.text != second.text {
            assert_eq!(say(&test, shop, "s3", first.text.reveal()).await, CodeVerification::Wrong { left: 4 });
        }
        let CodeVerification::Right(proven) = say(&test, shop, "s3", second.text.reveal()).await else { panic!("refused") };
        assert_eq!(proven.address, phone(4));
        let third = code(&test, shop, "s3", phone(5)).await;
        assert!(matches!(say(&test, shop, "s3", third.text.reveal()).await, CodeVerification::Right(_)), "after one that was used");
    }

    async fn no_error_of_the_caller_undoes_an_attempt_or_uses_up_a_code(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let made = code(&test, shop, "s1", phone(1)).await;
        let attempt = || CodeAttempt { purpose: CodePurpose::Link, asker: "s1".to_owned(), text: made.text.reveal().to_owned() };
        let fails = |_: &mut munshi_store::Tx<'_>, _| Err::<(), _>(Error::Invalid("no".to_owned()));
        let failed = codes::verify(&test.db, shop, &key(), attempt(), test.clock.now(), fails).await;
        assert!(failed.is_err());
        assert!(matches!(say(&test, shop, "s1", made.text.reveal()).await, CodeVerification::Right(_)), "it can be used again");
    }

    async fn of_right_answers_at_once_one_wins_and_attempts_never_exceed(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let second = test.open_again().await;
        for round in 0..6 {
            let asker = format!("s{round}");
            let made = code(&test, shop, &asker, phone(round)).await;
            let mut answers = JoinSet::new();
            // Even rounds: all are right. Odd rounds: none is.
            let text = if round % 2 == 0 { made.text.reveal().to_owned() } else { another(&made) };
            for number in 0..12 {
                let db = if number % 2 == 0 { &test.db } else { &second }.clone();
                let (asker, text, now) = (asker.clone(), text.clone(), test.clock.now());
                answers.spawn(async move {
                    let attempt = CodeAttempt { purpose: CodePurpose::Link, asker, text };
                    codes::verify(&db, shop, &key(), attempt, now, |_, _| Ok::<_, Error>(())).await.unwrap()
                });
            }
            let answers = answers.join_all().await;
            let count = |wanted: fn(&CodeVerification<()>) -> bool| answers.iter().filter(|answer| wanted(answer)).count();
            let (right, used) = (count(|a| *a == CodeVerification::Right(())), count(|a| *a == CodeVerification::Used));
            let (wrong, many) = (count(|a| matches!(a, CodeVerification::Wrong { .. })), count(|a| *a == CodeVerification::TooMany));
            let expected = if round % 2 == 0 { (1, 11, 0, 0) } else { (0, 0, 4, 8) };
            assert_eq!((right, used, wrong, many), expected, "{answers:?}");
            let id = made.id;
            let attempts: i64 = test.db.read(shop, move |tx| tx.one(
                "SELECT attempts FROM one_time_codes WHERE tenant_id = $1 AND id = $2", params![id], |row| row.get(0),
            )).await.unwrap();
            assert_eq!(attempts, if round % 2 == 0 { 1 } else { 5 });
        }
    }

    async fn an_address_gets_three_codes_an_hour_whoever_asks(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let began = test.clock.now();
        for asker in ["a", "b", "c"] {
            code(&test, shop, asker, phone(1)).await;
            test.clock.advance(Duration::from_secs(60));
        }
        let again_at = began.plus(codes::SPAN);
        assert_eq!(ask(&test, shop, "d", phone(1)).await, CodeRequestOutcome::TooMany { again_at });
        let clinic = test.add_tenant("clinic").await;
        code(&test, clinic, "d", phone(1)).await;
        test.clock.set(again_at);
        code(&test, shop, "d", phone(1)).await;
        let again_at = began.plus(Duration::from_secs(60)).plus(codes::SPAN);
        assert_eq!(ask(&test, shop, "e", phone(1)).await, CodeRequestOutcome::TooMany { again_at }, "any hour, not every new one");
    }

    async fn who_asks_gets_five_an_hour_for_whatever_addresses(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        for number in 0..5 {
            code(&test, shop, "a", phone(number)).await;
        }
        let again_at = test.clock.now().plus(codes::SPAN);
        assert_eq!(ask(&test, shop, "a", phone(9)).await, CodeRequestOutcome::TooMany { again_at });
        code(&test, shop, "b", phone(9)).await;
        for wrong in ["", "a\nb", &"x".repeat(201)] {
            let (ids, now) = (test.ids.clone(), test.clock.now());
            let wish = CodeRequest { purpose: CodePurpose::Link, asker: wrong.to_owned(), address: phone(1) };
            let refused = test.db.write(shop, move |tx| codes::request(tx, &key(), &ids, &SystemRandom, &wish, now)).await;
            assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
        }
    }

    async fn many_who_ask_at_once_get_no_more_than_that(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let second = test.open_again().await;
        for round in 0..4_usize {
            let mut asked = JoinSet::new();
            for number in 0..12 {
                let db = if number % 2 == 0 { &test.db } else { &second }.clone();
                let (ids, now) = (test.ids.clone(), test.clock.now());
                // Even rounds: one address, many askers. Odd rounds: one asker, many addresses.
                let (asker, address) = match round % 2 {
                    0 => (format!("{round}-{number}"), phone(round)),
                    _ => (format!("{round}"), phone(round * 100 + number)),
                };
                let wish = CodeRequest { purpose: CodePurpose::SignIn, asker, address };
                asked.spawn(async move {
                    db.write(shop, move |tx| codes::request(tx, &key(), &ids, &SystemRandom, &wish, now)).await.unwrap()
                });
            }
            let made = asked.join_all().await.iter().filter(|asked| matches!(asked, CodeRequestOutcome::Made(_))).count();
            assert_eq!(made, if round % 2 == 0 { 3 } else { 5 }, "round {round}");
        }
    }

    async fn what_is_a_day_old_is_swept_away(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        code(&test, shop, "a", phone(1)).await;
        test.clock.advance(Duration::from_secs(24 * 3600));
        let fresh = code(&test, shop, "b", phone(2)).await;
        let sweep = || { let now = test.clock.now(); test.db.write(shop, move |tx| codes::sweep(tx, now)) };
        assert_eq!(sweep().await.unwrap(), 0);
        test.clock.advance(Duration::from_micros(1));
        assert_eq!((sweep().await.unwrap(), sweep().await.unwrap()), (1, 0));
        assert!(matches!(say(&test, shop, "b", fresh.text.reveal()).await, CodeVerification::Right(_)));
        let left: Result<i64> = test.db.read(shop, |tx| tx.one(
            "SELECT count(*) FROM code_turns WHERE tenant_id = $1", &[], |row| row.get(0),
        )).await;
        assert_eq!(left.unwrap(), 2, "an asker and an address");
    }

    async fn an_address_gets_so_many_codes_a_day_whoever_asks(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let first = test.clock.now();
        for number in 0..codes::PER_ADDRESS_DAY {
            code(&test, shop, &format!("s{number}"), phone(1)).await;
            test.clock.advance(codes::SPAN / 2);
        }
        assert_eq!(ask(&test, shop, "another", phone(1)).await, CodeRequestOutcome::TooMany { again_at: first.plus(codes::DAY) });
        code(&test, shop, "another", phone(2)).await;
        test.clock.set(first.plus(codes::DAY));
        code(&test, shop, "another", phone(1)).await;
    }

    async fn a_mailbox_is_counted_however_its_address_is_tagged(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let mail = |text: &str| ContactAddress::email(text).unwrap();
        for (asker, address) in [("s1", "meera+1@shop.example"), ("s2", "meera@shop.example"), ("s3", "meera+2+3@shop.example")] {
            code(&test, shop, asker, mail(address)).await;
        }
        let refused = ask(&test, shop, "s4", mail("meera+4@shop.example")).await;
        assert!(matches!(refused, CodeRequestOutcome::TooMany { .. }), "{refused:?}");
        code(&test, shop, "s5", mail("+4@shop.example")).await;
        let proven = code(&test, shop, "s6", mail("other+7@shop.example")).await;
        match say(&test, shop, "s6", proven.text.reveal()).await {
            CodeVerification::Right(proof) => assert_eq!(proof.address, mail("other+7@shop.example"), "as it was given"),
            other => panic!("{other:?}"),
        }
    }

    async fn a_tenant_sends_no_more_codes_than_so_many(test: TestDb) {
        let (shop, clinic) = (test.add_tenant("shop").await, test.add_tenant("clinic").await);
        for number in 0..codes::PER_TENANT {
            code(&test, shop, &format!("s{number}"), phone(number as usize)).await;
        }
        let next = phone(codes::PER_TENANT as usize);
        let refused = ask(&test, shop, "another", next.clone()).await;
        let again_at = test.clock.now().plus(codes::SPAN);
        assert_eq!(refused, CodeRequestOutcome::TooMany { again_at }, "whoever asks, for whomever");
        code(&test, clinic, "another", next.clone()).await;
        test.clock.advance(codes::SPAN);
        code(&test, shop, "another", next).await;
    }
}
