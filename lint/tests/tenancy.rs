//! Statements that keep to their tenant pass; each way of straying is caught.

use munshi_lint::statements::check_text;
use munshi_lint::statements::literals::Whose;
use munshi_lint::statements::schema::Schema;

fn schema() -> Schema {
    let (schema, findings) = Schema::from_text(
        "CREATE TENANT TABLE notes (tenant_id UUID NOT NULL, id UUID NOT NULL, author UUID, body TEXT);
         CREATE TENANT TABLE people (tenant_id UUID NOT NULL, id UUID NOT NULL, name TEXT);
         CREATE SHARED TABLE jobs VIA queue (tenant_id UUID NOT NULL, id UUID NOT NULL, state TEXT);
         CREATE TENANT TABLE diary APPEND ONLY (tenant_id UUID NOT NULL, seq INT NOT NULL, body TEXT);
         CREATE TENANT TABLE ledger_entries APPEND ONLY (tenant_id UUID NOT NULL, contact_id UUID, words TEXT,
           words_key BYTES, reason TEXT, amount INT);
         CREATE TENANT TABLE ledger_names APPEND ONLY (tenant_id UUID NOT NULL, subject_id UUID, name TEXT);
         CREATE PLATFORM TABLE api_keys VIA keys (id UUID PRIMARY KEY, tenant_id UUID NOT NULL);",
    );
    assert_eq!(findings, []);
    schema
}

fn complaints(whose: Whose, sql: &str) -> Vec<String> {
    check_text(sql, whose, &schema()).into_iter().map(|complaint| complaint.what).collect()
}

fn passes(whose: Whose, statements: &[&str]) {
    for sql in statements {
        assert_eq!(complaints(whose, sql), Vec::<String>::new(), "{sql}");
    }
}

/// Each statement breaks one rule, and this is the complaint.
fn caught(complaint: &str, statements: &[&str]) {
    for sql in statements {
        assert_eq!(complaints(Whose::Tenant, sql), [complaint], "{sql}");
    }
}

const STRAY_NOTES: &str = "`notes` is not held to the tenant";
const STRAY_PEOPLE: &str = "`people` is not held to the tenant";

#[test]
fn reading_ones_own_rows_passes() {
    passes(
        Whose::Tenant,
        &[
            "SELECT 1",
            "SELECT set_config('app.tenant_id', $1, true)",
            "SELECT id FROM notes WHERE tenant_id = $1",
            "SELECT id FROM notes WHERE $1 = tenant_id AND id > $2 ORDER BY id LIMIT $3",
            "SELECT id FROM notes WHERE (tenant_id = $1) AND (id = $2 OR body = $3)",
            "SELECT id FROM Notes WHERE TENANT_ID = $1",
            "SELECT id FROM jobs WHERE tenant_id = $1 FOR UPDATE SKIP LOCKED",
            "SELECT n.id FROM notes n WHERE n.tenant_id = $1",
            "SELECT notes.id FROM notes WHERE notes.tenant_id = $1",
            "SELECT n.id FROM notes n JOIN people p ON p.id = n.author AND p.tenant_id = $1 WHERE n.tenant_id = $1",
            "SELECT n.id FROM notes n JOIN people p ON p.id = n.author WHERE n.tenant_id = $1 AND p.tenant_id = $1",
            "SELECT n.id FROM notes n JOIN people p ON p.id = n.author AND p.tenant_id = $1 AND n.tenant_id = $1",
            "SELECT n.id FROM notes n, people p WHERE n.tenant_id = $1 AND p.tenant_id = $1 AND p.id = n.author",
            "SELECT n.id FROM notes n LEFT JOIN people p ON p.id = n.author AND p.tenant_id = $1 WHERE n.tenant_id = $1",
            "SELECT n.id FROM notes n RIGHT JOIN people p ON p.id = n.author AND n.tenant_id = $1 WHERE p.tenant_id = $1",
            "SELECT n.id FROM notes n FULL JOIN people p ON p.id = n.author WHERE n.tenant_id = $1 AND p.tenant_id = $1",
            "SELECT j.value FROM notes n, json_each(n.body) AS j WHERE n.tenant_id = $1",
            "SELECT n.id FROM notes n JOIN unnest($2::uuid[]) AS wanted(id) ON wanted.id = n.id WHERE n.tenant_id = $1",
            "SELECT n.id FROM (notes n JOIN people p ON p.tenant_id = $1) WHERE n.tenant_id = $1",
        ],
    );
}

#[test]
fn subqueries_that_hold_themselves_pass() {
    passes(
        Whose::Tenant,
        &[
            "SELECT id FROM notes WHERE tenant_id = $1 AND author IN (SELECT id FROM people WHERE tenant_id = $1)",
            "SELECT id FROM notes n WHERE n.tenant_id = $1 AND EXISTS (SELECT 1 FROM people p WHERE p.tenant_id = $1 AND p.id = n.author)",
            "SELECT (SELECT count(*) FROM notes WHERE tenant_id = $1) FROM people WHERE tenant_id = $1",
            "SELECT x.id FROM (SELECT id FROM notes WHERE tenant_id = $1) x",
            "SELECT x.id FROM people p JOIN LATERAL (SELECT id FROM notes WHERE tenant_id = $1 AND author = p.id) x ON true WHERE p.tenant_id = $1",
            "WITH mine AS (SELECT id FROM notes WHERE tenant_id = $1) SELECT id FROM mine",
            "WITH RECURSIVE up AS (SELECT id FROM notes WHERE tenant_id = $1 UNION ALL SELECT n.id FROM notes n JOIN up ON up.id = n.author WHERE n.tenant_id = $1) SELECT id FROM up",
            "SELECT id FROM notes WHERE tenant_id = $1 UNION ALL SELECT id FROM people WHERE tenant_id = $1 ORDER BY id",
        ],
    );
}

#[test]
fn writing_ones_own_rows_passes() {
    passes(
        Whose::Tenant,
        &[
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2)",
            "INSERT INTO notes (id, tenant_id) VALUES ($2, $1), ($3, $1) RETURNING id",
            "INSERT INTO notes (tenant_id, id) SELECT $1, id FROM people WHERE tenant_id = $1",
            "INSERT INTO notes (tenant_id, id) SELECT $1, $2 WHERE NOT EXISTS (SELECT 1 FROM notes WHERE tenant_id = $1)",
            "INSERT INTO notes (tenant_id, id) SELECT $1 AS tenant_id, $2 UNION ALL SELECT $1, $3",
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
            "INSERT INTO notes (tenant_id, id, body) VALUES ($1, $2, $3) ON CONFLICT (tenant_id, id) DO UPDATE SET body = excluded.body",
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2) ON CONFLICT (tenant_id, id) WHERE body IS NULL DO UPDATE SET body = $3",
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = $3 WHERE notes.tenant_id = $1",
            "INSERT INTO notes AS n (tenant_id, id) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = $3 WHERE n.tenant_id = $1",
            "UPDATE notes SET body = $2 WHERE tenant_id = $1 AND id = $3 RETURNING id",
            "UPDATE notes SET body = p.name FROM people p WHERE notes.tenant_id = $1 AND p.tenant_id = $1 AND p.id = notes.author",
            "UPDATE notes AS n SET body = $2 WHERE n.tenant_id = $1",
            "DELETE FROM notes WHERE tenant_id = $1 AND id = $2",
            "DELETE FROM notes USING people WHERE notes.tenant_id = $1 AND people.tenant_id = $1",
            "WITH gone AS (DELETE FROM notes WHERE tenant_id = $1 RETURNING id) SELECT count(*) FROM gone",
        ],
    );
}

#[test]
fn a_table_without_a_filter_is_caught() {
    caught(
        STRAY_NOTES,
        &[
            "SELECT id FROM notes",
            "SELECT id FROM notes WHERE id = $2",
            "SELECT id FROM notes WHERE tenant_id = $2",
            "SELECT id FROM notes WHERE tenant_id = $10",
            "SELECT id FROM notes WHERE tenant_id <> $1",
            "SELECT id FROM notes WHERE tenant_id >= $1",
            "SELECT id FROM notes WHERE tenant_id = tenant_id",
            "SELECT id FROM notes WHERE tenant_id = '$1'",
            "SELECT id FROM notes WHERE id = $1",
            "SELECT id FROM notes WHERE tenant_id IN ($1, $2)",
            "SELECT id FROM notes WHERE tenant_id = $1 OR id = $2",
            "SELECT id FROM notes WHERE (tenant_id = $1 OR $2) AND id = $3",
            "SELECT id FROM notes WHERE NOT (tenant_id = $1)",
            "SELECT id FROM notes WHERE NOT tenant_id = $1",
            "SELECT id FROM notes WHERE (tenant_id = $1) = $2",
            "SELECT id FROM notes WHERE CASE WHEN $2 THEN tenant_id = $1 ELSE true END",
            "SELECT id FROM notes n WHERE notes.tenant_id = $1",
            "SELECT id FROM notes GROUP BY id HAVING max(tenant_id) = $1",
            "SELECT tenant_id = $1 FROM notes",
            "SELECT count(*) FILTER (WHERE tenant_id = $1) FROM notes",
        ],
    );
    caught("`jobs` is not held to the tenant", &["SELECT id FROM jobs WHERE state = 'due'"]);
}

#[test]
fn a_join_without_a_filter_is_caught() {
    caught(
        STRAY_PEOPLE,
        &[
            "SELECT n.id FROM notes n JOIN people p ON p.id = n.author WHERE n.tenant_id = $1",
            "SELECT n.id FROM notes n JOIN people p ON p.tenant_id = n.tenant_id WHERE n.tenant_id = $1",
            "SELECT n.id FROM notes n JOIN people p USING (tenant_id) WHERE n.tenant_id = $1",
            "SELECT n.id FROM notes n NATURAL JOIN people WHERE n.tenant_id = $1",
            "SELECT n.id FROM notes n CROSS JOIN people p WHERE n.tenant_id = $1",
            "SELECT n.id FROM notes n, people p WHERE n.tenant_id = $1 AND p.id = n.author",
            "SELECT n.id FROM notes n JOIN people p ON p.id = n.author OR p.tenant_id = $1 WHERE n.tenant_id = $1",
            "SELECT n.id FROM notes n JOIN people p ON tenant_id = $1 WHERE n.tenant_id = $1",
            "SELECT n.id FROM notes n JOIN people p ON p.tenant_id = $2 WHERE n.tenant_id = $1",
        ],
    );
    let both = "SELECT n.id FROM notes n JOIN people p ON p.id = n.author WHERE tenant_id = $1";
    assert_eq!(
        complaints(Whose::Tenant, both),
        [STRAY_NOTES, STRAY_PEOPLE],
        "whose tenant_id it is can't be told"
    );
}

#[test]
fn the_side_that_an_outer_join_keeps_is_caught() {
    caught(
        STRAY_NOTES,
        &[
            "SELECT n.id FROM notes n LEFT JOIN people p ON p.tenant_id = $1 AND n.tenant_id = $1",
            "SELECT n.id FROM notes n LEFT OUTER JOIN people p ON n.tenant_id = $1 WHERE p.tenant_id = $1",
            "SELECT n.id FROM people p RIGHT JOIN notes n ON p.tenant_id = $1 AND n.tenant_id = $1",
            "SELECT n.id FROM notes n FULL JOIN people p ON n.tenant_id = $1 WHERE p.tenant_id = $1",
            "SELECT n.id FROM people p FULL JOIN notes n ON n.tenant_id = $1 WHERE p.tenant_id = $1",
            "SELECT n.id FROM notes n LEFT JOIN (people p JOIN jobs j ON j.tenant_id = $1 AND p.tenant_id = $1) ON n.tenant_id = $1",
        ],
    );
}

#[test]
fn a_subquery_without_a_filter_is_caught() {
    caught(
        STRAY_PEOPLE,
        &[
            "SELECT id FROM notes WHERE tenant_id = $1 AND author IN (SELECT id FROM people)",
            "SELECT id FROM notes WHERE tenant_id = $1 AND EXISTS (SELECT 1 FROM people p WHERE p.id = notes.author)",
            "SELECT id FROM notes n WHERE n.tenant_id = $1 AND EXISTS (SELECT 1 FROM people p WHERE n.tenant_id = $1)",
            "SELECT id FROM notes WHERE tenant_id = $1 AND author = (SELECT max(id) FROM people)",
            "SELECT id FROM notes WHERE tenant_id = $1 AND NOT (id = $2 OR EXISTS (SELECT 1 FROM people))",
            "SELECT id, (SELECT name FROM people p WHERE p.id = author) FROM notes WHERE tenant_id = $1",
            "SELECT coalesce((SELECT name FROM people), 'x') FROM notes WHERE tenant_id = $1",
            "SELECT x.id FROM (SELECT id FROM people) x",
            "SELECT x.id FROM (SELECT id, tenant_id FROM people) x WHERE x.tenant_id = $1",
            "SELECT n.id FROM notes n JOIN LATERAL (SELECT id FROM people WHERE id = n.author) x ON true WHERE n.tenant_id = $1",
            "SELECT n.id FROM notes n JOIN (SELECT id FROM people) x ON x.id = n.author WHERE n.tenant_id = $1",
            "SELECT id FROM notes WHERE tenant_id = $1 ORDER BY (SELECT name FROM people LIMIT 1)",
            "SELECT id FROM notes WHERE tenant_id = $1 LIMIT (SELECT count(*) FROM people)",
            "SELECT id FROM notes WHERE tenant_id = $1 GROUP BY id HAVING count(*) > (SELECT count(*) FROM people)",
            "SELECT id FROM notes WHERE tenant_id = $1 AND id = ANY(ARRAY(SELECT id FROM people))",
            "SELECT CASE WHEN EXISTS (SELECT 1 FROM people) THEN 1 END FROM notes WHERE tenant_id = $1",
            "SELECT sum(1) OVER (ORDER BY (SELECT 1 FROM people)) FROM notes WHERE tenant_id = $1",
            "SELECT j.value FROM json_each((SELECT name FROM people)) AS j",
        ],
    );
}

#[test]
fn ctes_and_set_operations_are_looked_into() {
    caught(
        STRAY_PEOPLE,
        &[
            "WITH all_people AS (SELECT id FROM people) SELECT id FROM all_people",
            "WITH a AS (SELECT id, tenant_id FROM people) SELECT id FROM a WHERE tenant_id = $1",
            "SELECT id FROM notes WHERE tenant_id = $1 UNION SELECT id FROM people",
            "SELECT id FROM people EXCEPT SELECT id FROM notes WHERE tenant_id = $1",
            "(SELECT id FROM notes WHERE tenant_id = $1) UNION ALL (SELECT id FROM people WHERE id = $2)",
            "WITH a AS (WITH b AS (SELECT id FROM people) SELECT id FROM b) SELECT id FROM a",
            "WITH a AS (UPDATE people SET name = $2 RETURNING id) SELECT id FROM a",
            "WITH a AS (DELETE FROM people RETURNING id) SELECT id FROM a",
        ],
    );
    caught(
        "the table's name `people` is given to something else",
        &["WITH people AS (SELECT 1 AS id) SELECT id FROM people"],
    );
}

#[test]
fn updates_and_deletes_are_caught() {
    caught(
        STRAY_NOTES,
        &[
            "UPDATE notes SET body = $2",
            "UPDATE notes SET body = $2 WHERE id = $3",
            "UPDATE notes SET body = $2 WHERE tenant_id = $1 OR id = $3",
            "UPDATE notes SET body = $2 FROM people p WHERE p.tenant_id = $1",
            "UPDATE notes SET body = $2 FROM people p JOIN jobs j ON j.tenant_id = $1 AND notes.tenant_id = $1 WHERE p.tenant_id = $1",
            "DELETE FROM notes",
            "DELETE FROM notes WHERE id = $2",
            "DELETE FROM notes USING people WHERE people.tenant_id = $1",
        ],
    );
    caught(
        STRAY_PEOPLE,
        &[
            "UPDATE notes SET body = p.name FROM people p WHERE notes.tenant_id = $1 AND p.id = notes.author",
            "UPDATE notes SET body = (SELECT name FROM people WHERE id = author) WHERE tenant_id = $1",
            "UPDATE notes SET (body, author) = (SELECT name, id FROM people) WHERE tenant_id = $1",
            "UPDATE notes SET body = $2 WHERE tenant_id = $1 AND author IN (SELECT id FROM people)",
            "UPDATE notes SET body = $2 WHERE tenant_id = $1 RETURNING (SELECT name FROM people)",
            "DELETE FROM notes USING people WHERE notes.tenant_id = $1 AND people.id = notes.author",
            "DELETE FROM notes WHERE tenant_id = $1 RETURNING (SELECT count(*) FROM people)",
        ],
    );
    caught(
        "a row's tenant is changed",
        &[
            "UPDATE notes SET tenant_id = $2 WHERE tenant_id = $1",
            "UPDATE notes SET (tenant_id, body) = ($2, $3) WHERE tenant_id = $1",
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2) ON CONFLICT (tenant_id, id) DO UPDATE SET tenant_id = $3",
        ],
    );
}

#[test]
fn inserts_for_another_tenant_are_caught() {
    caught(
        "a row of `notes` could be written for another tenant",
        &[
            "INSERT INTO notes (tenant_id, id) VALUES ($2, $1)",
            "INSERT INTO notes (id) VALUES ($2)",
            "INSERT INTO notes VALUES ($1, $2)",
            "INSERT INTO notes DEFAULT VALUES",
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2), ($3, $4)",
            "INSERT INTO notes (tenant_id, id) SELECT tenant_id, id FROM people WHERE tenant_id = $1",
            "INSERT INTO notes (id, tenant_id) SELECT $1, $2",
            "INSERT INTO notes (id, tenant_id) SELECT people.*, $1 FROM people WHERE tenant_id = $1",
            "INSERT INTO notes (tenant_id, id) SELECT $1, $2 UNION ALL SELECT $2, $3",
            "INSERT INTO notes (tenant_id, id) VALUES (coalesce($2, $1), $3)",
            "WITH a AS (SELECT 1) INSERT INTO notes (tenant_id, id) SELECT $2, $3 FROM a",
        ],
    );
    caught(
        STRAY_PEOPLE,
        &[
            "INSERT INTO notes (tenant_id, id) SELECT $1, id FROM people",
            "INSERT INTO notes (tenant_id, id) VALUES ($1, (SELECT id FROM people LIMIT 1))",
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2) RETURNING (SELECT count(*) FROM people)",
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2) ON CONFLICT (tenant_id, id) DO UPDATE SET body = (SELECT name FROM people)",
            "WITH a AS (SELECT id FROM people) INSERT INTO notes (tenant_id, id) SELECT $1, id FROM a",
        ],
    );
}

#[test]
fn upserts_over_another_tenants_row_are_caught() {
    caught(
        "the conflict could be with another tenant's row of `notes`",
        &[
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = $3",
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2) ON CONFLICT ON CONSTRAINT notes_pkey DO UPDATE SET body = $3",
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = $3 WHERE tenant_id = $1",
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = $3 WHERE excluded.tenant_id = $1",
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = $3 WHERE notes.tenant_id = $1 OR true",
            "INSERT INTO notes (tenant_id, id) VALUES ($1, $2) ON CONFLICT (id) WHERE tenant_id = $1 DO UPDATE SET body = $3",
        ],
    );
    caught(
        "OR REPLACE could remove another tenant's row",
        &[
            "INSERT OR REPLACE INTO notes (tenant_id, id) VALUES ($1, $2)",
            "UPDATE OR REPLACE notes SET id = $2 WHERE tenant_id = $1",
        ],
    );
}

#[test]
fn other_peoples_tables_are_caught() {
    caught(
        "`api_keys` is not a tenant's table",
        &[
            "SELECT id FROM api_keys WHERE tenant_id = $1",
            "SELECT n.id FROM notes n JOIN api_keys k ON k.tenant_id = $1 WHERE n.tenant_id = $1",
            "INSERT INTO api_keys (tenant_id, id) VALUES ($1, $2)",
            "DELETE FROM api_keys WHERE tenant_id = $1",
        ],
    );
    caught("no migration makes a table `noets`", &["SELECT id FROM noets WHERE tenant_id = $1"]);
    caught(
        "no migration makes a table `public.notes`",
        &["SELECT id FROM public.notes WHERE tenant_id = $1"],
    );
    caught("no migration makes a table `pg_roles`", &["SELECT rolname FROM pg_roles"]);
}

#[test]
fn tricks_with_names_are_caught() {
    caught(
        "the columns of `notes` get other names",
        &["SELECT n.id FROM notes AS n (id, tenant_id) WHERE n.tenant_id = $1"],
    );
    let swapped = "SELECT notes.id FROM notes AS people, people AS notes WHERE notes.tenant_id = $1";
    assert_eq!(complaints(Whose::Tenant, swapped), [STRAY_NOTES], "the alias counts, not the table");
    for sql in [
        "TABLE notes",
        "SELECT 1 WHERE EXISTS (TABLE notes)",
        "SELECT id FROM notes; SELECT 1",
        "SELECT * INTO x FROM notes WHERE tenant_id = $1",
        "SELECT 1 WHERE 1 IN notes",
        "REPLACE INTO notes (tenant_id) VALUES ($1)",
        "TRUNCATE notes",
        "EXPLAIN SELECT id FROM notes",
        "SELECT id FROM (notes n JOIN people p ON p.tenant_id = $1) AS x WHERE n.tenant_id = $1",
    ] {
        assert_ne!(complaints(Whose::Tenant, sql), Vec::<String>::new(), "{sql}");
    }
}

#[test]
fn a_platform_statement_need_only_be_real() {
    passes(
        Whose::Platform,
        &[
            "SELECT id FROM api_keys WHERE id = $1",
            "SELECT id FROM jobs WHERE state = 'due' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
            "INSERT INTO api_keys (id, tenant_id) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET tenant_id = $2",
            "WITH due AS (SELECT id FROM jobs LIMIT 5) UPDATE jobs SET state = 'taken' FROM due WHERE due.id = jobs.id RETURNING jobs.id",
        ],
    );
    assert_eq!(
        complaints(Whose::Platform, "SELECT id FROM api_kyes"),
        ["no migration makes a table `api_kyes`"]
    );
    assert_eq!(complaints(Whose::Platform, "SELECT id FRM api_keys").len(), 1);
}

#[test]
fn of_the_books_forgetting_overwrites_words_and_removes_names() {
    passes(
        Whose::Tenant,
        &[
            "UPDATE ledger_entries SET words = $2, words_key = NULL, reason = $2 WHERE tenant_id = $1 AND contact_id = $3",
            "DELETE FROM ledger_names WHERE tenant_id = $1 AND subject_id = $2",
        ],
    );
    caught(
        "`ledger_entries` is append-only",
        &[
            "UPDATE ledger_entries SET words = $2, amount = 0 WHERE tenant_id = $1",
            "DELETE FROM ledger_entries WHERE tenant_id = $1",
        ],
    );
    caught("`ledger_names` is append-only", &["UPDATE ledger_names SET name = $2 WHERE tenant_id = $1"]);
}

#[test]
fn what_is_append_only_is_only_added_to() {
    passes(
        Whose::Tenant,
        &[
            "INSERT INTO diary (tenant_id, seq, body) VALUES ($1, $2, $3)",
            "SELECT body FROM diary WHERE tenant_id = $1",
        ],
    );
    caught(
        "`diary` is append-only",
        &[
            "UPDATE diary SET body = $2 WHERE tenant_id = $1",
            "DELETE FROM diary WHERE tenant_id = $1",
            "INSERT INTO diary (tenant_id, seq) VALUES ($1, 1) ON CONFLICT (tenant_id, seq) DO UPDATE SET body = $2",
        ],
    );
}
