//! Where a document is, and where its operations are called.

use std::path::PathBuf;

use serde_json::Value;
use url::Url;

use super::document::ServiceDocument;

/// Where a document is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceDocumentSource {
    Web(Url),
    File(PathBuf),
    /// The document itself.
    Text(String),
}

#[derive(Clone, Debug)]
pub(crate) struct ServiceAddresses {
    pub source: ServiceDocumentSource,
    /// The operator's word for where calls go.
    pub server: Option<Url>,
    /// Where calls may go; without it, where the operator's own words lead. A name, a name with a port, or both behind
    /// `http://`: what is not said to be plain is not.
    pub hosts: Vec<String>,
}

/// An entry of `hosts` as an address, or why it is none.
pub(crate) fn parse_host(host: &str) -> Result<Url, String> {
    let text = if host.contains("://") { host.to_owned() } else { format!("https://{host}") };
    let fits = |url: &Url| {
        let is_web = matches!(url.scheme(), "http" | "https") && url.host().is_some();
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        is_web && is_bare && url.username().is_empty() && url.password().is_none()
    };
    Url::parse(&text).ok().filter(fits).ok_or_else(|| {
        format!("`{host}` is not valid in hosts: use api.example.com, api.example.com:8443 or http://10.0.0.5:8080")
    })
}

impl ServiceAddresses {
    /// Where an operation is called: as the operator said, or as the document says nearest to it.
    pub(super) fn resolve_base(
        &self,
        document: &ServiceDocument,
        item: &Value,
        operation: &Value,
    ) -> Result<Url, String> {
        let base = match &self.server {
            Some(server) => server.clone(),
            None => {
                self.resolve_server([operation.get("servers"), item.get("servers"), document.get("servers")])?
            }
        };
        let host = base.host_str().unwrap_or_default();
        if !matches!(base.scheme(), "http" | "https") || host.is_empty() {
            return Err(format!("its server {base} is not an http or https URL"));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err("its server URL contains a password: set it in logins".to_owned());
        }
        match self.allows(&base) {
            true => Ok(base),
            false => Err(format!(
                "its server {} is not allowed: add it to hosts, or set server",
                base.origin().ascii_serialization()
            )),
        }
    }

    /// Whether what opens the service goes along when its document is asked for: where calls go too, and nowhere else.
    pub(super) fn sends_credentials_to(&self, document: &Url) -> bool {
        match &self.server {
            Some(server) => server.origin() == document.origin(),
            None => self.allows(document),
        }
    }

    fn resolve_server(&self, servers: [Option<&Value>; 3]) -> Result<Url, String> {
        let first = servers.into_iter().flatten().find_map(|list| list.as_array()?.first());
        let text = first.and_then(|server| server.get("url")).and_then(Value::as_str).unwrap_or("/");
        let mut text = text.to_owned();
        for (name, about) in
            first.and_then(|server| server.get("variables")?.as_object()).into_iter().flatten()
        {
            let usual = about.get("default").and_then(Value::as_str).unwrap_or_default();
            text = text.replace(&format!("{{{name}}}"), usual);
        }
        let read = match &self.source {
            ServiceDocumentSource::Web(source) => source.join(&text),
            ServiceDocumentSource::File(_) | ServiceDocumentSource::Text(_) => Url::parse(&text),
        };
        read.map_err(|_| {
            format!(
                "the document names the server `{text}`, which is not a full URL: set server = \"https://…\""
            )
        })
    }

    /// Scheme, host and port together: another port is another service, and a token is not for everybody on the way.
    fn allows(&self, url: &Url) -> bool {
        let source = match &self.source {
            ServiceDocumentSource::Web(source) => Some(source),
            ServiceDocumentSource::File(_) | ServiceDocumentSource::Text(_) => None,
        };
        let mut own = source.into_iter().chain(&self.server);
        let is_own = own.any(|known| known.origin() == url.origin());
        let is_listed = |host: &String| {
            let Ok(known) = parse_host(host) else { return false };
            // A name alone also stands for what the operator wrote in full elsewhere.
            let is_meant = !host.contains("://")
                && known.host() == url.host()
                && known.port().is_none_or(|port| Some(port) == url.port_or_known_default());
            known.origin() == url.origin() || (is_own && is_meant)
        };
        match self.hosts.is_empty() {
            true => is_own,
            false => self.hosts.iter().any(is_listed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn base(places: &ServiceAddresses, root: &Value) -> Result<String, String> {
        let document = ServiceDocument::parse(root.to_string().as_bytes()).unwrap();
        places.resolve_base(&document, &json!({}), &json!({})).map(|url| url.to_string())
    }

    #[test]
    fn calls_go_where_the_operator_lets_them() {
        let source = ServiceDocumentSource::Web(Url::parse("https://pets.example/v2/openapi.json").unwrap());
        let own = ServiceAddresses { source, server: None, hosts: Vec::new() };
        let said = |url: &str| json!({ "openapi": "3.1.0", "servers": [{ "url": url, "variables": { "v": { "default": "v3" } } }] });
        assert_eq!(base(&own, &json!({ "openapi": "3.1.0" })).unwrap(), "https://pets.example/");
        assert_eq!(base(&own, &said("/api/{v}")).unwrap(), "https://pets.example/api/v3");
        assert!(base(&own, &said("https://evil.example/")).unwrap_err().contains("not allowed"));
        assert!(base(&own, &said("file:///etc/passwd")).is_err());
        assert!(base(&own, &said("https://u:p@pets.example/")).unwrap_err().contains("password"));
        let other = ServiceAddresses { hosts: vec!["api.example".to_owned()], ..own.clone() };
        assert_eq!(base(&other, &said("https://api.example/x")).unwrap(), "https://api.example/x");
        assert!(base(&other, &said("/here")).is_err());
        for astray in ["http://pets.example/", "https://pets.example:8443/", "http://pets.example:443/"] {
            assert!(base(&own, &said(astray)).unwrap_err().contains("not allowed"), "{astray}");
        }
        let server = Some(Url::parse("http://10.0.0.1:8080/api").unwrap());
        assert_eq!(
            base(&ServiceAddresses { server, ..own }, &said("https://evil.example/")).unwrap(),
            "http://10.0.0.1:8080/api"
        );
        let file = ServiceAddresses {
            source: ServiceDocumentSource::File("/srv/x.json".into()),
            server: None,
            hosts: Vec::new(),
        };
        assert!(base(&file, &json!({ "openapi": "3.1.0" })).unwrap_err().contains("server ="));
        assert!(base(&file, &said("https://evil.example/")).unwrap_err().contains("not allowed"));
    }

    #[test]
    fn a_host_is_a_scheme_and_a_port_too() {
        let source = || ServiceDocumentSource::Web(Url::parse("http://10.0.0.1:8080/openapi.json").unwrap());
        let places = |hosts: &[&str]| ServiceAddresses {
            source: source(),
            server: None,
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        };
        let allows = |hosts: &[&str], url: &str| places(hosts).allows(&Url::parse(url).unwrap());
        let here = "http://10.0.0.1:8080/v1";
        for hosts in [&[][..], &["10.0.0.1"], &["10.0.0.1:8080"], &["http://10.0.0.1:8080"]] {
            assert!(allows(hosts, here), "{hosts:?}");
            assert!(!allows(hosts, "http://10.0.0.1:2375/containers"), "{hosts:?}");
        }
        assert!(!allows(&["10.0.0.1:9000"], here) && !allows(&["api.example"], here));
        for (host, url) in [
            ("api.example", "https://api.example/"),
            ("API.example", "https://api.example/"),
            ("api.example:8443", "https://api.example:8443/"),
            ("http://api.example", "http://api.example/"),
        ] {
            assert!(allows(&[host], url), "{host}");
        }
        for (host, url) in [
            ("api.example", "http://api.example/"),
            ("api.example", "https://api.example:8443/"),
            ("api.example:8443", "https://api.example/"),
            ("api.example:8443", "http://api.example:8443/"),
            ("http://api.example", "https://api.example/"),
        ] {
            assert!(!allows(&[host], url), "{host} {url}");
        }
        for odd in ["", "a b", "api.example/x", "ftp://api.example", "https://u:p@api.example", "::1"] {
            assert!(parse_host(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn what_opens_a_service_goes_where_its_calls_go() {
        let places = |source: &str, server: Option<&str>, hosts: &[&str]| ServiceAddresses {
            source: ServiceDocumentSource::Web(Url::parse(source).unwrap()),
            server: server.map(|server| Url::parse(server).unwrap()),
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        };
        let knows = |source: &str, server: Option<&str>, hosts: &[&str]| {
            places(source, server, hosts).sends_credentials_to(&Url::parse(source).unwrap())
        };
        let (own, hub) = ("https://api.example/openapi.json", "https://raw.example/v/openapi.json");
        assert!(knows(own, None, &[]) && knows(own, Some("https://api.example/v2"), &[]));
        assert!(!knows(hub, Some("https://api.example"), &[]));
        assert!(!knows(own, Some("https://api.example:8443"), &[]));
        assert!(!knows(hub, None, &["api.example"]) && knows(own, None, &["api.example"]));
        assert!(!knows(hub, Some("https://api.example"), &["api.example", "raw.example"]));
    }
}
