//! Another keeper's key, shown this once. Whoever has one is above every tenant, so it is made on the machine alone.

use munshi_identity::keys::{KEYS, KeySpeaker, NewKeeperKey, add_keeper_key};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::{TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::{IssuedKeeperKeyView, KeeperKeyView};
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewKeeperKey)]
pub struct AddKeeperKeyInput {
    /// Display name, such as the person or program that uses it.
    pub name: String,
    /// Who speaks through it: `person` if somebody types what is sent; otherwise `program`.
    #[schema(value_type = crate::schemas::KeySpeakerSchema)]
    pub speaks_as: KeySpeaker,
    /// When it ends. Default: never.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
}

pub struct AddKeeperKey;

impl Operation<HouseServices> for AddKeeperKey {
    type Input = AddKeeperKeyInput;
    type View = IssuedKeeperKeyView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "keeper-keys",
        noun: "keeper key",
        command: "keeper-key",
        verb: "add",
        about: "Create a key that opens the installation and every tenant. It is shown only once.",
        needs: CallerClass::Machine,
        effect: OperationEffect::Write(&["keeper_key.made"]),
        method: RouteMethod::Create,
        path: "/v1/keeper-keys",
    };

    const KEEPS_VIEW: bool = false;

    async fn run(call: &HouseCall, input: AddKeeperKeyInput) -> Result<IssuedKeeperKeyView, OperationError> {
        let new = NewKeeperKey {
            name: input.name,
            speaks_as: input.speaks_as,
            made_by: call.caller.actor().id.clone(),
            expires_at: input.expires_at,
        };
        let (ids, random, now) = (call.ids.clone(), call.random.clone(), call.now);
        let added = call.write_platform(KEYS, move |tx| {
            let (key, text) = add_keeper_key(tx, &ids, random.as_ref(), &new, now)?;
            let payload = json!({
                "name": key.name, "speaks_as": key.speaks_as, "expires_at": key.expires_at, "handle": key.handle,
            });
            tx.note([TenantId::PLATFORM], "keeper_key.made", key.id.to_string(), payload);
            Ok((key, text))
        });
        let (key, text) = added.await?;
        Ok(IssuedKeeperKeyView { key: KeeperKeyView::new(key, now), text: text.reveal().to_owned() })
    }
}
