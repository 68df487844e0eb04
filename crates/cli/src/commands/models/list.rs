//! `munshi models list`

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use munshi_llm::calls::{MODELS, TargetHealth, load_health_since};
use munshi_llm::chat::TokenUsage;
use munshi_llm::gateway::ModelRoute;
use munshi_llm::pricing::Cost;
use munshi_llm::{Gateway, ModelTarget};
use munshi_safety::budget::ModelClass;
use munshi_safety::policy;
use munshi_types::{TenantName, Timestamp};
use munshi_wiring::failure::Result;
use munshi_wiring::gateway::{ConfiguredGateway, open_existing_database};
use munshi_wiring::models::GatewayModels;
use serde::Serialize;

use crate::commands::tenant::get_by_name;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

/// A breaker remembers no further back: five minutes of failures and ten of rest.
const LOOK_BACK: Duration = Duration::from_secs(15 * 60);
/// Prices are told by the million tokens, and asked for by fewer: some are dearer in very long calls.
const ASKED: u64 = 10_000;
const TOLD: i64 = 1_000_000;

#[derive(Debug, Serialize)]
struct Listing {
    models: Vec<Item>,
    /// What to look at in the settings.
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Item {
    name: String,
    provider: String,
    wire: &'static str,
    model: String,
    /// What it is the first choice for, and what it stands behind others for.
    uses: Vec<String>,
    state: State,
    resting_until: Option<Timestamp>,
    failures_lately: usize,
    /// Why the last attempt ended.
    last_outcome: Option<String>,
    /// In millionths of a dollar for a million tokens; null where nobody knows.
    input_price: Option<i64>,
    output_price: Option<i64>,
    /// Small, medium, large, or unrated where nobody knows its price: what plans go by.
    class: ModelClass,
    residency: String,
    /// Whether it gets names and numbers of people as they are.
    sees_names: bool,
    /// Whether the tenant that was asked about lets it see its data.
    #[serde(skip_serializing_if = "Option::is_none")]
    permitted: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// It answered when it was last asked.
    Well,
    /// It failed when it was last asked, or some other time lately, and is still asked.
    Shaky,
    Resting,
    /// Nobody has asked it lately.
    Unknown,
}

pub(super) fn run(context: &CommandContext, tenant: Option<&TenantName>) -> Result<()> {
    let config = context.config()?;
    let warnings = GatewayModels::from_config(&config)?.warnings.iter().map(ToString::to_string).collect();
    let now = context.now();
    let wired = ConfiguredGateway::from_config(&config, &context.clock)?;
    let (health, route) = context.block_on(async {
        let Some(db) = open_existing_database(&config).await? else { return Ok((BTreeMap::new(), None)) };
        let since = now.minus(LOOK_BACK);
        let health = db.platform(MODELS).read(move |tx| load_health_since(tx, since)).await?;
        let Some(name) = tenant else { return Ok((health, None)) };
        let (_, policy) = db.read(get_by_name(&db, name).await?.id, policy::load_current).await?;
        Ok((health, Some(policy.residency.restrict(wired.route.as_ref().clone()))))
    })?;
    let about = |target: &Arc<ModelTarget>| {
        let permitted = route.as_ref().map(|route: &ModelRoute| route.permits(target));
        Item { permitted, ..item(&wired, target, health.get(&target.name), now) }
    };
    let models = wired.gateway.targets().iter().map(about).collect();
    context.output.print_result(&Listing { models, warnings }, render_text)
}

fn item(
    wired: &ConfiguredGateway,
    target: &ModelTarget,
    seen: Option<&TargetHealth>,
    now: Timestamp,
) -> Item {
    let resting_until = seen.and_then(|seen| seen.breaker.blocked_until(now));
    let failures_lately = seen.map_or(0, |seen| seen.breaker.recent_failures(now));
    let last = seen.and_then(|seen| seen.last.clone());
    let state = match &last {
        _ if target.is_local() => State::Well,
        None => State::Unknown,
        Some(_) if resting_until.is_some() => State::Resting,
        Some((_, true)) => State::Shaky,
        Some(_) if failures_lately > 0 => State::Shaky,
        Some(_) => State::Well,
    };
    let input = TokenUsage { input: ASKED, ..TokenUsage::default() };
    let output = TokenUsage { output: ASKED, ..TokenUsage::default() };
    Item {
        name: target.name.clone(),
        provider: target.provider_name().to_owned(),
        wire: target.wire.as_str(),
        model: target.model.clone(),
        uses: uses(wired, target),
        state,
        resting_until,
        failures_lately,
        last_outcome: last.map(|(outcome, _)| outcome),
        input_price: price(&wired.gateway, target, &input, now),
        output_price: price(&wired.gateway, target, &output, now),
        class: wired.classes.class(&target.name),
        residency: target.residency.clone(),
        sees_names: target.may_see_names(),
        permitted: None,
    }
}

fn uses(wired: &ConfiguredGateway, target: &ModelTarget) -> Vec<String> {
    let routed = wired.route.targets.iter().filter_map(|(wanted, names)| {
        let place = names.iter().position(|name| *name == target.name)?;
        Some(if place == 0 { wanted.to_string() } else { format!("{wanted} ({})", place + 1) })
    });
    routed.collect()
}

fn price(gateway: &Gateway, target: &ModelTarget, usage: &TokenUsage, now: Timestamp) -> Option<i64> {
    let times = TOLD / i64::try_from(ASKED).unwrap_or(1);
    gateway.prices().cost(target, usage, now).map(|cost| cost.as_micros() * times)
}

fn render_text(listing: &Listing, painter: TextStyler) -> String {
    let mut table =
        OutputTable::new(&["NAME", "PROVIDER", "MODEL", "STATE", "IN/M", "OUT/M", "CLASS", "USED FOR"]);
    for item in &listing.models {
        table.add_row([
            item.name.clone().into(),
            item.provider.clone().into(),
            item.model.clone().into(),
            state(item),
            dollars(item.input_price).into(),
            dollars(item.output_price).into(),
            item.class.as_str().into(),
            OutputTableCell::new(item.uses.join(", "), OutputCellStyle::Dim),
        ]);
    }
    let warnings = listing.warnings.iter().map(|warning| format!("{}\n", painter.doubtful(warning)));
    table.render(painter) + &warnings.collect::<String>()
}

fn state(item: &Item) -> OutputTableCell {
    if item.permitted == Some(false) {
        return OutputTableCell::new("not permitted", OutputCellStyle::Doubtful);
    }
    match (item.state, item.resting_until) {
        (State::Well, _) => OutputTableCell::new("well", OutputCellStyle::Good),
        (State::Shaky, _) => OutputTableCell::new(describe_failures(item), OutputCellStyle::Doubtful),
        (State::Resting, Some(until)) => OutputTableCell::new(
            format!("circuit open until {} UTC", format_time(until)),
            OutputCellStyle::Bad,
        ),
        (State::Resting, None) => OutputTableCell::new("resting", OutputCellStyle::Bad),
        (State::Unknown, _) => OutputTableCell::new("not called recently", OutputCellStyle::Dim),
    }
}

fn describe_failures(item: &Item) -> String {
    let last = item.last_outcome.as_deref().unwrap_or_default().replace('_', " ");
    match item.failures_lately {
        0 | 1 => format!("last: {last}"),
        many => format!("failed {many} times, last: {last}"),
    }
}

/// `$3`, `$0.25`, `free`, `unknown`.
fn dollars(micros: Option<i64>) -> String {
    match micros {
        None => "unknown".to_owned(),
        Some(0) => "free".to_owned(),
        Some(micros) => {
            let text = Cost::from_micros(micros).to_string();
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}
