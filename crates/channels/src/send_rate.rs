//! How many messages an account sends in a minute.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use munshi_types::{OutboundPurpose, Timestamp};

const MINUTE: Duration = Duration::from_secs(60);

/// Where an account names no limit, so many codes leave in a minute.
const MOST_CODES: usize = 60;

/// Too much leaves at once: what may not leave now, and when it may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SendLimit {
    pub(crate) what: String,
    pub(crate) after: Duration,
}

/// Counts what left in the minute before. On each node for itself: the provider's own refusal is the last word.
#[derive(Debug)]
pub(crate) struct SendRate {
    per_minute: Option<u16>,
    sent: Mutex<VecDeque<Timestamp>>,
}

impl SendRate {
    pub(crate) fn new(per_minute: Option<u16>) -> Self {
        Self { per_minute, sent: Mutex::default() }
    }

    /// Leave to send one more, or when there will be. Somebody waits for a code: it may go beyond the limit, and no further than twice
    /// as far.
    pub(crate) fn take(&self, purpose: OutboundPurpose, now: Timestamp) -> Result<(), SendLimit> {
        let named = self.per_minute.map(usize::from);
        let most = match purpose {
            OutboundPurpose::Code => named.map_or(MOST_CODES, |most| most.saturating_mul(2)),
            _ => match named {
                Some(most) => most,
                None => return Ok(()),
            },
        };
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        while sent.front().is_some_and(|at| now.since(*at) >= MINUTE) {
            sent.pop_front();
        }
        match sent.front() {
            Some(oldest) if sent.len() >= most => {
                let wait = oldest.plus(MINUTE).since(now).max(Duration::from_secs(1));
                let what = format!("{most} messages left by this channel in the last minute");
                Err(SendLimit { what, after: wait })
            }
            _ => {
                sent.push_back(now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_leave_in_a_minute_than_may() {
        let rate = SendRate::new(Some(2));
        let begun = Timestamp::from_micros(1_800_000_000_000_000);
        let at = |seconds| begun.plus(Duration::from_secs(seconds));
        let reply = OutboundPurpose::Reply;
        assert!(rate.take(reply, at(0)).is_ok() && rate.take(reply, at(20)).is_ok());
        let refused = rate.take(reply, at(30)).unwrap_err();
        assert_eq!(refused.after, Duration::from_secs(30));
        assert!(rate.take(OutboundPurpose::Code, at(31)).is_ok(), "somebody waits for it");
        assert!(rate.take(reply, at(60)).is_err(), "the code counts");
        assert!(rate.take(reply, at(80)).is_ok());
        let open = SendRate::new(None);
        for _ in 0..=MOST_CODES {
            assert!(open.take(reply, at(0)).is_ok());
        }
        for _ in 0..MOST_CODES {
            assert!(open.take(OutboundPurpose::Code, at(0)).is_ok(), "others don't count here");
        }
        assert!(open.take(OutboundPurpose::Code, at(0)).is_err(), "codes have an end too");
    }

    #[test]
    fn codes_go_beyond_the_limit_and_not_for_ever() {
        let rate = SendRate::new(Some(2));
        let begun = Timestamp::from_micros(1_800_000_000_000_000);
        for _ in 0..4 {
            assert!(rate.take(OutboundPurpose::Code, begun).is_ok());
        }
        let refused = rate.take(OutboundPurpose::Code, begun).unwrap_err();
        assert_eq!(refused.after, MINUTE);
    }
}
