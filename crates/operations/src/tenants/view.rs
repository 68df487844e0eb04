//! A tenant as it is shown.

use munshi_types::{Tenant, TenantId, TenantName, TenantStatus, Timestamp, Zone};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A shop or business of the installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Tenant)]
pub struct TenantView {
    #[schema(value_type = uuid::Uuid)]
    pub id: TenantId,
    #[schema(value_type = String, example = "sharma-kirana")]
    pub name: TenantName,
    #[schema(value_type = String, example = "Asia/Kolkata")]
    pub zone: Zone,
    #[schema(value_type = crate::schemas::TenantStatusSchema)]
    pub status: TenantStatus,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<Tenant> for TenantView {
    fn from(tenant: Tenant) -> Self {
        let Tenant { id, name, zone, status, created_at } = tenant;
        Self { id, name, zone, status, created_at }
    }
}
