//! One consent.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::{consents, policy};
use munshi_types::ConsentId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ConsentView;
use crate::{HouseCall, HouseServices};

/// The consent that is meant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConsentInput {
    /// The consent.
    #[schema(value_type = uuid::Uuid)]
    pub id: ConsentId,
}

pub struct ShowConsent;

impl Operation<HouseServices> for ShowConsent {
    type Input = ConsentInput;
    type View = ConsentView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "consents",
        noun: "consent",
        command: "consents",
        verb: "show",
        about: "Get a consent: for what, in which words, when and how it was given, and until when.",
        needs: CallerClass::Member(Area::Persons, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/consents/{id}",
    };

    async fn run(call: &HouseCall, input: ConsentInput) -> Result<ConsentView, OperationError> {
        let read = call.read(move |tx| {
            let found = consents::find(tx, input.id)?.ok_or_else(|| not_found(input.id))?;
            Ok((found, policy::load_current(tx)?.1))
        });
        let (found, policy) = read.await?;
        Ok(ConsentView::of(found, &policy.consent, call.now))
    }
}

pub(super) fn not_found(id: ConsentId) -> OperationError {
    OperationError::not_found("consent", &id.to_string())
        .hint("`munshi consents list PERSON` shows those of a person.")
}
