//! Tools that are kept back because the tenant's policy does not declare what they are for.

use munshi_connectors::{ConnectorStatus, rows};
use munshi_safety::policy::{self, Policy};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest, Tx};
use munshi_tools::ToolRegistry;
use munshi_types::{ConsentPurposeName, Tenant, TenantStatus, Timestamp};

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

/// Those of the connectors that run, as far as the file does not name them: a server may ask for a consent itself.
fn list_of_servers(
    states: &[(String, ConnectorStatus)],
    known: &[UndeclaredPurpose],
    policy: &Policy,
) -> Vec<UndeclaredPurpose> {
    let named = states.iter().flat_map(|(connector, status)| {
        let is_known = move |purpose: &ConsentPurposeName| {
            let of_connector = format!("{connector}.");
            known.iter().any(|one| one.purpose == *purpose && one.tool.starts_with(&of_connector))
        };
        let own = status.purposes.iter().filter(move |(_, purpose)| !is_known(purpose));
        own.map(|(tool, purpose)| (tool.clone(), purpose))
    });
    let mut all = collect(named, policy);
    all.sort_by(|one, other| one.tool.cmp(&other.tool));
    // Several nodes run the same.
    all.dedup();
    all
}

/// Those of every tenant that is not archived.
pub async fn list_undeclared(db: &Db, now: Timestamp) -> Result<Vec<(Tenant, UndeclaredPurpose)>> {
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
                let states = rows::list_states(tx, now).map_err(CommandFailure::from)?;
                all.extend(list_of_servers(&states, &all, &policy));
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
pub async fn warn_of_undeclared(db: &Db, now: Timestamp) {
    match list_undeclared(db, now).await {
        Ok(found) => {
            for (tenant, UndeclaredPurpose { tool, purpose }) in found {
                tracing::warn!(tenant = %tenant.name, tool, %purpose,
                    "tool is not offered: policy.toml has no [consent.purposes] entry of that name");
            }
        }
        Err(failure) => tracing::warn!(error = failure.message, "purposes of consent can't be checked"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_asks_for_itself_is_told_once() {
        let purposes =
            [("files_read", "records"), ("files_scan", "marketing"), ("files_list", "credit_check")];
        let purposes = purposes.map(|(tool, purpose)| (tool.to_owned(), purpose.parse().unwrap())).into();
        let status = ("files".to_owned(), ConnectorStatus { purposes, ..ConnectorStatus::default() });
        let policy =
            munshi_safety::policy::parse("[consent.purposes.credit_check]\ndays = 1\nwords = \"May we?\"\n");
        let known = UndeclaredPurpose { tool: "files.*".to_owned(), purpose: "records".parse().unwrap() };
        let found = list_of_servers(&[status.clone(), status], &[known], &policy.unwrap());
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((one.tool.as_str(), one.purpose.as_str()), ("files_scan", "marketing"));
    }
}
