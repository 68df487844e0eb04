//! The ground of a decision, in the act's own transaction.

use std::time::Duration;

use munshi_identity::{ContactAddress, Person, persons};
use munshi_store::Tx;
use munshi_types::{ConsentId, ConsentPurposeName, PersonId, ReservationId, Timestamp};
use serde_json::Value;

use super::digest::ActDigest;
use super::limits::{self, ActCapacity};
use super::services::ActServices;
use super::unasked;
use crate::approvals::ApprovalStatus;
use crate::error::Result;
use crate::pipeline::{
    ConsentGiver, ConsentGrant, ConsentReason, DecisionStore, ExhaustedLimit, PolicyRequest, PurposeStanding,
};
use crate::policy::AuthorisedTemplate;
use crate::{approvals, consents};

/// A program that calls tools by itself puts a purpose before somebody no more often than this: each of its calls would be another question.
const DIRECT_PAUSE: Duration = Duration::from_secs(24 * 3600);

pub(super) struct TxDecisionStore<'a, 't> {
    pub tx: &'a mut Tx<'t>,
    pub act_services: &'a ActServices,
    pub digest: ActDigest,
    pub now: Timestamp,
    /// What was set aside on the way.
    pub reservation: Option<ReservationId>,
    /// What the person has agreed to, where the tool needs that.
    pub consent: Option<ConsentId>,
}

impl DecisionStore for TxDecisionStore<'_, '_> {
    fn reserve(&mut self, ask: &PolicyRequest<'_>) -> Result<Option<ExhaustedLimit>> {
        match limits::reserve(self.tx, self.act_services, ask, self.now)? {
            ActCapacity::Taken(reservation) => {
                self.reservation = reservation;
                Ok(None)
            }
            ActCapacity::None(full) => Ok(Some(full)),
        }
    }

    fn find_consent(
        &mut self,
        ask: &PolicyRequest<'_>,
        reasons: &[ConsentReason],
    ) -> Result<Option<ConsentGrant>> {
        if let Some((approval, question)) = approvals::find_grant(self.tx, ask.act, self.digest, self.now)? {
            // Whoever agreed to what a tool is for has agreed to the act itself as far as it stood before them.
            let has_seen = reasons.iter().all(|reason| question.reasons.contains(reason));
            return Ok(Some(match question.needs {
                ConsentGiver::Subject if !has_seen => ConsentGrant::Purpose(approval),
                needs => ConsentGrant::Act(approval, needs),
            }));
        }
        if !reasons.iter().all(|reason| reason.is_waivable()) {
            return Ok(None);
        }
        let (Some(session), Some(tool)) = (ask.caller.session, &ask.tool) else { return Ok(None) };
        let what = (ask.name.as_str(), tool.render_scope(&ask.arguments));
        let person = ask.caller.principal.person;
        let waived = approvals::find_session_grant(self.tx, session, (what.0, &what.1), person, self.now)?;
        Ok(waived.map(ConsentGrant::Session))
    }

    fn find_purpose_consent(
        &mut self,
        ask: &PolicyRequest<'_>,
        purpose: &ConsentPurposeName,
    ) -> Result<PurposeStanding> {
        let asker = self.find_asker(ask)?;
        let argument = ask.tool.as_ref().and_then(|tool| tool.spec.subject.as_ref());
        let (subject, unknown) = match argument {
            Some(argument) => (self.find_subject(ask, argument)?, PurposeStanding::UnaskedOther),
            None => (asker, PurposeStanding::Nobody),
        };
        let Some(subject) = subject else { return Ok(unknown) };
        if let Some(consent) =
            consents::find_valid(self.tx, &ask.policy.consent, (subject, purpose), self.now)?
        {
            self.consent = Some(consent);
            return Ok(PurposeStanding::Given(consent));
        }
        if asker != Some(subject) {
            return Ok(PurposeStanding::UnaskedOther);
        }
        let Some(run) = ask.caller.run else {
            let since = self.now.minus(DIRECT_PAUSE);
            let asked =
                approvals::find_direct_purpose_question(self.tx, (subject, purpose), since, self.now)?;
            return Ok(match asked {
                Some(ApprovalStatus::Pending) => PurposeStanding::Asked,
                Some(_) => PurposeStanding::Refused,
                None => PurposeStanding::Unasked,
            });
        };
        let refused = approvals::is_purpose_refused(self.tx, run, purpose)?;
        Ok(if refused { PurposeStanding::Refused } else { PurposeStanding::Unasked })
    }

    fn is_in_audience(&mut self, recipient: &str, audience: &str) -> Result<bool> {
        let person = find_recipient(self.tx, recipient)?;
        Ok(person
            .is_some_and(|person| person.left_at.is_none() && person.tags.iter().any(|tag| tag == audience)))
    }

    fn take_unasked(&mut self, ask: &PolicyRequest<'_>, authorised: &AuthorisedTemplate) -> Result<bool> {
        unasked::take(self.tx, ask.act, authorised, self.now)
    }
}

impl TxDecisionStore<'_, '_> {
    /// Whom the act is for. They may have turned out to be somebody known since they asked, and theirs is what that one agreed to.
    fn find_asker(&mut self, ask: &PolicyRequest<'_>) -> Result<Option<PersonId>> {
        let Some(person) = ask.caller.principal.person else { return Ok(None) };
        Ok(Some(persons::find_living(self.tx, person)?.map_or(person, |living| living.id)))
    }

    /// Whom an argument of the act means; none where it means nobody, or nobody who is known.
    fn find_subject(&mut self, ask: &PolicyRequest<'_>, argument: &str) -> Result<Option<PersonId>> {
        let Some(text) = ask.arguments.get(argument).and_then(Value::as_str) else { return Ok(None) };
        let Some(found) = find_recipient(self.tx, text.trim())? else { return Ok(None) };
        Ok(persons::find_living(self.tx, found.id)?.map(|living| living.id))
    }
}

/// The person a recipient's address or id means.
fn find_recipient(tx: &mut Tx<'_>, recipient: &str) -> Result<Option<Person>> {
    if let Ok(id) = recipient.parse() {
        return Ok(persons::find(tx, id)?);
    }
    let addresses = [
        ContactAddress::phone(recipient),
        ContactAddress::email(recipient),
        ContactAddress::handle(recipient),
    ];
    for address in addresses.into_iter().flatten() {
        if let Some(person) = persons::find_by_address(tx, &address)? {
            return Ok(Some(person));
        }
    }
    Ok(None)
}
