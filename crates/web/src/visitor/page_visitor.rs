//! Who asks at a page, and of which binding.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use futures_util::FutureExt;
use munshi_conversations::runs::{self, RunLane, RunView};
use munshi_conversations::sessions::{self, Session};
use munshi_identity::{Person, persons};
use munshi_server::cookies::{self, SIGN_IN};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::options::Peer;
use munshi_server::visitor::binding_lookup;
use munshi_server::visitor::installation_access::find_seat;
use munshi_server::visitor::origin::{PageOrigin, forbidden_origin_error};
use munshi_server::visitor::token::VisitorToken;
use munshi_store::Tx;
use munshi_tiers::BindingResolution;
use munshi_types::{InboundSender, PersonId, RunId};
use sha2::{Digest, Sha256};

use crate::api::access::bearer;
use crate::app::App;
use crate::app::api::Api;

/// What somebody at a page has proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PageVisitorIdentity {
    /// They have not said anything yet.
    Nothing,
    /// That they are the browser of before.
    Browser(VisitorToken),
    /// Who they are.
    Person(PersonId),
    /// Nothing themselves: a host says that it is this person.
    Vouched(PersonId),
}

impl PageVisitorIdentity {
    /// Whether what comes of them may be the host's word as well as theirs.
    pub(crate) const fn is_vouched(&self) -> bool {
        matches!(self, Self::Vouched(_))
    }
}

/// Somebody at a page of a binding.
pub(crate) struct PageVisitor {
    pub(crate) api: Api,
    pub(crate) binding: Arc<BindingResolution>,
    pub(crate) proved: PageVisitorIdentity,
    pub(crate) origin: PageOrigin,
    /// None where nobody knows it, as in a test without a socket.
    pub(crate) address: Option<IpAddr>,
    /// Which browser or program of theirs it is: a digest of what it proves itself with. None for one that is new.
    pub(crate) client: Option<String>,
}

impl FromRequestParts<App> for PageVisitor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        // Boxed, so that its code is not part of every handler's.
        Self::extract(parts, app).boxed().await
    }
}

impl PageVisitor {
    async fn extract(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let api = app.api()?.clone();
        let unreadable = |_| ApiError::new(ApiErrorCode::BadRequest, "The path is malformed.");
        let params = RawPathParams::from_request_parts(parts, app).await.map_err(unreadable)?;
        let name = params.iter().find(|(key, _)| *key == "place").map(|(_, value)| value.to_owned());
        let binding = binding_lookup::resolve(&api, &name.unwrap_or_default()).await?;
        let origin = PageOrigin::from_headers(&parts.headers)
            .with_security(api.account.connection_security(&parts.headers));
        if !origin.can_reach(&api, &binding).await? {
            return Err(forbidden_origin_error(&origin));
        }
        let peer = parts.extensions.get::<Peer>();
        let proved = authenticate(&api, &binding, &origin, (peer, &parts.headers)).await?;
        let address = api.client_address(peer, &parts.headers);
        let client = find_client_id(&parts.headers, &origin);
        Ok(Self { api, binding, proved, origin, address, client })
    }
}

/// Which of somebody's browsers it is: one person may have several pages open, and what one has shown the others have not.
fn find_client_id(headers: &HeaderMap, origin: &PageOrigin) -> Option<String> {
    if let Some(text) = bearer(headers) {
        return Some(derive_client_id(text));
    }
    let signed_in = cookies::read(headers, SIGN_IN, true).or_else(|| cookies::read(headers, SIGN_IN, false));
    let browser = || {
        VisitorToken::from_cookie(headers, origin.connection_security())
            .map(|token| derive_client_id(token.reveal()))
    };
    signed_in.map(derive_client_id).or_else(browser)
}

/// What tells a client from others: a digest of what it proves itself with, which can't be derived from it.
pub(crate) fn derive_client_id(credential: &str) -> String {
    let digest = Sha256::digest(format!("client {credential}").as_bytes());
    digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

/// A token in the header speaks for itself, on any page; cookies speak on our own alone.
async fn authenticate(
    api: &Api,
    binding: &BindingResolution,
    origin: &PageOrigin,
    (peer, headers): (Option<&Peer>, &HeaderMap),
) -> Result<PageVisitorIdentity, ApiError> {
    if let Some(text) = bearer(headers) {
        if !VisitorToken::has_prefix(text) {
            let person = api
                .proofs
                .authenticate_host_token(binding.tenant, binding.binding_name.as_str(), text)
                .await?;
            return Ok(PageVisitorIdentity::Vouched(person));
        }
        // One that can't be ours is as good as none: its browser gets another.
        return Ok(
            VisitorToken::parse(text).map_or(PageVisitorIdentity::Nothing, PageVisitorIdentity::Browser)
        );
    }
    if !origin.is_own() {
        return Ok(PageVisitorIdentity::Nothing);
    }
    let browser = VisitorToken::from_cookie(headers, origin.connection_security())
        .map_or(PageVisitorIdentity::Nothing, PageVisitorIdentity::Browser);
    let seat = find_seat(api, peer, headers).await?;
    match api.proofs.find_signed_in(binding.tenant, headers, seat).await? {
        // Whoever opened the business in this browser goes on as who they were, with what they had said.
        Some(_) if is_member(api, binding, &browser).await? => Ok(browser),
        Some(person) => Ok(PageVisitorIdentity::Person(person)),
        None => Ok(browser),
    }
}

/// Whether whoever opens a page is known to belong to its business.
pub(crate) async fn is_known_member(
    api: &Api,
    binding: &BindingResolution,
    (peer, headers): (Option<&Peer>, &HeaderMap),
) -> Result<bool, ApiError> {
    let origin = PageOrigin::from_headers(headers).with_security(api.account.connection_security(headers));
    let proved = authenticate(api, binding, &origin, (peer, headers)).await?;
    is_member(api, binding, &proved).await
}

async fn is_member(
    api: &Api,
    binding: &BindingResolution,
    proved: &PageVisitorIdentity,
) -> Result<bool, ApiError> {
    let proved = proved.clone();
    let person = api.db.read(binding.tenant, move |tx| find_person(tx, &proved)).await?;
    Ok(person.is_some_and(|person| person.role.is_some() && person.left_at.is_none()))
}

impl PageVisitor {
    /// The person, where there is one already.
    pub(crate) async fn find_person(&self) -> Result<Option<Person>, ApiError> {
        let proved = self.proved.clone();
        self.api.db.read(self.binding.tenant, move |tx| find_person(tx, &proved)).await
    }

    /// Who they are and their thread here; none for somebody who has not spoken yet.
    pub(crate) async fn find_thread(&self) -> Result<Option<(Person, Session)>, ApiError> {
        let (proved, binding) = (self.proved.clone(), self.binding.binding_id);
        let read = move |tx: &mut Tx<'_>| {
            let Some(person) = find_person(tx, &proved)? else { return Ok(None) };
            let session = sessions::find_by_person(tx, binding, person.id)?;
            Ok::<_, ApiError>(session.map(|session| (person, session)))
        };
        self.api.db.read(self.binding.tenant, read).await
    }

    /// A turn of theirs in this very place. Everybody else's is not there, and neither is work in the background that goes on for them.
    pub(crate) async fn load_run(&self, id: RunId) -> Result<RunView, ApiError> {
        let (proved, binding) = (self.proved.clone(), self.binding.binding_id);
        let read = move |tx: &mut Tx<'_>| {
            let Some(person) = find_person(tx, &proved)? else { return Ok(None) };
            let turn = runs::find(tx, id)?.filter(|run| run.lane != RunLane::Background);
            let Some(run) = turn.map(RunView::from) else { return Ok(None) };
            let whose = run.person.map(|person| persons::find_living(tx, person)).transpose()?.flatten();
            let theirs = whose.is_some_and(|whose| whose.id == person.id);
            Ok::<_, ApiError>((theirs && run.binding == Some(binding)).then_some(run))
        };
        let found = self.api.db.read(self.binding.tenant, read).await?;
        found.ok_or_else(|| ApiError::new(ApiErrorCode::NotFound, "No such run of yours."))
    }

    pub(crate) fn build_sender(
        &self,
        person: Option<PersonId>,
        token: Option<&VisitorToken>,
    ) -> InboundSender {
        let channel_id = token.filter(|_| person.is_none()).map(VisitorToken::id);
        let is_vouched = self.proved.is_vouched();
        InboundSender { person, channel_id, is_vouched, ..InboundSender::default() }
    }
}

pub(crate) fn find_person(tx: &mut Tx<'_>, proved: &PageVisitorIdentity) -> Result<Option<Person>, ApiError> {
    let found = match proved {
        PageVisitorIdentity::Nothing => None,
        PageVisitorIdentity::Browser(token) => match token.address() {
            Ok(address) => persons::find_by_address(tx, &address)?,
            Err(_) => None,
        },
        PageVisitorIdentity::Person(id) | PageVisitorIdentity::Vouched(id) => persons::find_living(tx, *id)?,
    };
    Ok(found.filter(|person| person.left_at.is_none()))
}
