//! The tools that answer from the books: one balance, all who owe, a stretch of days.

use munshi_lang::format;
use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{Done, Failure, Look};
use serde_json::{Value, json};

use super::call::{Call, Desk};
use super::person;
use super::told::Told;
use crate::books::{Day, Days, balances, days};

/// People that are named in an answer; the total is of all.
const NAMED: usize = 10;

pub(crate) struct BalanceOf(pub(crate) Desk);

impl Look for BalanceOf {
    fn look(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let call = self.0.call(permit, tx)?;
        let contact = person::known(tx, &call)?;
        Ok(Told::default().of(&contact)?.done())
    }
}

pub(crate) struct WhoOwesMe;

impl Look for WhoOwesMe {
    fn look(&self, _permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
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
        let told = Told::default().money("total", total).with("people", people).with("list", list);
        Ok(told.say(if owing.is_empty() { "no-debtors" } else { "debtors" }).done())
    }
}

pub(crate) struct Summary(pub(crate) Desk);

impl Look for Summary {
    fn look(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let call = self.0.call(permit, tx)?;
        let days = stretch(&call)?;
        let totals = days::totals(tx, days)?;
        let told = Told::default()
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
pub(super) fn stretch(call: &Call<'_>) -> Result<Days, Failure> {
    let today = call.today();
    let before = |days: Days| days.from.before();
    Ok(match call.text("period").unwrap_or("today") {
        "today" | "day" => Days::day(today),
        "yesterday" => Days::day(today.before()),
        "this_week" | "week" => Days::week(today),
        "last_week" => Days::week(before(Days::week(today))),
        "this_month" | "month" => Days::month(today),
        "last_month" => Days::month(before(Days::month(today))),
        "this_year" | "year" => Days::year(today),
        "last_year" => Days::year(before(Days::year(today))),
        other => return one_day(other),
    })
}

fn one_day(text: &str) -> Result<Days, Failure> {
    text.parse::<Day>().map(Days::day).map_err(|_| {
        let what = "say a period: today, yesterday, this_week, last_week, this_month, last_month, this_year, \
                    last_year, or a day such as 2026-11-15";
        Failure::surely("bad_period", what)
    })
}
