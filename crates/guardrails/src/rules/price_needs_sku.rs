//! A price is said with the item it belongs to, and as the catalogue has it.

use std::borrow::Cow;

use crate::context::CatalogItem;
use crate::price::find_prices;
use crate::rule::{
    GuardrailCheck, GuardrailFinding, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier,
    GuardrailView,
};

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("price-needs-sku"),
        tier: GuardrailTier::Team,
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed(
            "Never quote a price without the item's SKU, and only as the catalogue returned it.",
        ),
        phrase: "guard-which-item",
        check: GuardrailCheck::Sentences(check),
    }
}

fn check(view: &GuardrailView<'_>) -> Vec<GuardrailFinding> {
    let mut found = Vec::new();
    for price in find_prices(view.reading) {
        let known = price.value.is_some_and(|value| view.context.amounts.contains(&value));
        let listed =
            view.context.items.iter().any(|item| price.value == Some(item.price) && names_item(view, item));
        if !known && !listed {
            found.push(GuardrailFinding::new(price.span, "a price without its item"));
        }
    }
    found
}

/// Whether the reply has said which item it speaks of.
fn names_item(view: &GuardrailView<'_>, item: &CatalogItem) -> bool {
    let said = |text: &str| {
        let text = squeeze(text);
        [&item.sku, &item.name]
            .into_iter()
            .map(|name| squeeze(name))
            .any(|name| !name.is_empty() && text.contains(&name))
    };
    said(view.text) || view.earlier.iter().any(|part| said(&part.text))
}

fn squeeze(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use munshi_types::Money;

    use crate::rules::trial::check;
    use crate::{CatalogItem, GuardrailContext};

    #[test]
    fn a_price_passes_with_its_item_alone() {
        let item = CatalogItem {
            sku: "R-2241".into(),
            name: "Leather jacket".into(),
            price: Money::from_paise(499_900),
            stock: None,
        };
        let context = GuardrailContext { items: vec![item], ..GuardrailContext::default() };
        for fine in [
            "R-2241 costs ₹4,999.",
            "The leather jacket is Rs. 4999.",
            "You paid ₹500.",
            "R-2241 is in. It is ₹4999.",
        ] {
            assert!(check("price-needs-sku", fine, &context).is_clean(), "{fine}");
        }
        for wrong in ["It costs ₹4,999.", "R-2241 costs ₹3,999.", "Only 2k for you.", "यह ४९९ रुपये का है।"]
        {
            assert!(!check("price-needs-sku", wrong, &context).is_clean(), "{wrong}");
        }
    }
}
