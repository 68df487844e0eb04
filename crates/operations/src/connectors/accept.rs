//! Accepts the tools of a connector as they are now, after somebody has looked.

use munshi_connectors::rows;
use munshi_identity::keys::{ApiAccess, Area, KeySpeaker};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_store::Tx;
use munshi_types::ConnectorName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::show::not_found;
use crate::connector_errors::convert_connector_error;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ConnectorAcceptance)]
pub struct AcceptConnectorInput {
    /// The connector's name.
    #[schema(value_type = String)]
    pub name: ConnectorName,
    /// Only show what changed.
    pub dry_run: Option<bool>,
    /// The `manifest` that was looked at: another is not accepted.
    pub manifest: Option<String>,
}

/// What changed about a connector's tools, and whether that is accepted now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = AcceptedConnector)]
pub struct AcceptedConnectorView {
    #[schema(value_type = String)]
    pub connector: ConnectorName,
    /// Whether it was accepted just now.
    pub accepted: bool,
    /// Whether its tools had changed since they were accepted last.
    pub pending: bool,
    /// `+` new, `-` gone, `~` changed.
    pub changed: Vec<String>,
    /// The hash of the list that this is about.
    pub manifest: String,
}

pub struct AcceptConnector;

impl Operation<HouseServices> for AcceptConnector {
    type Input = AcceptConnectorInput;
    type View = AcceptedConnectorView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "connectors",
        noun: "connector",
        command: "connector",
        verb: "accept",
        about: "Accept a connector's changed tools after review.",
        needs: CallerClass::Member(Area::Connectors, ApiAccess::Write),
        effect: OperationEffect::Write(&["connector.accepted"]),
        method: RouteMethod::Post,
        path: "/v1/connectors/{name}/accept",
    };

    async fn run(
        call: &HouseCall,
        input: AcceptConnectorInput,
    ) -> Result<AcceptedConnectorView, OperationError> {
        let AcceptConnectorInput { name, dry_run, manifest } = input;
        let only_shows = dry_run == Some(true);
        if !only_shows && call.caller.speaks_as() == KeySpeaker::Program {
            let what = "Somebody has to look at changed tools: a program accepts none.";
            return Err(OperationError::new(OperationErrorCode::Forbidden, what)
                .hint("Use a key that speaks as a person, or `munshi connector accept`."));
        }
        let (by, now) = (call.caller.actor().id.clone(), call.now);
        call.write(move |tx| {
            let review = review(tx, &name)?;
            if manifest.is_some_and(|seen| seen != review.manifest) {
                let what = format!("The tools of {name} have changed again since.");
                return Err(OperationError::new(OperationErrorCode::Conflict, what)
                    .hint("Look at them again, with --dry-run."));
            }
            let mut accepted = false;
            if review.pending && !only_shows {
                let done = rows::accept_manifest(tx, name.as_str(), &by, now);
                accepted = done.map_err(convert_connector_error)?.unwrap_or(false);
            }
            Ok(AcceptedConnectorView { connector: name, accepted, ..review })
        })
        .await
    }
}

/// Whether its newest list waits for somebody, and what differs in it.
fn review(tx: &mut Tx<'_>, name: &ConnectorName) -> Result<AcceptedConnectorView, OperationError> {
    let (_, declared) = rows::load_entries(tx).map_err(convert_connector_error)?;
    if !declared.0.contains_key(name) {
        return Err(not_found(name));
    }
    let seen = rows::list_manifests(tx, name.as_str()).map_err(convert_connector_error)?;
    let Some(newest) = seen.first() else {
        let message = format!("Connector {name} has never listed its tools.");
        return Err(OperationError::new(OperationErrorCode::NotFound, message)
            .hint("Run it once: `munshi serve`, then `munshi connector list`."));
    };
    let last = seen.iter().find(|seen| seen.accepted_at.is_some());
    let changed = last.map(|last| rows::differences(&last.tools, &newest.tools)).unwrap_or_default();
    Ok(AcceptedConnectorView {
        connector: name.clone(),
        accepted: false,
        pending: newest.accepted_at.is_none(),
        changed,
        manifest: newest.hash.clone(),
    })
}
