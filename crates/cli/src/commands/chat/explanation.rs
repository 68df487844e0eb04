//! Why the last answer was as it was.

use munshi_conversations::decisions;
use munshi_store::Tx;
use munshi_wiring::failure::Result;

use crate::commands::ask::client::AskClient;
use crate::commands::ask::reply::{AskReply, format_short, summary};
use crate::output::table::sanitize_line;

/// How it was decided, by what, and at what cost.
pub(super) async fn render_text(desk: &AskClient, told: &AskReply) -> Result<String> {
    let (run, tenant) = (told.outcome.run, desk.binding().tenant);
    let read = move |tx: &mut Tx<'_>| -> Result<_> {
        Ok((decisions::find_provenance(tx, run)?, decisions::find_prompt_tokens(tx, run)?))
    };
    let (by, prompt) = desk.db().read(tenant, read).await?;
    let (place, outcome) = (desk.binding(), &told.outcome);
    let mut lines = vec![format!("decision   {run}, {}", state(told))];
    if let Some(by) = by {
        let model = by.target.map_or_else(|| "none called".to_owned(), |target| sanitize_line(&target));
        lines.push(format!("model      {model}"));
        lines.push(format!(
            "tiers      {} v{} in {} v{} on {} v{}",
            place.binding.human, by.human, place.binding.team, by.team, place.binding.agent, by.agent
        ));
    }
    for (at, call) in outcome.calls.iter().enumerate() {
        let name = if at == 0 { "tools" } else { "" };
        let (mark, millis) = (if call.ok { "✓" } else { "✗" }, call.micros / 1000);
        lines.push(format!(
            "{name:<10} {mark} {} {} → {} ({millis} ms)",
            call.tool,
            format_short(&call.arguments),
            format_short(&call.result)
        ));
    }
    if outcome.calls.is_empty() {
        lines.push("tools      none called".to_owned());
    }
    let rules = match outcome.violations.is_empty() {
        true => "none violated".to_owned(),
        false => outcome.violations.join(", "),
    };
    lines.push(format!("rules      {rules}"));
    if let Some(tokens) = prompt {
        lines.push(format!(
            "prompt     {} tokens of the human, {} of the team, {} of the agent, {} of this turn",
            tokens.human, tokens.team, tokens.agent, tokens.dynamic
        ));
    }
    lines.push(format!("cost       {}", summary(outcome).trim_matches(['(', ')'])));
    Ok(lines.join("\n"))
}

fn state(told: &AskReply) -> String {
    match &told.outcome.halt {
        Some(halt) => format!("halted: {}", halt.code()),
        None => told.outcome.state.as_str().replace('_', " "),
    }
}
