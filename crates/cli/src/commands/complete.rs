//! `munshi complete "…"`: a question to a model, and its answer as it comes.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use munshi_lang::detect::detect;
use munshi_llm::chat::{ReplyFormat, StopReason, TokenUsage};
use munshi_llm::gateway::{Capability, ModelCall, ModelReplyStream, ModelRoute, Redactor};
use munshi_llm::pricing::Cost;
use munshi_llm::{ChatEvent, ChatMessage, ChatRequest, Gateway, ModelError, ModelTarget};
use munshi_privacy::{KnownEntities, PseudonymRedactor, PseudonymTable, find_aadhaar};
use munshi_types::{IdGenerator, Script, SystemRandom, TenantId};
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::gateway::{CommandCallLog, ConfiguredGateway};
use serde::Serialize;

use crate::context::CommandContext;
use crate::output::TextStyler;

/// More than this is no question.
const LONGEST_QUESTION: u64 = 4 << 20;

#[derive(Debug, Args)]
pub(crate) struct CompleteArguments {
    /// Prompt; `-` reads standard input
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// Model, by its name in the settings. Default: chosen by the route
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Route to use: default, cheap, multilingual, planner …
    #[arg(long = "use", value_name = "USE", default_value = "default", conflicts_with = "model")]
    wanted: Capability,
    /// System prompt
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// File with a JSON schema for the answer
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Maximum length of the answer, in tokens
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_tokens: u32,
    /// Send phones, accounts and names unredacted. By default a remote model gets pseudonyms, and the answer is
    /// restored
    #[arg(long)]
    as_is: bool,
}

/// The answer as `--json` gives it.
#[derive(Debug, Serialize)]
struct Answer {
    text: String,
    model: String,
    stop: &'static str,
    usage: TokenUsage,
    /// In millionths of a dollar; null where nobody knows the price.
    cost_micros: Option<i64>,
    first_word_ms: Option<u128>,
    total_ms: u128,
}

pub(super) fn run(context: &CommandContext, arguments: &CompleteArguments) -> Result<()> {
    let config = context.config()?;
    let request = Arc::new(request(arguments)?);
    let veil = if arguments.as_is { None } else { Some(build_redactor(context, &request)?) };
    context.block_on(async {
        let wired = ConfiguredGateway::from_config(&config, &context.clock)?;
        let route = match &arguments.model {
            Some(name) => Arc::new(build_single_route(&wired.gateway, name)?),
            None => wired.route.clone(),
        };
        let book = CommandCallLog::open(&config).await?;
        let call = ModelCall { wanted: arguments.wanted, route, request, account: book.billing(), veil };
        let answer = tokio::select! {
            answer = ask(context, &wired, call) => answer,
            // Dropping the call closes its connection; what it has used until now is written down below.
            _ = tokio::signal::ctrl_c() => Err(CommandFailure::failed("interrupted")),
        };
        wired.gateway.wait_until_settled().await;
        book.close().await;
        answer
    })
}

async fn ask(context: &CommandContext, wired: &ConfiguredGateway, call: ModelCall) -> Result<()> {
    let began = Instant::now();
    let mut live = wired.gateway.stream(call).await?;
    let (mut text, mut first, mut end) = (String::new(), None, None);
    while let Some(event) = live.next().await {
        match event {
            Ok(ChatEvent::Text(more)) => {
                first.get_or_insert_with(|| began.elapsed());
                if !context.output.is_json() {
                    context.output.print_chunk(&more)?;
                }
                text.push_str(&more);
            }
            Ok(ChatEvent::Finished { stop, usage }) => end = Some((stop, usage)),
            Ok(_) => {}
            Err(fault) => {
                context.output.finish_line(&text)?;
                return Err(fault.into());
            }
        }
    }
    let (stop, usage) = end.ok_or(ModelError::Interrupted)?;
    context.output.finish_line(&text)?;
    let cost = wired.gateway.prices().cost(live.target(), &usage, context.now());
    let answer = Answer {
        model: live.target().name.clone(),
        stop: name_stop_reason(&stop),
        usage,
        cost_micros: cost.map(Cost::as_micros),
        first_word_ms: first.as_ref().map(Duration::as_millis),
        total_ms: began.elapsed().as_millis(),
        text,
    };
    print_summary(context, &answer, &live, cost)
}

/// The answer itself is on standard output already; what it cost goes beside it.
fn print_summary(
    context: &CommandContext,
    answer: &Answer,
    live: &ModelReplyStream,
    cost: Option<Cost>,
) -> Result<()> {
    if context.output.is_json() {
        return context.output.print_result(answer, |_, _| String::new());
    }
    let cost = match cost {
        None => "unknown price".to_owned(),
        Some(Cost::ZERO) => "free".to_owned(),
        Some(cost) => format!("for {cost}"),
    };
    let tokens =
        format!("{} tokens in, {} out", answer.usage.total() - answer.usage.output, answer.usage.output);
    let about = format!("{}: {tokens}, {cost}, {} ms", live.target().name, answer.total_ms);
    context.output.print_note(|paint: TextStyler| paint.dim(&about));
    if answer.stop == "max_tokens" {
        context.output.print_note(|paint| paint.doubtful("the answer was cut off; raise --max-tokens"));
    }
    Ok(())
}

fn request(arguments: &CompleteArguments) -> Result<ChatRequest> {
    let text = match arguments.text.as_str() {
        "-" => from_input()?,
        text => text.to_owned(),
    };
    if text.trim().is_empty() {
        return Err(CommandFailure::usage("the prompt is empty")
            .hint("run: munshi complete \"…\", or - for standard input"));
    }
    if arguments.system.iter().chain([&text]).any(|said| find_aadhaar(said).is_some()) {
        return Err(CommandFailure::refused("the prompt contains an Aadhaar number; nothing was sent")
            .hint("remove it; the last four digits identify a person well enough"));
    }
    Ok(ChatRequest {
        system: arguments.system.iter().cloned().collect(),
        messages: vec![ChatMessage::user(text)],
        max_output_tokens: arguments.max_tokens,
        output: arguments.schema.as_ref().map_or(Ok(ReplyFormat::Text), schema)?,
        ..ChatRequest::default()
    })
}

/// Nobody is known at the command line: what has the shape of a phone or an account is hidden, and names by the words
/// beside them.
fn build_redactor(context: &CommandContext, request: &ChatRequest) -> Result<Arc<dyn Redactor>> {
    let ids = IdGenerator::new(context.clock.clone(), Arc::new(SystemRandom));
    let session = PseudonymTable::new(TenantId::PLATFORM, ids.next());
    let asked = request.messages.first().map(ChatMessage::text).unwrap_or_default();
    let script = detect(&asked).map_or(Script::Latin, |found| found.script);
    let known = Arc::new(KnownEntities::new(TenantId::PLATFORM, &[]));
    let veil = PseudonymRedactor::new(known, session, script)
        .map_err(|error| CommandFailure::failed(error.to_string()))?;
    Ok(Arc::new(veil))
}

fn from_input() -> Result<String> {
    let mut text = String::new();
    std::io::stdin()
        .take(LONGEST_QUESTION)
        .read_to_string(&mut text)
        .map_err(|error| CommandFailure::failed(format!("can't read standard input: {error}")))?;
    Ok(text)
}

fn schema(path: &PathBuf) -> Result<ReplyFormat> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| CommandFailure::not_found(format!("can't read {shown}: {error}")))?;
    let schema = serde_json::from_str(&text)
        .map_err(|error| CommandFailure::usage(format!("{shown} is not valid JSON: {error}")))?;
    Ok(ReplyFormat::Json { name: "answer".to_owned(), schema })
}

/// A route with one model on it.
fn build_single_route(gateway: &Gateway, name: &str) -> Result<ModelRoute> {
    let target = find_target(gateway, name)?;
    Ok(ModelRoute {
        targets: [(Capability::Default, vec![target.name.clone()])].into(),
        ..ModelRoute::default()
    })
}

pub(super) fn find_target(gateway: &Gateway, name: &str) -> Result<Arc<ModelTarget>> {
    gateway.target(name).cloned().map_err(|_| {
        let known: Vec<&str> = gateway.targets().iter().map(|target| target.name.as_str()).collect();
        CommandFailure::not_found(format!("there is no model `{name}`"))
            .hint(format!("known models: {}; see `munshi models`", known.join(", ")))
    })
}

const fn name_stop_reason(stop: &StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::StopSequence => "stop_sequence",
        StopReason::Refused => "refused",
        StopReason::Other(_) => "other",
    }
}
