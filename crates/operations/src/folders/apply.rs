//! Brings tenants to what their folders say.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_tiers::{ApplyPlan, Authorship, ROUTING};
use munshi_types::Zone;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::diff::FolderPlansView;
use super::files::{FolderInput, plan};
use super::logins::PendingLogouts;
use super::rules::{check_before_plan, check_change, check_note, check_plan};
use super::secrets::mask_secrets;
use crate::channels::CHANGED;
use crate::connectors::{LOGGED_OUT, LOGOUT_REQUESTED};
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = FolderApplication)]
pub struct ApplyFolderInput {
    /// One for each tenant. All of them are applied, or none.
    #[schema(min_items = 1, max_items = 1000)]
    pub folders: Vec<FolderInput>,
    /// Whether tiers that are stored but not among the files are archived.
    pub prune: Option<bool>,
    /// Time zone of new tenants. Default: Asia/Kolkata.
    #[schema(value_type = Option<String>)]
    pub zone: Option<Zone>,
    /// Reason, for the history.
    #[schema(max_length = 1000)]
    pub note: Option<String>,
}

pub struct ApplyFolder;

impl Operation<HouseServices> for ApplyFolder {
    type Input = ApplyFolderInput;
    type View = FolderPlansView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "folders",
        noun: "folder",
        command: "folder",
        verb: "apply",
        about: "Apply a tenant's folder: humans, teams, agents, bindings, policy, connectors and channels. All of it is applied, or \
                nothing. New tenants, and connectors that start a program, are the keeper's alone.",
        needs: CallerClass::MemberOrKeeper(Area::Tiers, ApiAccess::Write),
        effect: OperationEffect::Write(&[
            "tenant.added",
            "tier.changed",
            "policy.changed",
            "connectors.changed",
            CHANGED,
            LOGOUT_REQUESTED,
            LOGGED_OUT,
        ]),
        method: RouteMethod::Post,
        path: "/v1/folder/apply",
    };

    async fn run(call: &HouseCall, input: ApplyFolderInput) -> Result<FolderPlansView, OperationError> {
        check_change(&call.caller)?;
        check_before_plan(call, &input.folders).await?;
        let note = check_note(input.note)?;
        let plans = plan(call, input.folders, input.prune == Some(true)).await?;
        check_zone(input.zone.as_ref(), &plans)?;
        let logouts = PendingLogouts::find(call, &plans).await?;
        let by = Authorship {
            author: call.caller.actor().id.clone(),
            note: note.unwrap_or_default(),
            made_at: call.now,
        };
        let (zone, ids, caller) = (input.zone.unwrap_or_default(), call.ids.clone(), call.caller.clone());
        let (planned, requested) = (plans.clone(), logouts.names());
        let rules = call.services.parts.connector_rules()?;
        call.write_platform(ROUTING, move |tx| {
            for plan in &planned {
                check_plan(tx, &caller, &rules, plan)?;
            }
            munshi_tiers::apply(tx, planned, &zone, &by, &ids)?;
            requested.note(tx);
            Ok(())
        })
        .await?;
        // Forgotten here first: whatever their services say, nobody uses them any more.
        let logins = logouts.finish(call).await?;
        Ok(FolderPlansView { plans: mask_secrets(&call.caller, plans), applied: true, logins })
    }
}

fn check_zone(zone: Option<&Zone>, plans: &[ApplyPlan]) -> Result<(), OperationError> {
    let (Some(zone), Some(plan)) = (zone, plans.iter().find(|plan| !plan.is_new)) else { return Ok(()) };
    let what = format!("--zone {zone} applies to new tenants only, and {} already exists.", plan.tenant);
    Err(OperationError::new(OperationErrorCode::Invalid, what).hint("Leave it out; nothing was changed."))
}
