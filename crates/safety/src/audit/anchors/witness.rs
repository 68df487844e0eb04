//! What the installation's chain says about the file of anchors: how long it was, how it ended, and which ends of chains
//! its last lines held. So the file can't be cut, emptied or taken away unseen, and the ends outlive it.

use serde_json::{Value, json};

use super::file::{Anchor, AnchorFileFlaw, Anchors};
use crate::audit::entry::ChainHash;
use crate::audit::read::ChainHead;

/// So many ends stand in one entry: more would be too large for a payload.
pub(super) const ENDS: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnchorFileWitness {
    /// The link of the file's first line.
    file: ChainHash,
    lines: u64,
    /// The link of the last of them.
    link: ChainHash,
    pub(crate) ends: Vec<ChainHead>,
}

impl AnchorFileWitness {
    /// None where there is nothing to remember.
    pub(super) fn new(file: ChainHash, made: &[Anchor]) -> Option<Self> {
        let last = made.last()?;
        let ends = made.iter().map(Anchor::head).collect();
        Some(Self { file, lines: last.line, link: last.link, ends })
    }

    pub(super) fn payload(&self) -> Value {
        let ends: Vec<Value> = self
            .ends
            .iter()
            .map(|end| json!({ "tenant": end.tenant, "seq": end.seq, "hash": end.hash }))
            .collect();
        json!({ "file": self.file, "lines": self.lines, "link": self.link, "made": ends.len(), "ends": ends })
    }

    pub(crate) fn parse(payload: &str) -> Option<Self> {
        let payload: Value = serde_json::from_str(payload).ok()?;
        let end = |end: &Value| {
            Some(ChainHead {
                tenant: end["tenant"].as_str()?.parse().ok()?,
                seq: end["seq"].as_i64()?,
                hash: end["hash"].as_str()?.parse().ok()?,
            })
        };
        Some(Self {
            file: payload["file"].as_str()?.parse().ok()?,
            lines: payload["lines"].as_u64()?,
            link: payload["link"].as_str()?.parse().ok()?,
            ends: payload["ends"].as_array().into_iter().flatten().filter_map(end).collect(),
        })
    }

    /// What it says against the file as it is now.
    pub(crate) fn find_contradiction(&self, anchors: &Anchors) -> Option<AnchorFileFlaw> {
        let Some(first) = anchors.list.first() else {
            return Some(AnchorFileFlaw {
                line: 1,
                what: "the file is missing or empty but was written before",
            });
        };
        if first.link != self.file {
            return Some(AnchorFileFlaw { line: 1, what: "this is not the file that was written" });
        }
        let at = usize::try_from(self.lines).ok()?.checked_sub(1)?;
        match anchors.list.get(at) {
            Some(line) if line.link == self.link => None,
            Some(_) => {
                Some(AnchorFileFlaw { line: self.lines, what: "it differs from the line that was written" })
            }
            None => {
                let line = anchors.list.len() as u64 + 1;
                Some(AnchorFileFlaw { line, what: "the file is truncated from here on" })
            }
        }
    }
}
