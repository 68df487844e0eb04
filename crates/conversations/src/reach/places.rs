//! Which address is next. It reads nothing and knows no clock, so that every case can be tried.

use std::time::Duration;

use munshi_types::Timestamp;
use uuid::Uuid;

/// What became of telling somebody at one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoticeRecord {
    /// A keyed hash of the address.
    pub recipient: Uuid,
    pub at: Timestamp,
    pub outcome: NoticeOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoticeOutcome {
    /// It waits for the morning: then it goes there, and nowhere else meanwhile.
    Held,
    /// It has not left, or nobody knows whether it arrived.
    Open,
    Sent,
    /// It surely did not arrive.
    Failed,
}

/// Whether somebody answers what they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerExpectation {
    /// A question: unanswered it goes to the next address.
    Yes,
    /// Something to know: once it has arrived nothing more is said of it.
    No,
}

/// The next of somebody's addresses to be told at, if it is time: each at most once.
pub(super) fn choose_next(
    places: &[Uuid],
    told: &[NoticeRecord],
    expected: AnswerExpectation,
    (now, next_after): (Timestamp, Duration),
) -> Option<usize> {
    if let Some(last) = told.iter().max_by_key(|one| one.at) {
        let is_time = match (last.outcome, expected) {
            (NoticeOutcome::Failed, _) => true,
            (NoticeOutcome::Held, _) | (NoticeOutcome::Sent, AnswerExpectation::No) => false,
            (NoticeOutcome::Open, _) | (NoticeOutcome::Sent, AnswerExpectation::Yes) => {
                now >= last.at.plus(next_after)
            }
        };
        if !is_time {
            return None;
        }
    }
    places.iter().position(|place| told.iter().all(|one| one.recipient != *place))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAUSE: Duration = Duration::from_secs(900);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn outcomes() -> impl Strategy<Value = NoticeOutcome> {
        prop::sample::select(vec![
            NoticeOutcome::Held,
            NoticeOutcome::Open,
            NoticeOutcome::Sent,
            NoticeOutcome::Failed,
        ])
    }

    proptest! {
        #[test]
        fn nobody_is_told_twice_at_one_address(
            places in prop::collection::vec(0u128..6, 0..6),
            told in prop::collection::vec((0u128..6, 0i64..5000, outcomes()), 0..6),
            now in 0i64..9000,
            is_question in any::<bool>(),
        ) {
            let places: Vec<Uuid> = places.into_iter().map(Uuid::from_u128).collect();
            let told: Vec<NoticeRecord> = told
                .into_iter()
                .map(|(place, when, outcome)| NoticeRecord { recipient: Uuid::from_u128(place), at: at(when), outcome })
                .collect();
            let expected = if is_question { AnswerExpectation::Yes } else { AnswerExpectation::No };
            if let Some(next) = choose_next(&places, &told, expected, (at(now), PAUSE)) {
                prop_assert!(told.iter().all(|one| one.recipient != places[next]));
                let last = told.iter().max_by_key(|one| one.at);
                let waited = last.is_none_or(|last| last.outcome == NoticeOutcome::Failed || at(now) >= last.at.plus(PAUSE));
                prop_assert!(waited, "the one before still has its time");
            }
        }
    }

    #[test]
    fn a_question_goes_on_and_news_that_arrived_do_not() {
        let places = [Uuid::from_u128(1), Uuid::from_u128(2)];
        let told = |outcome| [NoticeRecord { recipient: places[0], at: at(0), outcome }];
        let next = |outcome, expected, now| choose_next(&places, &told(outcome), expected, (at(now), PAUSE));
        assert_eq!(choose_next(&places, &[], AnswerExpectation::No, (at(0), PAUSE)), Some(0));
        assert_eq!(next(NoticeOutcome::Sent, AnswerExpectation::Yes, 899), None);
        assert_eq!(next(NoticeOutcome::Sent, AnswerExpectation::Yes, 900), Some(1));
        assert_eq!(next(NoticeOutcome::Sent, AnswerExpectation::No, 9000), None);
        assert_eq!(next(NoticeOutcome::Open, AnswerExpectation::No, 900), Some(1));
        assert_eq!(next(NoticeOutcome::Failed, AnswerExpectation::No, 1), Some(1));
        assert_eq!(next(NoticeOutcome::Held, AnswerExpectation::Yes, 9000), None);
    }
}
