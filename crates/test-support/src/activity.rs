//! Who works on a Postgres database, and who waits for whom.

use crate::database::{TestDbStorage, run_on_thread};

/// A line for each open transaction, the oldest first: how long it has been open, what it does or did last, and which others it
/// waits for.
const OPEN_TRANSACTIONS: &str =
    "SELECT format('%s: open for %s s, %s for %s s (%s), waits for %s: %s', a.pid,
    round(extract(epoch FROM clock_timestamp() - a.xact_start), 1), a.state,
    round(extract(epoch FROM clock_timestamp() - a.state_change), 1),
    coalesce(a.wait_event_type || ' ' || a.wait_event, 'works'), pg_blocking_pids(a.pid),
    regexp_replace(left(a.query, 300), '\\s+', ' ', 'g'))
  FROM pg_stat_get_activity(NULL) AS a
    JOIN pg_stat_get_activity(pg_backend_pid()) AS own ON own.datid = a.datid AND own.pid <> a.pid
  WHERE a.xact_start IS NOT NULL ORDER BY a.xact_start";

impl TestDbStorage {
    /// The transactions that are open on this Postgres database.
    pub fn list_open_transactions(&self) -> Vec<String> {
        self.read_lines_as_superuser(OPEN_TRANSACTIONS)
    }

    /// The first column of what a query of the server's superuser gives, who is held by no rule: texts.
    pub fn read_lines_as_superuser(&self, sql: &'static str) -> Vec<String> {
        let url = self.postgres_url("postgres");
        run_on_thread(move || {
            let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
            client.query(sql, &[]).unwrap().iter().map(|row| row.get(0)).collect()
        })
    }
}
