//! What an attempt may cost at most, and what it did cost.

use munshi_types::Timestamp;

use super::budget::CallSpend;
use crate::chat::{CacheBreakpoint, CacheLifetime, ChatReply, ChatRequest, TokenUsage};
use crate::error::{ModelError, TimeoutStage};
use crate::pricing::{Cost, PriceBook, count_message, estimate_request};
use crate::target::ModelTarget;

/// Counted before the call, for whoever has to say how much it may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallEstimate {
    pub(crate) input: u64,
    pub(crate) most: CallSpend,
}

impl CallEstimate {
    pub(crate) fn for_request(
        target: &ModelTarget,
        request: &ChatRequest,
        prices: &PriceBook,
        now: Timestamp,
    ) -> Self {
        if target.is_local() {
            return Self { input: 0, most: CallSpend { cost: Some(Cost::ZERO), ..CallSpend::default() } };
        }
        let input = estimate_request(target, request);
        let output = u64::from(request.max_output_tokens);
        let dearest = list_billing_cases(target, request, input, output)
            .into_iter()
            .map(|usage| prices.cost(target, &usage, now))
            .max()
            .flatten();
        Self { input, most: CallSpend { tokens: input + output, output, cost: dearest } }
    }
}

/// The ways the input may be billed: as it is, or dearer, written into a cache.
fn list_billing_cases(
    target: &ModelTarget,
    request: &ChatRequest,
    input: u64,
    output: u64,
) -> Vec<TokenUsage> {
    let plain = TokenUsage { input, output, ..TokenUsage::default() };
    if target.capabilities.cache_minimum_tokens == 0 || request.breakpoints.is_empty() {
        return vec![plain];
    }
    let is_long = request.breakpoints.iter().any(|mark| {
        let (CacheBreakpoint::AfterTools(kept)
        | CacheBreakpoint::AfterSystem(_, kept)
        | CacheBreakpoint::AfterMessage(_, kept)) = mark;
        *kept == CacheLifetime::OneHour
    });
    let written = if is_long {
        TokenUsage { cache_write_1h: input, input: 0, ..plain }
    } else {
        TokenUsage { cache_write_5m: input, input: 0, ..plain }
    };
    vec![plain, written]
}

/// More bytes than this to a token are in no language: the count is not believed.
const MOST_BYTES: u64 = 16;

/// What was used by an attempt that ended well. A server that counts nothing, or only half, is counted for.
pub(crate) fn compute_reply_usage(
    target: &ModelTarget,
    estimate: CallEstimate,
    reply: &ChatReply,
) -> TokenUsage {
    if target.is_local() {
        return reply.usage;
    }
    let mut usage = reply.usage;
    if usage.total() == usage.output {
        (usage.input, usage.estimated) = (estimate.input, true);
    }
    if usage.output.saturating_mul(MOST_BYTES) < reply.message.byte_len() {
        (usage.output, usage.estimated) = (count_message(target, &reply.message), true);
    }
    usage
}

/// What was used by an attempt that ended badly: nothing where the provider refused, what it has counted where it has,
/// and otherwise what was sent and heard. A call that ran out of time may have been taken, so it counts as taken.
pub(crate) fn compute_failure_usage(
    estimate: CallEstimate,
    fault: &ModelError,
    heard: ReceivedUsage,
) -> TokenUsage {
    let may_be_taken = matches!(
        fault,
        ModelError::Timeout(TimeoutStage::FirstByte | TimeoutStage::BetweenBytes | TimeoutStage::Whole)
            | ModelError::Interrupted
            | ModelError::Garbled(_)
            | ModelError::Cancelled
    );
    match heard.counted {
        Some(usage) if usage.total() > 0 && heard.output > usage.output => {
            TokenUsage { output: heard.output, estimated: true, ..usage }
        }
        Some(usage) if usage.total() > 0 => usage,
        _ if heard.has_begun || may_be_taken => TokenUsage {
            input: estimate.input,
            output: heard.output,
            estimated: true,
            ..TokenUsage::default()
        },
        _ => TokenUsage::default(),
    }
}

/// What came before the end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReceivedUsage {
    pub(crate) has_begun: bool,
    /// As the provider counted.
    pub(crate) counted: Option<TokenUsage>,
    /// As we count.
    pub(crate) output: u64,
}
