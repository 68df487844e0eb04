//! Who lets people into a connector's service: what the service says of that (RFC 9728), and what the one it names says of
//! itself (RFC 8414, OpenID Connect Discovery).

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use url::Url;

use super::challenge::AuthChallenge;
use super::fetch::OAuthFetcher;
use crate::error::{Error, Result};

/// All that is needed for a login.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OAuthServerMetadata {
    pub(super) issuer: String,
    pub(super) authorize: Option<String>,
    pub(super) token: String,
    pub(super) register: Option<String>,
    pub(super) device: Option<String>,
    /// Where a login is given back.
    #[serde(default)]
    pub(super) revoke: Option<String>,
    /// How a client may show who it is; nothing where that is not said.
    pub(super) methods: Option<Vec<String>>,
    /// Its answers name it (RFC 9207).
    pub(super) names_itself: bool,
    /// A client can be known by the address of a document.
    pub(super) takes_documents: bool,
    /// What tokens are for (RFC 8707).
    pub(super) resource: String,
    /// What is wanted: as the service said when it let us not in, or as its document lists.
    pub(super) scope: Option<String>,
    /// Whether a login that lasts has to be asked for.
    pub(super) lasts_by_scope: bool,
}

/// What the service says of itself.
#[derive(Debug, Deserialize)]
struct Resource {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

/// What says of itself who lets people in.
#[derive(Debug, Deserialize)]
struct Server {
    issuer: String,
    authorization_endpoint: Option<String>,
    token_endpoint: String,
    registration_endpoint: Option<String>,
    device_authorization_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    scopes_supported: Vec<String>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    #[serde(default)]
    client_id_metadata_document_supported: bool,
}

/// Looks for the way in, with what the service said last.
pub(super) async fn discover(
    fetch: &OAuthFetcher,
    connector: &Url,
    said: &AuthChallenge,
) -> Result<OAuthServerMetadata> {
    fetch.with_deadline(connector, load_metadata(fetch, connector, said)).await
}

async fn load_metadata(
    fetch: &OAuthFetcher,
    connector: &Url,
    said: &AuthChallenge,
) -> Result<OAuthServerMetadata> {
    // What we are given will be shown there, where nobody may read along.
    let connector = &fetch.parse_url(connector.as_str())?;
    let asked = fetch.fetch_challenge(connector).await?;
    let is_wanted = asked.is_some() || *said != AuthChallenge::default();
    let asked = asked.unwrap_or_default();
    let metadata = asked.resource_metadata.as_ref().or(said.resource_metadata.as_ref());
    let Some(resource) = find_resource(fetch, connector, metadata.map(String::as_str)).await? else {
        return discover_legacy(fetch, connector, (asked.scope, is_wanted)).await;
    };
    if !covers(&resource.resource, connector) {
        let (named, connector) = (&resource.resource, connector.as_str());
        return Err(Error::NoLogin(format!("its metadata names the resource `{named}`, not {connector}")));
    }
    let Some(issuer) = resource.authorization_servers.first() else {
        return Err(Error::NoLogin("its metadata names no authorization server".to_owned()));
    };
    let Some(server) = find_server(fetch, issuer).await? else {
        return Err(Error::NoLogin(format!("{issuer} publishes no authorization server metadata")));
    };
    let listed = (!resource.scopes_supported.is_empty()).then(|| resource.scopes_supported.join(" "));
    validate_server(fetch, server, resource.resource, asked.scope.or(listed))
}

/// The service's own document: where it said, or where such documents are.
async fn find_resource(
    fetch: &OAuthFetcher,
    connector: &Url,
    said: Option<&str>,
) -> Result<Option<Resource>> {
    if let Some(said) = said {
        let url = fetch.parse_url(said)?;
        return Ok(parse_document(fetch.fetch_document(&url).await?));
    }
    let path = connector.path().trim_end_matches('/');
    let mut tries = vec![format!("/.well-known/oauth-protected-resource{path}")];
    if !path.is_empty() {
        tries.push("/.well-known/oauth-protected-resource".to_owned());
    }
    for path in tries {
        if let Some(found) = parse_document(fetch.fetch_document(&build_url(connector, &path)?).await?) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// What an issuer says of itself, wherever its document is. One that is another's is refused.
async fn find_server(fetch: &OAuthFetcher, issuer: &str) -> Result<Option<Server>> {
    let url = fetch.parse_url(issuer)?;
    let path = url.path().trim_end_matches('/').to_owned();
    let mut tries = vec![
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        tries.push(format!("{path}/.well-known/openid-configuration"));
    }
    for path in tries {
        let Some(found): Option<Server> =
            parse_document(fetch.fetch_document(&build_url(&url, &path)?).await?)
        else {
            continue;
        };
        if found.issuer != issuer {
            return Err(Error::NoLogin(format!(
                "the metadata of `{issuer}` names another issuer, `{}`",
                found.issuer
            )));
        }
        return Ok(Some(found));
    }
    Ok(None)
}

/// Where an issuer takes logins back, as far as it says so.
pub(super) async fn find_revocation_endpoint(fetch: &OAuthFetcher, issuer: &str) -> Result<Option<String>> {
    Ok(find_server(fetch, issuer).await?.and_then(|server| server.revocation_endpoint))
}

/// A service of an older revision lets people in itself, and may not even say where.
async fn discover_legacy(
    fetch: &OAuthFetcher,
    connector: &Url,
    (scope, is_wanted): (Option<String>, bool),
) -> Result<OAuthServerMetadata> {
    let base = fetch.parse_url(&connector.origin().ascii_serialization())?;
    let resource = connector.as_str().to_owned();
    let path = build_url(&base, "/.well-known/oauth-authorization-server")?;
    if let Some(found) = parse_document::<Server>(fetch.fetch_document(&path).await?) {
        if !is_same_origin(&found.issuer, &base) {
            return Err(Error::NoLogin(format!(
                "the metadata of {base} names another issuer, `{}`",
                found.issuer
            )));
        }
        return validate_server(fetch, found, resource, scope);
    }
    if !is_wanted {
        return Err(Error::NoLogin(format!("{connector} requires no login")));
    }
    let endpoint = |path: &str| build_url(&base, path).map(String::from);
    Ok(OAuthServerMetadata {
        issuer: base.origin().ascii_serialization(),
        authorize: Some(endpoint("/authorize")?),
        token: endpoint("/token")?,
        register: Some(endpoint("/register")?),
        device: None,
        revoke: None,
        methods: Some(vec!["none".to_owned()]),
        names_itself: false,
        takes_documents: false,
        resource,
        scope,
        lasts_by_scope: false,
    })
}

/// With addresses that may be asked, and a proof of who began.
fn validate_server(
    fetch: &OAuthFetcher,
    server: Server,
    resource: String,
    scope: Option<String>,
) -> Result<OAuthServerMetadata> {
    let proves = server.code_challenge_methods_supported.as_ref();
    let authorize = server
        .authorization_endpoint
        .filter(|_| proves.is_some_and(|methods| methods.iter().any(|method| method == "S256")));
    let device = server.device_authorization_endpoint;
    if authorize.is_none() && device.is_none() {
        return Err(Error::NoLogin(format!("{} does not support PKCE with S256", server.issuer)));
    }
    for address in [&authorize, &device, &server.registration_endpoint].into_iter().flatten() {
        fetch.parse_url(address)?;
    }
    fetch.parse_url(&server.token_endpoint)?;
    Ok(OAuthServerMetadata {
        lasts_by_scope: server.scopes_supported.iter().any(|scope| scope == LASTING),
        issuer: server.issuer,
        authorize,
        token: server.token_endpoint,
        register: server.registration_endpoint,
        device,
        // One that can't be asked is as good as none: nobody is kept out for it.
        revoke: server.revocation_endpoint.filter(|address| fetch.parse_url(address).is_ok()),
        methods: server.token_endpoint_auth_methods_supported,
        names_itself: server.authorization_response_iss_parameter_supported,
        takes_documents: server.client_id_metadata_document_supported,
        resource,
        scope,
    })
}

/// What asks for a login that lasts.
pub(super) const LASTING: &str = "offline_access";

fn parse_document<T: DeserializeOwned>(document: Option<serde_json::Value>) -> Option<T> {
    serde_json::from_value(document?).ok()
}

fn build_url(base: &Url, path: &str) -> Result<Url> {
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

fn is_same_origin(issuer: &str, base: &Url) -> bool {
    Url::parse(issuer).is_ok_and(|issuer| issuer.origin() == base.origin())
}

/// Whether what a document speaks of is the connector, or what it stands within.
pub(super) fn covers(resource: &str, connector: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let (outer, inner) = (resource.path().trim_end_matches('/'), connector.path().trim_end_matches('/'));
    let within = inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    resource.origin() == connector.origin() && within && resource.fragment().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_speaks_of_the_connector_or_of_what_it_stands_within() {
        let connector = Url::parse("https://a.example/mcp/shop").unwrap();
        for good in [
            "https://a.example",
            "https://a.example/",
            "https://a.example/mcp",
            "https://a.example/mcp/shop/",
        ] {
            assert!(covers(good, &connector), "{good}");
        }
        for bad in [
            "https://a.example.evil/mcp",
            "http://a.example/mcp",
            "https://a.example:8443/mcp",
            "https://a.example/mcp/sho",
            "https://a.example/mcp/shop/more",
            "https://b.example/mcp/shop",
            "a.example",
        ] {
            assert!(!covers(bad, &connector), "{bad}");
        }
    }
}
