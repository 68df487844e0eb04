//! What a call costs. Own prices come first, then the bundled book with its dates; a model in neither has no price,
//! and then the cost is unknown, never nothing.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use genai_prices::{PriceRequest, UsageKey};
use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};

use super::cost::Cost;
use crate::chat::TokenUsage;
use crate::target::{ModelTarget, WireFormat};

/// A price of one's own, in millionths of a dollar for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelPrice {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write_5m: u64,
    pub cache_write_1h: u64,
}

impl ModelPrice {
    pub const FREE: Self = Self { input: 0, output: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0 };

    fn cost(&self, usage: &TokenUsage) -> Cost {
        let parts = [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write_5m, self.cache_write_5m),
            (usage.cache_write_1h, self.cache_write_1h),
        ];
        let millionths: u128 =
            parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
        Cost::from_micros(i64::try_from(millionths.div_ceil(1_000_000)).unwrap_or(i64::MAX))
    }
}

/// Prices by the target's own name (`models.NAME`), by provider and model (`sarvam/sarvam-m`), or by model alone, the
/// narrowest first. A tenant's book is laid over the installation's.
#[derive(Clone, Debug, Default)]
pub struct PriceBook {
    own: BTreeMap<String, ModelPrice>,
    beneath: Option<Box<PriceBook>>,
}

impl PriceBook {
    pub fn new(own: BTreeMap<String, ModelPrice>) -> Self {
        Self { own, beneath: None }
    }

    /// This book where it has a price, `beneath` where it has none.
    pub fn with_fallback(&self, beneath: &Self) -> Self {
        Self { own: self.own.clone(), beneath: Some(Box::new(beneath.clone())) }
    }

    /// None when nobody knows this model's price.
    pub fn cost(&self, target: &ModelTarget, usage: &TokenUsage, at: Timestamp) -> Option<Cost> {
        if target.wire == WireFormat::Offline {
            return Some(Cost::ZERO);
        }
        match self.own_price(target) {
            Some(price) => Some(price.cost(usage)),
            None => find_bundled_cost(target, usage, at),
        }
    }
}

impl PriceBook {
    fn own_price(&self, target: &ModelTarget) -> Option<&ModelPrice> {
        let lower = || self.beneath.as_ref().and_then(|beneath| beneath.own_price(target));
        if self.own.is_empty() {
            return lower();
        }
        let by_provider = || self.own.get(&format!("{}/{}", target.price_provider, target.model));
        let by_target = self.own.get(&format!("models.{}", target.name));
        by_target.or_else(by_provider).or_else(|| self.own.get(&target.model)).or_else(lower)
    }
}

fn find_bundled_cost(target: &ModelTarget, usage: &TokenUsage, at: Timestamp) -> Option<Cost> {
    if target.price_provider.is_empty() {
        return None;
    }
    let whole = usage.total() - usage.output;
    let counted = genai_prices::Usage::from([
        (UsageKey::INPUT_TOKENS, as_float(whole)),
        (UsageKey::CACHE_READ_TOKENS, as_float(usage.cache_read)),
        (UsageKey::CACHE_WRITE_TOKENS, as_float(usage.cache_write_5m.saturating_add(usage.cache_write_1h))),
        (UsageKey::CACHE_WRITE_5M_TOKENS, as_float(usage.cache_write_5m)),
        (UsageKey::CACHE_WRITE_1H_TOKENS, as_float(usage.cache_write_1h)),
        (UsageKey::OUTPUT_TOKENS, as_float(usage.output)),
    ]);
    let when = SystemTime::UNIX_EPOCH + Duration::from_millis(at.as_millis());
    let request = PriceRequest::new(&target.model, &counted)
        .with_provider_id(&target.price_provider)
        .with_timestamp(when);
    let price = genai_prices::calculate(&request).ok()?;
    Cost::from_dollars(price.total_price)
}

#[allow(clippy::cast_precision_loss, reason = "no call has 2^52 tokens")]
fn as_float(tokens: u64) -> f64 {
    tokens as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claude() -> ModelTarget {
        let mut target = ModelTarget::new("sonnet", WireFormat::Anthropic, "", "claude-sonnet-4-5");
        target.price_provider = "anthropic".to_owned();
        target
    }

    fn hundred_thousand(part: impl FnOnce(&mut TokenUsage, u64)) -> TokenUsage {
        let mut usage = TokenUsage::default();
        part(&mut usage, 100_000);
        usage
    }

    #[test]
    fn each_kind_of_token_has_its_own_price() {
        let cost = |usage| {
            let at = "2026-01-01T00:00:00Z".parse().unwrap();
            PriceBook::default().cost(&claude(), &usage, at).unwrap().as_micros()
        };
        assert_eq!(cost(hundred_thousand(|usage, count| usage.input = count)), 300_000);
        assert_eq!(cost(hundred_thousand(|usage, count| usage.output = count)), 1_500_000);
        assert_eq!(cost(hundred_thousand(|usage, count| usage.cache_read = count)), 30_000);
        assert_eq!(cost(hundred_thousand(|usage, count| usage.cache_write_5m = count)), 375_000);
        assert_eq!(cost(hundred_thousand(|usage, count| usage.cache_write_1h = count)), 600_000);
    }

    #[test]
    fn own_prices_come_first_and_nobody_guesses() {
        let at = Timestamp::EPOCH;
        let usage = hundred_thousand(|usage, count| usage.input = count);
        let unknown = ModelTarget::new("x", WireFormat::OpenAi, "", "no-such-model");
        assert_eq!(PriceBook::default().cost(&unknown, &usage, at), None);
        let price = ModelPrice { input: 2_000_000, ..ModelPrice::FREE };
        let own = PriceBook::new(BTreeMap::from([("no-such-model".to_owned(), price)]));
        assert_eq!(own.cost(&unknown, &usage, at), Some(Cost::from_micros(200_000)));
        let cheaper = ModelPrice { input: 1_000_000, ..ModelPrice::FREE };
        let tenant = PriceBook::new(BTreeMap::from([("no-such-model".to_owned(), cheaper)]));
        assert_eq!(tenant.with_fallback(&own).cost(&unknown, &usage, at), Some(Cost::from_micros(100_000)));
        let narrower = PriceBook::new(BTreeMap::from([("models.x".to_owned(), price)]));
        assert_eq!(
            tenant.with_fallback(&narrower).cost(&unknown, &usage, at),
            Some(Cost::from_micros(100_000))
        );
        assert_eq!(
            narrower.with_fallback(&tenant).cost(&unknown, &usage, at),
            Some(Cost::from_micros(200_000))
        );
    }
}
