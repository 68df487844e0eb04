//! What is found is what a look through all texts finds, in the same order.

use munshi_index::{AddOutcome, CheckStep, check_next};
use munshi_test_support::on_both_engines;
use munshi_types::{Random, SeededRandom};
use uuid::Uuid;

use crate::support::{add_texts, begin, by_id, count, make_text, make_texts, pick, scan, search, write};

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_index::MIGRATIONS];

    async fn a_search_finds_what_a_look_through_all_texts_finds(test: TestDb) {
        let (random, tenant) = (SeededRandom::new(11), test.add_tenant("sharma").await);
        let persons: Vec<Uuid> = (0..5).map(|_| Uuid::from_u128(u128::from(random.next_below(u64::MAX)))).collect();
        let texts = make_texts(&test, &random, 9_000, &persons);
        begin(&test, tenant).await;
        // Some come late: their numbers do not follow their times.
        let (late, timely): (Vec<_>, Vec<_>) = texts.iter().cloned().partition(|text| text.id.as_u128() % 50 == 0);
        for part in timely.chunks(1_000).chain(late.chunks(100)) {
            assert_eq!(add_texts(&test, tenant, part).await, AddOutcome::Added(part.len()));
        }
        let all = by_id(&texts);
        for round in 0..60 {
            let query = match round % 3 {
                0 => make_text(&random, 1),
                1 => make_text(&random, 4),
                _ => format!("\"{}\"", make_text(&random, 3)),
            };
            let person = (round % 4 == 0).then(|| persons[pick(&random, persons.len())]);
            let least = 1 + pick(&random, 300);
            let found = search(&test, tenant, &all, (&query, person), least).await;
            assert_eq!(found, scan(&all, (&query, person)), "{query} of {person:?}");
        }
        let mut after = None;
        loop {
            match write(&test, tenant, move |tx| check_next(tx, after)).await {
                CheckStep::Sound(block) => after = Some(block),
                other => break assert_eq!((other, after), (CheckStep::Done, Some(2))),
            }
        }
    }

    async fn what_was_added_is_added_once(test: TestDb) {
        let (random, tenant) = (SeededRandom::new(12), test.add_tenant("sharma").await);
        let texts = make_texts(&test, &random, 30, &[Uuid::max()]);
        assert_eq!(add_texts(&test, tenant, &texts).await, AddOutcome::Outdated, "it was never begun");
        begin(&test, tenant).await;
        assert_eq!(add_texts(&test, tenant, &texts[..20]).await, AddOutcome::Added(20));
        assert_eq!(add_texts(&test, tenant, &texts).await, AddOutcome::Added(10));
        let rows = count(&test, tenant).await;
        assert_eq!(add_texts(&test, tenant, &texts).await, AddOutcome::Added(0));
        assert_eq!((count(&test, tenant).await, rows.0), (rows, 30));
    }

    async fn a_text_of_too_many_words_is_found_by_each_and_has_few_rows(test: TestDb) {
        let (random, tenant) = (SeededRandom::new(14), test.add_tenant("sharma").await);
        let mut texts = make_texts(&test, &random, 3, &[Uuid::max()]);
        texts[1].text = (0..5_000).map(|number| format!("{number} ")).collect();
        begin(&test, tenant).await;
        add_texts(&test, tenant, &texts[1..2]).await;
        assert_eq!(count(&test, tenant).await, (1, 2, 1), "that it is long, and whose it is");
        add_texts(&test, tenant, &texts).await;
        let all = by_id(&texts);
        for query in ["4999 17", "\"17 18\"", "17 19 ramesh", "5001", "ramesh"] {
            assert_eq!(search(&test, tenant, &all, (query, Some(Uuid::max())), 1).await, scan(&all, (query, None)), "{query}");
        }
        assert_eq!(search(&test, tenant, &all, ("17", Some(Uuid::nil())), 1).await, Vec::<Uuid>::new());
    }

    async fn tenants_find_their_own(test: TestDb) {
        let random = SeededRandom::new(13);
        let (one, other) = (test.add_tenant("sharma").await, test.add_tenant("gupta").await);
        let person = Uuid::max();
        let (first, second) = (make_texts(&test, &random, 200, &[person]), make_texts(&test, &random, 200, &[person]));
        for (tenant, texts) in [(one, &first), (other, &second)] {
            begin(&test, tenant).await;
            add_texts(&test, tenant, texts).await;
        }
        let both = by_id(&[first.clone(), second.clone()].concat());
        for (tenant, texts) in [(one, first), (other, second)] {
            let found = search(&test, tenant, &both, ("ramesh", Some(person)), 7).await;
            assert!(!found.is_empty());
            assert_eq!(found, scan(&by_id(&texts), ("ramesh", None)));
        }
        // Nor has a word of one the hash it has with the other.
        let shared = "SELECT token FROM search_postings WHERE tenant_id = $1";
        let mut tokens = Vec::new();
        for tenant in [one, other] {
            let listed: Vec<i64> = write(&test, tenant, move |tx| tx.all(shared, &[], |row| row.get(0))).await;
            tokens.push(listed.into_iter().collect::<std::collections::BTreeSet<_>>());
        }
        assert!(tokens[0].is_disjoint(&tokens[1]));
    }
}
