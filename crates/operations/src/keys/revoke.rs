//! Takes a key back, with all that were made with it.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{KeyInput, KeyView, find_covered, note};
use crate::{HouseCall, HouseServices};

/// A revoked key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = RevokedKey)]
pub struct RevokedKeyView {
    #[serde(flatten)]
    pub key: KeyView,
    /// False if it was revoked earlier.
    pub changed: bool,
    /// The names of keys that were created with it and are revoked with it.
    pub made_with_it: Vec<String>,
}

pub struct RevokeKey;

impl Operation<HouseServices> for RevokeKey {
    type Input = KeyInput;
    type View = RevokedKeyView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "keys",
        noun: "key",
        command: "key",
        verb: "revoke",
        about: "Revoke a key, including your own, and all keys created with it. This node rejects them at once, other \
                nodes within two seconds.",
        needs: CallerClass::Member(Area::Keys, ApiAccess::Write),
        effect: OperationEffect::Write(&["api_key.revoked"]),
        method: RouteMethod::Post,
        path: "/v1/keys/{id}/revoke",
    };

    async fn run(call: &HouseCall, input: KeyInput) -> Result<RevokedKeyView, OperationError> {
        let (caller, known, now) = (call.caller.clone(), call.services.keys.clone(), call.now);
        let revoked = call.write(move |tx| {
            let id = find_covered(tx, &caller, &input.id)?.id;
            let revoked = known.revoke(tx, id, now)?;
            let revoked = revoked.ok_or_else(|| OperationError::not_found("key", &input.id))?;
            if revoked.changed {
                note(tx, "api_key.revoked", &revoked.key);
            }
            revoked.made_with_it.iter().for_each(|child| note(tx, "api_key.revoked", child));
            Ok(revoked)
        });
        let revoked = revoked.await?;
        let made_with_it = revoked.made_with_it.into_iter().map(|key| key.name).collect();
        Ok(RevokedKeyView { key: KeyView::new(revoked.key, now), changed: revoked.changed, made_with_it })
    }
}
