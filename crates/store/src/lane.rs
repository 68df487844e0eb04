//! Which units go first where several wait: those that a person waits for, before those of work that nobody waits for.
//!
//! SQLite writes one group of units after another, so a unit there waits for a commit at most. On Postgres each takes a
//! connection and the server's processor for a while, and a few hundred runs of the background would keep people waiting.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// So long a unit of the background lets others pass; then it is in their row, so that it comes at all however many people there are.
const PATIENCE: Duration = Duration::from_millis(250);

tokio::task_local! {
    static BACKGROUND: ();
}

/// Whose work a unit is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitLane {
    People,
    Background,
}

impl UnitLane {
    /// Of the task that asks.
    pub(crate) fn current() -> Self {
        match BACKGROUND.try_with(|()| ()) {
            Ok(()) => Self::Background,
            Err(_) => Self::People,
        }
    }
}

/// Marks the units of this work as ones that nobody waits for: people's pass them. Tasks it spawns are not part of it.
pub async fn in_background<T>(work: impl Future<Output = T>) -> T {
    BACKGROUND.scope((), work).await
}

/// What waits, in both lanes.
pub(crate) struct LaneQueue<T> {
    people: VecDeque<(Instant, T)>,
    background: VecDeque<(Instant, T)>,
}

impl<T> Default for LaneQueue<T> {
    fn default() -> Self {
        Self { people: VecDeque::new(), background: VecDeque::new() }
    }
}

impl<T> LaneQueue<T> {
    pub(crate) fn push(&mut self, lane: UnitLane, waiting: T) {
        let queue = match lane {
            UnitLane::People => &mut self.people,
            UnitLane::Background => &mut self.background,
        };
        queue.push_back((Instant::now(), waiting));
    }

    pub(crate) fn len(&self) -> usize {
        self.people.len() + self.background.len()
    }

    /// The next one. Of the background only where it may begin now.
    pub(crate) fn pop(&mut self, may_begin_background: bool) -> Option<(UnitLane, T)> {
        let is_due = |(since, _): &(Instant, T)| since.elapsed() >= PATIENCE;
        let goes_first = may_begin_background
            && match (self.people.front(), self.background.front()) {
                (None, Some(_)) => true,
                (Some(person), Some(other)) => is_due(other) && other.0 <= person.0,
                (_, None) => false,
            };
        let (lane, queue) = match goes_first {
            true => (UnitLane::Background, &mut self.background),
            false => (UnitLane::People, &mut self.people),
        };
        queue.pop_front().map(|(_, waiting)| (lane, waiting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(waiting: &[(UnitLane, &'static str)]) -> LaneQueue<&'static str> {
        let mut queue = LaneQueue::default();
        waiting.iter().for_each(|(lane, name)| queue.push(*lane, *name));
        queue
    }

    fn names(queue: &mut LaneQueue<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| queue.pop(true).map(|(_, name)| name)).collect()
    }

    #[test]
    fn people_pass_the_background_until_its_patience_ends() {
        let mut some = queue(&[(UnitLane::Background, "run"), (UnitLane::People, "first")]);
        assert_eq!(some.len(), 2);
        assert_eq!(names(&mut some), ["first", "run"]);
        let mut patient = queue(&[(UnitLane::Background, "run")]);
        std::thread::sleep(PATIENCE);
        patient.push(UnitLane::People, "late");
        assert_eq!(names(&mut patient), ["run", "late"]);
    }

    #[test]
    fn the_background_begins_only_where_it_may() {
        let mut some = queue(&[(UnitLane::Background, "run")]);
        assert!(some.pop(false).is_none());
        assert_eq!(some.pop(true), Some((UnitLane::Background, "run")));
    }

    #[tokio::test]
    async fn a_task_is_of_the_background_as_long_as_its_work_lasts() {
        assert_eq!(UnitLane::current(), UnitLane::People);
        in_background(async { assert_eq!(UnitLane::current(), UnitLane::Background) }).await;
        assert_eq!(UnitLane::current(), UnitLane::People);
    }
}
