//! Whose words a conversation has read, as its row keeps them: a bit each, so that runs at the same time only ever add.
//!
//! What was read once is told in every later turn: as a reply that quotes it, in the summary that stands for the reply, by
//! the names it brought. So it is not forgotten while the conversation lasts.

use std::collections::BTreeSet;

use munshi_safety::pipeline::Source;

const ALL: [Source; 4] = [Source::Visitor, Source::Document, Source::Connector, Source::Web];

/// Never given to another.
const fn bit(source: Source) -> i64 {
    match source {
        Source::Visitor => 1,
        Source::Document => 2,
        Source::Connector => 4,
        Source::Web => 8,
    }
}

pub(crate) fn bits(sources: &BTreeSet<Source>) -> i64 {
    sources.iter().fold(0, |bits, source| bits | bit(*source))
}

pub(crate) fn sources(bits: i64) -> BTreeSet<Source> {
    ALL.into_iter().filter(|source| bits & bit(*source) != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_sources_reads_back() {
        for number in 0..16 {
            assert_eq!(bits(&sources(number)), number);
        }
        assert_eq!(sources(15).len(), ALL.len());
    }
}
