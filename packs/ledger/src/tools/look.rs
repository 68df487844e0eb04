//! The tools that answer from the books: one balance, all who owe, a stretch of days.

use munshi_lang::format;
use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{ReadToolHandler, ToolFailure, ToolOutput};
use serde_json::{Value, json};

use super::call::{LedgerServices, LedgerToolCall};
use super::person;
use super::told::LedgerToolResult;
use crate::books::{DayRange, LedgerDay, balances, days};

/// People that are named in an answer; the total is of all.
const NAMED: usize = 10;

pub(crate) struct BalanceTool(pub(crate) LedgerServices);

impl ReadToolHandler for BalanceTool {
    fn look(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.call(permit, tx)?;
        let contact = person::known(tx, &call)?;
        Ok(LedgerToolResult::default().of(&contact)?.done())
    }
}

pub(crate) struct WhoOwesMeTool;

impl ReadToolHandler for WhoOwesMeTool {
    fn look(&self, _permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let total = balances::standing(tx)?.receivable;
        let owing = balances::who_owes(tx, None, u32::try_from(NAMED + 1).unwrap_or(u32::MAX))?;
        let named = owing.get(..NAMED.min(owing.len())).unwrap_or_default();
        let more = (owing.len() > NAMED).then(|| "…".to_owned());
        let people: Vec<Value> = named
            .iter()
            .map(|one| json!({ "id": one.id, "name": one.name, "balance": one.balance.as_paise() }))
            .collect();
        let list: Vec<String> = named
            .iter()
            .map(|one| format!("{} {}", one.name, format::rupees(one.balance)))
            .chain(more)
            .collect();
        let told =
            LedgerToolResult::default().money("total", total).with("people", people).with("list", list);
        Ok(told.say(if owing.is_empty() { "no-debtors" } else { "debtors" }).done())
    }
}

pub(crate) struct SummaryTool(pub(crate) LedgerServices);

impl ReadToolHandler for SummaryTool {
    fn look(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.call(permit, tx)?;
        let days = stretch(&call)?;
        let totals = days::totals(tx, days)?;
        let told = LedgerToolResult::default()
            .with("day", days.from.to_string())
            .with("from", days.from.to_string())
            .with("to", days.to.to_string())
            .money("sales_total", totals.sales)
            .money("credit_total", totals.sales_on_credit)
            .money("purchases_total", totals.purchases)
            .money("expenses_total", totals.expenses)
            .money("received_total", totals.payments_received)
            .money("paid_total", totals.payments_made)
            .money("in_total", totals.money_in)
            .money("out_total", totals.money_out);
        let told = told.say(if days.from == days.to { "summary-day" } else { "summary-days" });
        let standing = balances::standing(tx)?;
        let told = told.money("cash_balance", standing.cash).money("bank_balance", standing.bank);
        let told = told.say("summary-money");
        Ok(if standing.cash.is_negative() { told.say("cash-below") } else { told }.done())
    }
}

/// The days that a period means; today where none was said.
pub(super) fn stretch(call: &LedgerToolCall<'_>) -> Result<DayRange, ToolFailure> {
    let today = call.today();
    let before = |days: DayRange| days.from.before();
    Ok(match call.text("period").unwrap_or("today") {
        "today" | "day" => DayRange::day(today),
        "yesterday" => DayRange::day(today.before()),
        "this_week" | "week" => DayRange::week(today),
        "last_week" => DayRange::week(before(DayRange::week(today))),
        "this_month" | "month" => DayRange::month(today),
        "last_month" => DayRange::month(before(DayRange::month(today))),
        "this_year" | "year" => DayRange::year(today),
        "last_year" => DayRange::year(before(DayRange::year(today))),
        other => return one_day(other),
    })
}

fn one_day(text: &str) -> Result<DayRange, ToolFailure> {
    text.parse::<LedgerDay>().map(DayRange::day).map_err(|_| {
        let what = "say a period: today, yesterday, this_week, last_week, this_month, last_month, this_year, \
                    last_year, or a day such as 2026-11-15";
        ToolFailure::surely("bad_period", what)
    })
}
