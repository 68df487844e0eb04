//! How much of a tenant's work waits, and for how long.

use munshi_conversations::RUNS;
use munshi_conversations::run_load::{self, LaneLoad};
use munshi_conversations::runs::RunLane;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RenderView, RouteMethod,
    render_as,
};
use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{HouseCall, HouseServices};

/// Nothing is asked for.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowQueueInput {}

/// What waits, by lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = RunQueue)]
pub struct RunQueueView {
    /// Replies to messages, and then work in the background.
    pub lanes: Vec<RunLaneView>,
}

/// One lane of the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = RunLane)]
pub struct RunLaneView {
    /// `chat` or `background`.
    pub lane: String,
    /// Runs that nobody has begun on.
    pub waiting: u64,
    /// When the oldest of them came.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub oldest: Option<Timestamp>,
    /// Runs in progress.
    pub running: u64,
    /// How long a new run would wait at the recent pace; null where nothing has ended recently.
    pub expected_wait_seconds: Option<u64>,
    /// Whether so many wait on the whole installation that optional steps are skipped now.
    pub skips_optional: bool,
}

impl RunLaneView {
    fn new(load: LaneLoad, is_busy: bool) -> Self {
        Self {
            lane: load.lane.as_str().to_owned(),
            waiting: load.waiting as u64,
            oldest: load.oldest,
            running: load.running as u64,
            expected_wait_seconds: load.expected_wait.map(|wait| wait.as_secs()),
            skips_optional: is_busy && load.lane == RunLane::Background,
        }
    }
}

/// A line for each lane.
fn render_lanes(queue: &RunQueueView) -> String {
    let lines = queue.lanes.iter().map(|lane| {
        let mut line = format!("{}: {} waiting, {} running", lane.lane, lane.waiting, lane.running);
        if let Some(oldest) = lane.oldest {
            line.push_str(&format!(", the oldest since {oldest}"));
        }
        if let Some(seconds) = lane.expected_wait_seconds {
            line.push_str(&format!(", a new one would wait about {seconds} s"));
        }
        if lane.skips_optional {
            line.push_str("; optional steps are left out");
        }
        line
    });
    lines.collect::<Vec<_>>().join("\n")
}

pub struct ShowRunQueue;

impl Operation<HouseServices> for ShowRunQueue {
    type Input = ShowQueueInput;
    type View = RunQueueView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "queue",
        noun: "queue",
        command: "queue",
        verb: "show",
        about: "Show how many runs wait, since when, and how long a new one would wait.",
        needs: CallerClass::Member(Area::Runs, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/queue",
    };

    const RENDER: Option<RenderView> = Some(|view| render_as(view, render_lanes));

    async fn run(call: &HouseCall, _input: ShowQueueInput) -> Result<RunQueueView, OperationError> {
        let now = call.now;
        let lanes = call.read(move |tx| Ok(run_load::read_tenant(tx, now)?)).await?;
        let all = call.read_platform(RUNS, |tx| Ok(run_load::count_all(tx)?)).await?;
        let is_busy = |lane: RunLane| {
            all.iter().any(|(known, waiting, _)| *known == lane && *waiting > run_load::BUSY_ABOVE)
        };
        let lanes = lanes.into_iter().map(|load| RunLaneView::new(load, is_busy(load.lane))).collect();
        Ok(RunQueueView { lanes })
    }
}
