//! One-time codes and those who asked for them, from before addresses were sealed.

use munshi_store::{Error, Result, RowMark, SealedBy, Tx, params};
use munshi_types::{CodeId, Id};

use crate::address::ContactAddress;
use crate::codes::SHOWN_ADDRESS;
use crate::persons::AddressKey;

pub(super) fn seal_next(tx: &mut Tx<'_>, after: RowMark, limit: u32) -> Result<Option<RowMark>> {
    if after == RowMark::START {
        // They are held for a moment and counted by nobody.
        tx.execute(
            "DELETE FROM code_turns WHERE tenant_id = $1 AND whose NOT LIKE 'asker %' AND whose NOT LIKE '%hashed:1:%'",
            params![],
        )?;
    }
    let odd = || Error::Decode("a code has an unknown address kind".to_owned());
    let codes: Vec<(CodeId, ContactAddress)> = tx.all(
        (
            "SELECT id, kind, address FROM one_time_codes WHERE tenant_id = $1 AND id > $2 AND shown IS NULL
             ORDER BY id LIMIT $3",
            "SELECT id, kind, address FROM one_time_codes WHERE tenant_id = $1 AND id > $2 AND shown IS NULL
             ORDER BY id LIMIT $3 FOR NO KEY UPDATE",
        ),
        params![after.id, limit],
        |row| {
            let address = ContactAddress::from_stored(&row.get::<String>(1)?, row.get(2)?);
            Ok((row.get(0)?, address.ok_or_else(odd)?))
        },
    )?;
    for (id, address) in &codes {
        let key = AddressKey::of(tx, address)?;
        let shown = tx.seal(SealedBy::Tenant, SHOWN_ADDRESS.cell(*id), address.as_str())?;
        tx.execute(
            "UPDATE one_time_codes SET address = $3, shown = $4 WHERE tenant_id = $1 AND id = $2",
            params![*id, key.hashed, shown],
        )?;
    }
    Ok(codes.last().map(|(id, _)| RowMark { id: id.as_uuid(), number: 0 }))
}
