//! Where a document is, and where its operations are called.

use std::path::PathBuf;

use serde_json::Value;
use url::Url;

use super::document::Document;

/// Where a document is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Web(Url),
    File(PathBuf),
}

#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub source: Source,
    /// The operator's word for where calls go.
    pub server: Option<Url>,
    /// Where calls may go; without it, where the operator's own words lead.
    pub hosts: Vec<String>,
}

impl Places {
    /// Where an operation is called: as the operator said, or as the document says nearest to it.
    pub(super) fn base(&self, document: &Document, item: &Value, operation: &Value) -> Result<Url, String> {
        let base = match &self.server {
            Some(server) => server.clone(),
            None => self.said([operation.get("servers"), item.get("servers"), document.get("servers")])?,
        };
        let host = base.host_str().unwrap_or_default();
        if !matches!(base.scheme(), "http" | "https") || host.is_empty() {
            return Err(format!("it is called at {base}, which is no address on the web"));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err("its address holds a password: give it as logins".to_owned());
        }
        match self.allows(host) {
            true => Ok(base),
            false => {
                Err(format!("it is called at {host}, which is not allowed: add it to hosts, or give server"))
            }
        }
    }

    fn said(&self, servers: [Option<&Value>; 3]) -> Result<Url, String> {
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
            Source::Web(source) => source.join(&text),
            Source::File(_) => Url::parse(&text),
        };
        read.map_err(|_| {
            format!("its document says to call it at `{text}`: say where with server = \"https://…\"")
        })
    }

    fn allows(&self, host: &str) -> bool {
        let own = match &self.source {
            Source::Web(source) => source.host_str(),
            Source::File(_) => None,
        };
        let own = own.into_iter().chain(self.server.as_ref().and_then(Url::host_str));
        match self.hosts.is_empty() {
            true => own.into_iter().any(|known| known.eq_ignore_ascii_case(host)),
            false => self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn base(places: &Places, root: &Value) -> Result<String, String> {
        let document = Document::read(root.to_string().as_bytes()).unwrap();
        places.base(&document, &json!({}), &json!({})).map(|url| url.to_string())
    }

    #[test]
    fn calls_go_where_the_operator_lets_them() {
        let source = Source::Web(Url::parse("https://pets.example/v2/openapi.json").unwrap());
        let own = Places { source, server: None, hosts: Vec::new() };
        let said = |url: &str| json!({ "openapi": "3.1.0", "servers": [{ "url": url, "variables": { "v": { "default": "v3" } } }] });
        assert_eq!(base(&own, &json!({ "openapi": "3.1.0" })).unwrap(), "https://pets.example/");
        assert_eq!(base(&own, &said("/api/{v}")).unwrap(), "https://pets.example/api/v3");
        assert!(base(&own, &said("https://evil.example/")).unwrap_err().contains("not allowed"));
        assert!(base(&own, &said("file:///etc/passwd")).is_err());
        assert!(base(&own, &said("https://u:p@pets.example/")).unwrap_err().contains("password"));
        let other = Places { hosts: vec!["api.example".to_owned()], ..own.clone() };
        assert_eq!(base(&other, &said("https://api.example/x")).unwrap(), "https://api.example/x");
        assert!(base(&other, &said("/here")).is_err());
        let server = Some(Url::parse("http://10.0.0.1:8080/api").unwrap());
        assert_eq!(
            base(&Places { server, ..own }, &said("https://evil.example/")).unwrap(),
            "http://10.0.0.1:8080/api"
        );
        let file = Places { source: Source::File("/srv/x.json".into()), server: None, hosts: Vec::new() };
        assert!(base(&file, &json!({ "openapi": "3.1.0" })).unwrap_err().contains("server ="));
        assert!(base(&file, &said("https://evil.example/")).unwrap_err().contains("not allowed"));
    }
}
