//! Who can be talked to on this installation, for whoever looks after it.

use std::collections::BTreeSet;

use munshi_server::access::AccessState;
use munshi_server::error::ApiError;
use munshi_server::visitor::binding_lookup;
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{PageRequest, PlatformTx};
use munshi_tiers::{AddressResolution, BindingResolution, history};
use munshi_types::tier::{Audience, TierKind, TierStatus};
use munshi_types::{Tenant, TenantName, TenantStatus};

use crate::pages::LetterAvatar;

/// More tenants are not looked through for one page, and more doors not shown on it.
const TENANTS_MOST: u32 = 40;
const DOORS_MOST: usize = 24;

/// A binding as the start page shows it.
pub(crate) struct BindingLink {
    pub(crate) place: String,
    pub(crate) name: String,
    /// The tenant.
    pub(crate) whose: String,
    /// For whom it is, as pages say it.
    pub(crate) whom: &'static str,
    pub(crate) about: String,
    pub(crate) face: LetterAvatar,
}

impl BindingLink {
    fn of(found: &BindingResolution) -> Self {
        let human = &found.human.body;
        let whom = match found.binding.door {
            Audience::Private => "start-for-owner",
            Audience::Work => "start-for-staff",
            Audience::Public | Audience::Distribution => "start-for-all",
        };
        Self {
            place: binding_lookup::public_name(found),
            name: human.name.clone(),
            whose: found.tenant_name.to_string(),
            whom,
            about: human.identity.clone(),
            face: LetterAvatar::of(&human.name),
        }
    }

    #[cfg(test)]
    pub(crate) fn sample(text: &str) -> Self {
        let text = || text.to_owned();
        Self {
            place: text(),
            name: text(),
            whose: text(),
            whom: "start-for-all",
            about: text(),
            face: LetterAvatar::of(&text()),
        }
    }
}

/// The doors that pages show, and the names of all tenants there are.
pub(super) async fn list_all(
    access: &AccessState,
) -> Result<(Vec<BindingLink>, BTreeSet<TenantName>), ApiError> {
    let read = |tx: &mut PlatformTx<'_>| tenants::list(tx, &PageRequest::new(None, TENANTS_MOST));
    let all = access.db.platform(TENANTS).read(read).await?.items;
    let mut doors = Vec::new();
    for tenant in &all {
        if doors.len() < DOORS_MOST {
            doors.extend(list_for_tenant(access, tenant).await?);
        }
    }
    doors.truncate(DOORS_MOST);
    Ok((doors, all.into_iter().map(|tenant| tenant.name).collect()))
}

/// The doors of one tenant that pages show; none while it rests.
pub(crate) async fn list_for_tenant(
    access: &AccessState,
    tenant: &Tenant,
) -> Result<Vec<BindingLink>, ApiError> {
    let mut doors = Vec::new();
    if tenant.status != TenantStatus::Active {
        return Ok(doors);
    }
    let tiers = history::list_tiers(&access.db, &tenant.name).await?;
    let bindings =
        tiers.iter().filter(|tier| tier.kind == TierKind::Binding && tier.status == TierStatus::Active);
    for binding in bindings {
        match access.resolver.resolve_by_name(&tenant.name, &binding.name, None).await? {
            AddressResolution::Bound(found) if binding_lookup::has_web_channel(&found) => {
                doors.push(BindingLink::of(&found));
            }
            _ => {}
        }
    }
    Ok(doors)
}
