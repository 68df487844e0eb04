//! The policy in force.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::policy;
use munshi_types::{TenantName, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{HouseCall, HouseServices};

/// Nothing besides the tenant.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyInput {}

/// The policy in force.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Policy)]
pub struct PolicyView {
    #[schema(value_type = String)]
    pub tenant: TenantName,
    /// 0 where there is none.
    pub version: i64,
    pub author: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub made_at: Option<Timestamp>,
    /// Without what is so anyway.
    #[schema(value_type = Value)]
    pub policy: Map<String, Value>,
    /// The same as the file `policy.toml`.
    pub file: String,
}

pub struct ShowPolicy;

impl Operation<HouseServices> for ShowPolicy {
    type Input = PolicyInput;
    type View = PolicyView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "policy",
        noun: "policy",
        command: "policy",
        verb: "show",
        about: "Show the policy in force.",
        needs: CallerClass::Member(Area::Tiers, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/policy",
    };

    async fn run(call: &HouseCall, _: PolicyInput) -> Result<PolicyView, OperationError> {
        let versions = call.read(|tx| Ok(policy::list_versions(tx)?)).await?;
        let (newest, policy) = versions.into_iter().next().unzip();
        let policy = policy.unwrap_or_default();
        Ok(PolicyView {
            tenant: call.tenant.name.clone(),
            version: newest.as_ref().map_or(0, |newest| newest.version),
            made_at: newest.as_ref().map(|newest| newest.made_at),
            author: newest.map(|newest| newest.author),
            policy: policy::to_minimal_map(&policy)?,
            file: policy::to_toml(&policy)?,
        })
    }
}
