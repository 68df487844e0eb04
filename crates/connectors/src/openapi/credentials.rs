//! How a service lets us in: what the operator gave, sent as the document says.

use std::collections::BTreeMap;

use serde_json::Value;

use super::document::ServiceDocument;
use super::parameter::is_reserved_header;

/// What was given for the document's security schemes, by their names; secrets are open here.
#[derive(Clone, Default)]
pub(crate) struct ServiceCredentialSet {
    pub named: BTreeMap<String, String>,
    /// Whether something is sent with every request beside: then an operation that wants more is tried all the same.
    pub always: bool,
}

/// One value in its place.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum ServiceCredential {
    Header { name: String, value: String },
    Query { name: String, value: String },
    Bearer(String),
    Basic { user: String, password: String },
}

impl ServiceCredentialSet {
    /// What is sent with an operation: the first of its alternatives for which everything was given.
    pub(super) fn resolve(
        &self,
        document: &ServiceDocument,
        operation: &Value,
    ) -> Result<Vec<ServiceCredential>, String> {
        let wanted = operation.get("security").or_else(|| document.get("security"));
        let Some(alternatives) = wanted.and_then(Value::as_array).filter(|list| !list.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut missing = Vec::new();
        let mut is_open = false;
        for alternative in alternatives {
            let names: Vec<&String> =
                alternative.as_object().map(|all| all.keys().collect()).unwrap_or_default();
            is_open |= names.is_empty();
            match names.iter().find(|name| !self.named.contains_key(name.as_str())) {
                Some(lacking) => missing.push((*lacking).clone()),
                None if names.is_empty() => {}
                None => return names.iter().map(|name| self.build_credential(document, name)).collect(),
            }
        }
        match is_open || self.always {
            true => Ok(Vec::new()),
            false => Err(format!(
                "it needs a login: set logins.{}",
                missing.first().map_or("NAME", String::as_str)
            )),
        }
    }

    fn build_credential(&self, document: &ServiceDocument, name: &str) -> Result<ServiceCredential, String> {
        let value = self.named.get(name).cloned().unwrap_or_default();
        let schemes = document.get("components").and_then(|parts| parts.get("securitySchemes"));
        let scheme = schemes
            .and_then(|all| all.get(name))
            .ok_or_else(|| format!("the document has no security scheme `{name}`"))?;
        let scheme = document.resolve(scheme)?;
        let text = |key: &str| scheme.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match (text("type").as_str(), text("in").as_str(), text("scheme").to_ascii_lowercase().as_str()) {
            // `authorization` is where a key may well stand; the others say how a request travels.
            ("apiKey", "header", _)
                if is_reserved_header(&text("name"))
                    && !text("name").eq_ignore_ascii_case("authorization") =>
            {
                Err(format!("the login `{name}` can't be sent as the header {}", text("name")))
            }
            ("apiKey", "header", _) => Ok(ServiceCredential::Header { name: text("name"), value }),
            ("apiKey", "query", _) => Ok(ServiceCredential::Query { name: text("name"), value }),
            ("http", _, "basic") => match value.split_once(':') {
                Some((user, password)) => {
                    Ok(ServiceCredential::Basic { user: user.to_owned(), password: password.to_owned() })
                }
                None => Err(format!("logins.{name} must be user:password")),
            },
            ("http", _, "bearer") | ("oauth2" | "openIdConnect", _, _) => {
                Ok(ServiceCredential::Bearer(value))
            }
            (kind, place, _) => Err(format!("the login `{name}` ({kind} {place}) can't be sent")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_login_is_sent_as_the_document_says() {
        let root = json!({ "openapi": "3.1.0", "security": [{ "gateway": [] }],
            "components": { "securitySchemes": {
                "gateway": { "type": "apiKey", "in": "header", "name": "x-gateway-key" },
                "asked": { "type": "apiKey", "in": "query", "name": "key" },
                "basic": { "type": "http", "scheme": "Basic" }, "bearer": { "type": "http", "scheme": "bearer" },
                "oauth": { "type": "oauth2", "flows": {} }, "tls": { "type": "mutualTLS" },
                "odd": { "type": "apiKey", "in": "header", "name": "Host" } } } });
        let document = ServiceDocument::parse(root.to_string().as_bytes()).unwrap();
        let all = ["gateway", "asked", "basic", "bearer", "oauth", "tls", "odd"];
        let named = all.iter().map(|name| ((*name).to_owned(), "u:p".to_owned())).collect();
        let logins = ServiceCredentialSet { named, always: false };
        let of = |operation: Value| logins.resolve(&document, &operation);
        let gateway = ServiceCredential::Header { name: "x-gateway-key".to_owned(), value: "u:p".to_owned() };
        assert!(of(json!({})).unwrap() == [gateway.clone()]);
        assert!(of(json!({ "security": [] })).unwrap().is_empty());
        let asked = ServiceCredential::Query { name: "key".to_owned(), value: "u:p".to_owned() };
        assert!(
            of(json!({ "security": [{ "none": [] }, { "asked": [], "gateway": [] }] })).unwrap()
                == [asked, gateway]
        );
        let basic = ServiceCredential::Basic { user: "u".to_owned(), password: "p".to_owned() };
        assert!(of(json!({ "security": [{ "basic": [] }] })).unwrap() == [basic]);
        for name in ["bearer", "oauth"] {
            assert!(
                of(json!({ "security": [{ name: [] }] })).unwrap()
                    == [ServiceCredential::Bearer("u:p".to_owned())]
            );
        }
        for name in ["tls", "odd"] {
            assert!(of(json!({ "security": [{ name: [] }] })).is_err());
        }
        let none = ServiceCredentialSet::default();
        assert!(none.resolve(&document, &json!({})).err().unwrap().contains("logins.gateway"));
        assert!(none.resolve(&document, &json!({ "security": [{ "gateway": [] }, {}] })).unwrap().is_empty());
        assert!(
            ServiceCredentialSet { always: true, ..none }.resolve(&document, &json!({})).unwrap().is_empty()
        );
    }
}
