//! All chains at once, and the file of anchors beside them.

use std::collections::{BTreeSet, HashMap};

use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest};
use munshi_types::TenantId;
use serde::Serialize;

use super::{ChainVerification, verify_against};
use crate::audit::anchors::{Anchor, AnchorFileFlaw, Anchors};
use crate::audit::read::{self, ChainHead};
use crate::error::Result;

/// What came of every chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditVerification {
    pub chains: Vec<ChainVerification>,
    /// How many lines the file of anchors has.
    pub anchors: usize,
    /// What is wrong with the file of anchors.
    pub flaw: Option<AnchorFileFlaw>,
}

impl AuditVerification {
    pub fn is_sound(&self) -> bool {
        self.flaw.is_none() && self.broken_chains().next().is_none()
    }

    pub fn broken_chains(&self) -> impl Iterator<Item = &ChainVerification> {
        self.chains.iter().filter(|chain| chain.finding.is_some())
    }

    pub fn count_entries(&self) -> i64 {
        self.chains.iter().map(|chain| chain.entries).sum()
    }
}

/// Verifies one tenant's chain, or every chain there is or was: those of the registry, of the heads and of the anchors.
pub async fn verify_chains(db: &Db, only: Option<TenantId>, anchors: &Anchors) -> Result<AuditVerification> {
    let tenants = match only {
        Some(tenant) => BTreeSet::from([tenant]),
        None => list_chain_tenants(db, anchors).await?,
    };
    // The installation's chain first: it remembers how far the others were, should the file of anchors be gone.
    let own = anchors.list.iter().map(Anchor::head);
    let (platform, witnesses) = verify_against(db, TenantId::PLATFORM, own.clone()).await?;
    let contradiction = || witnesses.of_file.iter().find_map(|witness| witness.find_contradiction(anchors));
    let flaw = anchors.flaw.clone().or_else(contradiction);
    let mut ends: HashMap<TenantId, Vec<ChainHead>> = HashMap::new();
    own.chain(witnesses.ends).for_each(|end| ends.entry(end.tenant).or_default().push(end));
    let mut chains = Vec::new();
    for tenant in tenants {
        chains.push(match tenant {
            TenantId::PLATFORM => platform.clone(),
            tenant => verify_against(db, tenant, ends.remove(&tenant).into_iter().flatten()).await?.0,
        });
    }
    Ok(AuditVerification { chains, anchors: anchors.list.len(), flaw })
}

async fn list_chain_tenants(db: &Db, anchors: &Anchors) -> Result<BTreeSet<TenantId>> {
    let mut all: BTreeSet<TenantId> = anchors.list.iter().map(|anchor| anchor.tenant).collect();
    all.insert(TenantId::PLATFORM);
    all.extend(read::list_heads(db).await?.iter().map(|head| head.tenant));
    let mut after = None;
    loop {
        let request = PageRequest::new(after, PageRequest::LARGEST);
        let page = db.platform(TENANTS).read(move |tx| tenants::list(tx, &request)).await?;
        all.extend(page.items.iter().map(|tenant| tenant.id));
        after = page.next;
        if after.is_none() {
            return Ok(all);
        }
    }
}
