//! Runs, newest first.

use munshi_conversations::RunState;
use munshi_conversations::runs::{self, RunFilter, RunView};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::SessionId;

use super::{RunStateView, RunSummaryView};
use crate::list_input::list_input;
use crate::{HouseCall, HouseServices};

list_input! {
    #[derive(Copy, Default)]
    pub struct ListRunsInput: ListInput {
        /// Only runs of this session.
        #[schema(value_type = Option<uuid::Uuid>)]
        pub session: Option<SessionId>,
        /// Only runs in this state.
        pub state: Option<RunStateView>,
    }
}

pub struct ListRuns;

impl Operation<HouseServices> for ListRuns {
    type Input = ListRunsInput;
    type View = ListView<RunSummaryView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "runs",
        noun: "run",
        command: "runs",
        verb: "list",
        about: "List runs, newest first.",
        needs: CallerClass::Member(Area::Runs, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/runs",
    };

    async fn run(call: &HouseCall, input: ListRunsInput) -> Result<ListView<RunSummaryView>, OperationError> {
        let state: Option<RunState> = input.state.map(Into::into);
        let wanted = match (input.session, state) {
            (Some(session), _) => RunFilter::Session(session),
            (None, Some(state)) => RunFilter::State(state),
            (None, None) => RunFilter::All,
        };
        let request = input.page().page_request()?;
        let page = call.read(move |tx| Ok(runs::list(tx, wanted, &request)?)).await?;
        Ok(ListView::from_page(page, |run: RunView| {
            let fits = state.is_none_or(|state| run.state == state);
            (fits && call.caller.reaches(run.binding)).then(|| run.into())
        }))
    }
}
