//! Declares a connector: an address, a service's OpenAPI document, or a program.

use std::collections::BTreeMap;

use munshi_connectors::entries::{
    ConnectorEntries, ConnectorEntry, MOST, find_refused_entry, list_path_warnings, list_secret_warnings,
};
use munshi_connectors::rows;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
    sentence,
};
use munshi_store::Tx;
use munshi_types::{ConnectorName, TenantName};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::pending_logout::{LOGGED_OUT, LOGOUT_REQUESTED, PendingLogout, note_logout_request};
use super::transport::check_transport;
use super::{RevokedLoginView, refuse_program};
use crate::connector_errors::convert_connector_error;
use crate::vault::SecretText;
use crate::{HouseCall, HouseServices};

/// One of `url`, `openapi` and `command` is given. Secrets are given by their names in the vault, as `vault:NAME`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewConnector)]
pub struct AddConnectorInput {
    /// Name, and prefix of its tools' names.
    #[schema(value_type = String, example = "books")]
    pub name: ConnectorName,
    /// URL of a connector over HTTP.
    #[schema(example = "https://books.example/mcp")]
    pub url: Option<String>,
    /// URL of a service's OpenAPI document, or the document itself as JSON. Keepers may name a file of the server.
    pub openapi: Option<String>,
    /// Base URL of the document's operations. Default: the document's own.
    pub server: Option<String>,
    /// Credentials by the names of the document's security schemes.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, String>)]
    pub logins: BTreeMap<String, SecretText>,
    /// Bearer token.
    #[schema(value_type = Option<String>, example = "vault:books.key")]
    pub token: Option<SecretText>,
    /// HTTP headers.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, String>)]
    pub headers: BTreeMap<String, SecretText>,
    /// A program that the server starts, and its arguments. Only keepers may give one.
    #[serde(default)]
    pub command: Vec<String>,
    /// Environment variables of the program.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, String>)]
    pub environment: BTreeMap<String, SecretText>,
    /// Files and folders that the program may read.
    #[serde(default)]
    pub reads: Vec<String>,
    /// Files and folders that the program may read and write.
    #[serde(default)]
    pub writes: Vec<String>,
    /// Whether the program may listen on TCP ports.
    #[serde(default)]
    pub listens: bool,
    /// Replace an existing connector of this name; what is declared of its tools stays.
    #[serde(default)]
    pub replace: bool,
}

/// A connector that was declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = AddedConnector)]
pub struct AddedConnectorView {
    #[schema(value_type = String)]
    pub tenant: TenantName,
    #[schema(value_type = String)]
    pub connector: ConnectorName,
    /// Of the tenant's list of connectors, with it.
    pub version: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What became of the login of the one before it, at another address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logins: Vec<RevokedLoginView>,
    /// The same in words, with what is left to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub login_notes: Vec<String>,
}

pub struct AddConnector;

impl Operation<HouseServices> for AddConnector {
    type Input = AddConnectorInput;
    type View = AddedConnectorView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "connectors",
        noun: "connector",
        command: "connector",
        verb: "add",
        about: "Declare a connector: a URL, an OpenAPI document or, as keeper, a program. A running server starts it within seconds.",
        needs: CallerClass::Member(Area::Connectors, ApiAccess::Write),
        effect: OperationEffect::Write(&["connectors.changed", LOGOUT_REQUESTED, LOGGED_OUT]),
        method: RouteMethod::Create,
        path: "/v1/connectors",
    };

    /// Of values that may be secrets not even a hash is kept.
    fn describe_request(input: &AddConnectorInput) -> serde_json::Result<Value> {
        let names = |of: &BTreeMap<String, SecretText>| of.keys().cloned().collect::<Vec<_>>();
        Ok(json!({
            "name": input.name, "url": input.url, "openapi": input.openapi, "server": input.server,
            "logins": names(&input.logins), "token": input.token.is_some(), "headers": names(&input.headers),
            "command": input.command, "environment": names(&input.environment), "reads": input.reads,
            "writes": input.writes, "listens": input.listens, "replace": input.replace,
        }))
    }

    async fn run(call: &HouseCall, input: AddConnectorInput) -> Result<AddedConnectorView, OperationError> {
        let (name, replaces) = (input.name.clone(), input.replace);
        refuse_program(&call.caller)?;
        let entry = input.into_entry()?;
        let rules = call.services.parts.connector_rules()?;
        check_transport(&call.caller, &rules, &entry)?;
        let given = ConnectorEntries([(name.clone(), entry.clone())].into());
        if let Some(what) = find_refused_entry(&given, &rules.protected) {
            return Err(OperationError::new(OperationErrorCode::Invalid, sentence(&what)));
        }
        if rules.pack_names.contains(name.as_str()) {
            let what = format!("`{name}` is the name of a pack: choose another.");
            return Err(OperationError::new(OperationErrorCode::Invalid, what));
        }
        let warnings = [list_secret_warnings(&name, &entry), list_path_warnings(&name, &entry)].concat();
        let login = find_stale_login(call, &name, given).await?.filter(|_| replaces);
        let (added, has_login) = (name.clone(), login.is_some());
        let (by, now) = (call.caller.actor().id.clone(), call.now);
        let stored = call.write(move |tx| {
            let declared = add_entry(tx, &added, entry, replaces)?;
            let version = super::save_entries(tx, &declared, &by, &format!("add {added}"), now)?;
            if has_login {
                note_logout_request(tx, &added);
            }
            Ok(version)
        });
        let version = stored.await?;
        let mut view = AddedConnectorView {
            tenant: call.tenant.name.clone(),
            connector: name.clone(),
            version,
            warnings,
            logins: Vec::new(),
            login_notes: Vec::new(),
        };
        if let Some(login) = login {
            let ended = login.finish(call).await?;
            view.logins.push(RevokedLoginView { connector: name, login: ended.login });
            view.login_notes.push(ended.note);
        }
        Ok(view)
    }
}

/// The login of the one that is there, where it is of no use to the one that comes.
async fn find_stale_login(
    call: &HouseCall,
    name: &ConnectorName,
    next: ConnectorEntries,
) -> Result<Option<PendingLogout>, OperationError> {
    let (_, known) = call.read(|tx| rows::load_entries(tx).map_err(convert_connector_error)).await?;
    let is_stale = known.list_stale_logins(&next).contains(name);
    if is_stale { PendingLogout::find(call, name).await } else { Ok(None) }
}

/// What is declared, with one more or another one in its place.
fn add_entry(
    tx: &mut Tx<'_>,
    name: &ConnectorName,
    entry: ConnectorEntry,
    replaces: bool,
) -> Result<ConnectorEntries, OperationError> {
    let (_, mut declared) = rows::load_entries(tx).map_err(convert_connector_error)?;
    let known = declared.0.remove(name);
    if known.is_some() && !replaces {
        let what = format!("Connector {name} already exists.");
        return Err(OperationError::new(OperationErrorCode::Conflict, what)
            .hint("Use --replace to replace it; over the API, `replace`."));
    }
    // What was said of its tools stays.
    let is_new = known.is_none();
    let tools = known.map(|known| known.tools).unwrap_or_default();
    declared.0.insert(name.clone(), ConnectorEntry { tools, ..entry });
    if is_new && declared.0.len() > MOST {
        let what = format!("A tenant has at most {MOST} connectors.");
        return Err(OperationError::new(OperationErrorCode::Invalid, what)
            .hint("Remove one first: `munshi connector remove NAME`."));
    }
    Ok(declared)
}
