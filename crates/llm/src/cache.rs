//! Where cache marks go. A mark ends a prefix, in the order tools, system, messages; at most four are allowed, and a
//! prefix below the provider's smallest size is not kept, so a mark there would be wasted.

use crate::chat::{CacheBreakpoint, CacheLifetime};

const MOST_MARKS: usize = 4;

/// Token estimates of a request's pieces, in the order the provider reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestTokenCounts {
    pub tools: u64,
    pub system: Vec<u64>,
    pub messages: Vec<u64>,
}

impl RequestTokenCounts {
    /// Tokens up to and with the place; none where there is no such place.
    fn prefix_tokens(&self, place: CacheBreakpoint) -> Option<u64> {
        let upto = |sizes: &[u64], index: usize| Some(sizes.get(..=index)?.iter().sum::<u64>());
        let system = || self.tools + self.system.iter().sum::<u64>();
        match place {
            CacheBreakpoint::AfterTools(_) => (self.tools > 0).then_some(self.tools),
            CacheBreakpoint::AfterSystem(index, _) => upto(&self.system, index).map(|size| self.tools + size),
            CacheBreakpoint::AfterMessage(index, _) => {
                upto(&self.messages, index).map(|size| system() + size)
            }
        }
    }
}

/// The marks to set, in prefix order. `minimum` is the provider's; 0 means that it takes no marks at all.
///
/// - Two wishes for one place are one mark, of the longer lifetime.
/// - A provider wants longer lifetimes before shorter ones: what stands before an hour's mark is kept an hour too.
/// - Of more than four the last stays, for it is the longest prefix, and those that add least go.
pub fn plan(wishes: &[CacheBreakpoint], sizes: &RequestTokenCounts, minimum: u32) -> Vec<CacheBreakpoint> {
    if minimum == 0 {
        return Vec::new();
    }
    let known = wishes.iter().filter_map(|wish| Some((*wish, sizes.prefix_tokens(*wish)?)));
    let mut marks: Vec<_> = known.filter(|(_, size)| *size >= u64::from(minimum)).collect();
    // The longer lifetime first, so that it is the one kept of two for one place.
    marks.sort_by_key(|(wish, _)| (position(*wish), lifetime(*wish) == CacheLifetime::FiveMinutes));
    marks.dedup_by_key(|(wish, _)| position(*wish));
    while marks.len() > MOST_MARKS {
        marks.remove(find_least_useful(&marks));
    }
    let mut longest = CacheLifetime::FiveMinutes;
    for (mark, _) in marks.iter_mut().rev() {
        if lifetime(*mark) == CacheLifetime::OneHour {
            longest = CacheLifetime::OneHour;
        }
        *mark = with_lifetime(*mark, longest);
    }
    marks.into_iter().map(|(mark, _)| mark).collect()
}

/// The mark, the last one aside, that adds the fewest tokens to the one before it.
fn find_least_useful(marks: &[(CacheBreakpoint, u64)]) -> usize {
    let before = |index: usize| index.checked_sub(1).and_then(|at| marks.get(at)).map_or(0, |mark| mark.1);
    let all_but_last = 0..marks.len().saturating_sub(1);
    all_but_last.min_by_key(|index| marks.get(*index).map(|mark| mark.1 - before(*index))).unwrap_or(0)
}

const fn position(mark: CacheBreakpoint) -> (u8, usize) {
    match mark {
        CacheBreakpoint::AfterTools(_) => (0, 0),
        CacheBreakpoint::AfterSystem(index, _) => (1, index),
        CacheBreakpoint::AfterMessage(index, _) => (2, index),
    }
}

const fn lifetime(mark: CacheBreakpoint) -> CacheLifetime {
    match mark {
        CacheBreakpoint::AfterTools(life)
        | CacheBreakpoint::AfterSystem(_, life)
        | CacheBreakpoint::AfterMessage(_, life) => life,
    }
}

const fn with_lifetime(mark: CacheBreakpoint, life: CacheLifetime) -> CacheBreakpoint {
    match mark {
        CacheBreakpoint::AfterTools(_) => CacheBreakpoint::AfterTools(life),
        CacheBreakpoint::AfterSystem(index, _) => CacheBreakpoint::AfterSystem(index, life),
        CacheBreakpoint::AfterMessage(index, _) => CacheBreakpoint::AfterMessage(index, life),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, any, prop, prop_oneof, proptest};
    use proptest::strategy::Strategy;

    use super::CacheBreakpoint::{AfterMessage, AfterSystem, AfterTools};
    use super::CacheLifetime::{FiveMinutes, OneHour};
    use super::*;

    fn sizes() -> RequestTokenCounts {
        RequestTokenCounts { tools: 2000, system: vec![300, 500], messages: vec![100, 900, 50] }
    }

    #[test]
    fn four_marks_in_the_order_the_provider_reads() {
        let wishes = [
            AfterMessage(1, FiveMinutes),
            AfterSystem(1, OneHour),
            AfterTools(OneHour),
            AfterMessage(2, FiveMinutes),
        ];
        let expected = [
            AfterTools(OneHour),
            AfterSystem(1, OneHour),
            AfterMessage(1, FiveMinutes),
            AfterMessage(2, FiveMinutes),
        ];
        assert_eq!(plan(&wishes, &sizes(), 1024), expected);
    }

    #[test]
    fn short_prefixes_and_places_that_are_not_there_get_none() {
        assert_eq!(
            plan(&[AfterTools(OneHour), AfterMessage(1, FiveMinutes)], &sizes(), 3000),
            [AfterMessage(1, FiveMinutes)]
        );
        assert_eq!(plan(&[AfterSystem(2, OneHour), AfterMessage(9, OneHour)], &sizes(), 1), []);
        let bare = RequestTokenCounts { messages: vec![5000], ..RequestTokenCounts::default() };
        assert_eq!(
            plan(&[AfterTools(OneHour), AfterMessage(0, OneHour)], &bare, 1024),
            [AfterMessage(0, OneHour)]
        );
        assert_eq!(plan(&[AfterTools(OneHour)], &sizes(), 0), [], "a provider that takes no marks");
    }

    #[test]
    fn what_stands_before_an_hour_is_kept_an_hour() {
        let wishes = [AfterTools(FiveMinutes), AfterSystem(0, OneHour), AfterMessage(1, FiveMinutes)];
        let expected = [AfterTools(OneHour), AfterSystem(0, OneHour), AfterMessage(1, FiveMinutes)];
        assert_eq!(plan(&wishes, &sizes(), 1024), expected);
    }

    #[test]
    fn of_too_many_the_ones_that_add_least_go() {
        let wishes = [
            AfterTools(FiveMinutes),
            AfterSystem(0, FiveMinutes),
            AfterSystem(1, FiveMinutes),
            AfterMessage(0, FiveMinutes),
            AfterMessage(1, FiveMinutes),
            AfterMessage(2, FiveMinutes),
        ];
        let expected = [
            AfterTools(FiveMinutes),
            AfterSystem(1, FiveMinutes),
            AfterMessage(1, FiveMinutes),
            AfterMessage(2, FiveMinutes),
        ];
        assert_eq!(plan(&wishes, &sizes(), 1024), expected);
    }

    fn wish() -> impl Strategy<Value = CacheBreakpoint> {
        let life = prop_oneof![Just(FiveMinutes), Just(OneHour)];
        (0..3_u8, 0..6_usize, life).prop_map(|(kind, index, life)| match kind {
            0 => AfterTools(life),
            1 => AfterSystem(index, life),
            _ => AfterMessage(index, life),
        })
    }

    proptest! {
        #[test]
        fn any_plan_is_one_the_provider_takes(
            wishes in prop::collection::vec(wish(), 0..12),
            tools in 0..5000_u64,
            system in prop::collection::vec(0..3000_u64, 0..4),
            messages in prop::collection::vec(0..3000_u64, 0..6),
            minimum in any::<u16>(),
        ) {
            let sizes = RequestTokenCounts { tools, system, messages };
            let marks = plan(&wishes, &sizes, u32::from(minimum));
            assert!(marks.len() <= MOST_MARKS);
            assert!(marks.windows(2).all(|pair| position(pair[0]) < position(pair[1])));
            let lives: Vec<_> = marks.iter().map(|mark| lifetime(*mark) == FiveMinutes).collect();
            assert!(lives.is_sorted(), "an hour after five minutes");
            for mark in &marks {
                assert!(sizes.prefix_tokens(*mark).unwrap() >= u64::from(minimum));
                assert!(wishes.iter().any(|wish| position(*wish) == position(*mark)));
            }
        }
    }
}
