//! The tools that answer from the books: one balance, all who owe, a stretch of days.

use munshi_lang::format;
use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{ReadToolHandler, ToolFailure, ToolOutput};
use serde_json::{Value, json};

use super::call::{LedgerServices, LedgerToolCall};
use super::contact_match;
use super::result::LedgerToolResult;
use crate::books::{DayRange, LedgerDay, balances, daily_turnover};

/// People that are named in an answer; the total is of all.
const NAMED: usize = 10;

pub(crate) struct BalanceTool(pub(crate) LedgerServices);

impl ReadToolHandler for BalanceTool {
    fn read(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let contact = contact_match::resolve_contact(tx, &call)?;
        Ok(LedgerToolResult::default().contact(&contact)?.build())
    }
}

pub(crate) struct WhoOwesMeTool;

impl ReadToolHandler for WhoOwesMeTool {
    fn read(&self, _permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let total = balances::load_totals(tx)?.receivable;
        let owing = balances::list_debtors(tx, None, u32::try_from(NAMED + 1).unwrap_or(u32::MAX))?;
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
        Ok(told.phrase(if owing.is_empty() { "no-debtors" } else { "debtors" }).build())
    }
}

pub(crate) struct SummaryTool(pub(crate) LedgerServices);

impl ReadToolHandler for SummaryTool {
    fn read(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let days = parse_period(&call)?;
        let totals = daily_turnover::totals(tx, days)?;
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
        let told = told.phrase(if days.from == days.to { "summary-day" } else { "summary-days" });
        let standing = balances::load_totals(tx)?;
        let told = told.money("cash_balance", standing.cash).money("bank_balance", standing.bank);
        let told = told.phrase("summary-money");
        Ok(if standing.cash.is_negative() { told.phrase("cash-below") } else { told }.build())
    }
}

/// The days that a period means; today where none was said.
pub(super) fn parse_period(call: &LedgerToolCall<'_>) -> Result<DayRange, ToolFailure> {
    let today = call.today();
    let before = |days: DayRange| days.from.previous();
    Ok(match call.text("period").unwrap_or("today") {
        "today" | "day" => DayRange::day(today),
        "yesterday" => DayRange::day(today.previous()),
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
        ToolFailure::permanent("bad_period", what)
    })
}
