//! `munshi usage`: what was used, what is left, and when it frees.

use clap::{Args, ValueEnum};
use jiff::civil::Date;
use munshi_llm::pricing::Cost;
use munshi_operations::usage::{
    LimitStatusView, ShowUsage, ShowUsageInput, UsageGrouping, UsageLineView, UsageView,
};
use munshi_safety::budget::{BUDGET, BudgetLane, BudgetMeasure};
use munshi_store::{PageRequest, PlatformTx, tenants};
use munshi_types::TenantName;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct UsageShowArguments {
    /// Tenant. Default: the newest 50 tenants
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
    /// First day, in the tenant's time zone. Default: the first of the month
    #[arg(long, value_name = "YYYY-MM-DD")]
    since: Option<Date>,
    /// How to group the usage
    #[arg(long, value_enum, default_value = "day")]
    by: ByArgument,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ByArgument {
    Day,
    Binding,
    Person,
}

impl From<ByArgument> for UsageGrouping {
    fn from(by: ByArgument) -> Self {
        match by {
            ByArgument::Day => Self::Day,
            ByArgument::Binding => Self::Binding,
            ByArgument::Person => Self::Person,
        }
    }
}

/// How many tenants are shown where none is named.
const TENANTS: u32 = 50;

#[derive(Debug, Serialize)]
struct Listing {
    by: UsageGrouping,
    items: Vec<UsageView>,
}

pub(super) fn run(context: &CommandContext, arguments: &UsageShowArguments) -> Result<()> {
    let by = UsageGrouping::from(arguments.by);
    let input = ShowUsageInput { since: arguments.since, by: Some(by) };
    let tenants = match (&arguments.tenant, &context.server) {
        // A key is one tenant's.
        (None, Some(_)) => vec![None],
        (None, None) => list_newest_tenants(context)?.into_iter().map(Some).collect(),
        (Some(name), _) => vec![Some(name.clone())],
    };
    let mut items = Vec::with_capacity(tenants.len());
    for tenant in tenants {
        let of = TenantSelectorArguments::named(tenant);
        let target = OperationTarget { of: &of, operator: None };
        items.push(context.run_operation::<ShowUsage>(&target, &input)?);
    }
    context.output.print_result(&Listing { by, items }, render_text)
}

fn list_newest_tenants(context: &CommandContext) -> Result<Vec<TenantName>> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let page = context.block_on(async {
        let db = database.open().await?;
        let read = |tx: &mut PlatformTx<'_>| tenants::list(tx, &PageRequest::new(None, TENANTS));
        Ok(db.platform(BUDGET).read(read).await?)
    })?;
    Ok(page.items.into_iter().map(|tenant| tenant.name).collect())
}

fn render_text(listing: &Listing, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No tenants yet. Add one with `munshi tenant add NAME`.".to_owned();
    }
    let blocks: Vec<String> = listing.items.iter().map(|item| block(listing.by, item, painter)).collect();
    blocks.join("\n")
}

fn block(by: UsageGrouping, item: &UsageView, painter: TextStyler) -> String {
    let mut text = format!("{} (plan {})\n", painter.bold(item.tenant.as_str()), item.plan);
    let mut limits = OutputTable::new(&["LIMIT", "USED", "SET ASIDE", "LEFT", "OF", "FREE AGAIN (UTC)"]);
    item.limits.iter().for_each(|standing| limits.add_row(limit_row(standing)));
    text += &limits.render(painter);
    if item.used.is_empty() {
        text += &format!("\nNothing used since {}.\n", item.since);
    } else {
        let heading = match by {
            UsageGrouping::Day => "DAY",
            UsageGrouping::Binding => "BINDING",
            UsageGrouping::Person => "PERSON",
        };
        let mut lines =
            OutputTable::new(&[heading, "LANE", "INTERACTIONS", "JOBS", "TOKENS", "WRITTEN", "MONEY"]);
        item.used.iter().for_each(|line| lines.add_row(used_row(line)));
        text += &format!("\n{}", lines.render(painter));
    }
    if let Some(unsettled) = item.unsettled.filter(|unsettled| unsettled.count > 0) {
        let (count, most) = (unsettled.count, Cost::from_micros(unsettled.money));
        text += &format!("\nUnsettled reservations, not included above: {count}, {most} at most.\n");
    }
    text
}

fn limit_row(standing: &LimitStatusView) -> [OutputTableCell; 6] {
    let LimitStatusView { lane, measure, period, .. } = standing;
    let shown = |amount| measure.render(amount);
    let lane = if *lane == BudgetLane::Background { "background, " } else { "" };
    let tone = if standing.left > 0 { OutputCellStyle::Plain } else { OutputCellStyle::Bad };
    [
        format!("{lane}{measure} a {period}").into(),
        shown(standing.used).into(),
        shown(standing.held).into(),
        OutputTableCell::new(shown(standing.left), tone),
        shown(standing.limit).into(),
        crate::output::formatting::format_time(standing.ends_at).into(),
    ]
}

fn used_row(line: &UsageLineView) -> [OutputTableCell; 7] {
    let id = line.id.map(|id| id.to_string());
    let what = line.name.clone().or_else(|| line.day.clone()).or(id).unwrap_or_default();
    [
        what.into(),
        line.lane.as_str().into(),
        line.interactions.to_string().into(),
        line.jobs.to_string().into(),
        line.tokens.to_string().into(),
        line.output_tokens.to_string().into(),
        BudgetMeasure::Money.render(line.money).into(),
    ]
}
