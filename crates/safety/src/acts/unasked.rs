//! How many messages went without approval today, by a template that the policy authorises. Each act counts once, while it goes unasked
//! and may have been done: what is asked about after all, refused or surely not done takes nobody's share.

use std::time::Duration;

use munshi_store::{Tx, params};
use munshi_types::{ActId, Timestamp};

use crate::error::Result;
use crate::policy::AuthorisedTemplate;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Counts an act, once however often it is decided; false where there is no room for it today.
pub(super) fn take(
    tx: &mut Tx<'_>,
    act: ActId,
    authorised: &AuthorisedTemplate,
    now: Timestamp,
) -> Result<bool> {
    lock(tx, authorised)?;
    let of = (authorised.tool.as_str(), authorised.template.as_str(), authorised.audience.as_str());
    let others: i64 = tx.one(
        "SELECT count(*) FROM unasked_messages
         WHERE tenant_id = $1 AND tool = $2 AND template = $3 AND audience = $4 AND made_at > $5 AND act_id <> $6",
        params![of.0, of.1, of.2, now.minus(DAY), act],
        |row| row.get(0),
    )?;
    if others >= i64::from(authorised.per_day()) {
        return Ok(false);
    }
    tx.execute(
        "DELETE FROM unasked_messages WHERE tenant_id = $1 AND made_at < $2",
        params![now.minus(DAY * 30)],
    )?;
    tx.execute(
        "INSERT INTO unasked_messages (tenant_id, act_id, tool, template, audience, made_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
        params![act, of.0, of.1, of.2, now],
    )?;
    Ok(true)
}

/// Gives back what an act took, if it took anything.
pub(super) fn release(tx: &mut Tx<'_>, act: ActId) -> Result<()> {
    tx.execute("DELETE FROM unasked_messages WHERE tenant_id = $1 AND act_id = $2", params![act])?;
    Ok(())
}

/// Nodes count one after the other, each until its transaction ends. SQLite has one writer.
fn lock(tx: &mut Tx<'_>, authorised: &AuthorisedTemplate) -> Result<()> {
    if tx.engine() == "postgres" {
        let lock = "SELECT 1 FROM pg_advisory_xact_lock(hashtextextended($1::uuid::text || $2::text, 23))";
        tx.send(lock, params![authorised.tool.as_str()])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use munshi_test_support::on_both_engines;
    use munshi_types::Clock;
    use tokio::task::JoinSet;

    use super::*;

    fn authorise(per_day: u32) -> AuthorisedTemplate {
        let (template, audience) = ("dues".to_owned(), "contacts".to_owned());
        AuthorisedTemplate {
            tool: "send_reminder".parse().unwrap(),
            template,
            audience,
            per_day: Some(per_day),
        }
    }

    on_both_engines! {
        with [munshi_store::MIGRATIONS, munshi_jobs::MIGRATIONS, crate::MIGRATIONS];

        async fn of_many_at_once_on_two_nodes_so_many_go_unasked_as_may(test: TestDb) {
            let (tenant, nodes) = (test.add_tenant("shop").await, [test.db.clone(), test.open_again().await]);
            for day in 0..2_u64 {
                let now = test.clock.now();
                let mut callers = JoinSet::new();
                for number in 0..24 {
                    let (db, act): (_, ActId) = (nodes[number % 2].clone(), test.ids.next());
                    callers.spawn(async move {
                        // Decided twice, it counts once.
                        let unit = move |tx: &mut Tx<'_>| -> Result<bool> {
                            let taken = take(tx, act, &authorise(3), now)?;
                            Ok(take(tx, act, &authorise(3), now)? && taken)
                        };
                        (act, db.write(tenant, unit).await.unwrap())
                    });
                }
                let taken: Vec<ActId> =
                    callers.join_all().await.into_iter().filter(|(_, taken)| *taken).map(|(act, _)| act).collect();
                assert_eq!(taken.len(), 3, "day {day}");
                let (given_back, next) = (taken[0], test.ids.next());
                let again = move |tx: &mut Tx<'_>| -> Result<[bool; 2]> {
                    let full = take(tx, next, &authorise(3), now)?;
                    release(tx, given_back)?;
                    Ok([full, take(tx, next, &authorise(3), now)?])
                };
                assert_eq!(test.db.write(tenant, again).await.unwrap(), [false, true], "day {day}");
                test.clock.advance(DAY);
            }
        }
    }
}
