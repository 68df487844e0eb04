//! `munshi stats`: how quick, how much, how dear, and how well turns went.

use clap::Args;
use munshi_llm::pricing::Cost;
use munshi_operations::stats::{
    ChannelStatsView, MeasureSpreadView, ShowStats, ShowStatsInput, StatsPartView, StatsView,
};
use munshi_types::tier::{Channel, TierName};
use munshi_wiring::failure::Result;

use super::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::formatting::format_count;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct StatsArguments {
    /// Only this binding's turns
    #[arg(long, value_name = "NAME")]
    binding: Option<TierName>,
    /// Only turns on this channel
    #[arg(long)]
    channel: Option<Channel>,
    /// Number of days, including today
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=3660))]
    days: u16,
    #[command(flatten)]
    of: TenantSelectorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &StatsArguments) -> Result<()> {
    let StatsArguments { binding, channel, days, of } = arguments;
    let target = OperationTarget { of, operator: None };
    let binding = binding.as_ref().map(ToString::to_string);
    let input = ShowStatsInput { binding, channel: *channel, days: Some(*days) };
    let stats = context.run_operation::<ShowStats>(&target, &input)?;
    context.output.print_result(&stats, render_text)
}

fn render_text(stats: &StatsView, painter: TextStyler) -> String {
    let StatsView { tenant, binding, from, to, all, channels } = stats;
    let what = binding.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
    let mut text = format!("{tenant}{what}, {from} to {to}: {}\n", format_count(all.turns, "turn"));
    if all.turns == 0 {
        return text;
    }
    text += &format!("\n{}", counts(channels, all).render(painter));
    text += &format!("\n{}", stages(channels).render(painter));
    if !all.tokens.is_empty() {
        text += &format!("\n{}", sizes(&all.tokens).render(painter));
    }
    text
}

fn counts(channels: &[ChannelStatsView], all: &StatsPartView) -> OutputTable {
    let mut table = OutputTable::new(&[
        "CHANNEL",
        "TURNS",
        "EXCUSES",
        "RULE VIOLATIONS",
        "MODEL CALLS",
        "TOOL CALLS",
        "COST",
        "ENDED",
    ]);
    let mut row = |name: &str, part: &StatsPartView| {
        let unknown =
            if part.unpriced > 0 { format!(" + {} unpriced", part.unpriced) } else { String::new() };
        let ended = part.outcomes.iter().map(|(word, count)| format!("{word} {count}")).collect::<Vec<_>>();
        let loud = |number: u64| if number > 0 { OutputCellStyle::Doubtful } else { OutputCellStyle::Plain };
        table.add_row([
            OutputTableCell::from(name),
            part.turns.to_string().into(),
            OutputTableCell::new(part.degraded.to_string(), loud(part.degraded)),
            OutputTableCell::new(part.violations.to_string(), loud(part.violations)),
            part.model_calls.to_string().into(),
            part.tool_calls.to_string().into(),
            format!("{}{unknown}", Cost::from_micros(part.cost_micros)).into(),
            OutputTableCell::new(ended.join(", "), OutputCellStyle::Dim),
        ]);
    };
    channels.iter().for_each(|on| row(on.channel.as_str(), &on.part));
    if channels.len() > 1 {
        row("all", all);
    }
    table
}

fn stages(channels: &[ChannelStatsView]) -> OutputTable {
    let mut table = OutputTable::new(&["CHANNEL", "STAGE", "TURNS", "P50", "P95", "TARGET"]);
    for on in channels {
        for spread in &on.part.stages {
            let (target, tone) = target(spread);
            table.add_row([
                OutputTableCell::from(on.channel.as_str()),
                spread.measure.as_str().into(),
                spread.count.to_string().into(),
                millis(spread.p50).into(),
                millis(spread.p95).into(),
                OutputTableCell::new(target, tone),
            ]);
        }
    }
    table
}

/// `under 3 s, 8 s: met`
fn target(spread: &MeasureSpreadView) -> (String, OutputCellStyle) {
    let Some(target) = &spread.target else { return (String::new(), OutputCellStyle::Plain) };
    let p95 = target.p95.map(|micros| format!(", {}", millis(micros))).unwrap_or_default();
    let under = format!("under {}{p95}", millis(target.p50));
    match spread.met {
        Some(true) => (format!("{under}: met"), OutputCellStyle::Good),
        _ => (format!("{under}: missed"), OutputCellStyle::Bad),
    }
}

fn sizes(tokens: &[MeasureSpreadView]) -> OutputTable {
    let mut table = OutputTable::new(&["TOKENS", "TURNS", "P50", "P95", "TOTAL"]);
    for spread in tokens {
        let numbers = [spread.p50, spread.p95, spread.sum].map(|number| number.to_string().into());
        let [p50, p95, sum] = numbers;
        table.add_row([
            OutputTableCell::from(spread.measure.as_str()),
            spread.count.to_string().into(),
            p50,
            p95,
            sum,
        ]);
    }
    table
}

/// `0.4 ms`, `412 ms`, `3.1 s`, without a float.
fn millis(micros: i64) -> String {
    match micros {
        ..10_000 => format!("{}.{} ms", micros / 1000, micros % 1000 / 100),
        10_000..1_000_000 => format!("{} ms", micros / 1000),
        _ => match (micros / 1_000_000, micros % 1_000_000 / 100_000) {
            (seconds, 0) => format!("{seconds} s"),
            (seconds, tenths) => format!("{seconds}.{tenths} s"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        let shown = [0, 430, 9_999, 10_000, 412_345, 1_000_000, 3_150_000, 61_000_000].map(millis);
        assert_eq!(shown, ["0.0 ms", "0.4 ms", "9.9 ms", "10 ms", "412 ms", "1 s", "3.1 s", "61 s"]);
    }
}
