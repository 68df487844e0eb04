//! Whatever somebody with every right does to a chain is found, and the first bad entry named.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::{
    anchoring, append, by_force, by_force_keeping_triggers, bytes, chain, entries, filled, rehash, rewrite,
    set_head, uuid,
};
use munshi_safety::audit::anchors::{Anchor, AnchorTrigger};
use munshi_safety::audit::verify::{ChainFinding, verify, verify_chains};
use munshi_safety::audit::{AuditActor, AuditActorKind, AuditEntry};
use munshi_store::MIGRATIONS;
use munshi_test_support::{DatabaseEngine, TestDb, on_both_engines};
use munshi_types::{Random, SeededRandom, TenantId, Timestamp};

const LENGTH: usize = 8;

/// What may be done to the entry at a place, without making any hash anew. Renumbering makes room or closes the gap.
#[derive(Clone, Copy, Debug)]
enum Act {
    Field(usize),
    Remove,
    RemoveAndRenumber,
    InsertAndRenumber,
    InsertForgedAndRenumber,
    SwapWithNext,
    SwapNumbersWithNext,
    MoveToTheEnd,
    CutFromHere,
}

const FIELDS: usize = 9;

const ACTS: [Act; 8] = [
    Act::Remove,
    Act::RemoveAndRenumber,
    Act::InsertAndRenumber,
    Act::InsertForgedAndRenumber,
    Act::SwapWithNext,
    Act::SwapNumbersWithNext,
    Act::MoveToTheEnd,
    Act::CutFromHere,
];

fn renumber(rows: &mut [AuditEntry]) {
    for (row, seq) in rows.iter_mut().zip(1..) {
        row.seq = seq;
    }
}

fn change(row: &mut AuditEntry, field: usize) {
    match field {
        0 => row.id = munshi_types::EntryId::from_uuid(uuid::Uuid::from_u128(7)),
        1 => row.made_at = Timestamp::from_micros(row.made_at.as_micros() + 1),
        2 => row.actor_kind = "person".to_owned(),
        3 => row.actor_id.push('x'),
        4 => row.event = "act.refused".to_owned(),
        5 => row.subject.push(' '),
        6 => row.payload = row.payload.replace("amount", "Amount"),
        7 => row.prev.0[31] ^= 1,
        _ => row.hash.0[0] ^= 1,
    }
}

fn tamper(rows: &mut Vec<AuditEntry>, act: Act, at: usize) {
    match act {
        Act::Field(field) => change(&mut rows[at], field),
        Act::Remove => drop(rows.remove(at)),
        Act::RemoveAndRenumber => {
            rows.remove(at);
            renumber(rows);
        }
        Act::InsertAndRenumber => {
            let mut forged = rows[at].clone();
            forged.subject = "forged".to_owned();
            rows.insert(at, forged);
            renumber(rows);
        }
        Act::InsertForgedAndRenumber => {
            let mut forged = rows[at].clone();
            forged.subject = "forged".to_owned();
            forged.hash = forged.computed_hash();
            rows.insert(at, forged);
            renumber(rows);
        }
        Act::SwapWithNext => {
            let next = (at + 1) % rows.len();
            rows.swap(at, next);
            renumber(rows);
        }
        Act::SwapNumbersWithNext => {
            // The rows keep their places; only what they say changes hands.
            let next = (at + 1) % rows.len();
            let (one, other) = (rows[at].payload.clone(), rows[next].payload.clone());
            (rows[at].payload, rows[next].payload) = (other, one);
        }
        Act::MoveToTheEnd => {
            let row = rows.remove(at);
            rows.push(row);
            renumber(rows);
        }
        Act::CutFromHere => rows.truncate(at),
    }
}

/// The number of the first entry that is not what was written.
fn first_difference(before: &[AuditEntry], after: &[AuditEntry]) -> Option<i64> {
    let differs = (0..before.len().max(after.len())).find(|at| before.get(*at) != after.get(*at));
    differs.map(|at| i64::try_from(at).unwrap() + 1)
}

async fn found(test: &TestDb, tenant: TenantId, anchors: &[Anchor]) -> Option<ChainFinding> {
    verify(&test.db, tenant, anchors).await.unwrap().finding
}

on_both_engines! {
    with [MIGRATIONS, munshi_jobs::MIGRATIONS, munshi_safety::MIGRATIONS];

    async fn every_act_at_every_place_is_found_and_named(test: TestDb) {
        let tenant = chain(&test, "shop", LENGTH as i64).await;
        let sound = entries(&test, tenant).await;
        let acts: Vec<Act> = (0..FIELDS).map(Act::Field).chain(ACTS).collect();
        for act in acts {
            for at in 0..LENGTH {
                let mut rows = sound.clone();
                tamper(&mut rows, act, at);
                let Some(first) = first_difference(&sound, &rows) else { continue };
                rewrite(&test, tenant, &rows);
                let finding = found(&test, tenant, &[]).await;
                assert_eq!(finding.map(|finding| finding.seq), Some(first), "{act:?} at {at}: {finding:?}");
            }
        }
        rewrite(&test, tenant, &sound);
        assert_eq!(found(&test, tenant, &[]).await, None);
    }

    async fn the_word_for_it_is_the_right_one(test: TestDb) {
        let tenant = chain(&test, "shop", LENGTH as i64).await;
        let sound = entries(&test, tenant).await;
        for (act, at, word) in [
            (Act::Field(6), 3, "changed"),
            (Act::Field(8), LENGTH - 1, "changed"),
            (Act::Remove, 3, "removed"),
            (Act::RemoveAndRenumber, 3, "removed"),
            (Act::InsertAndRenumber, 3, "inserted"),
            (Act::InsertForgedAndRenumber, 3, "inserted"),
            (Act::SwapWithNext, 3, "reordered"),
            (Act::MoveToTheEnd, 3, "reordered"),
            (Act::CutFromHere, 3, "cut"),
            (Act::Remove, LENGTH - 1, "cut"),
        ] {
            let mut rows = sound.clone();
            tamper(&mut rows, act, at);
            rewrite(&test, tenant, &rows);
            let finding = found(&test, tenant, &[]).await.unwrap();
            assert_eq!(finding.fault.as_str(), word, "{act:?}: {finding}");
        }
    }

    async fn any_number_of_acts_is_found(test: TestDb) {
        let tenant = chain(&test, "shop", LENGTH as i64).await;
        let (sound, random) = (entries(&test, tenant).await, SeededRandom::new(6));
        for case in 0..60 {
            let mut rows = sound.clone();
            let mut done = Vec::new();
            for _ in 0..=random.next_below(3) {
                let kind = usize::try_from(random.next_below(17)).unwrap();
                let act = if kind < FIELDS { Act::Field(kind) } else { ACTS[kind - FIELDS] };
                let at = usize::try_from(random.next_below(rows.len() as u64)).unwrap();
                tamper(&mut rows, act, at);
                done.push((act, at));
                if rows.is_empty() {
                    break;
                }
            }
            // Two rows of one number can't be stored while the table's own rules stand.
            let mut numbers: Vec<i64> = rows.iter().map(|row| row.seq).collect();
            numbers.dedup();
            let Some(first) = first_difference(&sound, &rows).filter(|_| numbers.len() == rows.len()) else { continue };
            rewrite(&test, tenant, &rows);
            let finding = found(&test, tenant, &[]).await;
            assert_eq!(finding.map(|finding| finding.seq), Some(first), "case {case} {done:?}: {finding:?}");
        }
    }

    async fn a_row_made_anew_with_its_hash_is_named_by_the_next(test: TestDb) {
        let tenant = chain(&test, "shop", LENGTH as i64).await;
        let sound = entries(&test, tenant).await;
        for at in 0..LENGTH {
            let mut rows = sound.clone();
            rows[at].subject = "forged".to_owned();
            rows[at].hash = rows[at].computed_hash();
            rewrite(&test, tenant, &rows);
            let finding = found(&test, tenant, &[]).await.unwrap();
            assert_eq!(finding.seq, at as i64 + 1, "{finding}");
        }
    }

    async fn a_chain_made_anew_is_found_by_its_anchors(test: TestDb) {
        let tenant = chain(&test, "shop", 5).await;
        let anchoring = anchoring(&test, 1);
        anchoring.anchor(AnchorTrigger::Moved, &[]).await.unwrap();
        for number in 6..=8 {
            append(&test, tenant, number).await.unwrap();
        }
        let anchors = anchoring.anchors().await.unwrap().list;
        let sound = entries(&test, tenant).await;
        let acts: Vec<Act> = (0..7).map(Act::Field).chain(ACTS).collect();
        for act in acts {
            for at in 0..LENGTH {
                let mut rows = sound.clone();
                tamper(&mut rows, act, at);
                rehash(&mut rows);
                let Some(first) = first_difference(&sound, &rows) else { continue };
                let last = rows.last().map_or((0, munshi_safety::audit::ChainHash::START), |row| (row.seq, row.hash));
                rewrite(&test, tenant, &rows);
                set_head(&test, tenant, last.0, last.1);
                assert_eq!(found(&test, tenant, &[]).await, None, "without anchors it looks whole");
                let finding = found(&test, tenant, &anchors).await;
                // What was written after the last anchor is as safe as the next anchor makes it.
                assert_eq!(finding.is_some(), first <= 5, "{act:?} at {at}: {finding:?}");
                if let Some(finding) = finding {
                    assert!(finding.seq <= 5 && ["rewritten", "cut"].contains(&finding.fault.as_str()), "{finding}");
                }
            }
        }
    }

    async fn a_head_that_was_changed_or_removed_is_found(test: TestDb) {
        let tenant = chain(&test, "shop", 3).await;
        let rows = entries(&test, tenant).await;
        for (seq, hash, word) in [(3, rows[1].hash, "head"), (2, rows[1].hash, "past_the_head"), (9, rows[2].hash, "cut")] {
            set_head(&test, tenant, seq, hash);
            assert_eq!(found(&test, tenant, &[]).await.unwrap().fault.as_str(), word);
        }
        by_force(&test, &filled("DELETE FROM audit_heads WHERE tenant_id = $1", &[uuid(&test, tenant)]));
        assert_eq!(found(&test, tenant, &[]).await.unwrap().fault.as_str(), "head");
    }

    async fn a_row_given_to_another_tenant_is_missed_here_and_seen_there(test: TestDb) {
        let (one, other) = (chain(&test, "one", 4).await, chain(&test, "other", 2).await);
        let text = "UPDATE audit_entries SET tenant_id = $1 WHERE tenant_id = $2 AND seq = 3";
        by_force(&test, &filled(text, &[uuid(&test, other), uuid(&test, one)]));
        let (here, there) = (found(&test, one, &[]).await.unwrap(), found(&test, other, &[]).await.unwrap());
        assert_eq!((here.seq, here.fault.as_str(), there.seq), (3, "removed", 3));
    }

    async fn two_of_one_number_are_found_once_the_rules_are_lifted(test: TestDb) {
        if test.engine() == DatabaseEngine::Postgres {
            let tenant = chain(&test, "shop", 4).await;
            by_force(&test, "ALTER TABLE audit_entries DROP CONSTRAINT audit_entries_pkey");
            by_force(&test, "INSERT INTO audit_entries SELECT * FROM audit_entries WHERE seq = 2");
            let finding = found(&test, tenant, &[]).await.unwrap();
            assert_eq!((finding.seq, finding.fault.as_str()), (2, "inserted"));
        }
    }

    async fn what_no_column_holds_is_named(test: TestDb) {
        if test.engine() == DatabaseEngine::Sqlite {
            let tenant = chain(&test, "shop", 6).await;
            by_force(&test, "UPDATE audit_entries SET id = x'00' WHERE seq = 4");
            let finding = found(&test, tenant, &[]).await.unwrap();
            assert_eq!((finding.seq, finding.fault.as_str()), (4, "unreadable"));
            by_force(&test, "UPDATE audit_entries SET subject = 'x' WHERE seq = 2");
            assert_eq!(found(&test, tenant, &[]).await.unwrap().seq, 2);
        }
    }

    async fn a_file_of_anchors_that_was_cut_is_found_by_the_installations_chain(test: TestDb) {
        let tenant = chain(&test, "shop", 2).await;
        let anchoring = anchoring(&test, 1);
        anchoring.anchor(AnchorTrigger::Moved, &[]).await.unwrap();
        append(&test, tenant, 3).await.unwrap();
        anchoring.anchor(AnchorTrigger::Moved, &[]).await.unwrap();
        let whole = verify_chains(&test.db, None, &anchoring.anchors().await.unwrap()).await.unwrap();
        assert!(whole.is_sound(), "{whole:?}");
        let text = std::fs::read_to_string(anchoring.file().path()).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        assert!(lines.len() >= 3);
        for kept in 1..lines.len() {
            std::fs::write(anchoring.file().path(), lines[..kept].concat()).unwrap();
            let found = verify_chains(&test.db, None, &anchoring.anchors().await.unwrap()).await.unwrap();
            assert_eq!(found.flaw.unwrap().line, kept as u64 + 1);
        }
    }

    async fn a_file_of_anchors_that_is_gone_hides_nothing(test: TestDb) {
        let (tenant, other) = (chain(&test, "shop", LENGTH as i64).await, chain(&test, "other", 2).await);
        let anchoring = anchoring(&test, 1);
        anchoring.anchor(AnchorTrigger::Moved, &[]).await.unwrap();
        let written = std::fs::read_to_string(anchoring.file().path()).unwrap();
        let rows = entries(&test, tenant).await;
        append(&test, other, 3).await.unwrap();
        let text = "DELETE FROM audit_entries WHERE tenant_id = $1 AND seq > 3; UPDATE audit_heads SET seq = 3, hash = $2 \
                    WHERE tenant_id = $1";
        by_force_keeping_triggers(&test, &filled(text, &[uuid(&test, tenant), bytes(&test, &rows[2].hash.0)]));
        for gone in [true, false] {
            std::fs::write(anchoring.file().path(), "").unwrap();
            if gone {
                std::fs::remove_file(anchoring.file().path()).unwrap();
            }
            for only in [None, Some(tenant)] {
                let found = verify_chains(&test.db, only, &anchoring.anchors().await.unwrap()).await.unwrap();
                assert!(found.flaw.as_ref().is_some_and(|flaw| flaw.what.contains("missing or empty")), "{found:?}");
                let broken: Vec<_> = found.broken_chains().collect();
                assert_eq!(broken.len(), 1, "{found:?}");
                assert_eq!((broken[0].tenant, broken[0].finding.unwrap().fault.as_str()), (tenant, "cut"));
            }
            let made = anchoring.anchor(AnchorTrigger::Moved, &[]).await.unwrap();
            assert!(made.is_empty(), "nothing is anchored beside it: {made:?}");
        }
        // Another file in its place is no better, whoever made it.
        std::fs::write(anchoring.file().path(), written.split_inclusive('\n').next_back().unwrap()).unwrap();
        assert!(verify_chains(&test.db, None, &anchoring.anchors().await.unwrap()).await.unwrap().flaw.is_some());

        let aside = anchoring.restart(AuditActor::new(AuditActorKind::Operator, "ravi")).await.unwrap().unwrap();
        assert!(aside.exists() && !anchoring.file().path().exists());
        let made = anchoring.anchor(AnchorTrigger::Moved, &[tenant]).await.unwrap();
        assert!(made.iter().any(|anchor| anchor.tenant == other), "{made:?}");
        let found = verify_chains(&test.db, None, &anchoring.anchors().await.unwrap()).await.unwrap();
        assert_eq!(found.flaw, None);
        let broken: Vec<_> = found.broken_chains().map(|chain| chain.tenant).collect();
        assert_eq!(broken, [tenant], "what was cut stays found");
        let told = entries(&test, TenantId::PLATFORM).await;
        let restarted = told.iter().find(|entry| entry.event == "audit.anchors_restarted").unwrap();
        assert_eq!((restarted.actor_kind.as_str(), restarted.actor_id.as_str()), ("operator", "ravi"));
    }
}
