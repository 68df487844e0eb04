//! Rows that no request makes.

use munshi_conversations::outbox::{self, NewNotice};
use munshi_identity::persons::seal_by_person;
use munshi_jobs::NewJob;
use munshi_store::{SealedColumn, Tx, params};
use munshi_types::tier::Channel;
use munshi_types::{ApprovalId, ConsentId, JobId, MessageId, OutboundMessage, OutboundPurpose, ReplyAddress};

use super::Installation;

const WORDS: SealedColumn = SealedColumn::new("consents", "words");

/// So many consents of a person, each for a purpose of its own.
pub(crate) async fn add_consents(house: &Installation, person: &str, count: usize) -> Vec<String> {
    let (person, now, mut made) = (person.parse().unwrap(), house.now(), Vec::new());
    for number in 0..count {
        let (id, approval): (ConsentId, ApprovalId) = (house.ids.next(), house.ids.next());
        let unit = move |tx: &mut Tx<'_>| {
            let by = seal_by_person(tx, person)?;
            let words = tx.seal(by, WORDS.cell(id), "May we?")?;
            tx.execute(
                "INSERT INTO consents (tenant_id, id, person_id, purpose, words, approval_id, given_via, given_at, ends_at)
                 VALUES ($1, $2, $3, $4, $5, $6, 'chat', $7, $8)",
                params![id, person, format!("purpose_{number}"), words, approval, now, now.plus(YEAR)],
            )
        };
        house.db.write(house.shop.tenant, unit).await.unwrap();
        made.push(id.to_string());
    }
    made
}

/// Messages that leave in a year.
pub(crate) async fn add_outgoing(house: &Installation, count: usize) -> Vec<String> {
    let (now, mut made) = (house.now(), Vec::new());
    for number in 0..count {
        let (id, queue): (MessageId, _) = (house.ids.next(), house.queue.clone());
        let to = ReplyAddress::new(Channel::Email, "meera@shop.example".to_owned());
        let notice = NewNotice {
            outbound: OutboundMessage {
                purpose: OutboundPurpose::Notice,
                ..OutboundMessage::new(id, to, format!("notice {number}"))
            },
            person: None,
            subject: None,
            binding: None,
            about: None,
            not_before: Some(now.plus(YEAR)),
        };
        let unit = move |tx: &mut Tx<'_>| outbox::enqueue_notice(tx, &queue, &notice, now);
        house.db.write(house.shop.tenant, unit).await.unwrap();
        made.push(id.to_string());
    }
    made
}

const YEAR: std::time::Duration = std::time::Duration::from_secs(365 * 24 * 3600);

/// A job that nobody tries again by itself.
pub(crate) async fn bury_job(house: &Installation) -> String {
    let queue = house.queue.clone();
    let unit = move |tx: &mut Tx<'_>| -> munshi_jobs::Result<JobId> {
        let id = queue.enqueue(tx, &NewJob::new("letter", &())?)?.id();
        tx.execute("UPDATE jobs SET state = 'dead' WHERE tenant_id = $1 AND id = $2", params![id])?;
        Ok(id)
    };
    house.db.write(house.shop.tenant, unit).await.unwrap().to_string()
}
