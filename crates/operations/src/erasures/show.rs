//! One receipt.

use munshi_erasure::{ErasureReceipt, rows};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::ErasureId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ErasureView;
use crate::{HouseCall, HouseServices};

/// The erasure that is meant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ErasureInput {
    /// Its id.
    #[schema(value_type = uuid::Uuid)]
    pub id: ErasureId,
}

pub struct ShowErasure;

impl Operation<HouseServices> for ShowErasure {
    type Input = ErasureInput;
    type View = ErasureView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "erasures",
        noun: "erasure",
        command: "erasure",
        verb: "show",
        about: "Get the receipt of somebody forgotten: what was removed, what stayed, and why.",
        needs: CallerClass::Member(Area::Persons, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/erasures/{id}",
    };

    async fn run(call: &HouseCall, input: ErasureInput) -> Result<ErasureView, OperationError> {
        let packs = call.services.parts.packs()?;
        let found = call.read(move |tx| Ok(rows::find(tx, input.id)?)).await?;
        let found = found.ok_or_else(|| {
            OperationError::not_found("erasure", &input.id.to_string())
                .hint("`munshi erasure list` shows them all.")
        })?;
        Ok(ErasureReceipt::of(found, &packs).into())
    }
}
