//! A tenant's configuration as files. Who takes it out is written down.

use munshi_channels::{accounts, rows as channel_rows};
use munshi_connectors::entries::{self, ConnectorEntry};
use munshi_connectors::rows;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::policy;
use munshi_store::Tx;
use munshi_tiers::{files, history};
use munshi_types::TenantName;
use munshi_types::tier::TierStatus;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::files::{CHANNELS_FILE, CONNECTORS_FILE, FolderFileInput, POLICY_FILE};
use super::rules::{check_reach, may_change_channels, may_change_connectors};
use crate::channel_errors::convert_channel_error;
use crate::connector_errors::convert_connector_error;
use crate::{HouseCall, HouseServices};

/// Nothing besides the tenant.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = FolderExportRequest)]
pub struct ExportFolderInput {}

/// A tenant's configuration: applying it again changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ExportedFolder)]
pub struct ExportedFolderView {
    #[schema(value_type = String)]
    pub tenant: TenantName,
    /// Active tiers at their version in force, the policy, the connectors and the channels.
    pub files: Vec<FolderFileInput>,
    /// Files that a folder may have and this one has not, since nothing of the kind was stored.
    pub missing: Vec<String>,
    /// Files that there are, for others than you: `connectors.toml` is for whoever may change connectors, and `channels.toml` for
    /// whoever may change channels.
    pub withheld: Vec<String>,
}

pub struct ExportFolder;

impl Operation<HouseServices> for ExportFolder {
    type Input = ExportFolderInput;
    type View = ExportedFolderView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "folders",
        noun: "folder",
        command: "folder",
        verb: "export",
        about: "Export a tenant's tiers, policy, connectors and channels as files. The export is written to the audit log.",
        needs: CallerClass::Member(Area::Tiers, ApiAccess::Write),
        effect: OperationEffect::AuditedRead(&["tenant.exported"]),
        method: RouteMethod::Get,
        path: "/v1/folder/export",
    };

    async fn run(call: &HouseCall, _: ExportFolderInput) -> Result<ExportedFolderView, OperationError> {
        check_reach(&call.caller)?;
        let (tenant, shows_connectors) =
            (call.tenant.name.clone(), may_change_connectors(&call.caller).is_ok());
        let shows_channels = may_change_channels(&call.caller).is_ok();
        let shows_secrets = call.caller.is_keeper();
        call.read_audited(move |tx| {
            let tiers = history::list_stored(tx)?;
            let active = tiers.into_iter().filter(|tier| tier.status == TierStatus::Active);
            let mut all: Vec<FolderFileInput> = active
                .map(|tier| FolderFileInput {
                    path: files::render_path(tier.kind, &tier.name),
                    text: files::render(tier.kind, &tier.body),
                })
                .collect();
            let (mut missing, mut withheld) = (Vec::new(), Vec::new());
            let (connectors, holds_secrets) = render_connectors(tx)?;
            let withholds = !shows_connectors || (holds_secrets && !shows_secrets);
            let rest = [
                (POLICY_FILE, render_policy(tx)?, false),
                (CONNECTORS_FILE, connectors, withholds),
                (CHANNELS_FILE, render_channels(tx)?, !shows_channels),
            ];
            for (path, text, is_withheld) in rest {
                match text {
                    None => missing.push(path.to_owned()),
                    Some(_) if is_withheld => withheld.push(path.to_owned()),
                    Some(text) => all.push(FolderFileInput { path: path.to_owned(), text }),
                }
            }
            let payload = json!({ "files": all.len(), "withheld": withheld });
            tx.note("tenant.exported", tenant.as_str(), payload);
            Ok(ExportedFolderView { tenant, files: all, missing, withheld })
        })
        .await
    }
}

/// None where there is none.
fn render_policy(tx: &mut Tx<'_>) -> Result<Option<String>, OperationError> {
    let (version, stored) = policy::load_current(tx)?;
    Ok(if version == 0 { None } else { Some(policy::to_toml(&stored)?) })
}

/// With it, whether a value stands in it that may be a secret.
fn render_connectors(tx: &mut Tx<'_>) -> Result<(Option<String>, bool), OperationError> {
    let (version, stored) = rows::load_entries(tx).map_err(convert_connector_error)?;
    let text = (version > 0).then(|| entries::to_toml(&stored)).transpose();
    Ok((text.map_err(convert_connector_error)?, stored.0.values().any(ConnectorEntry::holds_plain_values)))
}

/// Secrets stand in it by their names alone.
fn render_channels(tx: &mut Tx<'_>) -> Result<Option<String>, OperationError> {
    let (version, stored) = channel_rows::load_accounts(tx).map_err(convert_channel_error)?;
    let text = (version > 0).then(|| accounts::to_toml(&stored)).transpose();
    text.map_err(convert_channel_error)
}
