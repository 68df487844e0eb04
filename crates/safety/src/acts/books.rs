//! The ground of a decision, in the act's own transaction.

use munshi_identity::{Address, Person, persons};
use munshi_store::Tx;
use munshi_types::{ReservationId, Timestamp};

use super::digest::Digest;
use super::limits::{self, Room};
use super::office::Office;
use crate::approvals;
use crate::error::Result;
use crate::pipeline::{Ask, Full, Given, Ground, Reason};

pub(super) struct Books<'a, 't> {
    pub tx: &'a mut Tx<'t>,
    pub office: &'a Office,
    pub digest: Digest,
    pub now: Timestamp,
    /// What was set aside on the way.
    pub held: Option<ReservationId>,
}

impl Ground for Books<'_, '_> {
    fn take(&mut self, ask: &Ask<'_>) -> Result<Option<Full>> {
        match limits::take(self.tx, self.office, ask, self.now)? {
            Room::Taken(held) => {
                self.held = held;
                Ok(None)
            }
            Room::None(full) => Ok(Some(full)),
        }
    }

    fn given(&mut self, ask: &Ask<'_>, reasons: &[Reason]) -> Result<Option<Given>> {
        if let Some((approval, needs)) = approvals::granted_for(self.tx, ask.act, self.digest, self.now)? {
            return Ok(Some(Given::Act(approval, needs)));
        }
        if !reasons.iter().all(|reason| reason.is_waivable()) {
            return Ok(None);
        }
        let (Some(session), Some(tool)) = (ask.caller.session, &ask.tool) else { return Ok(None) };
        let what = (ask.name.as_str(), tool.scope(&ask.arguments));
        let person = ask.caller.principal.person;
        let waived = approvals::waived(self.tx, session, (what.0, &what.1), person, self.now)?;
        Ok(waived.map(Given::Session))
    }

    fn belongs(&mut self, recipient: &str, audience: &str) -> Result<bool> {
        let person = find(self.tx, recipient)?;
        Ok(person
            .is_some_and(|person| person.left_at.is_none() && person.tags.iter().any(|tag| tag == audience)))
    }
}

/// The person a recipient's address or id means.
fn find(tx: &mut Tx<'_>, recipient: &str) -> Result<Option<Person>> {
    if let Ok(id) = recipient.parse() {
        return Ok(persons::find(tx, id)?);
    }
    let addresses = [Address::phone(recipient), Address::email(recipient), Address::handle(recipient)];
    for address in addresses.into_iter().flatten() {
        if let Some(person) = persons::by_address(tx, &address)? {
            return Ok(Some(person));
        }
    }
    Ok(None)
}
