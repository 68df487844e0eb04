//! What followers do while the database can't be read: each asks less and less often, at a beat of its own, and one of them says so.
//!
//! A node has as many followers as open pages. Were each to log and to ask every second, an outage would fill the disk, and its end
//! would begin with all of them at once.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Whether it was said, on this node, that following fails, since it went well last.
#[derive(Clone, Debug, Default)]
pub struct OutageNotice(Arc<AtomicBool>);

/// How often one follower has failed since it went well last.
#[derive(Debug, Default)]
pub struct RetryBackoff {
    tries: u32,
    /// Another for each follower.
    chance: RandomState,
}

/// What a follower does that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedLook {
    /// Nobody has logged it yet.
    pub is_news: bool,
    /// It asks again after this.
    pub pause: Duration,
}

impl RetryBackoff {
    pub fn fail(&mut self, notice: &OutageNotice) -> FailedLook {
        // What only one of them can't read is said once, too, however well the others go.
        let is_news = self.tries == 0 && !notice.0.swap(true, Ordering::Relaxed);
        let longest = FIRST_PAUSE.saturating_mul(1 << self.tries.min(8)).min(LONGEST_PAUSE);
        let share = u32::try_from(self.chance.hash_one(self.tries) % 1000).unwrap_or_default();
        self.tries = self.tries.saturating_add(1);
        FailedLook { is_news, pause: longest / 2 + longest / 2 * share / 1000 }
    }

    pub fn succeed(&mut self, notice: &OutageNotice) {
        self.tries = 0;
        if notice.0.swap(false, Ordering::Relaxed) {
            tracing::info!("following conversations recovered");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_asks_less_and_less_often_and_soon_again_once_it_went_well() {
        let (notice, mut backoff) = (OutageNotice::default(), RetryBackoff::default());
        for longest in [1, 2, 4, 8, 10, 10, 10].map(Duration::from_secs) {
            let pause = backoff.fail(&notice).pause;
            assert!(longest / 2 <= pause && pause <= longest, "{pause:?} of {longest:?}");
        }
        backoff.succeed(&notice);
        assert!(backoff.fail(&notice).pause <= FIRST_PAUSE);
    }

    #[test]
    fn they_do_not_ask_all_at_once() {
        let notice = OutageNotice::default();
        let pauses = (0..100).map(|_| RetryBackoff::default().fail(&notice).pause);
        let different: std::collections::BTreeSet<Duration> = pauses.collect();
        assert!(different.len() > 50, "{different:?}");
    }

    #[test]
    fn one_of_many_says_so_until_it_went_well() {
        let notice = OutageNotice::default();
        let mut followers: Vec<RetryBackoff> = (0..100).map(|_| RetryBackoff::default()).collect();
        let mut said = 0;
        for _ in 0..10 {
            said += followers.iter_mut().filter_map(|one| one.fail(&notice).is_news.then_some(())).count();
        }
        assert_eq!(said, 1);
        followers.iter_mut().for_each(|one| one.succeed(&notice));
        assert!(followers[7].fail(&notice).is_news, "the next outage is another");
        // One that fails where all others do not says so once.
        followers[8].succeed(&notice);
        assert!(!followers[7].fail(&notice).is_news);
    }
}
