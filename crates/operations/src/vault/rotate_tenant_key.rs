//! Replaces a tenant's key in the store of keys.

use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::TenantName;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::{HouseCall, HouseServices};

/// Nothing: the tenant is named as in every call.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateTenantKeyInput {}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = RotatedTenantKey)]
pub struct RotatedTenantKeyView {
    #[schema(value_type = String)]
    pub tenant: TenantName,
    /// Of the key that is in use now.
    pub number: i64,
    /// How many keys it wraps that the one before wrapped, this time.
    pub keys: u64,
    /// Whether a rotation was finished that had been cut short.
    pub resumed: bool,
}

pub struct RotateTenantKey;

impl Operation<HouseServices> for RotateTenantKey {
    type Input = RotateTenantKeyInput;
    type View = RotatedTenantKeyView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "tenant-keys",
        noun: "key",
        command: "vault",
        verb: "rotate-tenant",
        about: "Replace a tenant's key in the store of keys, which wraps those that its text is encrypted with; run it again if it was interrupted.",
        needs: CallerClass::KeeperOfTenant,
        effect: OperationEffect::Write(&["tenant_key.rotation_requested", "tenant_key.rotated"]),
        method: RouteMethod::Post,
        path: "/v1/tenant-keys/rotate",
    };

    /// The store is another database: the audit hears of it before, so that none goes unheard, and of its end.
    async fn run(call: &HouseCall, _: RotateTenantKeyInput) -> Result<RotatedTenantKeyView, OperationError> {
        let asked = call.write(|tx| {
            tx.note("tenant_key.rotation_requested", "keys", json!({}));
            Ok(())
        });
        asked.await?;
        let rotated = call.services.parts.rotate_tenant_key(call.tenant.id).await?;
        let Some(rotated) = rotated else {
            return Err(OperationError::not_found("key", call.tenant.name.as_str())
                .hint("A tenant has one from the first text on that is encrypted."));
        };
        let (number, keys, resumed) = (rotated.number, rotated.keys, rotated.resumed);
        let told = call.write(move |tx| {
            let payload = json!({ "number": number, "keys": keys, "resumed": resumed });
            tx.note("tenant_key.rotated", "keys", payload);
            Ok(())
        });
        told.await?;
        Ok(RotatedTenantKeyView { tenant: call.tenant.name.clone(), number, keys, resumed })
    }
}
