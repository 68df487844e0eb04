//! A visitor proves a phone or an e-mail by a one-time code, and turns out to be somebody known: two persons become one, and so do
//! their threads.

mod threads;

pub use threads::merge_threads;

use std::sync::Arc;
use std::time::Duration;

use munshi_identity::codes::{
    self, CodeAttempt, CodeKey, CodeProof, CodePurpose, CodeRequest, CodeRequestOutcome, CodeText,
    CodeVerification,
};
use munshi_identity::{ContactAddress, MergeObstacle, Person, persons};
use munshi_store::{Db, Tx};
use munshi_types::tier::LanguageCode;
use munshi_types::{
    Clock, IdGenerator, OutboundMessage, OutboundPurpose, PersonId, Random, ReplyAddress, SessionId,
    TenantId, Timestamp,
};

use crate::error::{Error, Result};
use crate::outbox::opt_outs;
use crate::outbox::{
    ChannelSender, DeliveryCertainty, FaultSubject, SendFault, SendReceipt, SendRetryability,
};
use crate::reach::preferences::to_place;
use crate::sessions;

/// What linking is done with.
#[derive(Clone)]
pub struct AddressLinker {
    pub db: Db,
    pub key: CodeKey,
    pub ids: IdGenerator,
    pub random: Arc<dyn Random>,
    pub clock: Arc<dyn Clock>,
}

/// So long is waited for a channel. Shorter than a request may take.
const LONGEST_SEND: Duration = Duration::from_secs(20);

/// How the code reaches them.
pub struct CodeDelivery<'a> {
    pub sender: &'a dyn ChannelSender,
    /// What is sent, with the code in it.
    pub words: &'a (dyn Fn(&CodeText) -> String + Send + Sync),
    pub language: Option<LanguageCode>,
}

/// What somebody agrees to by answering with a code: that they may be written to at the address, in these words.
#[derive(Clone, Debug)]
pub struct ShownConsent {
    pub words: String,
    pub language: Option<LanguageCode>,
}

/// What came of asking for a code. Nothing of it tells whether the address is known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeSendOutcome {
    /// It left, or it may have: only who has the address can tell. Whoever gets none asks again.
    Sent {
        expires_at: Timestamp,
    },
    /// The code was made and surely not sent; they may ask again.
    NotSent {
        why: String,
        /// Nothing will ever reach that address from here. Not so where it is our account that is refused.
        refused: bool,
    },
    TooMany {
        again_at: Timestamp,
    },
}

/// Who somebody turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkedPerson {
    pub person: Person,
    /// Where the conversation goes on: another than it began in where the person had one already.
    pub session: SessionId,
    /// The row that leads to the person from now on, where there were two.
    pub merged: Option<PersonId>,
}

impl AddressLinker {
    /// Makes a code for a session and sends it to the address. It is never stored as it is sent, so it does not go through
    /// the outbox: who gets none asks again.
    pub async fn send_code(
        &self,
        tenant: TenantId,
        session: SessionId,
        address: &ContactAddress,
        way: &CodeDelivery<'_>,
    ) -> Result<CodeSendOutcome> {
        let (this, wanted, now) = (self.clone(), address.clone(), self.clock.now());
        let unit = move |tx: &mut Tx<'_>| {
            if sessions::find_current(tx, session)?.is_none() {
                return Err(Error::Unfit(format!("session {session} not found")));
            }
            let wish = CodeRequest { purpose: CodePurpose::Link, asker: asker(session), address: wanted };
            Ok(codes::request(tx, &this.key, &this.ids, this.random.as_ref(), &wish, now)?)
        };
        let code = match self.db.write(tenant, unit).await? {
            CodeRequestOutcome::Made(code) => code,
            CodeRequestOutcome::TooMany { again_at } => return Ok(CodeSendOutcome::TooMany { again_at }),
        };
        let to = ReplyAddress::new(way.sender.channel(), address.as_str().to_owned());
        let outbound = OutboundMessage {
            purpose: OutboundPurpose::Code,
            language: way.language.clone(),
            ..OutboundMessage::new(self.ids.next(), to, (way.words)(&code.text))
        };
        let sent = tokio::time::timeout(LONGEST_SEND, way.sender.send(&outbound)).await.ok();
        let outcome = judge_sending(sent, code.expires_at, self.clock.now());
        if !matches!(outcome, CodeSendOutcome::Sent { .. }) {
            // Nobody has it, and whoever asked is not to pay for that.
            self.db.write(tenant, move |tx| codes::withdraw(tx, code.id)).await?;
        }
        Ok(outcome)
    }

    /// Answers with the code. A right one makes the address theirs, or them the person who has it, threads and all.
    pub async fn confirm(
        &self,
        tenant: TenantId,
        session: SessionId,
        text: &str,
    ) -> Result<CodeVerification<LinkedPerson>> {
        self.confirm_shown(tenant, session, text, None).await
    }

    /// The same by somebody who was shown, with the code, what they agree to by it.
    pub async fn confirm_shown(
        &self,
        tenant: TenantId,
        session: SessionId,
        text: &str,
        shown: Option<ShownConsent>,
    ) -> Result<CodeVerification<LinkedPerson>> {
        let now = self.clock.now();
        let attempt =
            CodeAttempt { purpose: CodePurpose::Link, asker: asker(session), text: text.to_owned() };
        let ids = self.ids.clone();
        let link = move |tx: &mut Tx<'_>, proven: CodeProof| -> Result<LinkedPerson> {
            let linked = link(tx, &ids, session, &proven.address, now)?;
            let place = to_place(&proven.address);
            if let (Some(shown), Some(place)) = (&shown, place) {
                let words = (shown.words.as_str(), shown.language.as_ref());
                let told = opt_outs::record_proof(tx, (linked.person.id, &place), words, (&ids, now))?;
                told.record_with_ids(tx, &ids, now)?;
            }
            Ok(linked)
        };
        codes::verify(&self.db, tenant, &self.key, attempt, now, link).await
    }
}

/// What is told of a code, by what the channel said; None where it said nothing in time.
fn judge_sending(
    sent: Option<Result<SendReceipt, SendFault>>,
    expires_at: Timestamp,
    now: Timestamp,
) -> CodeSendOutcome {
    let fault = match sent {
        Some(Err(fault)) if fault.happened == DeliveryCertainty::No => fault,
        // It left, or may have: it works if it comes.
        Some(Ok(_) | Err(_)) | None => return CodeSendOutcome::Sent { expires_at },
    };
    match fault.retry_after {
        Some(after) => CodeSendOutcome::TooMany { again_at: now.plus(after) },
        None => {
            let refused = fault.retryable == SendRetryability::No && fault.subject == FaultSubject::Recipient;
            CodeSendOutcome::NotSent { why: fault.why, refused }
        }
    }
}

/// Only the conversation that asked can answer.
pub(crate) fn asker(session: SessionId) -> String {
    format!("session {session}")
}

fn link(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    session: SessionId,
    address: &ContactAddress,
    now: Timestamp,
) -> Result<LinkedPerson> {
    let gone = || Error::Unfit(format!("session {session} not found"));
    let asked = sessions::find_current(tx, session)?.ok_or_else(gone)?;
    let holder = persons::find_by_address(tx, address)?;
    let merged = match holder {
        None => {
            persons::add_address(tx, asked.person, address)?;
            None
        }
        // Six digits can be guessed, given time; what somebody may do here is worth more than that.
        Some(holder) if holder.role.is_some() && holder.id != asked.person => {
            return Err(munshi_identity::Error::Unmergeable(MergeObstacle::IntoMember).into());
        }
        Some(holder) => {
            let is_member = persons::find_living(tx, asked.person)?.is_some_and(|asker| asker.role.is_some());
            merge_persons(tx, ids, (asked.person, is_member), holder.id, now)?
        }
    };
    // Read again: where the person had a conversation here, this one is part of it now.
    let session = sessions::find_current(tx, session)?.ok_or_else(gone)?;
    let person = persons::find_living(tx, session.person)?.ok_or_else(gone)?;
    Ok(LinkedPerson { person, session: session.id, merged })
}

/// The visitor becomes whoever has the address; where the visitor works here and the other does not, the other way
/// round, since a member is never merged away.
fn merge_persons(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    (visitor, is_member): (PersonId, bool),
    holder: PersonId,
    now: Timestamp,
) -> Result<Option<PersonId>> {
    let merged = match persons::merge(tx, visitor, holder) {
        Err(munshi_identity::Error::Unmergeable(MergeObstacle::Member)) if is_member => {
            persons::merge(tx, holder, visitor)?
        }
        // Roles were read before the merge held both: either may have been given one meanwhile.
        Ok(merged) if merged.changed && merged.into.role.is_some() => {
            return Err(munshi_identity::Error::Unmergeable(MergeObstacle::IntoMember).into());
        }
        outcome => outcome?,
    };
    if !merged.changed {
        return Ok(None);
    }
    merge_threads(tx, ids, (merged.from, merged.into.id), now)?;
    Ok(Some(merged.from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_may_have_left_is_one_that_left() {
        let (now, expires_at) = (Timestamp::EPOCH, Timestamp::EPOCH.plus(codes::LIFE));
        let judge = |sent| judge_sending(sent, expires_at, now);
        let left = CodeSendOutcome::Sent { expires_at };
        assert_eq!(judge(Some(Ok(SendReceipt::default()))), left);
        assert_eq!(judge(Some(Err(SendFault::unknown("no answer")))), left);
        assert_eq!(judge(None), left, "a slow channel may still have it");
        let why = "down".to_owned();
        let passing = judge(Some(Err(SendFault::passing("down"))));
        assert_eq!(passing, CodeSendOutcome::NotSent { why, refused: false });
        for (fault, is_theirs) in [(SendFault::refused("no"), false), (SendFault::unreachable("no"), true)] {
            let why = fault.why.clone();
            assert_eq!(judge(Some(Err(fault))), CodeSendOutcome::NotSent { why, refused: is_theirs });
        }
        let wait = Duration::from_secs(5);
        let limited = judge(Some(Err(SendFault::limited("busy", wait))));
        assert_eq!(limited, CodeSendOutcome::TooMany { again_at: now.plus(wait) });
    }
}
