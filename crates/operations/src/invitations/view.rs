//! An invitation as it is shown.

use munshi_identity::Role;
use munshi_identity::links::{InvitationScope, LinkPurpose, OneTimeLink};
use munshi_pack::operation::OperationError;
use munshi_store::{PlatformTx, tenants};
use munshi_types::{LinkId, TenantName, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An open invitation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Invitation)]
pub struct InvitationView {
    #[schema(value_type = uuid::Uuid)]
    pub id: LinkId,
    pub email: String,
    /// None for a keeper of the installation.
    #[schema(value_type = Option<String>)]
    pub tenant: Option<TenantName>,
    #[schema(value_type = Option<crate::schemas::RoleSchema>)]
    pub role: Option<Role>,
    pub made_by: String,
    #[schema(value_type = String, format = DateTime)]
    pub made_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub ends_at: Timestamp,
}

impl InvitationView {
    /// None for a link that is no invitation.
    pub(super) fn load(tx: &mut PlatformTx<'_>, link: OneTimeLink) -> Result<Option<Self>, OperationError> {
        let LinkPurpose::Invitation { email, place } = link.purpose else { return Ok(None) };
        let (tenant, role) = match place {
            InvitationScope::Everywhere => (None, None),
            InvitationScope::Workspace { tenant, role } => {
                (tenants::find(tx, tenant)?.map(|found| found.name), Some(role))
            }
        };
        let OneTimeLink { id, made_by, made_at, ends_at, .. } = link;
        Ok(Some(Self { id, email, tenant, role, made_by, made_at, ends_at }))
    }
}
