//! The fault matrix: each fault at each point of a stream, on each wire. The class must be right, the text that came
//! before must be there once, and what is known of the bill must be kept.

use munshi_llm::chat::TokenUsage;
use munshi_llm::transport::ProviderResponseLimits;
use munshi_llm::{HttpProvider, ModelError, TimeoutStage};
use munshi_test_support::model_server::{FakeModelStep, Fixture, ModelServer};
use serde_json::Value;

use crate::wires::scene::{WIRES, cut, hear, listen, request, server, target, wires, wires_with};

/// What the fixture's stream says in its first `at` bytes, read by other means than ours.
struct Told {
    text: String,
    usage: Option<(u64, u64)>,
    /// The model has said that it has finished.
    has_finish: bool,
    /// The wire's last word was said; nothing after it matters.
    is_over: bool,
}

fn told(fixture: &Fixture, at: usize) -> Told {
    let mut told = Told { text: String::new(), usage: None, has_finish: false, is_over: false };
    let complete = fixture.boundaries().into_iter().filter(|end| *end <= at).max().unwrap_or(0);
    let stream = String::from_utf8(fixture.stream[..complete].to_vec()).unwrap();
    for data in stream.lines().filter_map(|line| line.strip_prefix("data: ")) {
        told.is_over |= data == "[DONE]";
        let frame: Value = serde_json::from_str(data).unwrap_or_default();
        told.is_over |= frame["type"] == "message_stop";
        let texts = ["/delta/text", "/choices/0/delta/content", "/candidates/0/content/parts/0/text"];
        let text = texts.iter().find_map(|path| frame.pointer(path)?.as_str());
        let is_thought = frame.pointer("/candidates/0/content/parts/0/thought").is_some();
        told.text.push_str(text.filter(|_| !is_thought).unwrap_or_default());
        let ends = ["/choices/0/finish_reason", "/candidates/0/finishReason", "/delta/stop_reason"];
        told.has_finish |= ends.iter().any(|path| frame.pointer(path).is_some_and(Value::is_string));
        let counts = [
            ("/message/usage/input_tokens", "/message/usage/output_tokens"),
            ("/usage/prompt_tokens", "/usage/completion_tokens"),
            ("/usageMetadata/promptTokenCount", "/usageMetadata/candidatesTokenCount"),
        ];
        let number = |path| frame.pointer(path).and_then(Value::as_u64);
        told.usage =
            counts.iter().find_map(|(input, output)| Some((number(input)?, number(output)?))).or(told.usage);
        if let (Some(output), Some(usage)) = (number("/usage/output_tokens"), &mut told.usage) {
            usage.1 = output;
        }
    }
    told
}

fn bill(usage: Option<TokenUsage>) -> Option<(u64, u64)> {
    usage.filter(|usage| !usage.estimated).map(|usage| (usage.input + usage.cache_read, usage.output))
}

/// Any byte of the stream may be the last one: with the line broken every third and all around the ends of events, with
/// a clean end where it could pass for the proper one.
#[tokio::test]
async fn a_stream_cut_anywhere() {
    for wire in WIRES {
        let server = server(wire).await;
        let (wires, target, request) = (wires(), target(wire, &server.url()), request(wire, "text"));
        let fixture = Fixture::load(wire, "text");
        let ends = fixture.boundaries();
        let is_near = |at: usize| ends.iter().any(|end| end.abs_diff(at) <= 2);
        for at in (0..=fixture.stream.len()).filter(|at| at % 3 == 0 || is_near(*at)) {
            let told = told(&fixture, at);
            for end in [FakeModelStep::Cut, FakeModelStep::End] {
                let is_clean = matches!(end, FakeModelStep::End);
                if is_clean && !is_near(at) && !told.has_finish {
                    continue;
                }
                cut(&server, &fixture, at, vec![end]);
                let heard = hear(&wires, &target, &request).await;
                let is_finished = told.is_over || (is_clean && told.has_finish && wire != "anthropic");
                assert_eq!(heard.is_finished(), is_finished, "{wire} at {at}: {heard:?}");
                assert_eq!(heard.fault, (!is_finished).then_some(ModelError::Interrupted), "{wire} at {at}");
                assert_eq!(heard.text(), told.text, "{wire} at {at}");
                assert_eq!(bill(heard.usage()), told.usage, "{wire} at {at}");
            }
        }
    }
}

/// Points between events, and one in the middle of each event.
fn points(fixture: &Fixture) -> Vec<usize> {
    let ends = fixture.boundaries();
    let middles = ends.windows(2).map(|pair| usize::midpoint(pair[0], pair[1]));
    let mut points: Vec<usize> = ends[..ends.len() - 1].iter().copied().chain(middles).collect();
    points.sort_unstable();
    points
}

/// The stream up to a point, then these bytes and a clean end.
async fn garbled_by(
    (wires, server): (&HttpProvider, &ModelServer),
    fixture: &Fixture,
    at: usize,
    bytes: &[u8],
) -> ModelError {
    let wire = fixture.wire.as_str();
    // In one piece, so that what is said before the fault is read together with it.
    let said = [&fixture.stream[..at], bytes].concat();
    cut(server, fixture, 0, vec![FakeModelStep::Send(said), FakeModelStep::End]);
    let heard = hear(wires, &target(wire, &server.url()), &request(wire, "tools")).await;
    let told = told(fixture, at);
    assert_eq!(heard.text(), told.text, "{wire} at {at}");
    heard.fault.unwrap_or_else(|| panic!("{wire} at {at}: {:?}", heard.events))
}

#[tokio::test]
async fn garbage_and_errors_anywhere() {
    let wires = wires_with(ProviderResponseLimits { event: 64 << 10, answer: 256 << 10 });
    for wire in WIRES {
        let server = server(wire).await;
        let line = (&wires, &server);
        let fixture = Fixture::load(wire, "tools");
        let boundaries = fixture.boundaries();
        for at in points(&fixture) {
            let fault = garbled_by(line, &fixture, at, b"\xFF\xFE\x00\x9F\n\n").await;
            assert!(matches!(fault, ModelError::Garbled(_)), "{wire} at {at}: {fault:?}");
            let fault = garbled_by(line, &fixture, at, b"\n\ndata: {\"broken\n\n").await;
            assert!(matches!(fault, ModelError::Garbled(_)), "{wire} at {at}: {fault:?}");
            let fault = garbled_by(line, &fixture, at, &[b'x'; 70 << 10]).await;
            assert!(matches!(fault, ModelError::Garbled(_)), "{wire} at {at}: {fault:?}");
            if !boundaries.contains(&at) {
                continue;
            }
            for (event, code) in errors(wire) {
                // The CR of the empty line before has come, its LF not yet.
                let event = if wire == "gemini" && at > 0 { format!("\n{event}") } else { event.to_owned() };
                let fault = garbled_by(line, &fixture, at, event.as_bytes()).await;
                assert_eq!(described(&fault), code, "{wire} at {at}");
            }
        }
        assert_eq!(server.unmatched_requests(), Vec::<String>::new());
    }
}

fn described(fault: &ModelError) -> String {
    match fault {
        ModelError::Failed { status, .. } => format!("{} {status}", fault.code()),
        _ => fault.code().to_owned(),
    }
}

/// Errors as each provider says them in the middle of a stream.
fn errors(wire: &str) -> Vec<(&'static str, &'static str)> {
    match wire {
        "anthropic" => vec![
            (
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
                "provider_failed 529",
            ),
            (
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"Internal server error\"}}\n\n",
                "provider_failed 500",
            ),
            (
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Slow down\"}}\n\n",
                "rate_limited",
            ),
        ],
        "openai" => vec![
            (
                "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\n",
                "provider_failed 500",
            ),
            (
                "data: {\"error\":{\"message\":\"Rate limit reached\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}\n\n",
                "rate_limited",
            ),
            ("data: {\"error\":{\"message\":\"Loading model\",\"code\":503}}\n\n", "provider_failed 503"),
            (
                "event: error\ndata: {\"message\":\"gone\",\"type\":\"server_error\"}\n\n",
                "provider_failed 500",
            ),
        ],
        _ => vec![
            (
                "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}\r\n\r\n",
                "provider_failed 503",
            ),
            (
                "data: {\"error\":{\"code\":429,\"message\":\"Quota\",\"status\":\"RESOURCE_EXHAUSTED\"}}\r\n\r\n",
                "rate_limited",
            ),
        ],
    }
}

/// A silence at any point is a timeout, of the first word or the next one; time stands still until it is all there is.
#[tokio::test]
async fn silence_anywhere() {
    for wire in WIRES {
        let server = server(wire).await;
        let (wires, target, request) = (wires(), target(wire, &server.url()), request(wire, "tools"));
        let fixture = Fixture::load(wire, "tools");
        for at in points(&fixture) {
            cut(&server, &fixture, at, vec![FakeModelStep::Cut]);
            let before = hear(&wires, &target, &request).await;
            cut(&server, &fixture, at, vec![FakeModelStep::Hang]);
            let mut stream = munshi_llm::Provider::stream(&wires, &target, &request).await.unwrap();
            let hung_up = server.stats().hung_up;
            let mut events = Vec::new();
            while events.len() < before.events.len() {
                events.push(munshi_llm::provider::next_event(&mut stream).await.unwrap().unwrap());
            }
            assert_eq!(events, before.events, "{wire} at {at}");
            tokio::time::pause();
            let heard = listen(stream).await;
            tokio::time::resume();
            let stage =
                if before.has_deltas() { TimeoutStage::BetweenBytes } else { TimeoutStage::FirstByte };
            assert_eq!(heard.fault, Some(ModelError::Timeout(stage)), "{wire} at {at}");
            assert_eq!(heard.events, []);
            server.wait_until(|seen| seen.hung_up > hung_up).await;
        }
    }
}

/// What has no end is given up early, in memory that is bounded by the limits.
#[tokio::test]
async fn what_has_no_end() {
    let limits = ProviderResponseLimits { event: 64 << 10, answer: 256 << 10 };
    for wire in WIRES {
        let server = server(wire).await;
        let (wires, target, request) =
            (wires_with(limits), target(wire, &server.url()), request(wire, "tools"));
        let fixture = Fixture::load(wire, "tools");
        let endless = ["x".repeat(1000), "data: x\n".repeat(100), ": ping\n\n".repeat(100)];
        for (round, bytes) in endless.iter().enumerate() {
            cut(&server, &fixture, 0, vec![FakeModelStep::Repeat(bytes.clone().into_bytes())]);
            let heard = hear(&wires, &target, &request).await;
            assert!(matches!(heard.fault, Some(ModelError::Garbled(_))), "{wire}: {:?}", heard.fault);
            server.wait_until(|seen| seen.hung_up > round).await;
        }
    }
}
