//! Every limit before a visitor's message is taken, and the work that is asked of those who say much.

use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use munshi_agent::sessions;
use munshi_identity::Person;
use munshi_safety::budget::{self, Plan};
use munshi_store::Tx;
use munshi_types::Id;

use super::challenge::{self, For, Proof};
use super::guest::{Guest, Proved};
use super::place::is_closed;
use crate::error::{ApiError, Code};

const CHALLENGE: HeaderName = HeaderName::from_static("x-challenge");

/// Why a message is not taken.
pub(crate) enum Kept {
    Refused(ApiError),
    /// Work is asked for: it stands in the answer's header.
    Asked(String),
}

impl<E: Into<ApiError>> From<E> for Kept {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}

impl IntoResponse for Kept {
    fn into_response(self) -> Response {
        match self {
            Self::Refused(error) => error.into_response(),
            Self::Asked(challenge) => {
                let mut response = ApiError::plain(Code::ProofNeeded).into_response();
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
    plan: Plan,
    /// How much was said in the thread, by both.
    said: i64,
}

/// Lets a message pass, or says why not. Gives the person, where they are known.
pub(crate) async fn admit(
    guest: &Guest,
    message: &str,
    proof: Option<&Proof>,
) -> Result<Option<Person>, Kept> {
    let known = look(guest).await?;
    let is_member = known.person.as_ref().is_some_and(|person| person.role.is_some());
    if is_closed(&guest.place) && !is_member {
        return Err(Kept::Refused(
            ApiError::new(Code::Forbidden, "This conversation is for those who belong to the business.")
                .hint("Sign in, or write to another of its bindings."),
        ));
    }
    let (limits, tenant) = (&guest.api.limits, guest.place.tenant);
    let is_visitor = known.person.as_ref().is_none_or(|person| person.visitor && person.role.is_none());
    if is_visitor {
        work(guest, &known, message, proof).await?;
    }
    limits.tenant(tenant, known.plan)?;
    if let Some(person) = &known.person {
        limits.person(tenant, person.id)?;
    }
    // Who has no token yet is counted by the one they get.
    if is_visitor && !matches!(guest.proved, Proved::Nothing) {
        limits.visit(tenant, visitor(guest), guest.place.binding_id)?;
    }
    Ok(known.person)
}

async fn look(guest: &Guest) -> Result<Known, ApiError> {
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
/// address all the same. A message counts for its address when it first comes: who has done the work it was answered with
/// was counted then.
async fn work(guest: &Guest, known: &Known, message: &str, proof: Option<&Proof>) -> Result<(), Kept> {
    let wanted = guest.api.visits.challenge;
    let key = guest.api.codes.key(guest.place.tenant).await?;
    let (binding, visitor) = (guest.place.binding_id.as_uuid().to_string(), visitor(guest));
    let of = For { binding: &binding, visitor: &visitor, message };
    let now = guest.api.clock.now();
    if proof.is_some_and(|proof| challenge::is_done(&key, of, proof, now)) {
        return Ok(());
    }
    guest.api.limits.visitor(guest.address)?;
    // Each message of theirs has an answer beside it.
    let said = u32::try_from(known.said / 2).unwrap_or(u32::MAX);
    let is_free = said < wanted.after && guest.api.limits.newcomer(guest.address, wanted.after);
    if wanted.bits == 0 || is_free {
        return Ok(());
    }
    Err(Kept::Asked(challenge::make(&key, of, wanted.bits, now)))
}

/// By what they are counted and sealed for; somebody without a token is nobody in particular.
fn visitor(guest: &Guest) -> String {
    match &guest.proved {
        Proved::Nothing => String::new(),
        Proved::Browser(token) => token.id(),
        Proved::Person(id) => id.to_string(),
    }
}
