//! Walking a chain from its first entry to its end, beside the anchors that were kept elsewhere.
//!
//! # Layout
//! - [`finding`]: what can be wrong, in words; `fault`: telling which of them it is
//! - [`ChainVerification`]: what came of one chain; [`AuditVerification`]: of all of them, and of the file of anchors

mod all_chains;
mod fault;
mod finding;

pub use all_chains::{AuditVerification, verify_chains};
pub use finding::{ChainFault, ChainFinding};

use munshi_store::Db;
use munshi_types::TenantId;
use serde::Serialize;

use std::collections::{BTreeSet, VecDeque};

use super::anchors::{Anchor, AnchorFileWitness};
use super::entry::{AuditEntry, AuditEvent, ChainHash};
use super::read::{self, ChainHead, PAGE, is_unreadable};
use crate::error::Result;

/// What came of one chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChainVerification {
    pub tenant: TenantId,
    /// How many entries were found sound, one after the other.
    pub entries: i64,
    /// The hash of the last of them.
    pub hash: ChainHash,
    /// How many anchors were met.
    pub anchors: usize,
    pub finding: Option<ChainFinding>,
}

/// Reads a whole chain and says what is wrong first, if anything is. Entries added meanwhile are left for next time.
pub async fn verify(db: &Db, tenant: TenantId, anchors: &[Anchor]) -> Result<ChainVerification> {
    Ok(verify_against(db, tenant, anchors.iter().map(Anchor::head)).await?.0)
}

/// The same against ends that the chain is known to have had, with what its entries say about the file of anchors.
async fn verify_against(
    db: &Db,
    tenant: TenantId,
    ends: impl Iterator<Item = ChainHead>,
) -> Result<(ChainVerification, Witnesses)> {
    let (head, last, count) = db.read(tenant, read::load_ends).await?;
    let ends: BTreeSet<ChainHead> = ends.filter(|end| end.tenant == tenant).collect();
    let mut walk = Walk { ends: ends.into_iter().collect(), ..Walk::new(tenant, last) };
    let mut finding = walk.verify_rows(db).await?;
    if finding.is_none() {
        finding = walk.check_end(head);
    }
    if finding.is_none() && count != last {
        finding = db
            .read(tenant, read::find_duplicate_seq)
            .await?
            .map(|seq| ChainFinding { seq, fault: ChainFault::Inserted });
    }
    Ok((ChainVerification { finding, ..walk.chain }, walk.witnesses))
}

/// The first entry from `mark` to `head` that does not follow the one before, without asking what was done to it.
pub(super) async fn find_first_broken(
    db: &Db,
    mark: Option<&ChainHead>,
    head: &ChainHead,
) -> Result<Option<i64>> {
    let start = ChainHead { tenant: head.tenant, seq: 0, hash: ChainHash::START };
    let mark = mark.copied().unwrap_or(start);
    let mut walk = Walk::new(head.tenant, head.seq);
    (walk.chain.entries, walk.chain.hash) = (mark.seq, mark.hash);
    if mark.seq > 0 && !is_entry_intact(db, &mark).await? {
        return Ok(Some(mark.seq));
    }
    let mut after = mark.seq;
    while after < head.seq {
        let Ok(page) = read_page(db, head.tenant, after).await? else { return Ok(Some(after + 1)) };
        for entry in page.iter().take_while(|entry| entry.seq <= head.seq) {
            if !walk.follows(entry) {
                return Ok(Some(walk.chain.entries + 1));
            }
            (walk.chain.entries, walk.chain.hash) = (entry.seq, entry.hash);
        }
        match page.last() {
            Some(entry) => after = entry.seq,
            None => break,
        }
    }
    let is_the_end = (walk.chain.entries, walk.chain.hash) == (head.seq, head.hash);
    Ok((!is_the_end).then_some(walk.chain.entries.min(head.seq) + 1))
}

/// Whether the entry of this number is there, whole, and has this hash.
async fn is_entry_intact(db: &Db, mark: &ChainHead) -> Result<bool> {
    let before = mark.seq - 1;
    match db.read(mark.tenant, move |tx| read::list_after(tx, before, 1)).await {
        Err(error) if is_unreadable(&error) => Ok(false),
        page => Ok(page?.first().is_some_and(|entry| {
            entry.seq == mark.seq && entry.hash == mark.hash && entry.computed_hash() == entry.hash
        })),
    }
}

/// What entries say about the file of anchors.
#[derive(Debug, Default)]
struct Witnesses {
    /// Of the file in use: what was said of one before is settled once somebody began another.
    of_file: Vec<AnchorFileWitness>,
    /// Ends of chains, whatever became of the file.
    ends: Vec<ChainHead>,
}

struct Walk {
    chain: ChainVerification,
    last: i64,
    /// Those still to be met, the nearest first.
    ends: VecDeque<ChainHead>,
    /// The number of the last one met.
    anchored: i64,
    witnesses: Witnesses,
}

impl Walk {
    fn new(tenant: TenantId, last: i64) -> Self {
        let chain =
            ChainVerification { tenant, entries: 0, hash: ChainHash::START, anchors: 0, finding: None };
        Self { chain, last, ends: VecDeque::new(), anchored: 0, witnesses: Witnesses::default() }
    }

    async fn verify_rows(&mut self, db: &Db) -> Result<Option<ChainFinding>> {
        let (tenant, end, mut after) = (self.chain.tenant, self.last, i64::MIN);
        loop {
            let page = match read_page(db, tenant, after).await? {
                Ok(page) => page,
                Err(seq) => return Ok(Some(ChainFinding { seq, fault: ChainFault::Unreadable })),
            };
            for entry in page.iter().take_while(|entry| entry.seq <= end) {
                if !self.follows(entry) {
                    return fault::diagnose(db, entry, &self.chain).await.map(Some);
                }
                if let Some(finding) = self.advance(entry) {
                    return Ok(Some(finding));
                }
            }
            match page.last() {
                Some(entry) if entry.seq < end => after = entry.seq,
                _ => return Ok(None),
            }
        }
    }

    fn follows(&self, entry: &AuditEntry) -> bool {
        entry.seq == self.chain.entries + 1
            && entry.prev == self.chain.hash
            && entry.computed_hash() == entry.hash
    }

    /// Goes on to a sound entry, past the anchors that were made there.
    fn advance(&mut self, entry: &AuditEntry) -> Option<ChainFinding> {
        while let Some(anchor) = self.ends.front().copied().filter(|anchor| anchor.seq <= entry.seq) {
            if anchor.seq == entry.seq && anchor.hash != entry.hash {
                return Some(ChainFinding {
                    seq: self.anchored + 1,
                    fault: ChainFault::Rewritten { until: entry.seq },
                });
            }
            self.anchored = anchor.seq;
            self.chain.anchors += 1;
            self.ends.pop_front();
        }
        (self.chain.entries, self.chain.hash) = (entry.seq, entry.hash);
        self.collect_witness(entry);
        None
    }

    fn collect_witness(&mut self, entry: &AuditEntry) {
        if self.chain.tenant != TenantId::PLATFORM {
            return;
        }
        if entry.event == AuditEvent::AUDIT_ANCHORS_RESTARTED.as_str() {
            self.witnesses.of_file.clear();
        } else if entry.event == AuditEvent::AUDIT_ANCHORED.as_str()
            && let Some(witness) = AnchorFileWitness::parse(&entry.payload)
        {
            self.witnesses.ends.extend(&witness.ends);
            self.witnesses.of_file.push(witness);
        }
    }

    /// Whether the chain ends where its head and the anchors say.
    fn check_end(&self, head: Option<ChainHead>) -> Option<ChainFinding> {
        let (last, hash) = (self.chain.entries, self.chain.hash);
        let anchored = self.ends.back().map_or(0, |anchor| anchor.seq);
        let promised = anchored.max(head.map_or(0, |head| head.seq));
        if promised > last {
            return Some(ChainFinding { seq: last + 1, fault: ChainFault::Cut { until: promised } });
        }
        match head {
            None if last == 0 => None,
            Some(head) if head.seq == last && head.hash == hash => None,
            Some(head) if head.seq < last => {
                Some(ChainFinding { seq: head.seq + 1, fault: ChainFault::PastTheHead })
            }
            _ => Some(ChainFinding { seq: last, fault: ChainFault::Head }),
        }
    }
}

/// The next entries; one alone where a page holds something that can't be read, or its number if that is the one.
async fn read_page(db: &Db, tenant: TenantId, after: i64) -> Result<Result<Vec<AuditEntry>, i64>> {
    for count in [PAGE, 1] {
        match db.read(tenant, move |tx| read::list_after(tx, after, count)).await {
            Err(error) if is_unreadable(&error) => {}
            page => return page.map(Ok),
        }
    }
    db.read(tenant, move |tx| read::next_seq(tx, after)).await.map(Err)
}
