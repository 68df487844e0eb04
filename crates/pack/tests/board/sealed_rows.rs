//! What comes from outside is sealed at rest, and what stood plain before is known, handled and sealed.

use std::time::Duration;

use munshi_identity::row_sealing::RowsOfBefore;
use munshi_jobs::NewJob;
use munshi_pack::delivery::DeliveryOutcome;
use munshi_store::{JsonText, RowMark, Tx, params};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{Clock, DeliveryId, TenantId};
use serde_json::json;

use crate::clockwork::queue;
use crate::deliveries::{Feed, INBOX, Office, count, deliver, page};

/// As a version wrote it that sealed no deliveries.
async fn add_plain(test: &TestDb, tenant: TenantId, sender_id: &'static str, body: &'static str) {
    let (id, now, queue): (DeliveryId, _, _) = (test.ids.next(), test.clock.now(), queue(test));
    let add = move |tx: &mut Tx<'_>| {
        let headers = JsonText::of(&[("x-kind", "letter")])?;
        let sql =
            "INSERT INTO pack_deliveries (tenant_id, id, pack, source, sender_id, origin, name, received_at,
                                          headers, body, state)
             VALUES ($1, $2, 'inbox', 'letters', $3, 'webhook', 'letters', $4, $5, $6, 'waiting')";
        tx.execute(sql, params![id, sender_id, now, headers, body.as_bytes()])?;
        let job = NewJob::new("pack.delivery", &json!({ "delivery": id }))?;
        queue.enqueue(tx, &job.unique(id.to_string())).map(drop)
    };
    test.db.write(tenant, add).await.unwrap();
}

fn seal_rows_of_before(tx: &mut Tx<'_>) -> munshi_store::Result<()> {
    for rows in munshi_pack::ROWS_OF_BEFORE {
        if let RowsOfBefore::Own { seal_next, .. } = rows {
            let mut after = Some(RowMark::START);
            while let Some(mark) = after {
                after = seal_next(tx, mark, 1)?;
            }
        }
    }
    Ok(())
}

/// What stands in the columns of the deliveries.
fn read_stored(tx: &mut Tx<'_>) -> munshi_store::Result<Vec<String>> {
    let sql = "SELECT sender_id, shown_sender, CAST(headers AS TEXT), body FROM pack_deliveries WHERE tenant_id = $1";
    tx.all(sql, params![], |row| {
        let (sender, shown): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        let (headers, body): (String, Option<Vec<u8>>) = (row.get(2)?, row.get(3)?);
        Ok(format!("{sender} {shown:?} {headers} {}", String::from_utf8_lossy(&body.unwrap_or_default())))
    })
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_jobs::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_safety::MIGRATIONS,
          munshi_pack::MIGRATIONS, INBOX];

    async fn no_row_shows_what_came_and_what_stood_plain_is_handled_and_sealed(test: TestDb) {
        let office = Office::open(&test, Feed::default()).await;
        deliver(&test, &test.db, office.tenant, Some("Ramesh-1"), "Ramesh owes 500").await;
        add_plain(&test, office.tenant, "Sita-1", "Sita owes 300").await;
        // Known by what it is called, though that stands plain.
        let again = deliver(&test, &test.db, office.tenant, Some("Sita-1"), "Sita owes 300").await;
        assert_eq!(again, DeliveryOutcome::Known);
        office.node(&test, &test.db).drain().await.unwrap();
        let came = |id: &str, text: &str| (id.to_owned(), text.to_owned());
        let both = [came("Ramesh-1", "Ramesh owes 500"), came("Sita-1", "Sita owes 300")];
        assert_eq!(office.lines(&test).await, both);
        add_plain(&test, office.tenant, "Gita-1", "Gita owes 100").await;
        for _ in 0..2 {
            test.db.write(office.tenant, seal_rows_of_before).await.unwrap();
        }
        let rows = test.db.read(office.tenant, read_stored).await.unwrap();
        assert_eq!(rows.len(), 3);
        for name in ["Ramesh", "Sita", "Gita", "owes", "letter"] {
            assert!(!rows.iter().any(|row| row.contains(name)), "{name}: {rows:?}");
        }
        // The walk has changed neither what is known nor what waits.
        let again = deliver(&test, &test.db, office.tenant, Some("Gita-1"), "Gita owes 100").await;
        assert_eq!(again, DeliveryOutcome::Known);
        office.node(&test, &test.db).drain().await.unwrap();
        assert_eq!(office.lines(&test).await[0], came("Gita-1", "Gita owes 100"));
        assert_eq!(office.lines(&test).await.len(), 3);
    }

    async fn no_row_shows_how_far_a_poll_has_read(test: TestDb) {
        let office = Office::open(&test, Feed::default()).await;
        let node = office.node(&test, &test.db);
        node.drain().await.unwrap();
        let now = test.clock.now();
        // As a version wrote it that sealed no cursors.
        let plain = move |tx: &mut Tx<'_>| {
            let sql = "INSERT INTO pack_cursors (tenant_id, pack, poll, cursor, moved_at) VALUES ($1, 'inbox', 'fetch', 'from Ramesh', $2)
                       ON CONFLICT (tenant_id, pack, poll) DO UPDATE SET cursor = excluded.cursor";
            tx.execute(sql, params![now])
        };
        test.db.write(office.tenant, plain).await.unwrap();
        test.db.write(office.tenant, seal_rows_of_before).await.unwrap();
        office.feed.asked.lock().unwrap().clear();
        for next in ["from Sita", "from Gita"] {
            let stored = "SELECT COUNT(*) FROM pack_cursors WHERE tenant_id = $1 AND cursor LIKE 'sealed:1:%'";
            assert_eq!(count(&test, office.tenant, stored).await, 1);
            office.feed.pages.lock().unwrap().push_back(Ok(page(&[], next, false)));
            test.clock.advance(Duration::from_secs(601));
            node.drain().await.unwrap();
        }
        let asked = office.feed.asked.lock().unwrap().clone();
        assert_eq!(asked, [Some("from Ramesh".to_owned()), Some("from Sita".to_owned())]);
    }
}
