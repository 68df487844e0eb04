//! What was used, and what is left.

use std::collections::BTreeMap;

use jiff::civil::Date;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_safety::budget::{
    self, BudgetAccount, BudgetLane, BudgetLimitStatus, BudgetMeasure, BudgetPeriod, BudgetScope,
    UsageDimension, UsageLine, UsagePlan, list_limit_statuses, list_usage, sum_unsettled,
};
use munshi_store::Tx;
use munshi_tiers::history;
use munshi_types::tier::TierKind;
use munshi_types::{BindingId, Id, TenantName, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{HouseCall, HouseServices};

/// How usage is grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = UsageBy)]
pub enum UsageGrouping {
    #[default]
    Day,
    Binding,
    Person,
}

impl From<UsageGrouping> for UsageDimension {
    fn from(by: UsageGrouping) -> Self {
        match by {
            UsageGrouping::Day => Self::Day,
            UsageGrouping::Binding => Self::Binding,
            UsageGrouping::Person => Self::Person,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowUsageInput {
    /// First day, in the workspace's time zone. Default: the first of the month.
    #[schema(value_type = Option<String>, format = Date, example = "2026-11-01")]
    pub since: Option<Date>,
    /// Default: by day.
    pub by: Option<UsageGrouping>,
}

/// Usage since a day, and the status of each limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = UsageReport)]
pub struct UsageView {
    #[schema(value_type = String, example = "sharma")]
    pub tenant: TenantName,
    /// `free`, `starter`, `pro` or `business`.
    #[schema(value_type = String, example = "free")]
    pub plan: UsagePlan,
    /// The first day of the report, in the workspace's time zone.
    #[schema(value_type = String, format = Date)]
    pub since: Date,
    /// The workspace's own limits. Money is in millionths of a dollar, here and below.
    pub limits: Vec<LimitStatusView>,
    pub used: Vec<UsageLineView>,
    /// What was set aside and never settled, of the last week; null for a key limited to some bindings.
    pub unsettled: Option<UnsettledUsageView>,
}

/// The current status of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Standing)]
pub struct LimitStatusView {
    /// `people` or `background`: separate budgets that never borrow from each other.
    #[schema(value_type = String, example = "people")]
    pub lane: BudgetLane,
    /// `tenant`, `binding` or `person`.
    #[schema(value_type = String, example = "tenant")]
    pub scope: BudgetScope,
    /// One binding or person; null for each of them.
    pub id: Option<Uuid>,
    /// `month` or `day`, in the workspace's time zone.
    #[schema(value_type = String, example = "month")]
    pub period: BudgetPeriod,
    /// `interactions`, `jobs`, `tokens` or `money`.
    #[schema(value_type = String, example = "interactions")]
    pub measure: BudgetMeasure,
    pub limit: i64,
    pub used: i64,
    /// Reserved for running turns.
    pub held: i64,
    pub left: i64,
    #[schema(value_type = String, format = DateTime)]
    pub ends_at: Timestamp,
}

impl From<BudgetLimitStatus> for LimitStatusView {
    fn from(standing: BudgetLimitStatus) -> Self {
        Self {
            lane: standing.on.lane,
            scope: standing.on.scope,
            id: standing.on.id,
            period: standing.on.period,
            measure: standing.on.measure,
            limit: standing.limit,
            used: standing.used,
            held: standing.held,
            left: standing.left,
            ends_at: standing.ends_at,
        }
    }
}

/// One row of the usage report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Used)]
pub struct UsageLineView {
    #[schema(value_type = String, example = "people")]
    pub lane: BudgetLane,
    /// The day, if grouped by day.
    #[schema(value_type = Option<String>, format = Date)]
    pub day: Option<String>,
    /// The binding or person, if grouped so.
    pub id: Option<Uuid>,
    /// The binding's name, if grouped so and known.
    #[schema(example = "counter")]
    pub name: Option<String>,
    pub interactions: i64,
    pub jobs: i64,
    /// Read and written.
    pub tokens: i64,
    /// Written by models.
    pub output_tokens: i64,
    pub money: i64,
}

impl UsageLineView {
    fn new(line: UsageLine, names: &BTreeMap<Uuid, String>) -> Self {
        Self {
            lane: line.lane,
            day: line.day,
            id: line.id,
            name: line.id.and_then(|id| names.get(&id).cloned()),
            interactions: line.used.interactions,
            jobs: line.used.jobs,
            tokens: line.used.tokens,
            output_tokens: line.used.output_tokens,
            money: line.used.money,
        }
    }
}

/// Reservations that nobody settled, and what they come to at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = UnsettledUsage)]
pub struct UnsettledUsageView {
    pub count: i64,
    pub interactions: i64,
    pub jobs: i64,
    pub tokens: i64,
    pub output_tokens: i64,
    pub money: i64,
}

pub struct ShowUsage;

impl Operation<HouseServices> for ShowUsage {
    type Input = ShowUsageInput;
    type View = UsageView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "usage",
        noun: "usage",
        command: "usage",
        verb: "show",
        about: "Get the plan, the status of each limit, and usage.",
        needs: CallerClass::Member(Area::Usage, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/usage",
    };

    async fn run(call: &HouseCall, input: ShowUsageInput) -> Result<UsageView, OperationError> {
        let by = input.by.unwrap_or_default();
        let bindings = call.caller.bindings().cloned();
        if bindings.is_some() && by != UsageGrouping::Binding {
            let what = "This key may access only some bindings, and this report covers all of them.";
            return Err(OperationError::new(OperationErrorCode::Forbidden, what)
                .hint("Use `by=binding`, or another key."));
        }
        let names = if by == UsageGrouping::Binding { list_names(call).await? } else { BTreeMap::new() };
        let today = call.now.to_jiff().to_zoned(call.tenant.zone.to_jiff()).date();
        let report = ReportRequest {
            since: input.since.unwrap_or_else(|| today.first_of_month()),
            by: by.into(),
            bindings,
            names,
        };
        let (tenant, act_services, now) = (call.tenant.clone(), (call.services.act_services)()?, call.now);
        call.read(move |tx| {
            let settings = act_services.governor.settings();
            let is_whole = report.bindings.is_none();
            let mut limits = Vec::new();
            for lane in BudgetLane::ALL.iter().filter(|_| is_whole) {
                let zone = tenant.zone.clone();
                let account = BudgetAccount { binding: None, person: None, lane: *lane, zone };
                let statuses = list_limit_statuses(tx, settings, &account, now)?;
                limits.extend(statuses.into_iter().map(LimitStatusView::from));
            }
            let unsettled = if is_whole { Some(load_unsettled(tx, now)?) } else { None };
            Ok(UsageView {
                plan: budget::load_plan(tx, settings)?,
                since: report.since,
                limits,
                used: report.list_lines(tx)?,
                unsettled,
                tenant: tenant.name,
            })
        })
        .await
    }
}

/// Which lines are wanted, and for whose eyes.
struct ReportRequest {
    since: Date,
    by: UsageDimension,
    bindings: Option<Vec<BindingId>>,
    names: BTreeMap<Uuid, String>,
}

impl ReportRequest {
    fn list_lines(&self, tx: &mut Tx<'_>) -> Result<Vec<UsageLineView>, OperationError> {
        let is_open = |line: &UsageLine| {
            let reached = |ids: &Vec<BindingId>| ids.iter().any(|id| line.id == Some(id.as_uuid()));
            self.bindings.as_ref().is_none_or(reached)
        };
        let lines = list_usage(tx, &self.since.to_string(), self.by)?.into_iter().filter(is_open);
        Ok(lines.map(|line| UsageLineView::new(line, &self.names)).collect())
    }
}

fn load_unsettled(tx: &mut Tx<'_>, now: Timestamp) -> Result<UnsettledUsageView, OperationError> {
    let (count, at_most) = sum_unsettled(tx, now)?;
    Ok(UnsettledUsageView {
        count,
        interactions: at_most.interactions,
        jobs: at_most.jobs,
        tokens: at_most.tokens,
        output_tokens: at_most.output_tokens,
        money: at_most.money,
    })
}

async fn list_names(call: &HouseCall) -> Result<BTreeMap<Uuid, String>, OperationError> {
    let tiers = history::list_tiers(&call.db, &call.tenant.name).await?;
    let bindings = tiers.into_iter().filter(|tier| tier.kind == TierKind::Binding);
    Ok(bindings.map(|tier| (tier.id.as_uuid(), tier.name.to_string())).collect())
}
