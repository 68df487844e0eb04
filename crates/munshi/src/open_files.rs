//! How many files the server may have open: each connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Beside the connections of people: the database, models, channels, logs.
const OTHERS: u64 = 1_000;

/// Fewer files may be open than the server may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenFileShortage {
    pub(crate) limit: u64,
    pub(crate) needed: u64,
}

/// Raises the soft limit to the hard one, which a process may do by itself: the soft one is low for the sake of programs that are much older.
/// Says where even that is too low for so many connections.
pub(crate) fn raise_limit(max_connections: usize) -> Option<OpenFileShortage> {
    let before = getrlimit(Resource::Nofile);
    let needed = count_needed(max_connections);
    for current in list_goals(before, needed) {
        let raised = Rlimit { current, ..before };
        match setrlimit(Resource::Nofile, raised) {
            Ok(()) => break,
            Err(error) => tracing::debug!(%error, ?raised, "the limit of open files can't be raised so far"),
        }
    }
    find_shortage(getrlimit(Resource::Nofile), needed)
}

/// Tells whoever runs the server what to do about it.
pub(crate) fn warn_of_shortage(shortage: OpenFileShortage) {
    let OpenFileShortage { limit, needed } = shortage;
    tracing::warn!(
        limit,
        needed,
        "too few files may be open for server.max_connections, so that connections fail before it is reached; raise the hard \
         limit (systemd: LimitNOFILE={needed}, a shell: ulimit -n {needed}) or lower server.max_connections"
    );
}

fn count_needed(max_connections: usize) -> u64 {
    u64::try_from(max_connections).unwrap_or(u64::MAX).saturating_add(OTHERS)
}

/// What to raise it to, the best first: some systems promise no end and give less.
fn list_goals(limit: Rlimit, needed: u64) -> Vec<Option<u64>> {
    let is_higher = |goal: &Option<u64>| match (goal, limit.current) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(goal), Some(current)) => *goal > current,
    };
    let least = limit.maximum.map_or(needed, |most| most.min(needed));
    [limit.maximum, Some(least)].into_iter().filter(is_higher).collect()
}

fn find_shortage(limit: Rlimit, needed: u64) -> Option<OpenFileShortage> {
    let limit = limit.current.filter(|limit| *limit < needed)?;
    Some(OpenFileShortage { limit, needed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_raised_as_far_as_it_may_be() {
        let before = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(64), ..before }).unwrap();
        let shortage = raise_limit(20_000);
        let after = getrlimit(Resource::Nofile);
        assert!(after.current.is_none_or(|limit| limit > 64), "{after:?}");
        assert_eq!(after.maximum, before.maximum);
        assert_eq!(shortage, find_shortage(after, 21_000));
        setrlimit(Resource::Nofile, before).unwrap();
    }

    #[test]
    fn a_limit_that_is_too_low_is_told() {
        let limit = |current, maximum| Rlimit { current, maximum };
        let short = find_shortage(limit(Some(4_096), Some(4_096)), count_needed(20_000));
        assert_eq!(short, Some(OpenFileShortage { limit: 4_096, needed: 21_000 }));
        assert_eq!(find_shortage(limit(Some(21_000), Some(21_000)), count_needed(20_000)), None);
        assert_eq!(find_shortage(limit(None, None), count_needed(20_000)), None);
        assert_eq!(list_goals(limit(Some(1_024), None), 21_000), [None, Some(21_000)]);
        assert_eq!(list_goals(limit(Some(1_024), Some(4_096)), 21_000), [Some(4_096), Some(4_096)]);
        assert!(list_goals(limit(Some(4_096), Some(4_096)), 21_000).is_empty());
    }
}
