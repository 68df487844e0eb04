//! One key; never its text.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{KeyView, find};
use crate::{HouseCall, HouseServices};

/// The key that is meant.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyInput {
    /// The key: its id, the beginning of its text (mk_4fGh7Kq2) or its name.
    pub id: String,
}

pub struct ShowKey;

impl Operation<HouseServices> for ShowKey {
    type Input = KeyInput;
    type View = KeyView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "keys",
        noun: "key",
        command: "key",
        verb: "show",
        about: "Show a key, without its text.",
        needs: CallerClass::Member(Area::Keys, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/keys/{id}",
    };

    async fn run(call: &HouseCall, input: KeyInput) -> Result<KeyView, OperationError> {
        let now = call.now;
        Ok(KeyView::new(call.read(move |tx| find(tx, &input.id)).await?, now))
    }
}
