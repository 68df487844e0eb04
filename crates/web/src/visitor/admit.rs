//! Every limit before a visitor's message is taken, and the work that is asked of those who say much.

use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use munshi_agent::sessions;
use munshi_identity::Person;
use munshi_safety::budget::{self, UsagePlan};
use munshi_safety::rate_limits::{LimitSubject, RateLimit};
use munshi_store::Tx;
use munshi_types::Id;

use super::challenge::{self, ChallengeScope, ProofOfWork};
use super::guest::{PageVisitor, PageVisitorIdentity};
use super::place::is_closed;
use crate::error::{ApiError, ApiErrorCode};

const CHALLENGE: HeaderName = HeaderName::from_static("x-challenge");

/// Why a message is not taken.
pub(crate) enum VisitRejection {
    Refused(ApiError),
    /// Work is asked for: it stands in the answer's header.
    Asked(String),
}

impl VisitRejection {
    /// Whether it would be let in at another time, or after some work.
    pub(crate) fn is_about_limits(&self) -> bool {
        match self {
            Self::Asked(_) => true,
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
            Self::Asked(challenge) => {
                let mut response = ApiError::plain(ApiErrorCode::ProofNeeded).into_response();
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
    guest: &PageVisitor,
    message: &str,
    proof: Option<&ProofOfWork>,
) -> Result<VisitAdmission, VisitRejection> {
    let known = look(guest).await?;
    let is_member = known.person.as_ref().is_some_and(|person| person.role.is_some());
    if is_closed(&guest.place) && !is_member {
        return Err(VisitRejection::Refused(
            ApiError::new(
                ApiErrorCode::Forbidden,
                "This conversation is for those who belong to the business.",
            )
            .hint("Sign in, or write to another of its bindings."),
        ));
    }
    let (limits, tenant) = (&guest.api.limits, guest.place.tenant);
    let is_visitor = known.person.as_ref().is_none_or(|person| person.visitor && person.role.is_none());
    let mut counted = match is_visitor {
        true => work(guest, &known, message, proof).await?,
        false => Vec::new(),
    };
    counted.push(limits.tenant(tenant, known.plan)?);
    if let Some(person) = &known.person {
        counted.push(limits.person(tenant, &person.id.to_string())?);
    }
    // Who has no token yet is counted by the one they get.
    if is_visitor && !matches!(guest.proved, PageVisitorIdentity::Nothing) {
        counted.push(limits.visit(tenant, &visitor(guest), guest.place.binding_id)?);
    }
    // Whatever else is reached is told before work is asked for.
    counted.sort_by_key(|limit| limit.subject == LimitSubject::Newcomer);
    Ok(VisitAdmission { person: known.person, limits: counted })
}

/// The answer to a message that the database did not count: work, where all that was reached is how much somebody new says
/// without.
pub(crate) async fn refuse(guest: &PageVisitor, message: &str, error: munshi_agent::Error) -> VisitRejection {
    let reached = match &error {
        munshi_agent::Error::Safety(munshi_safety::Error::RateLimited(reached)) => reached.subject,
        _ => return error.into(),
    };
    if reached != LimitSubject::Newcomer {
        return error.into();
    }
    match ask_work(guest, message).await {
        Ok(challenge) => VisitRejection::Asked(challenge),
        Err(error) => VisitRejection::Refused(error),
    }
}

async fn ask_work(guest: &PageVisitor, message: &str) -> Result<String, ApiError> {
    let key = guest.api.codes.key(guest.place.tenant).await?;
    let (binding, visitor) = (guest.place.binding_id.as_uuid().to_string(), visitor(guest));
    let of = ChallengeScope { binding: &binding, visitor: &visitor, message };
    Ok(challenge::make(&key, of, guest.api.visits.challenge.bits, guest.api.clock.now()))
}

async fn look(guest: &PageVisitor) -> Result<Known, ApiError> {
    let (proved, binding) = (guest.proved.clone(), guest.place.binding_id);
    let office = guest.api.office.clone();
    let read = move |tx: &mut Tx<'_>| {
        let person = super::guest::find(tx, &proved)?;
        let session = match &person {
            Some(person) => sessions::of_person(tx, binding, person.id)?,
            None => None,
        };
        let plan = budget::plan(tx, office.governor.settings())?;
        Ok::<_, ApiError>(Known { person, plan, said: session.map_or(0, |session| session.messages) })
    };
    guest.api.db.read(guest.place.tenant, read).await
}

/// After some messages a browser does a little work for each. Who begins anew with every message is known by their
/// address all the same. On this node a message counts for its address when it first comes: who has done the work it was
/// answered with was counted then. In the database those count that are taken.
async fn work(
    guest: &PageVisitor,
    known: &Known,
    message: &str,
    proof: Option<&ProofOfWork>,
) -> Result<Vec<RateLimit>, VisitRejection> {
    let wanted = guest.api.visits.challenge;
    let key = guest.api.codes.key(guest.place.tenant).await?;
    let (binding, visitor) = (guest.place.binding_id.as_uuid().to_string(), visitor(guest));
    let of = ChallengeScope { binding: &binding, visitor: &visitor, message };
    if proof.is_some_and(|proof| challenge::is_done(&key, of, proof, guest.api.clock.now())) {
        return Ok(guest.api.limits.of_address(guest.address).into());
    }
    let mut counted = Vec::from(guest.api.limits.visitor(guest.address)?);
    if wanted.bits == 0 {
        return Ok(counted);
    }
    // Each message of theirs has an answer beside it.
    let said = u32::try_from(known.said / 2).unwrap_or(u32::MAX);
    let is_young = said < wanted.after;
    match is_young.then(|| guest.api.limits.newcomer(guest.address, wanted.after)).flatten() {
        Some(newcomer) => {
            counted.push(newcomer);
            Ok(counted)
        }
        None => Err(VisitRejection::Asked(ask_work(guest, message).await?)),
    }
}

/// By what they are counted and sealed for; somebody without a token is nobody in particular.
fn visitor(guest: &PageVisitor) -> String {
    match &guest.proved {
        PageVisitorIdentity::Nothing => String::new(),
        PageVisitorIdentity::Browser(token) => token.id(),
        PageVisitorIdentity::Person(id) => id.to_string(),
    }
}
