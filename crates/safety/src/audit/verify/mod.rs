//! Walking a chain from its first entry to its end, beside the anchors that were kept elsewhere.
//!
//! # Layout
//! - [`finding`]: what can be wrong, in words; `fault`: telling which of them it is
//! - [`Chain`]: what came of one chain; [`Survey`]: of all of them, and of the file of anchors

mod fault;
mod finding;
mod survey;

pub use finding::{Fault, Finding};
pub use survey::{Survey, survey};

use munshi_store::Db;
use munshi_types::TenantId;
use serde::Serialize;

use super::anchors::Anchor;
use super::entry::{Entry, Event, Hash};
use super::read::{self, PAGE, is_unreadable};
use crate::error::Result;

/// What came of one chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chain {
    pub tenant: TenantId,
    /// How many entries were found sound, one after the other.
    pub entries: i64,
    /// The hash of the last of them.
    pub hash: Hash,
    /// How many anchors were met.
    pub anchors: usize,
    pub finding: Option<Finding>,
}

/// Reads a whole chain and says what is wrong first, if anything is. Entries added meanwhile are left for next time.
pub async fn verify(db: &Db, tenant: TenantId, anchors: &[Anchor]) -> Result<Chain> {
    Ok(walk(db, tenant, anchors).await?.0)
}

/// The same, with what the entries say about the file of anchors.
async fn walk(db: &Db, tenant: TenantId, anchors: &[Anchor]) -> Result<(Chain, Vec<Witness>)> {
    let (head, last, count) = db.read(tenant, read::ends).await?;
    let mut anchors: Vec<&Anchor> = anchors.iter().filter(|anchor| anchor.tenant == tenant).collect();
    anchors.sort_by_key(|anchor| anchor.seq);
    let mut walk = Walk { anchors: anchors.into(), ..Walk::new(tenant, last) };
    let mut finding = walk.rows(db).await?;
    if finding.is_none() {
        finding = walk.end(head);
    }
    if finding.is_none() && count != last {
        finding = db.read(tenant, read::twice).await?.map(|seq| Finding { seq, fault: Fault::Inserted });
    }
    Ok((Chain { finding, ..walk.chain }, walk.witnesses))
}

/// What an entry says about the file of anchors: it had so many lines, and this was the last one's link.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Witness {
    file: String,
    lines: u64,
    link: String,
}

struct Walk<'a> {
    chain: Chain,
    last: i64,
    /// Those still to be met, the nearest first.
    anchors: std::collections::VecDeque<&'a Anchor>,
    /// The number of the last one met.
    anchored: i64,
    witnesses: Vec<Witness>,
}

impl Walk<'_> {
    fn new(tenant: TenantId, last: i64) -> Self {
        let chain = Chain { tenant, entries: 0, hash: Hash::START, anchors: 0, finding: None };
        Self { chain, last, anchors: std::collections::VecDeque::new(), anchored: 0, witnesses: Vec::new() }
    }

    async fn rows(&mut self, db: &Db) -> Result<Option<Finding>> {
        let (tenant, end, mut after) = (self.chain.tenant, self.last, i64::MIN);
        loop {
            let page = match readable(db, tenant, after).await? {
                Ok(page) => page,
                Err(seq) => return Ok(Some(Finding { seq, fault: Fault::Unreadable })),
            };
            for entry in page.iter().take_while(|entry| entry.seq <= end) {
                if !self.follows(entry) {
                    return fault::of(db, entry, &self.chain).await.map(Some);
                }
                if let Some(finding) = self.take(entry) {
                    return Ok(Some(finding));
                }
            }
            match page.last() {
                Some(entry) if entry.seq < end => after = entry.seq,
                _ => return Ok(None),
            }
        }
    }

    fn follows(&self, entry: &Entry) -> bool {
        entry.seq == self.chain.entries + 1
            && entry.prev == self.chain.hash
            && entry.computed_hash() == entry.hash
    }

    /// Goes on to a sound entry, past the anchors that were made there.
    fn take(&mut self, entry: &Entry) -> Option<Finding> {
        while let Some(anchor) = self.anchors.front().filter(|anchor| anchor.seq <= entry.seq) {
            if anchor.seq == entry.seq && anchor.hash != entry.hash {
                return Some(Finding {
                    seq: self.anchored + 1,
                    fault: Fault::Rewritten { until: entry.seq },
                });
            }
            self.anchored = anchor.seq;
            self.chain.anchors += 1;
            self.anchors.pop_front();
        }
        (self.chain.entries, self.chain.hash) = (entry.seq, entry.hash);
        if entry.event == Event::AUDIT_ANCHORED.as_str() {
            self.witnesses.extend(Witness::of(&entry.payload));
        }
        None
    }

    /// Whether the chain ends where its head and the anchors say.
    fn end(&self, head: Option<read::Head>) -> Option<Finding> {
        let (last, hash) = (self.chain.entries, self.chain.hash);
        let anchored = self.anchors.back().map_or(0, |anchor| anchor.seq);
        let promised = anchored.max(head.map_or(0, |head| head.seq));
        if promised > last {
            return Some(Finding { seq: last + 1, fault: Fault::Cut { until: promised } });
        }
        match head {
            None if last == 0 => None,
            Some(head) if head.seq == last && head.hash == hash => None,
            Some(head) if head.seq < last => Some(Finding { seq: head.seq + 1, fault: Fault::PastTheHead }),
            _ => Some(Finding { seq: last, fault: Fault::Head }),
        }
    }
}

/// The next entries; one alone where a page holds something that can't be read, or its number if that is the one.
async fn readable(db: &Db, tenant: TenantId, after: i64) -> Result<Result<Vec<Entry>, i64>> {
    for count in [PAGE, 1] {
        match db.read(tenant, move |tx| read::page(tx, after, count)).await {
            Err(error) if is_unreadable(&error) => {}
            page => return page.map(Ok),
        }
    }
    db.read(tenant, move |tx| read::next_seq(tx, after)).await.map(Err)
}

impl Witness {
    fn of(payload: &str) -> Option<Self> {
        let payload: serde_json::Value = serde_json::from_str(payload).ok()?;
        Some(Self {
            file: payload["file"].as_str()?.to_owned(),
            lines: payload["lines"].as_u64()?,
            link: payload["link"].as_str()?.to_owned(),
        })
    }
}
