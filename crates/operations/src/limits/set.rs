//! Sets a limit.

use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::budget::{self, BudgetLimitSubject, BudgetLimitValue, BudgetScope};
use munshi_types::Id;
use munshi_types::tier::TierKind;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use uuid::Uuid;

use super::LimitView;
use super::amount::{parse_amount, parse_subject};
use crate::{HouseCall, HouseServices, persons};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewLimit)]
pub struct SetLimitInput {
    /// SCOPE.PERIOD.MEASURE, such as tenant.month.money, binding.day.tokens or person.day.interactions; with
    /// `background.` before it for background work.
    #[schema(example = "tenant.month.money")]
    pub limit: String,
    /// Whole number, or dollars for money; `none` for no limit, `default` for the plan's and settings' value.
    #[schema(example = "50")]
    pub amount: String,
    /// Apply to this binding or person only, by id or name.
    pub only: Option<String>,
}

pub struct SetLimit;

impl Operation<HouseServices> for SetLimit {
    type Input = SetLimitInput;
    type View = LimitView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "limits",
        noun: "limit",
        command: "usage limit",
        verb: "set",
        about: "Set a limit for a tenant, its bindings or its people; it holds from the next turn on.",
        needs: CallerClass::KeeperOfTenant,
        effect: OperationEffect::Write(&["budget.changed"]),
        method: RouteMethod::Post,
        path: "/v1/usage/limits",
    };

    async fn run(call: &HouseCall, input: SetLimitInput) -> Result<LimitView, OperationError> {
        let on = parse_subject(&input.limit)?;
        let to = parse_amount(on.measure, &input.amount)?;
        let id = match input.only {
            Some(given) => Some(resolve_id(call, on.scope, given).await?),
            None => None,
        };
        let (on, now) = (BudgetLimitSubject { id, ..on }, call.now);
        let set = call.write(move |tx| {
            budget::set_limit(tx, on, to, now)?;
            let subject = format!("limit {}.{}.{}", on.scope, on.period, on.measure);
            tx.note("budget.changed", subject, json!({ "on": on, "to": render_value(to) }));
            Ok(())
        });
        set.await?;
        Ok(LimitView::new(call.tenant.name.clone(), on, to))
    }
}

/// Whom a limit is for: an id as it is, or a name that is looked up.
async fn resolve_id(call: &HouseCall, scope: BudgetScope, given: String) -> Result<Uuid, OperationError> {
    if let Ok(id) = given.parse() {
        return Ok(id);
    }
    match scope {
        BudgetScope::Tenant => Err(OperationError::field("only", "does not apply to a tenant's limit")
            .hint("Leave it out, or limit binding.… or person.….")),
        BudgetScope::Person => call.read(move |tx| Ok(persons::find(tx, &given)?.id.as_uuid())).await,
        BudgetScope::Binding => {
            let tiers = munshi_tiers::history::list_tiers(&call.db, &call.tenant.name).await?;
            let bindings: Vec<_> = tiers.iter().filter(|tier| tier.kind == TierKind::Binding).collect();
            let found = bindings.iter().find(|tier| tier.name.as_str() == given);
            found.map(|tier| tier.id.as_uuid()).ok_or_else(|| {
                let known: Vec<String> =
                    bindings.iter().map(|tier| format!("{} ({})", tier.id, tier.name)).collect();
                let hint = match known.is_empty() {
                    true => format!("{} has no bindings yet.", call.tenant.name),
                    false => format!("Known bindings: {}.", known.join(", ")),
                };
                OperationError::not_found("binding", &given).hint(hint)
            })
        }
    }
}

fn render_value(to: BudgetLimitValue) -> Value {
    match to {
        BudgetLimitValue::AtMost(amount) => json!(amount),
        BudgetLimitValue::Unlimited => json!("none"),
        BudgetLimitValue::Default => json!("default"),
    }
}
