//! A tenant's connectors and their health, by name.

use munshi_connectors::rows;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};

use super::ConnectorView;
use crate::connector_errors::convert_connector_error;
use crate::named_list::NameListInput;
use crate::{HouseCall, HouseServices};

pub struct ListConnectors;

impl Operation<HouseServices> for ListConnectors {
    type Input = NameListInput;
    type View = ListView<ConnectorView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "connectors",
        noun: "connector",
        command: "connector",
        verb: "list",
        about: "List connectors and how they are on every node.",
        needs: CallerClass::Member(Area::Connectors, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/connectors",
    };

    async fn run(call: &HouseCall, input: NameListInput) -> Result<ListView<ConnectorView>, OperationError> {
        let (now, caller) = (call.now, call.caller.clone());
        let all = call.read(move |tx| {
            let (_, declared) = rows::load_entries(tx).map_err(convert_connector_error)?;
            let states = rows::list_states(tx, now).map_err(convert_connector_error)?;
            let shown = declared.0.into_iter();
            shown.map(|(name, entry)| ConnectorView::load(tx, name, &entry, &states, &caller)).collect()
        });
        input.paginate(all.await?, |one: &ConnectorView| one.name.to_string())
    }
}
