//! `munshi ledger item NAME`: what is known of an item, shown and set.

use async_trait::async_trait;
use munshi_pack::{
    PackArgument, PackArgumentKind, PackArgumentValues, PackCommand, PackCommandCall, PackCommandError,
};
use munshi_store::Tx;
use munshi_types::{IdGenerator, Timestamp};
use serde_json::json;

use super::zone;
use crate::books::taxes::{self, ItemTax};
use crate::books::{LedgerDay, NameMatch, NewStockItem, StockItem, items};
use crate::error::{Error, Result};
use crate::tax::{self, TaxRate};

pub(super) struct SetItemCommand;

const fn value(name: &'static str, about: &'static str) -> PackArgument {
    PackArgument { name, about, kind: PackArgumentKind::Value }
}

/// What is asked for, and when.
struct Asked {
    given: PackArgumentValues,
    ids: IdGenerator,
    now: Timestamp,
    today: LedgerDay,
}

const ARGUMENTS: &[PackArgument] = &[
    PackArgument { name: "name", about: "The item's name", kind: PackArgumentKind::Needed },
    value("unit", "Its unit: kg, piece, bag"),
    value("price", "The price of one unit, in rupees"),
    value("low-at", "Warn when the stock is at or below this"),
    value("gst", "Its GST rate, such as 5%"),
    value("hsn", "Its HSN code; sets the rate if the code is known"),
    value("from", "The day the rate applies from; default: since the present rates began"),
];

#[async_trait]
impl PackCommand for SetItemCommand {
    fn name(&self) -> &'static str {
        "item"
    }

    fn about(&self) -> &'static str {
        "Show an item; with options, update it, or add it if it does not exist"
    }

    fn arguments(&self) -> &'static [PackArgument] {
        ARGUMENTS
    }

    async fn run(&self, call: PackCommandCall<'_>) -> Result<(), PackCommandError> {
        let today = LedgerDay::of(call.now, &zone(call.db, call.tenant).await?);
        let asked = Asked { given: call.given.clone(), ids: call.ids.clone(), now: call.now, today };
        let is_change = self.arguments().iter().skip(1).any(|argument| asked.given.has(argument.name));
        let shown = move |tx: &mut Tx<'_>| -> Result<_> {
            let item = if is_change { asked.upsert_item(tx)? } else { asked.item(tx)? };
            let tax = taxes::find_on(tx, item.id, asked.today)?;
            Ok((item, tax))
        };
        let (item, tax) = match is_change {
            true => call.db.write(call.tenant, shown).await?,
            false => call.db.read(call.tenant, shown).await?,
        };
        let rate = tax.as_ref().map(|tax| tax.rate.to_string());
        let hsn = tax.as_ref().map(|tax| tax.hsn.clone());
        let words = format!(
            "{}: {} {} in stock, GST {}, HSN {}",
            item.name,
            item.stock,
            item.unit,
            rate.as_deref().unwrap_or("-"),
            hsn.as_deref().filter(|hsn| !hsn.is_empty()).unwrap_or("-"),
        );
        call.out.print_result(&json!({ "item": item, "gst": rate, "hsn": hsn }), &words)
    }
}

impl Asked {
    fn item(&self, tx: &mut Tx<'_>) -> Result<StockItem> {
        let name = self.given.one("name").unwrap_or_default();
        match items::find(tx, name)? {
            NameMatch::One(item) => Ok(item),
            NameMatch::Nobody => Err(Error::missing("item", &name)),
            NameMatch::Choices(several) => {
                let names: Vec<&str> = several.iter().map(|item| item.name.as_str()).collect();
                Err(Error::invalid(format!("{name} is ambiguous ({}): write it in full", names.join(", "))))
            }
        }
    }

    fn upsert_item(&self, tx: &mut Tx<'_>) -> Result<StockItem> {
        let given = &self.given;
        let before = match self.item(tx) {
            Err(Error::Missing { .. }) => None,
            other => Some(other?),
        };
        let name = given.one("name").unwrap_or_default();
        let known = NewStockItem {
            name: before.as_ref().map_or(name, |item| &item.name).to_owned(),
            unit: match (given.one("unit"), &before) {
                (Some(unit), _) => unit.to_owned(),
                (None, Some(item)) => item.unit.clone(),
                (None, None) => "piece".to_owned(),
            },
            price: match given.one("price") {
                Some(price) => Some(price.parse()?),
                None => before.as_ref().and_then(|item| item.price),
            },
            low_at: match given.one("low-at") {
                Some(low) => Some(low.parse()?),
                None => before.as_ref().and_then(|item| item.low_at),
            },
        };
        let item = match before {
            Some(item) => items::update(tx, item.id, &known)?,
            None => items::add(tx, &self.ids, self.now, &known)?,
        };
        if given.has("gst") || given.has("hsn") {
            taxes::set(tx, item.id, &self.tax()?, self.now)?;
        }
        Ok(item)
    }

    fn tax(&self) -> Result<ItemTax> {
        let hsn = self.given.one("hsn").unwrap_or_default().to_owned();
        let since = LedgerDay::from_date(TaxRate::rates_valid_since(self.today.to_date()));
        let bad = |text: &str| Error::invalid(format!("{text} is not a day: write it as 2026-11-15"));
        let from = self.given.one("from").map(|text| text.parse().map_err(|_| bad(text))).transpose()?;
        let from: LedgerDay = from.unwrap_or(since);
        let said = self.given.one("gst").map(str::parse).transpose()?;
        let rate = said.or_else(|| tax::find_rate(&hsn, from.to_date()));
        let unknown = || Error::invalid(format!("the rate of HSN {hsn} is unknown: pass it with --gst"));
        Ok(ItemTax { rate: rate.ok_or_else(unknown)?, hsn, from })
    }
}
