//! The backups there are.

use std::io::ErrorKind;
use std::path::Path;

use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};

use super::BackupView;
use crate::named_list::NameListInput;
use crate::{HouseCall, HouseServices};

pub struct ListBackups;

impl Operation<HouseServices> for ListBackups {
    type Input = NameListInput;
    type View = ListView<BackupView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "backups",
        noun: "backup",
        command: "backups",
        verb: "list",
        about: "List the backups in the data folder, those before migrations among them, by name.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/backups",
    };

    async fn run(call: &HouseCall, input: NameListInput) -> Result<ListView<BackupView>, OperationError> {
        let all = find_backups(&call.services.parts.backup_folder()).map_err(OperationError::internal)?;
        input.paginate(all, |one| one.file.clone())
    }
}

/// Whole copies: one that is still being made has another ending. A folder that is not there yet has none.
fn find_backups(folder: &Path) -> std::io::Result<Vec<BackupView>> {
    let files = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        files => files?,
    };
    let mut found = Vec::new();
    for file in files {
        let (path, about) = match file.and_then(|file| Ok((file.path(), file.metadata()?))) {
            // Somebody cleared it away meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            known => known?,
        };
        if about.is_file() && path.extension().is_some_and(|ending| ending == "db") {
            found.push(BackupView::new(&path, &about));
        }
    }
    Ok(found)
}
