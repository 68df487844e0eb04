//! Tools that are kept back because the tenant's policy does not declare what they are for.

use munshi_connectors::rows;
use munshi_safety::policy::{self, Policy};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest, Tx};
use munshi_tools::ToolRegistry;
use munshi_types::{ConsentPurposeName, Tenant, TenantStatus};

use crate::failure::{CommandFailure, Result};

/// A tool, or all tools of a connector, and the purpose that nobody can agree to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndeclaredPurpose {
    pub tool: String,
    pub purpose: ConsentPurposeName,
}

impl UndeclaredPurpose {
    /// For whoever applies the files.
    pub fn describe(&self) -> String {
        let Self { tool, purpose } = self;
        format!("tool {tool} is not offered: policy.toml has no [consent.purposes.{purpose}]")
    }
}

/// Those of the packs that a tenant has.
pub(crate) fn list_of_packs(registry: &ToolRegistry, policy: &Policy) -> Vec<UndeclaredPurpose> {
    let is_had = |pack: Option<&str>| pack.is_none_or(|pack| policy.packs.has(pack));
    let own = registry.all().filter(|tool| is_had(tool.known.pack.as_deref()));
    let named = own.filter_map(|tool| Some((tool.known.identity(), tool.known.spec.consent.as_ref()?)));
    collect(named, policy)
}

/// Those of the connectors that a file declares.
pub(crate) fn list_of_connectors(
    declared: &munshi_connectors::entries::ConnectorEntries,
    policy: &Policy,
) -> Vec<UndeclaredPurpose> {
    let named = declared.0.iter().flat_map(|(name, entry)| {
        let all = entry.consent.as_ref().map(|purpose| (format!("{name}.*"), purpose));
        let tools = entry.tools.iter();
        let each = tools
            .filter_map(move |(tool, declared)| Some((format!("{name}.{tool}"), declared.consent.as_ref()?)));
        all.into_iter().chain(each)
    });
    collect(named, policy)
}

fn collect<'a>(
    named: impl Iterator<Item = (String, &'a ConsentPurposeName)>,
    policy: &Policy,
) -> Vec<UndeclaredPurpose> {
    named
        .filter(|(_, purpose)| !policy.consent.declares(Some(purpose)))
        .map(|(tool, purpose)| UndeclaredPurpose { tool, purpose: purpose.clone() })
        .collect()
}

/// Those of every tenant that is not archived.
pub async fn list_undeclared(db: &Db) -> Result<Vec<(Tenant, UndeclaredPurpose)>> {
    let registry = crate::tools::registry()?;
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let request = PageRequest::new(after, PageRequest::LARGEST);
        let page = db.platform(TENANTS).read(move |tx| tenants::list(tx, &request)).await?;
        for tenant in page.items.into_iter().filter(|tenant| tenant.status != TenantStatus::Archived) {
            let registry = registry.clone();
            let read = move |tx: &mut Tx<'_>| -> Result<Vec<UndeclaredPurpose>> {
                let (_, policy) = policy::load_current(tx)?;
                let (_, declared) = rows::load_entries(tx).map_err(CommandFailure::from)?;
                let mut all = list_of_packs(&registry, &policy);
                all.extend(list_of_connectors(&declared, &policy));
                Ok(all)
            };
            let undeclared = db.read(tenant.id, read).await?;
            found.extend(undeclared.into_iter().map(|one| (tenant.clone(), one)));
        }
        after = page.next;
        if after.is_none() {
            return Ok(found);
        }
    }
}

/// Says so in the log, where a server starts. What can't be looked at keeps it from nothing.
pub async fn warn_of_undeclared(db: &Db) {
    match list_undeclared(db).await {
        Ok(found) => {
            for (tenant, UndeclaredPurpose { tool, purpose }) in found {
                tracing::warn!(tenant = %tenant.name, tool, %purpose,
                    "tool is not offered: policy.toml has no [consent.purposes] entry of that name");
            }
        }
        Err(failure) => tracing::warn!(error = failure.message, "purposes of consent can't be checked"),
    }
}
