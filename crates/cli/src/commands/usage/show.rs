//! `munshi usage`: what was used, what is left, and when it frees.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use jiff::civil::Date;
use munshi_llm::pricing::Cost;
use munshi_safety::budget::{
    self, BudgetAccount, BudgetLane, BudgetLimitStatus, BudgetMeasure, BudgetSettings, UsageDimension,
    UsageLine, UsagePlan, UsageTotals, list_limit_statuses, list_usage, sum_unsettled,
};
use munshi_store::{Db, PageRequest, tenants};
use munshi_types::tier::TierKind;
use munshi_types::{Id, Tenant, TenantName, Timestamp};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;
use uuid::Uuid;

use crate::commands::tenant::get_by_name;
use crate::context::CommandContext;
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

impl From<ByArgument> for UsageDimension {
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
    by: UsageDimension,
    items: Vec<Item>,
}

#[derive(Debug, Serialize)]
struct Item {
    tenant: TenantName,
    plan: UsagePlan,
    since: Date,
    /// The tenant's own limits, of both lanes. Money is in millionths of a dollar, here and below.
    limits: Vec<BudgetLimitStatus>,
    used: Vec<Named>,
    /// What was set aside and never settled, of the last week.
    unsettled: Unsettled,
}

#[derive(Debug, Serialize)]
struct Unsettled {
    count: i64,
    #[serde(flatten)]
    at_most: UsageTotals,
}

#[derive(Debug, Serialize)]
struct Named {
    /// A binding's name, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(flatten)]
    line: UsageLine,
}

pub(super) fn run(context: &CommandContext, arguments: &UsageShowArguments) -> Result<()> {
    let config = context.config()?;
    let (settings, now) = (munshi_wiring::budget::settings(&config), context.now());
    let database = ConfiguredDatabase::single_connection(&config)?;
    let listing = context.block_on(async {
        let db = database.open().await?;
        let tenants = match &arguments.tenant {
            Some(name) => vec![get_by_name(&db, name).await?],
            None => list_newest_tenants(&db).await?,
        };
        let mut items = Vec::new();
        for tenant in tenants {
            items.push(item(&db, &tenant, &settings, arguments, now).await?);
        }
        Ok(Listing { by: arguments.by.into(), items })
    })?;
    context.output.print_result(&listing, render_text)
}

async fn list_newest_tenants(db: &Db) -> Result<Vec<Tenant>> {
    let read = |tx: &mut munshi_store::PlatformTx<'_>| tenants::list(tx, &PageRequest::new(None, TENANTS));
    Ok(db.platform(budget::BUDGET).read(read).await?.items)
}

async fn item(
    db: &Db,
    tenant: &Tenant,
    settings: &BudgetSettings,
    arguments: &UsageShowArguments,
    now: Timestamp,
) -> Result<Item> {
    let today = now.to_jiff().to_zoned(tenant.zone.to_jiff()).date();
    let since = arguments.since.unwrap_or_else(|| today.first_of_month());
    let names =
        if arguments.by == ByArgument::Binding { bindings(db, tenant).await? } else { BTreeMap::new() };
    let (name, zone, settings, by) =
        (tenant.name.clone(), tenant.zone.clone(), settings.clone(), UsageDimension::from(arguments.by));
    let read = move |tx: &mut munshi_store::Tx<'_>| {
        let mut limits = Vec::new();
        for lane in BudgetLane::ALL {
            let account = BudgetAccount { binding: None, person: None, lane: *lane, zone: zone.clone() };
            limits.extend(list_limit_statuses(tx, &settings, &account, now)?);
        }
        let lines = list_usage(tx, &since.to_string(), by)?;
        let named = lines.into_iter().map(|line| {
            let name = line.id.and_then(|id| names.get(&id).cloned());
            Named { name, line }
        });
        let (count, at_most) = sum_unsettled(tx, now)?;
        let plan = budget::load_plan(tx, &settings)?;
        let unsettled = Unsettled { count, at_most };
        Ok::<_, munshi_safety::Error>(Item {
            tenant: name,
            plan,
            since,
            limits,
            used: named.collect(),
            unsettled,
        })
    };
    Ok(db.read(tenant.id, read).await?)
}

async fn bindings(db: &Db, tenant: &Tenant) -> Result<BTreeMap<Uuid, String>> {
    let tiers = munshi_tiers::history::list_tiers(db, &tenant.name).await?;
    let bindings = tiers.into_iter().filter(|tier| tier.kind == TierKind::Binding);
    Ok(bindings.map(|tier| (tier.id.as_uuid(), tier.name.to_string())).collect())
}

fn render_text(listing: &Listing, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No tenants yet. Add one with `munshi tenant add NAME`.".to_owned();
    }
    let blocks: Vec<String> = listing.items.iter().map(|item| block(listing.by, item, painter)).collect();
    blocks.join("\n")
}

fn block(by: UsageDimension, item: &Item, painter: TextStyler) -> String {
    let mut text = format!("{} (plan {})\n", painter.bold(item.tenant.as_str()), item.plan);
    let mut limits = OutputTable::new(&["LIMIT", "USED", "SET ASIDE", "LEFT", "OF", "FREE AGAIN (UTC)"]);
    item.limits.iter().for_each(|standing| limits.add_row(limit_row(standing)));
    text += &limits.render(painter);
    if item.used.is_empty() {
        text += &format!("\nNothing used since {}.\n", item.since);
    } else {
        let heading = match by {
            UsageDimension::Day => "DAY",
            UsageDimension::Binding => "BINDING",
            UsageDimension::Person => "PERSON",
        };
        let mut lines =
            OutputTable::new(&[heading, "LANE", "INTERACTIONS", "JOBS", "TOKENS", "WRITTEN", "MONEY"]);
        item.used.iter().for_each(|named| lines.add_row(used_row(named)));
        text += &format!("\n{}", lines.render(painter));
    }
    if item.unsettled.count > 0 {
        let most = Cost::from_micros(item.unsettled.at_most.money);
        let count = item.unsettled.count;
        text += &format!("\nUnsettled reservations, not included above: {count}, {most} at most.\n");
    }
    text
}

fn limit_row(standing: &BudgetLimitStatus) -> [OutputTableCell; 6] {
    let on = &standing.on;
    let shown = |amount| on.measure.render(amount);
    let lane = if on.lane == BudgetLane::Background { "background, " } else { "" };
    let tone = if standing.left > 0 { OutputCellStyle::Plain } else { OutputCellStyle::Bad };
    [
        format!("{lane}{} a {}", on.measure, on.period).into(),
        shown(standing.used).into(),
        shown(standing.held).into(),
        OutputTableCell::new(shown(standing.left), tone),
        shown(standing.limit).into(),
        crate::output::formatting::format_time(standing.ends_at).into(),
    ]
}

fn used_row(named: &Named) -> [OutputTableCell; 7] {
    let line = &named.line;
    let id = line.id.map(|id| id.to_string());
    let what = named.name.clone().or_else(|| line.day.clone()).or(id).unwrap_or_default();
    [
        what.into(),
        line.lane.as_str().into(),
        line.used.interactions.to_string().into(),
        line.used.jobs.to_string().into(),
        line.used.tokens.to_string().into(),
        line.used.output_tokens.to_string().into(),
        BudgetMeasure::Money.render(line.used.money).into(),
    ]
}
