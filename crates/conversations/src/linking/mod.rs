//! A visitor proves a phone by a one-time code, and turns out to be somebody known: two persons become one, and so do
//! their threads.

mod threads;

pub use threads::merge_threads;

use std::sync::Arc;

use munshi_identity::codes::{
    self, CodeAttempt, CodeKey, CodeProof, CodePurpose, CodeRequest, CodeRequestOutcome, CodeText,
    CodeVerification,
};
use munshi_identity::{ContactAddress, MergeObstacle, Person, persons};
use munshi_store::{Db, Tx};
use munshi_types::tier::LanguageCode;
use munshi_types::{
    Clock, IdGenerator, OutboundMessage, PersonId, Random, ReplyAddress, SessionId, TenantId, Timestamp,
};

use crate::error::{Error, Result};
use crate::outbox::ChannelSender;
use crate::sessions;

/// What linking is done with.
#[derive(Clone)]
pub struct PhoneLinker {
    pub db: Db,
    pub key: CodeKey,
    pub ids: IdGenerator,
    pub random: Arc<dyn Random>,
    pub clock: Arc<dyn Clock>,
}

/// How the code reaches the phone.
pub struct CodeDelivery<'a> {
    pub sender: &'a dyn ChannelSender,
    /// What is sent, with the code in it.
    pub words: &'a (dyn Fn(&CodeText) -> String + Send + Sync),
    pub language: Option<LanguageCode>,
}

/// What came of asking for a code. Nothing of it tells whether the phone is known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeSendOutcome {
    Sent {
        expires_at: Timestamp,
    },
    /// The code was made and could not be sent; they may ask again.
    NotSent {
        why: String,
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

impl PhoneLinker {
    /// Makes a code for a session and sends it to the phone. It is never stored as it is sent, so it does not go through
    /// the outbox: who gets none asks again.
    pub async fn send_code(
        &self,
        tenant: TenantId,
        session: SessionId,
        phone: &str,
        way: &CodeDelivery<'_>,
    ) -> Result<CodeSendOutcome> {
        let address = ContactAddress::phone(phone).map_err(|error| Error::Unfit(error.to_string()))?;
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
        let outbound = OutboundMessage {
            id: self.ids.next(),
            to: ReplyAddress { channel: way.sender.channel(), address: address.as_str().to_owned() },
            text: (way.words)(&code.text),
            suggestions: Vec::new(),
            language: way.language.clone(),
        };
        Ok(match way.sender.send(&outbound).await {
            Ok(_) => CodeSendOutcome::Sent { expires_at: code.expires_at },
            Err(fault) => CodeSendOutcome::NotSent { why: fault.why },
        })
    }

    /// Answers with the code. A right one makes the phone theirs, or them the person who has it, threads and all.
    pub async fn confirm(
        &self,
        tenant: TenantId,
        session: SessionId,
        text: &str,
    ) -> Result<CodeVerification<LinkedPerson>> {
        let now = self.clock.now();
        let attempt =
            CodeAttempt { purpose: CodePurpose::Link, asker: asker(session), text: text.to_owned() };
        let ids = self.ids.clone();
        let link = move |tx: &mut Tx<'_>, proven: CodeProof| link(tx, &ids, session, &proven.address, now);
        codes::verify(&self.db, tenant, &self.key, attempt, now, link).await
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
