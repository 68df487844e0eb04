//! What tools said, as far as the rules for replies rest on it: what there is to buy, amounts, and people.

use munshi_guardrails::{CatalogItem, GuardrailContext};
use munshi_types::Money;
use serde_json::{Map, Value};

/// More of each is not looked at: a result may be a whole catalogue.
const MOST: usize = 500;
const DEEPEST: usize = 12;

/// Adds what a result shows.
pub(crate) fn add(context: &mut GuardrailContext, result: &Value) {
    walk(context, result, None, 0);
}

fn walk(context: &mut GuardrailContext, value: &Value, parent: Option<&str>, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(context, item, parent, depth + 1)),
        Value::Object(fields) => {
            if let Some(item) = item(fields).filter(|_| context.items.len() < MOST) {
                context.items.push(item);
            }
            if let Some(name) = person(fields, parent).filter(|_| context.people.len() < MOST) {
                context.people.push(name);
            }
            for (key, inner) in fields {
                if let Some(amount) = money(key, inner).filter(|_| context.amounts.len() < MOST) {
                    context.amounts.push(amount);
                }
                walk(context, inner, Some(key), depth + 1);
            }
        }
        _ => {}
    }
}

fn item(fields: &Map<String, Value>) -> Option<CatalogItem> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
    let price = fields.iter().find_map(|(key, value)| {
        let is_price = key.starts_with("price") || key == "rate" || key == "mrp";
        is_price.then(|| money(key, value)).flatten()
    })?;
    let stock = ["stock", "in_stock", "quantity_left"].iter().find_map(|key| fields.get(*key)?.as_u64());
    Some(CatalogItem {
        sku: text("sku").or_else(|| text("code"))?,
        name: text("name").or_else(|| text("title"))?,
        price,
        stock: stock.and_then(|stock| u32::try_from(stock).ok()),
    })
}

/// Fields that count paise say so in their name; others that name money count rupees.
fn money(key: &str, value: &Value) -> Option<Money> {
    let key = key.to_ascii_lowercase();
    if key.ends_with("paise") {
        return value.as_i64().map(Money::from_paise);
    }
    let names = ["amount", "price", "total", "balance", "due", "rate", "mrp", "rupees", "paid", "owed"];
    if !names.iter().any(|name| key.split('_').any(|part| part == *name)) {
        return None;
    }
    let rupees = value.as_i64().and_then(|rupees| rupees.checked_mul(100));
    let exact = || munshi_lang::Number::from_decimal(&value.to_string())?.as_money();
    rupees.map(Money::from_paise).or_else(exact)
}

/// Who is told of with a phone, an email or a role, or under a key that speaks of people.
fn person(fields: &Map<String, Value>, parent: Option<&str>) -> Option<String> {
    let name = fields.get("name").and_then(Value::as_str).filter(|name| !name.is_empty())?;
    let reached = ["phone", "email", "person", "person_id"].iter().any(|key| fields.contains_key(*key));
    let people = ["people", "persons", "customers", "contacts", "patients", "members", "leads"];
    let listed = parent.is_some_and(|parent| people.contains(&parent));
    (reached || listed).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_catalogue_and_a_ledger_say_is_found() {
        let mut context = GuardrailContext::default();
        add(
            &mut context,
            &json!({ "items": [{ "sku": "A1", "name": "Soap", "price_paise": 4500, "stock": 3 }],
                     "customers": [{ "name": "Asha", "balance": 120 }], "note": { "total": 19.5 } }),
        );
        assert_eq!(context.items.len(), 1);
        assert_eq!(context.items[0].price, Money::from_paise(4500));
        assert_eq!(context.people, ["Asha"]);
        let amounts: Vec<i64> = context.amounts.iter().map(|amount| amount.as_paise()).collect();
        assert_eq!(amounts, [12_000, 4_500, 1_950]);
    }
}
