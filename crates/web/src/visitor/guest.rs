//! Who asks at a page, and of which binding.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use munshi_agent::runs::{self, RunView};
use munshi_agent::sessions::{self, Session};
use munshi_identity::{Person, persons};
use munshi_store::Tx;
use munshi_tiers::Resolution;
use munshi_types::{PersonId, RunId, Sender};

use super::origin::{Origin, foreign};
use super::place;
use super::token::Token;
use crate::api::Api;
use crate::api::access::bearer;
use crate::app::App;
use crate::error::{ApiError, Code};
use crate::server::Peer;

/// What somebody at a page has proved.
#[derive(Clone, Debug)]
pub(crate) enum Proved {
    /// They have not said anything yet.
    Nothing,
    /// That they are the browser of before.
    Browser(Token),
    /// Who they are.
    Person(PersonId),
}

/// Somebody at a page of a binding.
pub(crate) struct Guest {
    pub(crate) api: Api,
    pub(crate) place: Arc<Resolution>,
    pub(crate) proved: Proved,
    pub(crate) origin: Origin,
    /// None where nobody knows it, as in a test without a socket.
    pub(crate) address: Option<IpAddr>,
}

impl FromRequestParts<App> for Guest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let api = app.api()?.clone();
        let unreadable = |_| ApiError::new(Code::BadRequest, "The path can't be read.");
        let params = RawPathParams::from_request_parts(parts, app).await.map_err(unreadable)?;
        let name = params.iter().find(|(key, _)| *key == "place").map(|(_, value)| value.to_owned());
        let place = place::find(&api, &name.unwrap_or_default()).await?;
        let origin = Origin::of(&parts.headers).over(api.account.line(&parts.headers));
        if !origin.may_reach(&api, &place).await? {
            return Err(foreign(&origin));
        }
        let proved = proved(&api, &place, &origin, &parts.headers).await?;
        let peer = parts.extensions.get::<Peer>().map(|peer| peer.0.ip());
        let address = peer.map(|peer| asked_from(peer, &parts.headers, &api.visits.proxies));
        Ok(Self { api, place, proved, origin, address })
    }
}

/// A token in the header speaks for itself, on any page; cookies speak on our own alone.
async fn proved(
    api: &Api,
    place: &Resolution,
    origin: &Origin,
    headers: &HeaderMap,
) -> Result<Proved, ApiError> {
    if let Some(text) = bearer(headers) {
        if !Token::is_meant(text) {
            let person = api.visits.proofs.host(place.tenant, place.binding_name.as_str(), text).await?;
            return Ok(Proved::Person(person));
        }
        // One that can't be ours is as good as none: its browser gets another.
        return Ok(Token::parse(text).map_or(Proved::Nothing, Proved::Browser));
    }
    if !origin.is_own() {
        return Ok(Proved::Nothing);
    }
    let browser = Token::of_cookie(headers, origin.line()).map_or(Proved::Nothing, Proved::Browser);
    match api.visits.proofs.signed_in(place.tenant, headers).await? {
        // Whoever opened the business in this browser goes on as who they were, with what they had said.
        Some(_) if is_member(api, place, &browser).await? => Ok(browser),
        Some(person) => Ok(Proved::Person(person)),
        None => Ok(browser),
    }
}

async fn is_member(api: &Api, place: &Resolution, proved: &Proved) -> Result<bool, ApiError> {
    let proved = proved.clone();
    let person = api.db.read(place.tenant, move |tx| find(tx, &proved)).await?;
    Ok(person.is_some_and(|person| person.role.is_some() && person.left_at.is_none()))
}

/// The other end of the line; where that is a proxy of ours, the last address it was told that is none.
pub(crate) fn asked_from(peer: IpAddr, headers: &HeaderMap, proxies: &[IpAddr]) -> IpAddr {
    let is_proxy = |address: &IpAddr| proxies.contains(&address.to_canonical());
    if !is_proxy(&peer) {
        return peer;
    }
    let told = headers.get_all("x-forwarded-for").into_iter().filter_map(|value| value.to_str().ok());
    let told: Vec<&str> = told.flat_map(|value| value.split(',')).map(str::trim).collect();
    let known = told.iter().rev().map_while(|text| text.parse::<IpAddr>().ok());
    known.into_iter().find(|address| !is_proxy(address)).unwrap_or(peer)
}

impl Guest {
    /// The person, where there is one already.
    pub(crate) async fn person(&self) -> Result<Option<Person>, ApiError> {
        let proved = self.proved.clone();
        self.api.db.read(self.place.tenant, move |tx| find(tx, &proved)).await
    }

    /// Who they are and their thread here; none for somebody who has not spoken yet.
    pub(crate) async fn thread(&self) -> Result<Option<(Person, Session)>, ApiError> {
        let (proved, binding) = (self.proved.clone(), self.place.binding_id);
        let read = move |tx: &mut Tx<'_>| {
            let Some(person) = find(tx, &proved)? else { return Ok(None) };
            let session = sessions::of_person(tx, binding, person.id)?;
            Ok::<_, ApiError>(session.map(|session| (person, session)))
        };
        self.api.db.read(self.place.tenant, read).await
    }

    /// A turn of theirs in this very place. Everybody else's is not there.
    pub(crate) async fn run(&self, id: RunId) -> Result<RunView, ApiError> {
        let (proved, binding) = (self.proved.clone(), self.place.binding_id);
        let read = move |tx: &mut Tx<'_>| {
            let Some(person) = find(tx, &proved)? else { return Ok(None) };
            let Some(run) = runs::find(tx, id)?.map(RunView::from) else { return Ok(None) };
            let theirs = persons::living(tx, run.person)?.is_some_and(|whose| whose.id == person.id);
            Ok::<_, ApiError>((theirs && run.binding == binding).then_some(run))
        };
        let found = self.api.db.read(self.place.tenant, read).await?;
        found.ok_or_else(|| ApiError::new(Code::NotFound, "There is no such turn of yours."))
    }

    pub(crate) fn sender(&self, person: Option<PersonId>, token: Option<&Token>) -> Sender {
        let channel_id = token.filter(|_| person.is_none()).map(Token::id);
        Sender { person, channel_id, ..Sender::default() }
    }
}

pub(crate) fn find(tx: &mut Tx<'_>, proved: &Proved) -> Result<Option<Person>, ApiError> {
    let found = match proved {
        Proved::Nothing => None,
        Proved::Browser(token) => match token.address() {
            Ok(address) => persons::by_address(tx, &address)?,
            Err(_) => None,
        },
        Proved::Person(id) => persons::living(tx, *id)?,
    };
    Ok(found.filter(|person| person.left_at.is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_of_ours_is_believed_and_nobody_else() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let headers = |text: &'static str| {
            let name = axum::http::HeaderName::from_static("x-forwarded-for");
            HeaderMap::from_iter([(name, axum::http::HeaderValue::from_static(text))])
        };
        let from = |peer: &str, told: &'static str| {
            asked_from(ip(peer), &headers(told), &[ip("10.0.0.1"), ip("10.0.0.2")])
        };
        assert_eq!(from("192.0.2.7", "203.0.113.1"), ip("192.0.2.7"), "anybody can write that");
        assert_eq!(from("10.0.0.1", "203.0.113.1"), ip("203.0.113.1"));
        assert_eq!(from("10.0.0.1", "198.51.100.9, 203.0.113.1, 10.0.0.2"), ip("203.0.113.1"));
        assert_eq!(from("10.0.0.1", "203.0.113.1, nonsense"), ip("10.0.0.1"));
        assert_eq!(from("10.0.0.1", ""), ip("10.0.0.1"));
        assert_eq!(from("::ffff:10.0.0.1", "203.0.113.1"), ip("203.0.113.1"));
    }
}
