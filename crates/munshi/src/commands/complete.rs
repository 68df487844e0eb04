//! `munshi complete "…"`: a question to a model, and its answer as it comes.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use munshi_lang::detect::detect;
use munshi_llm::chat::{ReplyFormat, StopReason, TokenUsage};
use munshi_llm::gateway::{Capability, ModelCall, ModelReplyStream, ModelRoute, Redactor};
use munshi_llm::money::Cost;
use munshi_llm::{ChatEvent, ChatMessage, ChatRequest, ModelError};
use munshi_privacy::{KnownEntities, PseudonymRedactor, PseudonymTable, refuse_aadhaar};
use munshi_types::{IdGenerator, Script, SystemRandom, TenantId};
use serde::Serialize;

use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::output::TextStyler;
use crate::wiring::gateway::{CommandCallLog, ConfiguredGateway};

/// More than this is no question.
const LONGEST_QUESTION: u64 = 4 << 20;

#[derive(Debug, Args)]
pub(crate) struct CompleteArguments {
    /// What to ask; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// The model to ask, by its name in the settings; else the route decides
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// What it is wanted for: default, cheap, multilingual, planner …
    #[arg(long = "use", value_name = "USE", default_value = "default", conflicts_with = "model")]
    wanted: Capability,
    /// What the model is told first
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// A file with a JSON schema that the answer must have
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// The longest answer, in tokens
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_tokens: u32,
    /// Sends phones, accounts and names as they are; else a model elsewhere gets codes for them, and the answer has
    /// the real ones again
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
    let veil = if arguments.as_is { None } else { Some(veil(context, &request)?) };
    context.block_on(async {
        let wired = ConfiguredGateway::of(&config, &context.clock)?;
        let route = match &arguments.model {
            Some(name) => Arc::new(only(&wired, name)?),
            None => wired.route.clone(),
        };
        let book = CommandCallLog::open(&config).await?;
        let call = ModelCall { wanted: arguments.wanted, route, request, account: book.account(), veil };
        let answer = tokio::select! {
            answer = ask(context, &wired, call) => answer,
            // Dropping the call closes its connection; what it has used until now is written down below.
            _ = tokio::signal::ctrl_c() => Err(CommandFailure::failed("interrupted")),
        };
        wired.gateway.settled().await;
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
                    context.output.piece(&more)?;
                }
                text.push_str(&more);
            }
            Ok(ChatEvent::Finished { stop, usage }) => end = Some((stop, usage)),
            Ok(_) => {}
            Err(fault) => {
                context.output.line_end(&text)?;
                return Err(fault.into());
            }
        }
    }
    let (stop, usage) = end.ok_or(ModelError::Interrupted)?;
    context.output.line_end(&text)?;
    let cost = wired.gateway.prices().cost(live.target(), &usage, context.now());
    let answer = Answer {
        model: live.target().name.clone(),
        stop: word(&stop),
        usage,
        cost_micros: cost.map(Cost::as_micros),
        first_word_ms: first.as_ref().map(Duration::as_millis),
        total_ms: began.elapsed().as_millis(),
        text,
    };
    tell(context, &answer, &live, cost)
}

/// The answer itself is on standard output already; what it cost goes beside it.
fn tell(
    context: &CommandContext,
    answer: &Answer,
    live: &ModelReplyStream,
    cost: Option<Cost>,
) -> Result<()> {
    if context.output.is_json() {
        return context.output.answer(answer, |_, _| String::new());
    }
    let cost = match cost {
        None => "at an unknown price".to_owned(),
        Some(Cost::ZERO) => "free".to_owned(),
        Some(cost) => format!("for {cost}"),
    };
    let tokens =
        format!("{} tokens in, {} out", answer.usage.total() - answer.usage.output, answer.usage.output);
    let about = format!("{}: {tokens}, {cost}, {} ms", live.target().name, answer.total_ms);
    context.output.aside(|paint: TextStyler| paint.dim(&about));
    if answer.stop == "max_tokens" {
        context.output.aside(|paint| paint.doubtful("the answer was cut off; --max-tokens allows more"));
    }
    Ok(())
}

fn request(arguments: &CompleteArguments) -> Result<ChatRequest> {
    let text = match arguments.text.as_str() {
        "-" => from_input()?,
        text => text.to_owned(),
    };
    if text.trim().is_empty() {
        return Err(CommandFailure::usage("there is nothing to ask")
            .hint("munshi complete \"…\", or - for standard input"));
    }
    if arguments.system.iter().chain([&text]).any(|said| refuse_aadhaar(said).is_some()) {
        return Err(CommandFailure::refused("there is an Aadhaar number in this, so nothing was sent")
            .hint("leave it out; its last four digits are enough to tell people apart"));
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
fn veil(context: &CommandContext, request: &ChatRequest) -> Result<Arc<dyn Redactor>> {
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
        .map_err(|error| CommandFailure::failed(format!("standard input can't be read: {error}")))?;
    Ok(text)
}

fn schema(path: &PathBuf) -> Result<ReplyFormat> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| CommandFailure::not_found(format!("{shown} can't be read: {error}")))?;
    let schema = serde_json::from_str(&text)
        .map_err(|error| CommandFailure::usage(format!("{shown} is no JSON: {error}")))?;
    Ok(ReplyFormat::Json { name: "answer".to_owned(), schema })
}

/// A route with one model on it.
pub(super) fn only(wired: &ConfiguredGateway, name: &str) -> Result<ModelRoute> {
    if wired.gateway.target(name).is_err() {
        let known: Vec<&str> = wired.gateway.targets().iter().map(|target| target.name.as_str()).collect();
        return Err(CommandFailure::not_found(format!("there is no model `{name}`"))
            .hint(format!("the settings have {}; see `munshi models`", known.join(", "))));
    }
    Ok(ModelRoute { targets: [(Capability::Default, vec![name.to_owned()])].into(), ..ModelRoute::default() })
}

const fn word(stop: &StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::StopSequence => "stop_sequence",
        StopReason::Refused => "refused",
        StopReason::Other(_) => "other",
    }
}
