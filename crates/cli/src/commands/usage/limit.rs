//! `munshi usage limit TENANT LIMIT AMOUNT`

use std::str::FromStr;

use clap::Args;
use munshi_safety::budget::{
    self, BudgetLane, BudgetLimitSubject, BudgetLimitValue, BudgetMeasure, BudgetScope,
};
use munshi_store::{Db, Tx};
use munshi_types::tier::TierKind;
use munshi_types::{Id, Tenant, TenantName};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::audit_log::record_budget_change;
use super::find;
use crate::commands::person;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct UsageLimitArguments {
    /// Tenant
    tenant: TenantName,
    /// SCOPE.PERIOD.MEASURE, such as tenant.month.money, binding.day.tokens or person.day.interactions; with
    /// `background.` before it for background work
    limit: Limit,
    /// Whole number, or dollars for money; `none` for no limit, `default` for the plan's and settings' value
    amount: String,
    /// Apply to this binding or person only, by id or name
    #[arg(long, value_name = "ID")]
    only: Option<String>,
    #[command(flatten)]
    operator: OperatorArguments,
}

/// What a limit is about, as it is written.
#[derive(Clone, Copy, Debug)]
struct Limit(BudgetLimitSubject);

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (lane, rest) = match text.split_once('.') {
            Some(("background", rest)) => (BudgetLane::Background, rest),
            Some(("people", rest)) => (BudgetLane::People, rest),
            _ => (BudgetLane::People, text),
        };
        let parts: Vec<&str> = rest.split('.').collect();
        let [scope, period, measure] = parts[..] else {
            return Err("write SCOPE.PERIOD.MEASURE, such as tenant.month.money".to_owned());
        };
        let (scope, period, measure) = (scope.parse()?, period.parse()?, measure.parse()?);
        Ok(Self(BudgetLimitSubject { lane, scope, id: None, period, measure }))
    }
}

#[derive(Debug, Serialize)]
struct Answer {
    tenant: TenantName,
    #[serde(flatten)]
    on: BudgetLimitSubject,
    /// Null where there is none, or plan and settings say.
    amount: Option<u64>,
    #[serde(skip)]
    to: BudgetLimitValue,
}

pub(super) fn run(context: &CommandContext, arguments: &UsageLimitArguments) -> Result<()> {
    let on = arguments.limit.0;
    let to = parse_amount(on.measure, &arguments.amount)?;
    let (database, now) = (ConfiguredDatabase::single_connection(&context.config()?)?, context.now());
    let on = context.block_on(async {
        let db = database.open().await?;
        let tenant = find(&db, &arguments.tenant).await?;
        let actor = arguments.operator.resolve_actor(context, &db, tenant.id).await?;
        let id = match &arguments.only {
            Some(given) => Some(resolve_subject_id(&db, &tenant, on.scope, given).await?),
            None => None,
        };
        let on = BudgetLimitSubject { id, ..on };
        let unit = move |tx: &mut Tx<'_>| {
            budget::set_limit(tx, on, to, now)?;
            let subject = format!("limit {}.{}.{}", on.scope, on.period, on.measure);
            record_budget_change(tx, actor, &subject, json!({ "on": on, "to": to_audit_json(to) }), now)
        };
        db.write(tenant.id, unit).await?;
        Ok(on)
    })?;
    let amount = if let BudgetLimitValue::AtMost(amount) = to { Some(amount) } else { None };
    let answer = Answer { tenant: arguments.tenant.clone(), on, amount, to };
    context.output.print_result(&answer, |answer, _| render_text(answer))
}

/// Whom a limit is for: an id as it is, or a name that is looked up.
async fn resolve_subject_id(db: &Db, tenant: &Tenant, scope: BudgetScope, given: &str) -> Result<Uuid> {
    if let Ok(id) = given.parse() {
        return Ok(id);
    }
    let asked = given.to_owned();
    match scope {
        BudgetScope::Tenant => Err(CommandFailure::usage("--only does not apply to a tenant limit")
            .hint("remove --only, or limit binding.… or person.…")),
        BudgetScope::Person => {
            db.read(tenant.id, move |tx| person::find(tx, &asked).map(|person| person.id.as_uuid())).await
        }
        BudgetScope::Binding => {
            let tiers = munshi_tiers::history::list_tiers(db, &tenant.name).await?;
            let bindings: Vec<_> = tiers.iter().filter(|tier| tier.kind == TierKind::Binding).collect();
            let found = bindings.iter().find(|tier| tier.name.as_str() == given);
            found.map(|tier| tier.id.as_uuid()).ok_or_else(|| {
                let known: Vec<String> =
                    bindings.iter().map(|tier| format!("{} ({})", tier.id, tier.name)).collect();
                let hint = match known.is_empty() {
                    true => format!("{} has no bindings yet", tenant.name),
                    false => format!("known bindings: {}", known.join(", ")),
                };
                CommandFailure::not_found(format!("{} has no binding {given}", tenant.name)).hint(hint)
            })
        }
    }
}

fn to_audit_json(to: BudgetLimitValue) -> Value {
    match to {
        BudgetLimitValue::AtMost(amount) => json!(amount),
        BudgetLimitValue::Unlimited => json!("none"),
        BudgetLimitValue::Default => json!("default"),
    }
}

fn parse_amount(measure: BudgetMeasure, text: &str) -> Result<BudgetLimitValue> {
    match (text, measure) {
        ("none", _) => Ok(BudgetLimitValue::Unlimited),
        ("default", _) => Ok(BudgetLimitValue::Default),
        (text, BudgetMeasure::Money) => parse_dollars(text).map(BudgetLimitValue::AtMost).ok_or_else(|| {
            CommandFailure::usage(format!("`{text}` is not an amount of money"))
                .hint("write dollars, such as 50 or 0.50")
        }),
        (text, _) => text.parse().map(BudgetLimitValue::AtMost).map_err(|_| {
            CommandFailure::usage(format!("`{text}` is not a whole number"))
                .hint("use a whole number, `none` or `default`")
        }),
    }
}

/// Millionths, by the digits: a float would round.
fn parse_dollars(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    if !plain(whole) || !plain(decimals) || decimals.len() > 6 {
        return None;
    }
    let fraction: u64 = format!("{decimals:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(fraction)
}

fn render_text(answer: &Answer) -> String {
    let on = &answer.on;
    let whom = match (on.scope, on.id) {
        (BudgetScope::Tenant, _) => answer.tenant.to_string(),
        (scope, None) => format!("each {scope} of {}", answer.tenant),
        (scope, Some(id)) => format!("{scope} {id} of {}", answer.tenant),
    };
    let lane = if on.lane == BudgetLane::Background { " in the background" } else { "" };
    let what = match answer.to {
        BudgetLimitValue::AtMost(amount) => {
            let amount = on.measure.render(i64::try_from(amount).unwrap_or(i64::MAX));
            let noun =
                if on.measure == BudgetMeasure::Money { String::new() } else { format!(" {}", on.measure) };
            format!("may now use {amount}{noun}{lane} a {}.", on.period)
        }
        BudgetLimitValue::Unlimited => {
            format!("now has no limit of {}{lane} for the {}.", on.measure, on.period)
        }
        BudgetLimitValue::Default => {
            format!("now has the default limit of {}{lane} for the {}.", on.measure, on.period)
        }
    };
    format!("{whom} {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_or_refused() {
        assert_eq!(parse_dollars("0.5"), Some(500_000));
        assert_eq!(parse_dollars("12"), Some(12_000_000));
        for bad in ["", ".5", "1.", "-1", "1e3", "$5", "0.0000001", "99999999999999999999"] {
            assert_eq!(parse_dollars(bad), None, "{bad}");
        }
        assert!(matches!(parse_amount(BudgetMeasure::Tokens, "none"), Ok(BudgetLimitValue::Unlimited)));
        assert!(parse_amount(BudgetMeasure::Tokens, "1.5").is_err());
    }

    #[test]
    fn a_limit_is_read_or_told_how_to_write() {
        let read =
            |text: &str| text.parse::<Limit>().map(|limit| (limit.0.lane, limit.0.scope, limit.0.measure));
        assert_eq!(
            read("tenant.month.money"),
            Ok((BudgetLane::People, BudgetScope::Tenant, BudgetMeasure::Money))
        );
        assert_eq!(
            read("background.person.day.tokens"),
            Ok((BudgetLane::Background, BudgetScope::Person, BudgetMeasure::Tokens))
        );
        assert!(read("tenant.money").unwrap_err().contains("SCOPE.PERIOD.MEASURE"));
        assert!(read("tenant.year.money").unwrap_err().contains("use month or day"));
    }
}
