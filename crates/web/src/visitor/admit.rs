//! Admission of a visitor's message: the rate limits, and the proof of work after the first few messages.

use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use munshi_conversations::sessions;
use munshi_identity::Person;
use munshi_safety::budget::{self, UsagePlan};
use munshi_safety::rate_limits::{LimitSubject, RateLimit};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::visitor::binding_lookup::is_members_only;
use munshi_store::Tx;
use munshi_types::Id;

use super::challenge::{self, ChallengeScope, ProofOfWork};
use super::page_visitor::{PageVisitor, PageVisitorIdentity};
use crate::api::turn_errors::convert_turn_error;

const CHALLENGE: HeaderName = HeaderName::from_static("x-challenge");

/// Why a message is not taken.
pub(crate) enum VisitRejection {
    Refused(ApiError),
    /// A proof of work is required. The challenge goes into the header `x-challenge`.
    ProofNeeded(String),
}

impl VisitRejection {
    /// Whether it would be let in at another time, or after some work.
    pub(crate) fn is_retryable(&self) -> bool {
        match self {
            Self::ProofNeeded(_) => true,
            Self::Refused(error) => error.code == ApiErrorCode::TooManyRequests,
        }
    }
}

impl<E: Into<ApiError>> From<E> for VisitRejection {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}

impl IntoResponse for VisitRejection {
    fn into_response(self) -> Response {
        match self {
            Self::Refused(error) => error.into_response(),
            Self::ProofNeeded(challenge) => {
                let mut response = ApiError::from_code(ApiErrorCode::ProofNeeded).into_response();
                if let Ok(value) = HeaderValue::try_from(challenge) {
                    response.headers_mut().insert(CHALLENGE, value);
                }
                response
            }
        }
    }
}

/// What is looked up before anything is stored.
struct Known {
    person: Option<Person>,
    plan: UsagePlan,
    /// How much was said in the thread, by both.
    said: i64,
}

/// A message that this node lets pass.
pub(crate) struct VisitAdmission {
    /// Who sent it, where they are known.
    pub(crate) person: Option<Person>,
    /// What it is counted by when it is stored, on all nodes together.
    pub(crate) limits: Vec<RateLimit>,
}

/// Lets a message pass, or says why not.
pub(crate) async fn admit(
    visitor: &PageVisitor,
    message: &str,
    proof: Option<&ProofOfWork>,
) -> Result<VisitAdmission, VisitRejection> {
    let known = load_known(visitor).await?;
    let is_member = known.person.as_ref().is_some_and(|person| person.role.is_some());
    if is_members_only(&visitor.binding) && !is_member {
        return Err(VisitRejection::Refused(
            ApiError::new(ApiErrorCode::Forbidden, "This conversation is only for members of the business.")
                .hint("Sign in, or use another binding."),
        ));
    }
    let (limits, tenant) = (&visitor.api.limits, visitor.binding.tenant);
    let is_visitor = known.person.as_ref().is_none_or(|person| person.visitor && person.role.is_none());
    let mut counted = match is_visitor {
        true => check_proof_of_work(visitor, &known, message, proof).await?,
        false => Vec::new(),
    };
    counted.push(limits.check_tenant(tenant, known.plan)?);
    if let Some(person) = &known.person {
        counted.push(limits.check_person(tenant, &person.id.to_string())?);
    }
    // Who has no token yet is counted by the one they get.
    if is_visitor && !matches!(visitor.proved, PageVisitorIdentity::Nothing) {
        counted.push(limits.check_visit(tenant, &visitor_id(visitor), visitor.binding.binding_id)?);
    }
    // Whatever else is reached is told before work is asked for.
    counted.sort_by_key(|limit| limit.subject == LimitSubject::Newcomer);
    Ok(VisitAdmission { person: known.person, limits: counted })
}

/// The response to a message that the database refused. If only the limit of messages without proof was reached, it asks
/// for a proof of work.
pub(crate) async fn build_rejection(
    visitor: &PageVisitor,
    message: &str,
    error: munshi_conversations::Error,
) -> VisitRejection {
    let reached = match &error {
        munshi_conversations::Error::Safety(munshi_safety::Error::RateLimited(reached)) => reached.subject,
        _ => return convert_turn_error(error).into(),
    };
    if reached != LimitSubject::Newcomer {
        return convert_turn_error(error).into();
    }
    match issue_challenge(visitor, message).await {
        Ok(challenge) => VisitRejection::ProofNeeded(challenge),
        Err(error) => VisitRejection::Refused(error),
    }
}

async fn issue_challenge(visitor: &PageVisitor, message: &str) -> Result<String, ApiError> {
    let key = visitor.api.codes.load_key(visitor.binding.tenant).await?;
    let (binding, id) = (visitor.binding.binding_id.as_uuid().to_string(), visitor_id(visitor));
    let of = ChallengeScope { binding: &binding, visitor: &id, message };
    Ok(challenge::make(&key, of, visitor.api.visitor_services.challenge.bits, visitor.api.clock.now()))
}

async fn load_known(visitor: &PageVisitor) -> Result<Known, ApiError> {
    let (proved, binding) = (visitor.proved.clone(), visitor.binding.binding_id);
    let act_services = visitor.api.act_services.clone();
    let read = move |tx: &mut Tx<'_>| {
        let person = super::page_visitor::find_person(tx, &proved)?;
        let session = match &person {
            Some(person) => sessions::find_by_person(tx, binding, person.id)?,
            None => None,
        };
        let plan = budget::load_plan(tx, act_services.governor.settings())?;
        Ok::<_, ApiError>(Known { person, plan, said: session.map_or(0, |session| session.messages) })
    };
    visitor.api.db.read(visitor.binding.tenant, read).await
}

/// The limits of an anonymous visitor's address, or a request for proof of work. The first few messages of a visitor need
/// no proof. Messages of new visitors are also counted by address, so a new token for each message does not help. This
/// node counts a message once, when it comes without a proof; the database counts only messages that are accepted.
async fn check_proof_of_work(
    visitor: &PageVisitor,
    known: &Known,
    message: &str,
    proof: Option<&ProofOfWork>,
) -> Result<Vec<RateLimit>, VisitRejection> {
    let wanted = visitor.api.visitor_services.challenge;
    let key = visitor.api.codes.load_key(visitor.binding.tenant).await?;
    let (binding, id) = (visitor.binding.binding_id.as_uuid().to_string(), visitor_id(visitor));
    let of = ChallengeScope { binding: &binding, visitor: &id, message };
    if proof.is_some_and(|proof| challenge::is_solved(&key, of, proof, visitor.api.clock.now())) {
        return Ok(visitor.api.limits.address_limits(visitor.address).into());
    }
    let mut counted = Vec::from(visitor.api.limits.check_visitor(visitor.address)?);
    if wanted.bits == 0 {
        return Ok(counted);
    }
    // Each message of theirs has an answer beside it.
    let said = u32::try_from(known.said / 2).unwrap_or(u32::MAX);
    let is_young = said < wanted.after;
    match is_young.then(|| visitor.api.limits.check_newcomer(visitor.address, wanted.after)).flatten() {
        Some(newcomer) => {
            counted.push(newcomer);
            Ok(counted)
        }
        None => Err(VisitRejection::ProofNeeded(issue_challenge(visitor, message).await?)),
    }
}

/// The id under which rate limits and challenges know the visitor; empty without a token.
fn visitor_id(visitor: &PageVisitor) -> String {
    match &visitor.proved {
        PageVisitorIdentity::Nothing => String::new(),
        PageVisitorIdentity::Browser(token) => token.id(),
        PageVisitorIdentity::Person(id) | PageVisitorIdentity::Vouched(id) => id.to_string(),
    }
}
