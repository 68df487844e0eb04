//! What people said stands nowhere in the tables of this crate as it was said.

use std::collections::BTreeSet;

use munshi_conversations::RunState;
use munshi_store::{Tx, params};
use munshi_test_support::DatabaseEngine;
use munshi_test_support::models::ScriptedTurn;
use munshi_types::ReplyAddress;
use munshi_types::tier::Channel;

use crate::turns::support::{Shop, arguments};

/// In what is said, in ids and addresses of channels, in arguments of tools and in answers.
const PLANTED: [&str; 4] = ["Rameshwari", "9876501234", "zanzibar", "marigold"];

/// Every table that this crate makes.
fn list_tables() -> BTreeSet<&'static str> {
    let lines = munshi_conversations::MIGRATIONS.iter().flat_map(|migration| migration.text.lines());
    let made = lines.filter_map(|line| {
        let of_tenant = ["CREATE TENANT TABLE ", "CREATE SHARED TABLE "];
        let rest = of_tenant.iter().find_map(|begin| line.strip_prefix(begin))?;
        rest.split([' ', '(']).next()
    });
    made.filter(|name| !name.ends_with("_new")).collect()
}

/// Table, column and value of whatever is text there, JSON included.
fn list_texts(engine: DatabaseEngine, tx: &mut Tx<'_>) -> munshi_store::Result<Vec<(String, String)>> {
    let columns = match engine {
        DatabaseEngine::Sqlite => {
            "SELECT t.name, c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c
             WHERE t.type = 'table' AND c.type = 'TEXT' AND $1 IS NOT NULL"
        }
        DatabaseEngine::Postgres => {
            "SELECT table_name::text, column_name::text FROM information_schema.columns
             WHERE data_type IN ('text', 'jsonb') AND $1::uuid IS NOT NULL"
        }
    };
    let columns: Vec<(String, String)> = tx.all(columns, params![], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (tables, mut texts) = (list_tables(), Vec::new());
    for (table, column) in columns.iter().filter(|(table, _)| tables.contains(table.as_str())) {
        // Names come from the catalogue of the database itself.
        let values = ["SELECT CAST(", column, " AS TEXT) FROM ", table, " WHERE tenant_id = $1"].concat();
        let place = format!("{table}.{column}");
        let values: Vec<Option<String>> = tx.all(&*values.leak(), params![], |row| row.get(0))?;
        texts.extend(values.into_iter().flatten().map(|value| (place.clone(), value)));
    }
    Ok(texts)
}

on_both! {
    async fn nothing_that_was_said_is_readable_in_the_tables(test: TestDb) {
        let script = [
            ScriptedTurn::call("note", &arguments("Rameshwari, 9876501234: zanzibar")),
            ScriptedTurn::text("Rameshwari is in the zanzibar book."),
            ScriptedTurn::call("drop", &arguments("marigold of Rameshwari")),
            ScriptedTurn::text("The marigold of 9876501234 is gone."),
        ];
        let shop = Shop::open(&test, script).await;
        let mut first = shop.message(shop.staff, "wamid 9876501234", "note zanzibar for Rameshwari 9876501234");
        first.reply_to = Some(ReplyAddress::new(Channel::Web, "9876501234".to_owned()));
        let first = shop.engine.receive(first).await.unwrap();
        assert_eq!(shop.outcome(&first).await.text, "Rameshwari is in the zanzibar book.");
        let asked = shop.say("2", "remove the marigold of Rameshwari").await;
        assert_eq!(shop.outcome(&asked).await.state, RunState::WaitingApproval);
        let engine = test.engine();
        let look = move |tx: &mut Tx<'_>| list_texts(engine, tx);
        let waiting = shop.db.read(shop.tenant, look).await.unwrap();
        let done = shop.ask("3", "yes").await;
        assert_eq!((done.state, done.text.as_str()), (RunState::Done, "The marigold of 9876501234 is gone."));
        let after = shop.db.read(shop.tenant, look).await.unwrap();
        let sealed: BTreeSet<&str> =
            waiting.iter().chain(&after).filter(|(_, text)| text.contains("sealed:1:")).map(|(place, _)| place.as_str()).collect();
        for place in ["messages.text", "messages.outside_id", "runs.snapshot", "runs.reply_to", "sessions.reply_to", "run_steps.body", "outbox.body"] {
            assert!(sealed.contains(place), "{place} was not looked at: {sealed:?}");
        }
        for (place, text) in waiting.iter().chain(&after) {
            let said = PLANTED.iter().find(|word| text.contains(*word));
            assert_eq!(said, None, "{place} shows it: {text}");
        }
        let said = shop.messages_of(first.run).await;
        assert_eq!(said[0].outside_id.as_deref(), Some("wamid 9876501234"), "and it is all there for who has the keys");
    }
}
