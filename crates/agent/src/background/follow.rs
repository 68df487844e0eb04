//! Following a run that nobody typed: its record is read as it grows, on whichever node.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::background::record::{RecordStatus, find_status, read_event};
use munshi_conversations::{Error, EventId, Result, RunEvent, WorkEvent, steps};
use munshi_store::Tx;
use munshi_types::{RunId, TenantId};

use crate::engine::TurnEngineInner;

/// How often the record is looked at: soon after something was written, then less often, and least while the run waits.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// So many steps are read at once.
const PAGE: i64 = 200;
/// There is one beginning of a record: nothing in it is taken back.
const GENERATION: u32 = 1;

/// Where somebody stands in the record of a run. An event has the number of its step; the end has the one behind the last step.
pub(crate) struct RecordFollower {
    /// The last step that was read.
    seen: i64,
    events: VecDeque<(EventId, RunEvent)>,
    pause: Duration,
}

struct RecordPage {
    status: RecordStatus,
    seen: i64,
    events: VecDeque<(EventId, RunEvent)>,
}

impl RecordFollower {
    pub(crate) fn new(after: Option<EventId>) -> Self {
        let seen = after.map_or(0, |after| i64::from(after.number));
        Self { seen, events: VecDeque::new(), pause: PAUSE }
    }

    /// The next event, once it is there; none behind the end.
    pub(crate) async fn next(
        &mut self,
        inner: &Arc<TurnEngineInner>,
        tenant: TenantId,
        run: RunId,
    ) -> Result<Option<(EventId, RunEvent)>> {
        loop {
            if let Some(next) = self.events.pop_front() {
                return Ok(Some(next));
            }
            let seen = self.seen;
            let page =
                inner.db.read(tenant, move |tx| read_page(tx, run, seen)).await?.ok_or(Error::NoRun)?;
            if page.seen > seen {
                (self.seen, self.events, self.pause) = (page.seen, page.events, PAUSE);
                continue;
            }
            let RecordStatus { state, halt, ended, last } = page.status;
            if let Some(ended) = ended {
                let end = last + 1;
                // They have seen it.
                if seen >= end {
                    return Ok(None);
                }
                self.seen = end;
                let ended = WorkEvent::Ended { run, ok: ended.ok, state, halt, result: ended.result };
                return Ok(Some((event_id(end), RunEvent::Work(ended))));
            }
            tokio::time::sleep(self.pause).await;
            let longest = if state.is_waiting() { LONGEST_WAIT } else { LONGEST };
            self.pause = (self.pause * 2).min(longest);
        }
    }
}

fn event_id(number: i64) -> EventId {
    EventId { generation: GENERATION, number: u32::try_from(number).unwrap_or(u32::MAX), offset: 0 }
}

/// The status comes first: of a run that has ended by then all steps are there.
fn read_page(tx: &mut Tx<'_>, run: RunId, seen: i64) -> Result<Option<RecordPage>> {
    let Some(status) = find_status(tx, run)? else { return Ok(None) };
    let mut page = RecordPage { status, seen, events: VecDeque::new() };
    for step in steps::list_after(tx, run, seen, PAGE)? {
        let number = step.number;
        page.seen = number;
        page.events.extend(read_event(tx, step)?.map(|event| (event_id(number), event)));
    }
    Ok(Some(page))
}
