//! The prices a person gave, for the book that has them.

use munshi_config::ConfiguredModel;
use munshi_llm::ModelTarget;
use munshi_llm::pricing::ModelPrice;

use super::address::is_loopback;
use super::{Findings, build_problem};

/// The target's line in the book. Its prices are then its own and nobody else's, whatever the model is called.
pub(super) fn resolve(
    model: &ConfiguredModel,
    target: &ModelTarget,
    findings: &mut Findings<'_>,
) -> Option<(String, ModelPrice)> {
    let price = match read_configured_price(model, target, findings) {
        Some(price) => price,
        // Nobody sends a bill for this machine.
        None if is_loopback(&target.base_url) && target.price_provider.is_empty() => ModelPrice::FREE,
        None => return None,
    };
    Some((model.section(), price))
}

fn read_configured_price(
    model: &ConfiguredModel,
    target: &ModelTarget,
    findings: &mut Findings<'_>,
) -> Option<ModelPrice> {
    let cached = [
        ("price_cache_write_5m", model.price_cache_write_5m),
        ("price_cache_write_1h", model.price_cache_write_1h),
    ];
    let must = [("price_input", model.price_input), ("price_output", model.price_output)];
    let any =
        must.iter().chain(&cached).any(|(_, price)| price.is_some()) || model.price_cache_read.is_some();
    if !any {
        return None;
    }
    // A cache that is written to for more than was reckoned would overrun a budget unseen.
    let marks = target.capabilities.cache_minimum_tokens > 0;
    let missing = must.iter().chain(cached.iter().filter(|_| marks)).filter(|(_, price)| price.is_none());
    let missing: Vec<String> = missing.map(|(key, _)| format!("`{key}`")).collect();
    if !missing.is_empty() {
        let what = format!("the price is incomplete: missing {}", missing.join(", "));
        findings.problems.push(build_problem(
            model,
            what,
            "set all of them, or none to use the bundled prices",
        ));
    }
    let input = model.price_input?;
    Some(ModelPrice {
        input,
        output: model.price_output?,
        cache_read: model.price_cache_read.unwrap_or(input),
        cache_write_5m: model.price_cache_write_5m.unwrap_or(input),
        cache_write_1h: model.price_cache_write_1h.unwrap_or(input),
    })
}
