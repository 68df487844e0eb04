//! What a prompt should know of the books: how the day stands, how things stand with whom the message names, and whose
//! names no model elsewhere may see. Each as far as the role of whoever writes may see it.

mod mentions;

use munshi_identity::{PermissionRules, authorize};
use munshi_lang::format;
use munshi_pack::{ContextSource, PackTurnContext, PromptContribution};
use munshi_privacy::{PiiKind, ProtectedEntity};
use munshi_safety::policy;
use munshi_store::{PageRequest, Tx};
use munshi_tiers::prompt::{PersonFact, UntrustedText};
use munshi_types::{Money, Reach};

use crate::books::contacts::Contact;
use crate::books::{DayRange, HabitSide, LedgerDay, StockItem, balances, contacts, daily_turnover, habits};
use crate::error::{Error, Result};
use crate::tools::contains_pack_tool;

/// So many pages of contacts are hidden by name. Past them the veil's own search for names remains.
const PAGES: usize = 10;
/// The books are sure of what they hold.
const SURE: u16 = 1_000;

pub(crate) struct BooksContext;

impl ContextSource for BooksContext {
    fn gather(&self, tx: &mut Tx<'_>, scene: &PackTurnContext) -> munshi_store::Result<PromptContribution> {
        // Customers have no business with the shop's figures, and no need of its contacts.
        if scene.principal.role().is_none() {
            return Ok(PromptContribution::default());
        }
        gather_contribution(tx, scene).map_err(|error| match error {
            Error::Store(error) => error,
            other => munshi_store::Error::Decode(other.to_string()),
        })
    }
}

fn gather_contribution(tx: &mut Tx<'_>, scene: &PackTurnContext) -> Result<PromptContribution> {
    let people = people(tx)?;
    // An agent without our tools has another trade, and its people need no figures of these books.
    if !contains_pack_tool(&scene.tools) {
        return Ok(PromptContribution { people, ..PromptContribution::default() });
    }
    let rules = policy::load_current(tx)
        .map_err(|error| Error::Store(munshi_store::Error::Decode(error.to_string())))?
        .1
        .roles;
    let sees = |scope: &str| may_see(scene, &rules, scope);
    let mut profile = Vec::new();
    if sees("ledger.report.read") {
        profile.push(UntrustedText::new(&render_today(tx, scene)?));
    }
    if sees("ledger.balance.list") {
        profile.push(UntrustedText::new(&render_owed(tx)?));
    }
    let mut lines = Vec::new();
    let alike = mentions::find_similar(tx, &scene.message)?;
    if sees("ledger.balance.read") {
        for contact in alike.contacts(tx, &scene.message)? {
            lines.push(render_contact(tx, scene, &contact)?);
        }
    }
    if sees("ledger.stock.read") {
        lines.extend(alike.items(tx, &scene.message)?.iter().map(render_item));
    }
    let facts =
        lines.iter().map(|line| PersonFact { text: UntrustedText::new(line), confidence: SURE }).collect();
    Ok(PromptContribution { profile, facts, people, ..PromptContribution::default() })
}

fn may_see(scene: &PackTurnContext, rules: &PermissionRules, scope: &str) -> bool {
    authorize(&scene.principal, rules, scope, false, Reach::Business).is_ok()
}

fn render_today(tx: &mut Tx<'_>, scene: &PackTurnContext) -> Result<String> {
    let today = daily_turnover::totals(tx, DayRange::day(LedgerDay::of(scene.now, &scene.zone)))?;
    Ok(format!(
        "Books today: sales {}, payments received {}, expenses {}.",
        format::rupees(today.sales),
        format::rupees(today.payments_received),
        format::rupees(today.expenses),
    ))
}

fn render_owed(tx: &mut Tx<'_>) -> Result<String> {
    let standing = balances::load_totals(tx)?;
    let (receivable, payable) = (format::rupees(standing.receivable), format::rupees(standing.payable));
    Ok(format!("Customers owe {receivable} in all; the shop owes {payable}."))
}

fn render_contact(tx: &mut Tx<'_>, scene: &PackTurnContext, contact: &Contact) -> Result<String> {
    let mut line = match contact.balance {
        Money::ZERO => format!("Nothing is open with {}.", contact.name),
        owed if owed.is_negative() => {
            format!("The shop owes {} {}.", contact.name, format::rupees(owed.negated()?))
        }
        owes => format!("{} owes the shop {}.", contact.name, format::rupees(owes)),
    };
    if let Some(limit) = contact.limit {
        line.push_str(&format!(" Limit {}.", format::rupees(limit)));
    }
    for (side, habit) in habits::get_both(tx, contact.id)? {
        let what = if side == HabitSide::Trade { "Usually takes" } else { "Usually pays" };
        if let (Some(usual), Some(last)) = (habit.usual, habit.last_at) {
            let day = LedgerDay::of(last, &scene.zone);
            line.push_str(&format!(" {what} {}, last on {day}.", format::rupees(usual)));
        }
    }
    Ok(line)
}

fn render_item(item: &StockItem) -> String {
    let price =
        item.price.map(|price| format!(", {} a {}", format::rupees(price), item.unit)).unwrap_or_default();
    format!("{}: {} {} in the shop{price}.", item.name, item.stock, item.unit)
}

fn people(tx: &mut Tx<'_>) -> Result<Vec<ProtectedEntity>> {
    let (mut people, mut after) = (Vec::new(), None);
    for _ in 0..PAGES {
        let page = contacts::list(tx, &PageRequest::new(after, PageRequest::LARGEST))?;
        people.extend(page.items.into_iter().map(|contact| ProtectedEntity {
            names: vec![contact.name],
            values: contact.phone.map(|phone| (PiiKind::Phone, phone)).into_iter().collect(),
        }));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok(people)
}
