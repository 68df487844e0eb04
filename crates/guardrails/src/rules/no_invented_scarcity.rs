//! Nothing is running out unless the inventory says so.

use std::borrow::Cow;

use crate::classes::WordClassSet;
use crate::lexicon::{self, NamedPatterns, NamedWordClass};
use crate::rule::{
    GuardrailCheck, GuardrailFinding, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier,
    GuardrailView,
};

/// From this many on, "few are left" is no longer true.
const FEW: u32 = 10;

static PATTERNS: NamedPatterns = NamedPatterns::new("no-invented-scarcity");
static PRESSURE: NamedWordClass = NamedWordClass::new("no-invented-scarcity.pressure");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("no-invented-scarcity"),
        tier: GuardrailTier::Team,
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed("Never imply that something is running out unless the inventory says so."),
        phrase: "guard-check-stock",
        check: GuardrailCheck::Sentences(check),
    }
}

fn check(view: &GuardrailView<'_>) -> Vec<GuardrailFinding> {
    let stocks: Vec<u32> = view.context.items.iter().filter_map(|item| item.stock).collect();
    let hurry = PRESSURE.get();
    let spans = PATTERNS.find(view.reading).into_iter();
    let grounded = |span: &std::ops::Range<usize>| {
        let clause = view.reading.clauses.iter().find(|clause| {
            clause.tokens().any(|at| {
                view.reading.tokens[at].start >= span.start && view.reading.tokens[at].end <= span.end
            })
        });
        let Some(clause) = clause.filter(|clause| !clause.mask.intersects(hurry)) else { return false };
        let mut numbers = clause
            .tokens()
            .filter(|at| view.reading.has_class(*at, WordClassSet::of(lexicon::NUMBER)))
            .peekable();
        match numbers.peek() {
            Some(_) => numbers.all(|at| {
                let said: Option<u32> = view.reading.spelling(at).parse().ok();
                said.is_none_or(|said| stocks.contains(&said)) && !stocks.is_empty()
            }),
            None => stocks.iter().any(|stock| *stock < FEW),
        }
    };
    spans
        .filter(|span| !grounded(span))
        .map(|span| GuardrailFinding::new(span, "scarcity that no tool reported"))
        .collect()
}

#[cfg(test)]
mod tests {
    use munshi_types::Money;

    use crate::rules::trial::{caught, check, passed};
    use crate::{CatalogItem, GuardrailContext};

    #[test]
    fn the_inventory_may_be_told_and_nothing_else() {
        caught("no-invented-scarcity", &["Only 2 left!", "Hurry, stock is running out.", "सिर्फ 2 पीस बचे हैं।"]);
        passed("no-invented-scarcity", &["It is in stock.", "Take your time."]);
        let item = CatalogItem { sku: "A-1".into(), name: "Bag".into(), price: Money::ZERO, stock: Some(3) };
        let context = GuardrailContext { items: vec![item], ..GuardrailContext::default() };
        assert!(check("no-invented-scarcity", "Only 3 left in stock.", &context).is_clean());
        assert!(!check("no-invented-scarcity", "Only 2 left in stock.", &context).is_clean());
    }
}
