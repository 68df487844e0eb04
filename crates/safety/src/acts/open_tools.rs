//! Which tools are open to somebody, before anybody says with which arguments.

use munshi_store::Tx;

use super::services::ActServices;
use crate::error::Result;
use crate::pipeline::{PolicyRequest, Proposal, is_open};

/// Whether each of these would pass the stages that ask who, through which door and how far. Nothing is counted, set
/// aside or written; what a call's own arguments lead to is decided when it is made.
pub fn check_open(tx: &mut Tx<'_>, act_services: &ActServices, proposals: &[Proposal]) -> Result<Vec<bool>> {
    let (policy, tenant) = (act_services.load_policy(tx)?, act_services.load_tenant_status(tx)?);
    proposals.iter().map(|proposal| is_open(&PolicyRequest { proposal, policy: &policy, tenant })).collect()
}
