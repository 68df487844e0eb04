//! `munshi ledger …`: the books from the command line.

mod check;
mod day_book;
mod export;
mod import;
mod item;
mod profile;

use munshi_pack::{InvalidPack, PackCommandError, PackInstaller};
use munshi_store::{Db, PlatformTx, tenants};
use munshi_types::{TenantId, Zone};

use crate::error::Error;

pub(crate) fn install(room: &mut PackInstaller<'_>) -> Result<(), InvalidPack> {
    room.command(profile::SetProfileCommand)?;
    room.command(item::SetItemCommand)?;
    room.command(day_book::ShowDayBookCommand)?;
    room.command(export::ExportBooksCommand)?;
    room.command(import::ImportBooksCommand)?;
    room.command(check::CheckBooksCommand)
}

/// The tenant's, by which its days begin.
async fn zone(db: &Db, id: TenantId) -> Result<Zone, PackCommandError> {
    let find = move |tx: &mut PlatformTx<'_>| tenants::find(tx, id);
    let found = db.platform(tenants::TENANTS).read(find).await?;
    found.map(|tenant| tenant.zone).ok_or_else(|| PackCommandError::new("the tenant is gone"))
}

impl From<Error> for PackCommandError {
    fn from(error: Error) -> Self {
        Self::new(error.to_string())
    }
}
