//! What applying folders would change.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_tiers::ApplyPlan;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::files::{FolderInput, plan};
use super::logins::RevokedFolderLoginView;
use super::rules::{check_before_plan, check_reach};
use super::secrets::mask_secrets;
use crate::tiers::ApplyPlanSchema;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = FolderComparison)]
pub struct DiffFolderInput {
    /// One for each tenant.
    #[schema(min_items = 1, max_items = 1000)]
    pub folders: Vec<FolderInput>,
    /// Whether tiers that are stored but not among the files would be archived.
    pub prune: Option<bool>,
}

/// What folders change, or would.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = FolderPlans)]
pub struct FolderPlansView {
    /// One for each tenant.
    #[schema(value_type = Vec<ApplyPlanSchema>)]
    pub plans: Vec<ApplyPlan>,
    /// Whether what the plans say was done.
    pub applied: bool,
    /// What became of the logins at connectors that were taken away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub logins: Vec<RevokedFolderLoginView>,
}

pub struct DiffFolder;

impl Operation<HouseServices> for DiffFolder {
    type Input = DiffFolderInput;
    type View = FolderPlansView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "folders",
        noun: "folder",
        command: "folder",
        verb: "diff",
        about: "Show what applying a tenant's folder would change. Changes nothing.",
        needs: CallerClass::MemberOrKeeper(Area::Tiers, ApiAccess::Write),
        effect: OperationEffect::Read,
        method: RouteMethod::Post,
        path: "/v1/folder/diff",
    };

    async fn run(call: &HouseCall, input: DiffFolderInput) -> Result<FolderPlansView, OperationError> {
        check_reach(&call.caller)?;
        check_before_plan(call, &input.folders).await?;
        let plans = plan(call, input.folders, input.prune == Some(true)).await?;
        Ok(FolderPlansView { plans: mask_secrets(&call.caller, plans), applied: false, logins: Vec::new() })
    }
}
