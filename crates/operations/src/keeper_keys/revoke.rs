//! Takes a keeper's key back, with all keys that were made with it.

use munshi_identity::keys::{KEYS, KeyText, find_keeper_key, render_keeper_maker, revoke_keeper_key};
use munshi_identity::links;
use munshi_identity::operators::OPERATORS;
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::TenantId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::KeeperKeyView;
use crate::invitations::note_withdrawn;
use crate::{HouseCall, HouseServices};

/// The keeper's key that is meant.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeeperKeyInput {
    /// The key: its id, the beginning of its text (kk_4fGh7Kq2) or its name.
    pub id: String,
}

/// A revoked keeper's key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = RevokedKeeperKey)]
pub struct RevokedKeeperKeyView {
    #[serde(flatten)]
    pub key: KeeperKeyView,
    /// False if it was revoked earlier.
    pub changed: bool,
    /// The names of tenants' keys that were created with it and are revoked with it.
    pub made_with_it: Vec<String>,
}

pub struct RevokeKeeperKey;

impl Operation<HouseServices> for RevokeKeeperKey {
    type Input = KeeperKeyInput;
    type View = RevokedKeeperKeyView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "keeper-keys",
        noun: "keeper key",
        command: "keeper-key",
        verb: "revoke",
        about: "Revoke a keeper's key, including your own, and all keys and open links created with it. This node \
                rejects them at once, other nodes within two seconds.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Write(&["keeper_key.revoked", "api_key.revoked", "link.withdrawn"]),
        method: RouteMethod::Post,
        path: "/v1/keeper-keys/{id}/revoke",
    };

    async fn run(call: &HouseCall, input: KeeperKeyInput) -> Result<RevokedKeeperKeyView, OperationError> {
        let now = call.now;
        let revoked = call.write_platform(KEYS, move |tx| {
            let key = find_keeper_key(tx, &input.id)?.ok_or_else(|| {
                // Of a key that was pasted whole, no more than its handle is said back.
                let shown = KeyText::parse_handle(&input.id).unwrap_or(&input.id);
                OperationError::not_found("keeper key", shown)
            })?;
            let Some(children) = revoke_keeper_key(tx, key.id, now)? else { return Ok((key, None)) };
            let payload = json!({ "name": key.name, "handle": key.handle });
            tx.note([TenantId::PLATFORM], "keeper_key.revoked", key.id.to_string(), payload);
            for (tenant, child) in &children {
                let payload =
                    json!({ "name": child.name, "why": "the keeper's key that made it was revoked" });
                tx.note([*tenant], "api_key.revoked", child.id.to_string(), payload);
            }
            Ok((munshi_identity::keys::KeeperKeyRecord { revoked_at: Some(now), ..key }, Some(children)))
        });
        let (key, children) = revoked.await?;
        // Also where it was revoked before: the links are in another scope, and this may have broken off between the two.
        let maker = render_keeper_maker(key.id);
        let ended = call.write_platform(OPERATORS, move |tx| {
            let ended = links::withdraw_made_by(tx, &maker, now)?;
            ended.iter().for_each(|link| note_withdrawn(tx, link));
            Ok(())
        });
        ended.await?;
        let (changed, children) = (children.is_some(), children.unwrap_or_default());
        let ids: Vec<_> = children.iter().map(|(_, child)| child.id).chain([key.id]).collect();
        call.services.keys.invalidate(&ids);
        let made_with_it = children.into_iter().map(|(_, child)| child.name).collect();
        Ok(RevokedKeeperKeyView { key: KeeperKeyView::new(key, now), changed, made_with_it })
    }
}
