//! Every version of the policy, and what changed in each.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod, describe_order,
};
use munshi_safety::policy::{self, Policy};
use munshi_store::SortOrder;
use munshi_tiers::plan::{FieldChange, diff_fields};
use munshi_types::{TenantName, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{HouseCall, HouseServices};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LogPolicyInput {
    #[schema(schema_with = describe_order)]
    pub order: Option<SortOrder>,
}

/// The versions of a policy, newest first unless the other order was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = PolicyLog)]
pub struct PolicyLogView {
    #[schema(value_type = String)]
    pub tenant: TenantName,
    pub versions: Vec<PolicyVersionView>,
}

/// A version and how it differs from the one before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = PolicyVersion)]
pub struct PolicyVersionView {
    pub version: i64,
    pub author: String,
    pub note: String,
    #[schema(value_type = String, format = DateTime)]
    pub made_at: Timestamp,
    #[schema(value_type = Vec<crate::tiers::FieldChangeSchema>)]
    pub changes: Vec<FieldChange>,
}

pub struct LogPolicy;

impl Operation<HouseServices> for LogPolicy {
    type Input = LogPolicyInput;
    type View = PolicyLogView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "policy",
        noun: "policy",
        command: "policy",
        verb: "log",
        about: "Show every version of the policy, newest first: who, when, why, and what changed.",
        needs: CallerClass::Member(Area::Tiers, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/policy/versions",
    };

    async fn run(call: &HouseCall, input: LogPolicyInput) -> Result<PolicyLogView, OperationError> {
        let versions = call.read(|tx| Ok(policy::list_versions(tx)?)).await?;
        let before = versions.iter().skip(1).map(|(_, policy)| policy.clone()).chain([Policy::default()]);
        let shown = versions.iter().zip(before).map(|((version, policy), before)| {
            let changes = diff_fields(&policy::to_minimal_map(&before)?, &policy::to_minimal_map(policy)?);
            Ok(PolicyVersionView {
                version: version.version,
                author: version.author.clone(),
                note: version.note.clone(),
                made_at: version.made_at,
                changes,
            })
        });
        let mut versions = shown.collect::<Result<Vec<_>, OperationError>>()?;
        if input.order == Some(SortOrder::Ascending) {
            versions.reverse();
        }
        Ok(PolicyLogView { tenant: call.tenant.name.clone(), versions })
    }
}
