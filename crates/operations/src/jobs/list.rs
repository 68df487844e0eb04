//! Jobs in one state, newest first.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use munshi_jobs::{JOBS, JobState, dead_letters, load_queue_depth};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_store::{PageRequest, PlatformTx, tenants};
use munshi_types::{TenantId, TenantName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{JobDetailView, QueueDepthView};
use crate::list_input::list_input;
use crate::tenants::find_selected;
use crate::{HouseCall, HouseServices};

list_input! {
    pub struct ListJobsInput: ListInput {
        /// scheduled, ready, running, done or dead. Default: dead.
        #[schema(value_type = Option<crate::schemas::JobStateSchema>, inline)]
        pub state: Option<JobState>,
        /// Only jobs of the tenant with this name.
        #[schema(value_type = Option<String>)]
        pub tenant: Option<TenantName>,
    }
}

/// One page of jobs, and how full the queue is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Jobs)]
pub struct JobsView {
    #[schema(value_type = crate::schemas::JobStateSchema)]
    pub state: JobState,
    /// Of all tenants.
    pub depth: QueueDepthView,
    pub items: Vec<JobDetailView>,
    /// Cursor of the next page: send it as `after`. Null on the last page.
    pub next: Option<String>,
}

pub struct ListJobs;

impl Operation<HouseServices> for ListJobs {
    type Input = ListJobsInput;
    type View = JobsView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "jobs",
        noun: "job",
        command: "jobs",
        verb: "list",
        about: "List background jobs in one state, newest first.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/jobs",
    };

    async fn run(call: &HouseCall, input: ListJobsInput) -> Result<JobsView, OperationError> {
        let request = input.page().page_request()?;
        let state = input.state.unwrap_or(JobState::Dead);
        call.read_platform(JOBS, move |tx| {
            let tenant = input.tenant.map(|name| find_selected(tx, Some(&name))).transpose()?;
            read(tx, state, tenant.map(|tenant| tenant.id), &request)
        })
        .await
    }
}

fn read(
    tx: &mut PlatformTx<'_>,
    state: JobState,
    tenant: Option<TenantId>,
    request: &PageRequest,
) -> Result<JobsView, OperationError> {
    let depth = load_queue_depth(tx)?.into();
    let page = dead_letters::list(tx, state, tenant, request)?;
    let mut names: BTreeMap<TenantId, Option<String>> = BTreeMap::new();
    let next = page.next_cursor().map(|next| next.to_string());
    let mut items = Vec::with_capacity(page.items.len());
    for job in page.items {
        let name = match names.entry(job.tenant) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(unknown) => unknown.insert(find_name(tx, job.tenant)?).clone(),
        };
        items.push(JobDetailView::new(job, name));
    }
    Ok(JobsView { state, depth, items, next })
}

/// None for the installation's own work.
pub(super) fn find_name(
    tx: &mut PlatformTx<'_>,
    tenant: TenantId,
) -> Result<Option<String>, munshi_store::Error> {
    Ok(tenants::find(tx, tenant)?.map(|tenant| tenant.name.to_string()))
}
