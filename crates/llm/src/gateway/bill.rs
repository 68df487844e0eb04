//! What an attempt may cost at most, and what it did cost.

use munshi_types::Timestamp;

use super::budget::Spend;
use crate::chat::{Breakpoint, ChatRequest, Lifetime, Reply, Usage};
use crate::fault::{Fault, Stage};
use crate::money::{Cost, PriceBook, count_message, estimate_request};
use crate::target::Target;

/// Counted before the call, for whoever has to say how much it may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    pub(crate) input: u64,
    pub(crate) most: Spend,
}

impl Estimate {
    pub(crate) fn of(target: &Target, request: &ChatRequest, prices: &PriceBook, now: Timestamp) -> Self {
        if target.stays_here() {
            return Self { input: 0, most: Spend { cost: Some(Cost::ZERO), ..Spend::default() } };
        }
        let input = estimate_request(target, request);
        let output = u64::from(request.max_output_tokens);
        let dearest = forms(target, request, input, output)
            .into_iter()
            .map(|usage| prices.cost(target, &usage, now))
            .max()
            .flatten();
        Self { input, most: Spend { tokens: input + output, output, cost: dearest } }
    }
}

/// The ways the input may be billed: as it is, or dearer, written into a cache.
fn forms(target: &Target, request: &ChatRequest, input: u64, output: u64) -> Vec<Usage> {
    let plain = Usage { input, output, ..Usage::default() };
    if target.capabilities.cache_minimum_tokens == 0 || request.breakpoints.is_empty() {
        return vec![plain];
    }
    let is_long = request.breakpoints.iter().any(|mark| {
        let (Breakpoint::AfterTools(kept)
        | Breakpoint::AfterSystem(_, kept)
        | Breakpoint::AfterMessage(_, kept)) = mark;
        *kept == Lifetime::OneHour
    });
    let written = if is_long {
        Usage { cache_write_1h: input, input: 0, ..plain }
    } else {
        Usage { cache_write_5m: input, input: 0, ..plain }
    };
    vec![plain, written]
}

/// More bytes than this to a token are in no language: the count is not believed.
const MOST_BYTES: u64 = 16;

/// What was used by an attempt that ended well. A server that counts nothing, or only half, is counted for.
pub(crate) fn of_reply(target: &Target, estimate: Estimate, reply: &Reply) -> Usage {
    if target.stays_here() {
        return reply.usage;
    }
    let mut usage = reply.usage;
    if usage.total() == usage.output {
        (usage.input, usage.estimated) = (estimate.input, true);
    }
    if usage.output.saturating_mul(MOST_BYTES) < reply.message.bytes() {
        (usage.output, usage.estimated) = (count_message(target, &reply.message), true);
    }
    usage
}

/// What was used by an attempt that ended badly: nothing where the provider refused, what it has counted where it has,
/// and otherwise what was sent and heard. A call that ran out of time may have been taken, so it counts as taken.
pub(crate) fn of_failure(estimate: Estimate, fault: &Fault, heard: Heard) -> Usage {
    let may_be_taken = matches!(
        fault,
        Fault::Timeout(Stage::FirstByte | Stage::BetweenBytes | Stage::Whole)
            | Fault::Interrupted
            | Fault::Garbled(_)
            | Fault::Cancelled
    );
    match heard.counted {
        Some(usage) if usage.total() > 0 && heard.output > usage.output => {
            Usage { output: heard.output, estimated: true, ..usage }
        }
        Some(usage) if usage.total() > 0 => usage,
        _ if heard.has_begun || may_be_taken => {
            Usage { input: estimate.input, output: heard.output, estimated: true, ..Usage::default() }
        }
        _ => Usage::default(),
    }
}

/// What came before the end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Heard {
    pub(crate) has_begun: bool,
    /// As the provider counted.
    pub(crate) counted: Option<Usage>,
    /// As we count.
    pub(crate) output: u64,
}
