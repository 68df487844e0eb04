//! Gives a key another secret, shown this once.

use std::time::Duration;

use munshi_identity::keys::{self, ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationCaller, OperationEffect, OperationError, OperationErrorCode,
    OperationSpec, RouteMethod,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{IssuedKeyView, find_covered, note};
use crate::{HouseCall, HouseServices};

/// Hours that the secret from before goes on opening.
const GRACE: u32 = 24;
const LONGEST_GRACE: u32 = 720;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = KeyRotation)]
pub struct RotateKeyInput {
    /// The key: its id, the beginning of its text (mk_4fGh7Kq2) or its name.
    pub id: String,
    /// Hours the old secret stays valid; 0 ends it at once. Default 24.
    #[schema(minimum = 0, maximum = 720)]
    pub grace: Option<u32>,
}

pub struct RotateKey;

impl Operation<HouseServices> for RotateKey {
    type Input = RotateKeyInput;
    type View = IssuedKeyView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "keys",
        noun: "key",
        command: "key",
        verb: "rotate",
        about: "Replace a key's secret. Only this response contains the new text; the old one stays valid for the grace \
                period.",
        needs: CallerClass::Member(Area::Keys, ApiAccess::Write),
        effect: OperationEffect::Write(&["api_key.rotated"]),
        method: RouteMethod::Post,
        path: "/v1/keys/{id}/rotate",
    };

    const KEEPS_VIEW: bool = false;

    async fn run(call: &HouseCall, input: RotateKeyInput) -> Result<IssuedKeyView, OperationError> {
        let hours = input.grace.unwrap_or(GRACE);
        if hours > LONGEST_GRACE {
            return Err(OperationError::field("grace", "must be from 0 to 720 hours"));
        }
        let grace = Duration::from_secs(u64::from(hours) * 60 * 60);
        let (caller, maker) = (call.caller.clone(), call.caller.key_maker()?);
        let (known, random, now) = (call.services.keys.clone(), call.random.clone(), call.now);
        let issued = call.write(move |tx| {
            let key = find_covered(tx, &caller, &input.id)?;
            check_scope(&caller, &key)?;
            // What a key is shown must end with it, as what it makes does.
            if let Some(own) = caller.api_key()
                && !keys::ends_with(tx, key.id, own)?
            {
                return Err(OperationError::new(
                    OperationErrorCode::Forbidden,
                    "A key can rotate itself and the keys created with it.",
                )
                .hint("Rotate others on the account page, or with `munshi key rotate`."));
            }
            let issued = known.rotate(tx, random.as_ref(), key.id, grace, now)?.ok_or_else(|| {
                OperationError::new(
                    OperationErrorCode::Conflict,
                    format!("{} is revoked or has expired.", key.name),
                )
                .hint("Create a new one.")
            })?;
            // Whoever sees the new secret answers for the key.
            keys::transfer_maker(tx, key.id, &maker)?;
            note(tx, "api_key.rotated", &issued.key);
            Ok(issued)
        });
        Ok(IssuedKeyView::new(issued.await?, now))
    }
}

/// Whoever is shown a secret gains what the key opens: it may be no more than the caller has.
fn check_scope(caller: &OperationCaller, key: &keys::ApiKeyRecord) -> Result<(), OperationError> {
    let is_wider = |own: Option<&Vec<keys::AreaGrant>>| match (own, &key.areas) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(own), Some(areas)) => {
            areas.iter().any(|area| !own.iter().any(|have| have.opens(area.area, area.access)))
        }
    };
    let reaches_more = match (caller.bindings(), &key.bindings) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(_), Some(bindings)) => bindings.iter().any(|binding| !caller.reaches(*binding)),
    };
    let outlives = match (caller.until(), key.expires_at) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(own), Some(end)) => end > own,
    };
    let speaks = caller.speaks_as() == keys::KeySpeaker::Program && key.speaks_as == keys::KeySpeaker::Person;
    if is_wider(caller.areas()) || reaches_more || outlives || speaks {
        return Err(OperationError::new(
            OperationErrorCode::Forbidden,
            "That key opens more than yours, so its new text can't be shown to you.",
        )
        .hint("Rotate it on the account page, or with `munshi key rotate`."));
    }
    Ok(())
}
