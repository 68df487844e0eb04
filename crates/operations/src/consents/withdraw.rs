//! Takes back what a person has agreed to.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::{consents, policy};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::show::not_found;
use super::{ConsentInput, ConsentView};
use crate::{HouseCall, HouseServices};

/// A consent after it was withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = WithdrawnConsent)]
pub struct WithdrawnConsentView {
    #[serde(flatten)]
    pub consent: ConsentView,
    /// False if the person consented to nothing of that purpose any more.
    pub changed: bool,
}

pub struct WithdrawConsent;

impl Operation<HouseServices> for WithdrawConsent {
    type Input = ConsentInput;
    type View = WithdrawnConsentView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "consents",
        noun: "consent",
        command: "consents",
        verb: "withdraw",
        about: "Withdraw what a person has consented to for the purpose of a consent. Acts that wait for it or are about to \
                begin are not done.",
        needs: CallerClass::Member(Area::Persons, ApiAccess::Write),
        effect: OperationEffect::Write(&["consent.withdrawn"]),
        method: RouteMethod::Post,
        path: "/v1/consents/{id}/withdraw",
    };

    async fn run(call: &HouseCall, input: ConsentInput) -> Result<WithdrawnConsentView, OperationError> {
        let (now, via) = (call.now, describe_surface(call));
        let withdrawn = call.write(move |tx| {
            let found = consents::withdraw(tx, input.id, &via, now)?;
            let (consent, ended) = found.ok_or_else(|| not_found(input.id))?;
            if ended > 0 {
                let payload = json!({ "purpose": consent.purpose, "person": consent.person, "ended": ended });
                tx.note("consent.withdrawn", consent.id.to_string(), payload);
            }
            let (_, policy) = policy::load_current(tx)?;
            Ok((ConsentView::of(consent, &policy.consent, now), ended > 0))
        });
        let (consent, changed) = withdrawn.await?;
        Ok(WithdrawnConsentView { consent, changed })
    }
}

/// Through what it is said.
fn describe_surface(call: &HouseCall) -> String {
    match call.caller.api_key() {
        Some(key) => format!("api:{key}"),
        None => format!("cli:{}", call.caller.actor().id),
    }
}
