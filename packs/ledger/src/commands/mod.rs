//! `munshi ledger …`: the books from the command line.

mod day_book;
mod export;
mod import;
mod item;

use munshi_pack::{InvalidPack, PackCommandError, PackInstaller};
use munshi_store::{Db, PlatformTx, tenants};
use munshi_types::{TenantId, Zone};

use crate::error::Error;

pub(crate) fn install(room: &mut PackInstaller<'_>) -> Result<(), InvalidPack> {
    room.add_command(item::SetItemCommand)?;
    room.add_command(day_book::ShowDayBookCommand)?;
    room.add_command(export::ExportBooksCommand)?;
    room.add_command(import::ImportBooksCommand)
}

/// The tenant's, by which its days begin.
async fn zone(db: &Db, id: TenantId) -> Result<Zone, PackCommandError> {
    let find = move |tx: &mut PlatformTx<'_>| tenants::find(tx, id);
    let found = db.platform(tenants::TENANTS).read(find).await?;
    found.map(|tenant| tenant.zone).ok_or_else(|| PackCommandError::new("the tenant no longer exists"))
}

impl From<Error> for PackCommandError {
    fn from(error: Error) -> Self {
        Self::new(error.to_string())
    }
}
