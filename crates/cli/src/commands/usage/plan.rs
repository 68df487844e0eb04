//! `munshi usage plan TENANT [PLAN]`

use std::str::FromStr;

use clap::Args;
use munshi_safety::budget::{self, UsagePlan};
use munshi_types::TenantName;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;
use serde_json::json;

use super::audit_log::record_budget_change;
use super::find;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct UsagePlanArguments {
    /// Tenant
    tenant: TenantName,
    /// free, starter, pro, business, or `default` for the settings' plan. Omit it to show the plan
    plan: Option<Wish>,
    #[command(flatten)]
    operator: OperatorArguments,
}

#[derive(Clone, Copy, Debug)]
enum Wish {
    Default,
    To(UsagePlan),
}

impl FromStr for Wish {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "default" { Ok(Self::Default) } else { text.parse().map(Self::To) }
    }
}

#[derive(Debug, Serialize)]
struct Answer {
    tenant: TenantName,
    plan: UsagePlan,
    /// In a month; null is no limit.
    interactions: Option<i64>,
    changed: bool,
}

pub(super) fn run(context: &CommandContext, arguments: &UsagePlanArguments) -> Result<()> {
    let config = context.config()?;
    let (settings, now) = (munshi_wiring::budget::settings(&config), context.now());
    let database = ConfiguredDatabase::single_connection(&config)?;
    let wish = arguments.plan;
    let plan = context.block_on(async {
        let db = database.open().await?;
        let tenant = find(&db, &arguments.tenant).await?;
        let actor = arguments.operator.resolve_actor(context, &db, tenant.id).await?;
        let unit = move |tx: &mut munshi_store::Tx<'_>| {
            let before = budget::load_plan(tx, &settings)?;
            let to = match wish {
                None => return Ok(before),
                Some(Wish::Default) => None,
                Some(Wish::To(plan)) => Some(plan),
            };
            budget::set_plan(tx, to, now)?;
            let after = budget::load_plan(tx, &settings)?;
            record_budget_change(
                tx,
                actor,
                "plan",
                json!({ "from": before, "to": after, "default": to.is_none() }),
                now,
            )?;
            Ok::<_, munshi_safety::Error>(after)
        };
        Ok(db.write(tenant.id, unit).await?)
    })?;
    let (tenant, interactions) = (arguments.tenant.clone(), plan.interactions());
    let answer = Answer { tenant, plan, interactions, changed: wish.is_some() };
    context.output.print_result(&answer, |answer, _| render_text(answer))
}

fn render_text(answer: &Answer) -> String {
    let count = match answer.interactions {
        Some(count) => format!("{count} interactions a month"),
        None => "unlimited interactions".to_owned(),
    };
    let now = if answer.changed { "now has" } else { "has" };
    format!("{} {now} the plan {}: {count}.", answer.tenant, answer.plan)
}
