//! Choosing the tools of a prompt from a thousand that connectors bring.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use async_trait::async_trait;
use munshi_safety::acts::Permit;
use munshi_tools::{
    ConnectorOrigin, RemoteToolHandler, TenantTools, ToolConnector, ToolFailure, ToolHandler, ToolOutput,
    ToolRegistry,
};
use munshi_types::ToolSpec;
use serde_json::json;

use crate::arguments::Arguments;
use crate::contest::median_of;
use crate::report::{Goal, Table, render_count, render_verdict};

const TOOLS: usize = 1_000;
const OFFERED: usize = 12;
const THINGS: [&str; 20] = [
    "invoice",
    "contact",
    "calendar event",
    "file",
    "folder",
    "ticket",
    "order",
    "shipment",
    "payment",
    "customer",
    "product",
    "message",
    "meeting",
    "report",
    "employee",
    "leave request",
    "expense",
    "subscription",
    "contract",
    "device",
];
const VERBS: [&str; 10] =
    ["create", "list", "update", "delete", "search", "export", "archive", "assign", "approve", "summarise"];
const SAID: [&str; 4] = [
    "which invoices of Sharma Traders are still open, and when are they due?",
    "please move tomorrow's meeting with the supplier to Friday morning and tell everybody",
    "Ramesh ka order kahan tak pahuncha, aur payment kab aaya tha",
    "नमस्ते, कल की रिपोर्ट भेज दीजिए",
];

struct Nothing;

#[async_trait]
impl RemoteToolHandler for Nothing {
    async fn call(&self, _permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        Ok(ToolOutput::new(json!({})))
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let began = Instant::now();
    let shelf = build_tools()?;
    let built = began.elapsed().as_secs_f64() * 1e3;
    let rounds = (0..arguments.rounds.max(1)).map(|_| {
        let (began, mut done) = (Instant::now(), 0_u32);
        while began.elapsed() < arguments.window {
            for said in SAID {
                let texts = [(said, 1.0), (SAID[0], 0.4), (SAID[1], 0.4), (SAID[2], 0.4)];
                std::hint::black_box(
                    shelf.choose(&texts, OFFERED, |tool| tool.known.connector.name == "work"),
                );
                done += 1;
            }
        }
        began.elapsed().as_secs_f64() * 1e6 / f64::from(done)
    });
    let micros = median_of(rounds.collect());
    let mut table = Table::new(["", "figure", "goal"]);
    table.add_row([
        "choosing, µs".to_owned(),
        render_count(micros),
        render_verdict(micros, Goal::AtMost(1_000.0), 0),
    ]);
    table.add_row(["making the shelf and its index, ms".to_owned(), render_count(built), String::new()]);
    table.print(&format!("{OFFERED} of {TOOLS} tools, by a message and three before it; one thread"));
    Ok(())
}

fn build_tools() -> Result<TenantTools> {
    let mut registry = ToolRegistry::default();
    for at in 0..TOOLS {
        let (thing, verb) = (THINGS[at % THINGS.len()], VERBS[at / THINGS.len() % VERBS.len()]);
        let name = format!("work_{verb}_{}_{at}", thing.replace(' ', "_"));
        let what = format!(
            "{verb}s the {thing} of a workspace, with its owner, dates, status and notes (module {at})."
        );
        let spec = ToolSpec {
            parameters: json!({ "type": "object", "properties": { "id": { "type": "string" }, "status": { "type": "string" },
                                "from_date": { "type": "string" }, "to_date": { "type": "string" } } }),
            ..ToolSpec::read_only(name.parse()?, what, format!("work.{verb}"))
        };
        let connector = ToolConnector {
            name: "work".to_owned(),
            origin: ConnectorOrigin::Foreign,
            declares: true,
            conduct: None,
        };
        registry.add(spec, connector, ToolHandler::Remote(Arc::new(Nothing)))?;
    }
    Ok(TenantTools::new(registry, BTreeSet::new()))
}
