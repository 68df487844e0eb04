//! How a connector is reached, as somebody asks for it, and who may ask for what.

use std::collections::BTreeMap;

use munshi_connectors::entries::{ConnectorEntry, ConnectorTransport, MaybeSecret};
use munshi_connectors::{ServiceDocumentSource, check_document};
use munshi_identity::keys::{ApiAccess, Area, AreaGrant};
use munshi_pack::operation::{OperationCaller, OperationError, OperationErrorCode, sentence};

use super::AddConnectorInput;
use crate::ConnectorRules;
use crate::vault::SecretText;

/// Where logins at connectors' services are stored: nobody's to send elsewhere.
const OWN_SECRETS: &str = "connector/";

impl AddConnectorInput {
    /// The connector as it is stored, or what is wrong with it.
    pub fn into_entry(self) -> Result<ConnectorEntry, OperationError> {
        let entry = ConnectorEntry {
            command: self.command,
            reads: self.reads.into_iter().map(Into::into).collect(),
            writes: self.writes.into_iter().map(Into::into).collect(),
            listens: self.listens,
            environment: parse_values("environment", &self.environment)?,
            url: self.url,
            openapi: self.openapi,
            server: self.server,
            logins: parse_values("logins", &self.logins)?,
            token: self.token.map(|token| parse_value("token", &token)).transpose()?,
            headers: parse_values("headers", &self.headers)?,
            ..ConnectorEntry::default()
        };
        let invalid = |what: String| OperationError::new(OperationErrorCode::Invalid, sentence(&what));
        if let ConnectorTransport::OpenApi(ServiceDocumentSource::Text(text), _) =
            entry.resolve_transport().map_err(invalid)?
        {
            check_document(&text).map_err(invalid)?;
            if entry.server.is_none() {
                return Err(OperationError::field(
                    "server",
                    "a document that is sent has to say where its service is",
                )
                .hint("Give the service's base URL; with the command, --base-url."));
            }
        }
        Ok(entry)
    }
}

fn parse_values(
    key: &str,
    given: &BTreeMap<String, SecretText>,
) -> Result<BTreeMap<String, MaybeSecret>, OperationError> {
    given.iter().map(|(name, value)| Ok((name.clone(), parse_value(key, value)?))).collect()
}

fn parse_value(key: &str, given: &SecretText) -> Result<MaybeSecret, OperationError> {
    let parsed = MaybeSecret::try_from(given.expose().to_owned());
    parsed.map_err(|error| OperationError::field(key, &error.to_string()))
}

/// Whether the caller may have it so: what starts a program or reads a file of the server is its keeper's, and a secret
/// goes where those send it who may set it, and never to a place of the installation's own network.
pub(crate) fn check_transport(
    caller: &OperationCaller,
    rules: &ConnectorRules,
    entry: &ConnectorEntry,
) -> Result<(), OperationError> {
    if caller.is_keeper() {
        return Ok(());
    }
    let forbidden =
        |what: &str, hint: &str| Err(OperationError::new(OperationErrorCode::Forbidden, what).hint(hint));
    match entry.resolve_transport() {
        Ok(ConnectorTransport::Http(_)) => {}
        Ok(ConnectorTransport::OpenApi(ServiceDocumentSource::File(_), _)) => {
            return forbidden(
                "Only whoever keeps this installation may name a file of the server.",
                "Send the document itself, or its URL.",
            );
        }
        Ok(ConnectorTransport::OpenApi(..)) => {}
        Ok(ConnectorTransport::Child | ConnectorTransport::Inside(_)) | Err(_) => {
            return forbidden(
                "Only whoever keeps this installation may add a connector that starts a program.",
                "Run the command on the machine itself, or use a key made by `munshi keeper-key add`.",
            );
        }
    }
    if let Some(place) = rules.find_private_place(entry) {
        return forbidden(
            &format!("Only whoever keeps this installation leads a connector to {place}."),
            "Use a public address, or ask them to add it.",
        );
    }
    let values = entry.logins.values().chain(entry.headers.values());
    let values = values.chain(&entry.token).chain(&entry.client.secret).chain(entry.environment.values());
    let mut names = values.filter_map(|value| match value {
        MaybeSecret::Secret(name) => Some(name.name()),
        MaybeSecret::Plain(_) => None,
    });
    let may_set = caller.opens(AreaGrant { area: Area::Vault, access: ApiAccess::Write });
    match names.clone().next() {
        Some(_) if !may_set => forbidden(
            "A connector that is sent a secret is added with a key that opens `vault`, too.",
            "Use a key with the areas `connectors` and `vault`.",
        ),
        Some(_) if names.any(|name| name.starts_with(OWN_SECRETS)) => forbidden(
            "What is stored of a connector's login is sent to its own service alone.",
            "Store the secret under another name with `munshi vault set`.",
        ),
        _ => Ok(()),
    }
}
