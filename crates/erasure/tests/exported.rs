//! What somebody is told who asks for all that is known about them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use munshi_conversations::retention::{ArchiveJob, Retention};
use munshi_erasure::Error;
use munshi_erasure::export::{
    ARCHIVED, ExportPosition, ExportSubject, ExportedRecord, load_archived_page, load_page,
};
use munshi_store::{SealedBy, SealedColumn, Tx, params};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{AlertId, Id, PersonId};
use serde_json::json;
use uuid::Uuid;

use crate::support::{PLANTED, Shop, migrations};

/// All of it, in parts of so many records; each position goes over a wire in between.
async fn export(test: &TestDb, shop: &Shop, folder: &Path, limit: u32) -> Vec<ExportedRecord> {
    let (packs, tenant, folder) = (shop.app.packs.clone(), shop.tenant, folder.to_owned());
    let records = [("ledger".to_owned(), vec![shop.contact.id.as_uuid()])];
    let (person, mut all, mut from) = (shop.person, Vec::new(), None::<String>);
    loop {
        let (packs, folder, records) = (packs.clone(), folder.clone(), records.clone());
        let load = move |tx: &mut Tx<'_>| {
            let from = from.map(|from| from.parse::<ExportPosition>().unwrap());
            let subject = ExportSubject::load(tx, Some(person), records.into())?;
            match from {
                Some(ExportPosition::Archive(at)) => {
                    load_archived_page(tx, (&folder, tenant), &subject, at.as_ref(), limit)
                }
                from => load_page(tx, &packs, &subject, from.as_ref(), limit),
            }
        };
        let page = test.db.read(tenant, load).await.unwrap();
        assert!(page.records.len() <= limit as usize);
        all.extend(page.records);
        match page.next {
            Some(next) => from = Some(next.to_string()),
            None => return all,
        }
    }
}

fn join(records: &[ExportedRecord]) -> String {
    records.iter().map(|record| format!("{} {}\n", record.kind, record.data)).collect()
}

on_both_engines! {
    with all migrations();

    async fn they_are_told_all_that_would_be_forgotten_and_nothing_of_others(test: TestDb) {
        let shop = Shop::open(&test).await;
        let nowhere = Path::new("no folder of an archive");
        let told = export(&test, &shop, nowhere, 500).await;
        let text = join(&told);
        for planted in PLANTED.iter().chain(&["note marigold for zanzibar", "zanzibar@shop.example", "udhaar", "is noted"]) {
            assert!(text.contains(planted), "{planted} is not in\n{text}");
        }
        assert!(!text.contains("Sunita"), "{text}");
        // However small the parts are, they are the same records, each once.
        for limit in [1, 2, 7] {
            assert_eq!(export(&test, &shop, nowhere, limit).await, told, "in parts of {limit}");
        }
        let kinds: BTreeSet<String> = told.iter().map(|record| record.kind.replace("ledger: ", "")).collect();
        let id = shop.begin().await;
        let done = shop.service().carry_out(shop.tenant, id).await.unwrap().unwrap();
        for (kind, count) in &done.counts {
            assert!(*count == 0 || kinds.contains(kind), "{kind} is forgotten and was not told: {kinds:?}");
        }
    }

    async fn they_are_told_other_names_of_theirs_and_alerts_about_them(test: TestDb) {
        const TEXT: SealedColumn = SealedColumn::new("pack_alerts", "text");
        const SLOTS: SealedColumn = SealedColumn::new("pack_alerts", "slots");
        let shop = Shop::open(&test).await;
        let (contact, person, now) = (shop.contact.id, shop.person, shop.app.clock.now());
        let ids: [Uuid; 2] = [shop.app.ids.next::<AlertId>().as_uuid(), shop.app.ids.next::<AlertId>().as_uuid()];
        let add = move |tx: &mut Tx<'_>| {
            tx.execute(
                "INSERT INTO ledger_names (tenant_id, kind, bone, subject_id, name) VALUES ($1, 'contact', 'x', $2, 'Zanzibar wali')",
                params![contact],
            )?;
            for (id, about) in ids.into_iter().zip([contact.as_uuid(), person.as_uuid()]) {
                let alert = AlertId::from_uuid(id);
                let text = tx.seal(SealedBy::Tenant, TEXT.cell(alert), &format!("Zanzibar owes {about}"))?;
                let slots = tx.seal_json(SealedBy::Tenant, SLOTS.cell(alert), &json!([]))?;
                tx.execute(
                    "INSERT INTO pack_alerts (tenant_id, id, pack, heartbeat, key, severity, text, phrase, slots, first_seen, last_seen)
                     VALUES ($1, $2, 'ledger', 'dues', $3, 'notice', $4, 'x', $5, $6, $6)",
                    params![id, format!("dues {about}"), text, slots, now],
                )?;
            }
            Ok::<_, munshi_store::Error>(())
        };
        test.db.write(shop.tenant, add).await.unwrap();
        let told = export(&test, &shop, Path::new("no folder of an archive"), 500).await;
        let of = |kind: &str| join(&told.iter().filter(|record| record.kind == kind).cloned().collect::<Vec<_>>());
        assert!(of("ledger: contacts").contains("Zanzibar wali"), "{}", of("ledger: contacts"));
        assert!(of("ledger: alerts").contains(&contact.to_string()), "{}", of("ledger: alerts"));
        assert!(of("alerts").contains(&person.to_string()), "{}", of("alerts"));
        let id = shop.begin().await;
        let done = shop.service().carry_out(shop.tenant, id).await.unwrap().unwrap();
        assert_eq!(done.counts["alerts"], 1);
        let left = "SELECT count(*) FROM pack_alerts WHERE tenant_id = $1";
        assert_eq!(shop.app.read_number(shop.tenant, left).await, 0);
    }

    async fn an_export_goes_on_from_no_position_of_anothers(test: TestDb) {
        let shop = Shop::open(&test).await;
        let (packs, person, other) = (shop.app.packs.clone(), shop.person, shop.other);
        let load = move |tx: &mut Tx<'_>| {
            let subject = ExportSubject::load(tx, Some(person), BTreeMap::new())?;
            let at = |whose: PersonId| format!("runs~{}~{}", whose.as_uuid(), Uuid::nil()).parse().unwrap();
            let mut go_on = |whose| load_page(tx, &packs, &subject, Some(&at(whose)), 5);
            Ok::<_, Error>((go_on(person)?, go_on(other)))
        };
        let (own, others) = test.db.read(shop.tenant, load).await.unwrap();
        assert!(own.records.iter().any(|record| record.kind == "runs"), "{own:?}");
        assert!(matches!(others, Err(Error::InvalidPosition)), "{others:?}");
    }

    async fn what_lies_in_the_archive_is_told_too(test: TestDb) {
        let shop = Shop::open(&test).await;
        let folder = tempfile::tempdir().unwrap();
        let before = export(&test, &shop, folder.path(), 500).await;
        test.clock.advance(Duration::from_secs(100 * 86_400));
        let archivist = ArchiveJob {
            db: test.db.clone(),
            clock: test.clock.clone(),
            folder: folder.path().to_owned(),
            usual: Retention::DEFAULT,
        };
        assert!(archivist.archive_batch(shop.tenant).await.unwrap() > 0);
        let told = export(&test, &shop, folder.path(), 1).await;
        assert!(told.iter().any(|record| record.kind == ARCHIVED));
        assert!(!join(&told).contains("Sunita"));
        let list = |records: &[ExportedRecord]| -> BTreeSet<String> {
            let said = records.iter().filter(|record| record.kind == "messages" || record.kind == ARCHIVED);
            said.map(|record| format!("{} {}", record.id, record.data)).collect()
        };
        assert_eq!(list(&told), list(&before));
    }

    async fn a_damaged_line_of_the_archive_is_noted_and_keeps_back_no_other(test: TestDb) {
        let shop = Shop::open(&test).await;
        let folder = tempfile::tempdir().unwrap();
        test.clock.advance(Duration::from_secs(100 * 86_400));
        let archivist = ArchiveJob {
            db: test.db.clone(),
            clock: test.clock.clone(),
            folder: folder.path().to_owned(),
            usual: Retention::DEFAULT,
        };
        archivist.archive_batch(shop.tenant).await.unwrap();
        let before = export(&test, &shop, folder.path(), 500).await;
        let mut files = std::fs::read_dir(folder.path().join(shop.tenant.to_string())).unwrap();
        let path = files.next().unwrap().unwrap().path();
        let mut bytes = b"{\"id\": half of a line\n\xff\xfe\n".to_vec();
        bytes.extend(std::fs::read(&path).unwrap());
        std::fs::write(&path, bytes).unwrap();
        for limit in [1, 500] {
            let mut told = export(&test, &shop, folder.path(), limit).await;
            let notes = told.extract_if(.., |record| record.data.get("note").is_some());
            let notes: Vec<String> = notes.map(|record| record.data["note"].to_string()).collect();
            assert!(notes.len() == 2 && notes[0].contains("can tell whose it is"), "{notes:?}");
            assert_eq!(told, before);
        }
    }
}
