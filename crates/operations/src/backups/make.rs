//! Makes a verified copy of the database, while others go on working.

use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_store::maintenance::format_timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::BackupView;
use crate::{HouseCall, HouseServices};

/// Nothing: the copy is named by the time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MakeBackupInput {}

pub struct MakeBackup;

impl Operation<HouseServices> for MakeBackup {
    type Input = MakeBackupInput;
    type View = BackupView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "backups",
        noun: "backup",
        command: "backup",
        verb: "make",
        about: "Make a verified copy of the database in the data folder's backups. SQLite only: Postgres has tools of its own.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Write(&["backup.requested", "backup.made"]),
        method: RouteMethod::Create,
        path: "/v1/backups",
    };

    async fn run(call: &HouseCall, _: MakeBackupInput) -> Result<BackupView, OperationError> {
        if call.db.engine() != "sqlite" {
            return Err(OperationError::new(
                OperationErrorCode::Forbidden,
                "Backups of Postgres are made with its own tools.",
            )
            .hint("Run pg_dump as a login with BYPASSRLS, or use your provider's snapshots."));
        }
        let name = format!("munshi-{}.db", format_timestamp(call.now));
        let target = call.services.parts.backup_folder().join(&name);
        if target.exists() {
            return Err(OperationError::new(
                OperationErrorCode::Conflict,
                format!("A backup {name} is there already; nothing was overwritten."),
            )
            .hint("Make the next one a second later."));
        }
        let requested = name.clone();
        let asked = call.write(move |tx| {
            tx.note("backup.requested", requested, json!({}));
            Ok(())
        });
        asked.await?;
        call.db.backup(target.clone(), |_| {}).await?;
        let about = std::fs::metadata(&target).map_err(OperationError::internal)?;
        let view = BackupView::new(&target, &about);
        let bytes = view.bytes;
        let told = call.write(move |tx| {
            tx.note("backup.made", name, json!({ "bytes": bytes }));
            Ok(())
        });
        told.await?;
        Ok(view)
    }
}
