//! Whether a request is the Bot Framework's: it bears a token that names our app and the service that we answer at, signed with one of the
//! keys that Microsoft publishes. Tokens of the emulator, of Entra and of anybody else are none.

use std::collections::HashMap;
use std::time::Duration;

use munshi_http::Url;
use munshi_identity::jwt::{Jwk, JwtAlgorithm, JwtClaims, JwtError, UnverifiedJwt};
use munshi_types::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::incoming::ChannelRefusal;
use crate::link::{LinkFault, LinkParts};
use crate::provider_call::ask;

const LOGIN: &str = "https://login.botframework.com";
const METADATA: &str = "v1/.well-known/openidconfiguration";
const ISSUER: &str = "https://api.botframework.com";
/// The channel that a key must vouch for.
pub(super) const CHANNEL: &str = "msteams";
const LEEWAY: Duration = Duration::from_secs(300);
/// Keys are read again after so long.
const FRESH: Duration = Duration::from_secs(24 * 3600);
/// Where they can't be, the old ones are believed a while longer.
const STALE: Duration = Duration::from_secs(5 * 24 * 3600);
/// For a key that is not among them they are read again, no more often than this.
const AGAIN: Duration = Duration::from_secs(3600);
/// Where they can't be read, they are not asked for again at once.
const PAUSE: Duration = Duration::from_secs(10);
/// Whoever sent the request waits.
const LONGEST_READ: Duration = Duration::from_secs(8);

/// The keys that the Bot Framework signs with, as they were read last.
#[derive(Default)]
pub(super) struct BotKeys(Mutex<KnownBotKeys>);

#[derive(Default)]
struct KnownBotKeys {
    keys: HashMap<String, EndorsedKey>,
    read_at: Option<Timestamp>,
    failed_at: Option<Timestamp>,
}

/// A key, and the channels that it speaks for.
#[derive(Clone)]
struct EndorsedKey {
    jwk: Jwk,
    endorsements: Vec<String>,
}

/// What a request says of itself, which its token must say too.
pub(super) struct BotRequest<'a> {
    pub authorization: &'a str,
    pub service_url: &'a str,
    pub channel_id: &'a str,
}

impl BotKeys {
    pub(super) async fn verify(
        &self,
        parts: &LinkParts,
        request: &BotRequest<'_>,
        now: Timestamp,
    ) -> Result<(), ChannelRefusal> {
        let refuse = |why: &str| ChannelRefusal::Unverified(why.to_owned());
        let scheme = request.authorization.split_once(' ').filter(|(scheme, _)| *scheme == "Bearer");
        let (_, token) = scheme.ok_or_else(|| refuse("no token of the Bot Framework's"))?;
        let distrust = |error: JwtError| ChannelRefusal::Unverified(error.to_string());
        let unverified = UnverifiedJwt::read(token.trim()).map_err(distrust)?;
        let kid = unverified.kid().ok_or_else(|| refuse("the token names no key"))?;
        let key = self.find_key(parts, kid, now).await?;
        let usable =
            key.jwk.to_verification_key().ok_or_else(|| refuse("the token's key is no signing key"))?;
        let claims = unverified.verify(&usable).map_err(distrust)?;
        if request.channel_id != CHANNEL || !key.endorsements.iter().any(|known| known == request.channel_id)
        {
            return Err(refuse("the token's key does not speak for Teams"));
        }
        check_claims(&claims, &parts.account.account_id, request.service_url, now)
    }

    /// As it was read lately, unless the key that is wanted is not among them.
    async fn find_key(
        &self,
        parts: &LinkParts,
        kid: &str,
        now: Timestamp,
    ) -> Result<EndorsedKey, ChannelRefusal> {
        let mut known = self.0.lock().await;
        let age = known.read_at.map(|at| now.since(at));
        let found = known.keys.get(kid).cloned();
        let is_due = match (&found, age) {
            (Some(_), Some(age)) => age >= FRESH,
            (None, Some(age)) => age >= AGAIN,
            (_, None) => true,
        };
        let has_failed = known.failed_at.is_some_and(|at| now.since(at) < PAUSE);
        if is_due && !has_failed {
            match read_keys(parts).await {
                Ok(keys) => *known = KnownBotKeys { keys, read_at: Some(now), failed_at: None },
                Err(fault) => {
                    tracing::warn!(channel = %parts.name, why = fault.what, "the Bot Framework's keys can't be read");
                    known.failed_at = Some(now);
                }
            }
        }
        let age = known.read_at.map(|at| now.since(at));
        match (known.keys.get(kid), age) {
            (Some(key), Some(age)) if age < STALE => Ok(key.clone()),
            (None, Some(age)) if age < AGAIN => {
                Err(ChannelRefusal::Unverified("the token's key is not the Bot Framework's".to_owned()))
            }
            _ => Err(ChannelRefusal::Failed("the Bot Framework's keys can't be read now".to_owned())),
        }
    }
}

fn check_claims(
    claims: &JwtClaims,
    app: &str,
    service_url: &str,
    now: Timestamp,
) -> Result<(), ChannelRefusal> {
    let refuse = |why: &str| Err(ChannelRefusal::Unverified(why.to_owned()));
    if claims.iss.as_deref() != Some(ISSUER) {
        return refuse("the token is not of the Bot Framework");
    }
    let ours = [app.to_owned(), format!("api://{app}"), format!("api://botid-{app}")];
    if app.is_empty() || !claims.aud.iter().any(|audience| ours.contains(audience)) {
        return refuse("the token is for another app: is account_id the bot's app id?");
    }
    if claims.service_url.as_deref() != Some(service_url) {
        return refuse("the token is for another service than the message names");
    }
    claims.check_lifetime(LEEWAY, now).map_err(|error| ChannelRefusal::Unverified(error.to_string()))
}

async fn read_keys(parts: &LinkParts) -> Result<HashMap<String, EndorsedKey>, LinkFault> {
    let read = tokio::time::timeout(LONGEST_READ, fetch_keys(parts)).await;
    read.map_err(|_| LinkFault::passing("they did not come in time"))?
}

async fn fetch_keys(parts: &LinkParts) -> Result<HashMap<String, EndorsedKey>, LinkFault> {
    let metadata = fetch(parts, parts.build_url(LOGIN, METADATA)?).await?;
    let place = metadata["jwks_uri"].as_str().and_then(|url| url.parse::<Url>().ok());
    let place = place.ok_or_else(|| LinkFault::passing("what is published names no keys"))?;
    if !is_publisher(parts.account.api_url.as_deref(), &place) {
        return Err(LinkFault::passing("what is published leads to keys of somebody else"));
    }
    let found = parse_keys(&fetch(parts, place).await?);
    match found.is_empty() {
        true => Err(LinkFault::passing("no keys are published")),
        false => Ok(found),
    }
}

fn is_publisher(instead: Option<&str>, url: &Url) -> bool {
    match instead.and_then(|api| api.parse::<Url>().ok()) {
        Some(api) => api.origin() == url.origin(),
        None => url.scheme() == "https" && url.host_str() == Some("login.botframework.com"),
    }
}

async fn fetch(parts: &LinkParts, url: Url) -> Result<Value, LinkFault> {
    let answer = ask(parts.get(url)).await?;
    match answer.status.is_success() {
        true => answer.read(),
        false => Err(answer.fault("the Bot Framework's login refused")),
    }
}

/// Those that can be used; others are of kinds that are not understood.
fn parse_keys(set: &Value) -> HashMap<String, EndorsedKey> {
    let listed = set["keys"].as_array().map(Vec::as_slice).unwrap_or_default();
    let read = |value: &Value| {
        let jwk = Jwk::deserialize(value).ok()?;
        let algorithm = jwk.to_verification_key()?.algorithm();
        if algorithm != JwtAlgorithm::Rs256 {
            return None;
        }
        let endorsements = value["endorsements"].as_array().map(Vec::as_slice).unwrap_or_default();
        let endorsements = endorsements.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect();
        Some((jwk.kid.clone()?, EndorsedKey { jwk, endorsements }))
    };
    listed.iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const APP: &str = "11111111-2222-3333-4444-555555555555";
    const SERVICE: &str = "https://smba.trafficmanager.net/in/";
    /// What Microsoft's own library believes.
    const TOKEN: &str = include_str!("vector/token.txt");
    const KEYS: &str = include_str!("vector/keys.json");

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn claims() -> JwtClaims {
        let keys = parse_keys(&serde_json::from_str(KEYS).unwrap());
        let unverified = UnverifiedJwt::read(TOKEN.trim()).unwrap();
        let key = &keys[unverified.kid().unwrap()];
        assert_eq!(key.endorsements, [CHANNEL]);
        unverified.verify(&key.jwk.to_verification_key().unwrap()).unwrap()
    }

    #[test]
    fn what_microsofts_library_believes_is_believed() {
        assert_eq!(check_claims(&claims(), APP, SERVICE, at(1_794_700_800)), Ok(()));
        assert_eq!(check_claims(&claims(), APP, SERVICE, at(1_794_700_800 - 300)), Ok(()));
    }

    #[test]
    fn anything_that_differs_is_not_believed() {
        let now = at(1_794_700_900);
        let good = claims();
        let refused = |claims: &JwtClaims| check_claims(claims, APP, SERVICE, now).is_err();
        assert!(!refused(&good));
        for issuer in [
            "https://sts.windows.net/x/",
            "https://login.microsoftonline.com/x/v2.0",
            "https://api.botframework.us",
        ] {
            assert!(refused(&JwtClaims { iss: Some(issuer.to_owned()), ..good.clone() }), "{issuer}");
        }
        assert!(refused(&JwtClaims { iss: None, ..good.clone() }));
        assert!(refused(&JwtClaims { aud: vec!["another".to_owned()], ..good.clone() }));
        assert!(refused(&JwtClaims { service_url: None, ..good.clone() }));
        assert!(refused(&JwtClaims { exp: None, ..good.clone() }));
        assert!(check_claims(&good, APP, "https://evil.example/", now).is_err());
        assert!(check_claims(&good, "", SERVICE, now).is_err());
        assert!(check_claims(&good, APP, SERVICE, at(1_794_700_800 - 301)).is_err(), "not yet");
        assert!(check_claims(&good, APP, SERVICE, at(4_102_444_800 + 300)).is_err(), "no more");
        let named = JwtClaims { aud: vec![format!("api://botid-{APP}")], ..good };
        assert!(!refused(&named), "as newer apps are named");
    }

    #[test]
    fn only_keys_that_sign_as_these_do_are_kept() {
        let mut set: Value = serde_json::from_str(KEYS).unwrap();
        let good = set["keys"][0].clone();
        let mut unnamed = good.clone();
        unnamed.as_object_mut().unwrap().remove("kid");
        set["keys"] = json!([good, unnamed, { "kty": "oct", "kid": "x", "k": "AA" }, "x", null]);
        assert_eq!(parse_keys(&set).len(), 1);
        for text in [json!(null), json!({ "keys": "x" }), json!({ "keys": [] })] {
            assert!(parse_keys(&text).is_empty());
        }
    }

    #[test]
    fn keys_are_read_where_microsoft_publishes_them() {
        let is_own = |url: &str| is_publisher(None, &url.parse().unwrap());
        assert!(is_own("https://login.botframework.com/v1/.well-known/keys"));
        assert!(!is_own("http://login.botframework.com/keys") && !is_own("https://evil.example/keys"));
    }
}
