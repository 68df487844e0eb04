//! The models that a tenant is answered by, use by use, where the installation's choice is not to hold.

use std::collections::BTreeMap;

use munshi_llm::gateway::Capability;
use munshi_store::{JsonText, Tx, params};
use munshi_types::Timestamp;

use crate::error::Result;

/// Names of models, the first choice first. A use that is not there is the installation's.
pub type TenantModels = BTreeMap<Capability, Vec<String>>;

/// A use that this version does not know is left where it is, for the one that does.
pub fn load(tx: &mut Tx<'_>) -> Result<TenantModels> {
    let rows = tx.all(
        "SELECT capability, models FROM tenant_models WHERE tenant_id = $1 ORDER BY capability",
        &[],
        |row| Ok((row.get::<String>(0)?, row.get::<JsonText>(1)?)),
    )?;
    let mut models = TenantModels::new();
    for (capability, names) in rows {
        if let Ok(capability) = capability.parse() {
            models.insert(capability, names.read()?);
        }
    }
    Ok(models)
}

/// Lets these answer; with none the installation's choice holds again. Whoever calls it says before that the tenant
/// changes ([`crate::mark_tenant_changed`]), and tells the audit.
pub fn set(tx: &mut Tx<'_>, capability: Capability, models: &[String], now: Timestamp) -> Result<()> {
    if models.is_empty() {
        tx.execute(
            "DELETE FROM tenant_models WHERE tenant_id = $1 AND capability = $2",
            params![capability.as_str()],
        )?;
    } else {
        tx.execute(
            "INSERT INTO tenant_models (tenant_id, capability, models, changed_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (tenant_id, capability) DO UPDATE SET models = excluded.models, changed_at = excluded.changed_at",
            params![capability.as_str(), JsonText::of(&models)?, now],
        )?;
    }
    Ok(())
}
