//! `munshi ledger …`: the books from the command line.

mod check;
mod day_book;
mod export;
mod import;
mod item;
mod profile;

use munshi_pack::{BadPack, CommandFailed, Room};
use munshi_store::{Db, PlatformTx, tenants};
use munshi_types::{TenantId, Zone};

use crate::error::Error;

pub(crate) fn install(room: &mut Room<'_>) -> Result<(), BadPack> {
    room.command(profile::SetProfile)?;
    room.command(item::SetItem)?;
    room.command(day_book::ShowDayBook)?;
    room.command(export::ExportBooks)?;
    room.command(import::ImportBooks)?;
    room.command(check::CheckBooks)
}

/// The tenant's, by which its days begin.
async fn zone(db: &Db, id: TenantId) -> Result<Zone, CommandFailed> {
    let find = move |tx: &mut PlatformTx<'_>| tenants::find(tx, id);
    let found = db.platform(tenants::TENANTS).read(find).await?;
    found.map(|tenant| tenant.zone).ok_or_else(|| CommandFailed::new("the tenant is gone"))
}

impl From<Error> for CommandFailed {
    fn from(error: Error) -> Self {
        Self::new(error.to_string())
    }
}
