//! The files of tenants' folders as they are sent, and what they would change.

use std::collections::{BTreeMap, BTreeSet};

use munshi_pack::operation::{OperationError, OperationErrorCode};
use munshi_tiers::files::{FolderSource, parse_sources};
use munshi_tiers::{ApplyPlan, VanishedTierPolicy, plan_folders};
use munshi_types::TenantName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::HouseCall;

pub const POLICY_FILE: &str = "policy.toml";
pub const CONNECTORS_FILE: &str = "connectors.toml";
pub const CHANNELS_FILE: &str = "channels.toml";

const MOST_FOLDERS: usize = 1_000;
const MOST_FILES: usize = 20_000;
const MOST_BYTES: usize = 64 * 1024 * 1024;
const LONGEST_PATH: usize = 4_096;

/// A tenant's folder.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TenantFolder)]
pub struct FolderInput {
    /// The tenant's name; for others than your own and for new ones a keeper's key is needed. Default: your own.
    #[schema(value_type = Option<String>)]
    pub tenant: Option<TenantName>,
    /// What problems call the folder, before the paths of its files.
    #[schema(max_length = 4096)]
    pub place: Option<String>,
    pub files: Vec<FolderFileInput>,
}

/// A file of a tenant's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = FolderFile)]
pub struct FolderFileInput {
    /// In the folder: `agents/plain.toml`, `policy.toml`.
    #[schema(max_length = 4096, example = "agents/plain.toml")]
    pub path: String,
    #[schema(max_length = 262144)]
    pub text: String,
}

/// What applying the folders would do. Changes nothing.
pub(super) async fn plan(
    call: &HouseCall,
    folders: Vec<FolderInput>,
    prune: bool,
) -> Result<Vec<ApplyPlan>, OperationError> {
    let sources = resolve_sources(call, folders)?;
    let parts = &call.services.parts;
    let parsed = parse_sources(&sources, &parts.folder_extensions()?, Vec::new())?;
    let vanished = if prune { VanishedTierPolicy::Archive } else { VanishedTierPolicy::Keep };
    Ok(plan_folders(&call.db, &parsed, vanished, &parts.installed_names()?).await?)
}

/// Whose folders they are, each once, and not too much of it.
fn resolve_sources(call: &HouseCall, folders: Vec<FolderInput>) -> Result<Vec<FolderSource>, OperationError> {
    check_bounds(&folders)?;
    let mut seen = BTreeSet::new();
    let mut sources = Vec::new();
    for folder in folders {
        let tenant = resolve_tenant(call, folder.tenant)?;
        if !seen.insert(tenant.clone()) {
            return Err(OperationError::field("folders", &format!("tenant {tenant} is named twice")));
        }
        let mut files = BTreeMap::new();
        for file in folder.files {
            if let Some(path) = files.insert(file.path.clone(), file.text).map(|_| file.path) {
                return Err(OperationError::field("files", &format!("{path} is named twice")));
            }
        }
        sources.push(FolderSource { tenant, place: folder.place.unwrap_or_default(), files });
    }
    Ok(sources)
}

/// A tenant's own key is for that tenant; the installation's keeper names which is meant, and may make one.
fn resolve_tenant(call: &HouseCall, named: Option<TenantName>) -> Result<TenantName, OperationError> {
    match (named, call.tenant.is_installation()) {
        (Some(name), true) => Ok(name),
        (None, true) => {
            Err(OperationError::new(OperationErrorCode::Invalid, "Say which tenant each folder is for.")
                .hint("Send its name as `tenant` of the folder."))
        }
        (None, false) => Ok(call.tenant.name.clone()),
        (Some(name), false) if name == call.tenant.name => Ok(name),
        (Some(name), false) => Err(OperationError::not_found("tenant", name.as_str())),
    }
}

fn check_bounds(folders: &[FolderInput]) -> Result<(), OperationError> {
    let wrong = |field: &str, what: String| Err(OperationError::field(field, &what));
    if folders.is_empty() || folders.len() > MOST_FOLDERS {
        return wrong("folders", format!("must be from 1 to {MOST_FOLDERS}"));
    }
    if folders.iter().map(|folder| folder.files.len()).sum::<usize>() > MOST_FILES {
        return wrong("files", format!("at most {MOST_FILES} in all"));
    }
    let places = folders.iter().filter_map(|folder| folder.place.as_ref());
    if places.clone().any(|place| place.len() > LONGEST_PATH || place.contains('\0')) {
        return wrong("place", format!("at most {LONGEST_PATH} bytes, without NUL"));
    }
    let mut size = 0_usize;
    for file in folders.iter().flat_map(|folder| &folder.files) {
        if file.path.is_empty() || file.path.len() > LONGEST_PATH {
            return wrong("path", format!("must have from 1 to {LONGEST_PATH} bytes"));
        }
        size = size.saturating_add(file.text.len());
    }
    if size > MOST_BYTES {
        return wrong("files", format!("at most {MOST_BYTES} bytes in all"));
    }
    Ok(())
}
