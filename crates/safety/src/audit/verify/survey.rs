//! All chains at once, and the file of anchors beside them.

use std::collections::BTreeSet;

use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest};
use munshi_types::TenantId;
use serde::Serialize;

use super::{Chain, Witness, walk};
use crate::audit::anchors::{Anchors, Flaw};
use crate::audit::read;
use crate::error::Result;

/// What came of every chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Survey {
    pub chains: Vec<Chain>,
    /// How many lines the file of anchors has.
    pub anchors: usize,
    /// What is wrong with the file of anchors.
    pub flaw: Option<Flaw>,
}

impl Survey {
    pub fn is_sound(&self) -> bool {
        self.flaw.is_none() && self.broken().next().is_none()
    }

    pub fn broken(&self) -> impl Iterator<Item = &Chain> {
        self.chains.iter().filter(|chain| chain.finding.is_some())
    }

    pub fn entries(&self) -> i64 {
        self.chains.iter().map(|chain| chain.entries).sum()
    }
}

/// Verifies one tenant's chain, or every chain there is or was: those of the registry, of the heads and of the anchors.
pub async fn survey(db: &Db, only: Option<TenantId>, anchors: &Anchors) -> Result<Survey> {
    let tenants = match only {
        Some(tenant) => BTreeSet::from([tenant]),
        None => everyone(db, anchors).await?,
    };
    let (mut chains, mut flaw) = (Vec::new(), anchors.flaw.clone());
    for tenant in tenants {
        let (chain, witnesses) = walk(db, tenant, &anchors.list).await?;
        if tenant == TenantId::PLATFORM && flaw.is_none() {
            flaw = witnesses.iter().find_map(|witness| contradiction(witness, anchors));
        }
        chains.push(chain);
    }
    Ok(Survey { chains, anchors: anchors.list.len(), flaw })
}

async fn everyone(db: &Db, anchors: &Anchors) -> Result<BTreeSet<TenantId>> {
    let mut all: BTreeSet<TenantId> = anchors.list.iter().map(|anchor| anchor.tenant).collect();
    all.insert(TenantId::PLATFORM);
    all.extend(read::heads(db).await?.iter().map(|head| head.tenant));
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

/// The installation's own chain remembers how long this file was and how it ended.
fn contradiction(witness: &Witness, anchors: &Anchors) -> Option<Flaw> {
    let is_this_file = anchors.list.first().is_some_and(|first| first.link.to_string() == witness.file);
    if !is_this_file {
        return None;
    }
    let at = usize::try_from(witness.lines).ok()?.checked_sub(1)?;
    match anchors.list.get(at) {
        Some(line) if line.link.to_string() == witness.link => None,
        Some(_) => Some(Flaw { line: witness.lines, what: "it is not the line that was written" }),
        None => {
            let line = anchors.list.len() as u64 + 1;
            Some(Flaw { line, what: "the file was cut off from here" })
        }
    }
}
