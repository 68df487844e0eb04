//! What other processes have changed, as the database says.

use std::collections::HashMap;
use std::time::Duration;

use munshi_conversations::LIVE;
use munshi_conversations::session_changes::{self, ChangedSession};
use munshi_store::{Db, Result};
use munshi_types::{Clock, SessionId, TenantId, Timestamp};

/// One indexed statement a node that almost always finds nothing new.
const PAUSE_OF_NODES: Duration = Duration::from_millis(300);
/// A file has one server. What changes it beside that is a command that somebody types.
const PAUSE_OF_A_FILE: Duration = Duration::from_millis(500);
/// A change is stored under the time at which its unit was begun, by its node's own clock: one may appear behind another that
/// was seen. Most appear within this time.
const LOOKBACK: Duration = Duration::from_secs(5);
/// The rest within this: a unit may wait for its turn as long as half of it, and run for the other half.
const LONGEST_LOOKBACK: Duration = Duration::from_secs(60);
/// Every so many looks go back that far.
const LONG_LOOKS: u32 = 16;

/// How long it is from one look to the next.
pub(crate) fn pause(db: &Db) -> Duration {
    if db.engine() == "sqlite" { PAUSE_OF_A_FILE } else { PAUSE_OF_NODES }
}

/// What was told already of the last minute, so that each change wakes once.
#[derive(Default)]
pub(crate) struct RemoteChanges {
    told: HashMap<(TenantId, SessionId), (Timestamp, i64)>,
    looks: u32,
}

impl RemoteChanges {
    /// Looks once, and gives what has changed since the last look.
    pub(crate) async fn look(&mut self, db: &Db, clock: &dyn Clock) -> Result<Vec<ChangedSession>> {
        let now = clock.now();
        let is_long = self.looks.is_multiple_of(LONG_LOOKS);
        let since = now.minus(if is_long { LONGEST_LOOKBACK } else { LOOKBACK });
        let changed = db.platform(LIVE).read(move |tx| session_changes::list_changed(tx, since)).await?;
        self.looks = self.looks.wrapping_add(1);
        if is_long {
            let oldest = now.minus(LONGEST_LOOKBACK * 2);
            self.told.retain(|_, (changed_at, _)| *changed_at > oldest);
        }
        Ok(changed.into_iter().filter(|one| self.is_new(one)).collect())
    }

    fn is_new(&mut self, changed: &ChangedSession) -> bool {
        let state = (changed.changed_at, changed.messages);
        self.told.insert((changed.tenant, changed.session), state) != Some(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::IdGenerator;

    #[test]
    fn a_change_is_told_once_and_the_next_again() {
        let (mut changes, ids) = (RemoteChanges::default(), IdGenerator::system());
        let first = ChangedSession {
            tenant: ids.next(),
            session: ids.next(),
            changed_at: Timestamp::EPOCH,
            messages: 1,
        };
        let second = ChangedSession { messages: 2, ..first };
        let later = ChangedSession { changed_at: Timestamp::from_micros(1), ..second };
        let new = [first, first, second, second, later, later].map(|one| changes.is_new(&one));
        assert_eq!(new, [true, false, true, false, true, false]);
    }
}
