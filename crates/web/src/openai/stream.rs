//! The answer piece by piece.
//!
//! A reply that is taken back and begun anew can't be told in OpenAI's stream. So the new beginning is compared with what
//! was sent: while it says the same, the client notices nothing; where it says something else, the stream ends with an
//! error, and the answer stands in the store.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use munshi_agent::{RunFollower, RunOutcome, TurnEngine};
use munshi_conversations::{RunEvent, RunState};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_types::{RunId, TenantId};
use tokio_util::sync::CancellationToken;

use super::completion::CompletionChunkBuilder;
use super::errors::CompletionRefusal;
use super::outcome;

/// Proxies cut lines that are silent for longer.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a stream may go on once the server stops.
const PARTING: Duration = Duration::from_secs(5);
/// So long one waits for the first word before the stream is opened: what fails until then fails with its status.
const FIRST_WORD: Duration = Duration::from_secs(2);
const END: &str = "[DONE]";

/// A stream on its way.
pub(crate) struct CompletionStream {
    pub(crate) engine: TurnEngine,
    pub(crate) tenant: TenantId,
    pub(crate) run: RunId,
    pub(crate) pieces: CompletionChunkBuilder,
    following: RunFollower,
    stopping: CancellationToken,
    waiting: VecDeque<String>,
    said: Said,
    /// All is said, and only has to be stored. What comes now may be an excuse: it is sent once that is known.
    is_closing: bool,
    has_ended: bool,
}

impl CompletionStream {
    pub(crate) fn new(
        engine: TurnEngine,
        (tenant, run): (TenantId, RunId),
        pieces: CompletionChunkBuilder,
        following: RunFollower,
        stopping: CancellationToken,
    ) -> Self {
        let (waiting, said) = (VecDeque::new(), Said::default());
        Self {
            engine,
            tenant,
            run,
            pieces,
            following,
            stopping,
            waiting,
            said,
            is_closing: false,
            has_ended: false,
        }
    }

    /// The response, or why there is none.
    pub(crate) async fn respond(mut self) -> Result<Response, CompletionRefusal> {
        self.wait_for_first().await?;
        let first = json(&self.pieces.opening_chunk());
        self.waiting.push_front(first);
        let events = stream::unfold(self, Self::next);
        let alive = KeepAlive::new().interval(HEARTBEAT).text("still here");
        Ok(Sse::new(events).keep_alive(alive).into_response())
    }

    /// Hears until there is a word to send, or the end, or it takes too long.
    async fn wait_for_first(&mut self) -> Result<(), CompletionRefusal> {
        let until = tokio::time::Instant::now() + FIRST_WORD;
        while self.waiting.is_empty() && !self.has_ended {
            let Ok(Some((_, event))) = tokio::time::timeout_at(until, self.following.next()).await else {
                break;
            };
            if let RunEvent::Done { .. } = event {
                let outcome = self.engine.wait_for_outcome(self.tenant, self.run).await?;
                if let Some(refusal) = outcome::find_refusal(&outcome) {
                    return Err(refusal);
                }
                self.finish(&outcome);
            } else {
                self.handle_event(event).await;
            }
        }
        Ok(())
    }

    async fn next(mut self) -> Option<(Result<SseEvent, Infallible>, Self)> {
        while self.waiting.is_empty() && !self.has_ended {
            let stopping = self.stopping.clone();
            let parting = async {
                stopping.cancelled().await;
                tokio::time::sleep(PARTING).await;
            };
            let next = tokio::select! {
                biased;
                next = self.following.next() => next,
                () = parting => {
                    self.fail(&shutdown_error());
                    continue;
                }
            };
            match next {
                Some((_, event)) => self.handle_event(event).await,
                None => self.fail(&disconnected_error()),
            }
        }
        let data = self.waiting.pop_front()?;
        Some((Ok(SseEvent::default().data(data)), self))
    }

    async fn handle_event(&mut self, event: RunEvent) {
        match event {
            RunEvent::Token { .. } if self.is_closing => {}
            RunEvent::Token { text } => match self.said.push(&text) {
                Ok(text) if text.is_empty() => {}
                Ok(text) => self.waiting.push_back(json(&self.pieces.text_chunk(text))),
                Err(TakenBack) => self.fail(&retracted_error(self.run)),
            },
            RunEvent::Reset { .. } => {
                self.is_closing = false;
                self.said.restart();
            }
            RunEvent::Thinking { what } => self.is_closing |= what == RunState::Responding.as_str(),
            RunEvent::Done { .. } | RunEvent::Joined { .. } => {
                match self.engine.wait_for_outcome(self.tenant, self.run).await {
                    Ok(outcome) => match outcome::find_refusal(&outcome) {
                        Some(refusal) => self.fail(&refusal),
                        None => self.finish(&outcome),
                    },
                    Err(error) => self.fail(&error.into()),
                }
            }
            RunEvent::Error { message, .. } => {
                self.fail(&ApiError::new(ApiErrorCode::Unavailable, message).hint("").into());
            }
            RunEvent::ToolCall { .. }
            | RunEvent::ToolResult { .. }
            | RunEvent::Approval { .. }
            | RunEvent::Suggestions { .. }
            | RunEvent::Work(_) => {}
        }
    }

    fn finish(&mut self, outcome: &RunOutcome) {
        match self.said.remaining(&outcome.text) {
            Ok(rest) if rest.is_empty() => {}
            Ok(rest) => self.waiting.push_back(json(&self.pieces.text_chunk(rest))),
            Err(TakenBack) => return self.fail(&retracted_error(self.run)),
        }
        self.waiting.extend(self.pieces.closing_chunks(outcome).iter().map(json));
        self.waiting.push_back(END.to_owned());
        self.has_ended = true;
    }

    fn fail(&mut self, refusal: &CompletionRefusal) {
        self.waiting.push_back(json(&refusal.body()));
        self.waiting.push_back(END.to_owned());
        self.has_ended = true;
    }
}

fn json(value: &impl serde::Serialize) -> String {
    // Plain structs always become JSON.
    serde_json::to_string(value).unwrap_or_default()
}

/// What was sent, and how far a new beginning has repeated it.
#[derive(Debug, Default)]
struct Said {
    sent: String,
    again: Option<String>,
}

/// What was sent is not what is said.
#[derive(Debug, PartialEq, Eq)]
struct TakenBack;

impl Said {
    fn restart(&mut self) {
        self.again = (!self.sent.is_empty()).then(String::new);
    }

    /// What of this is new to the client.
    fn push(&mut self, text: &str) -> Result<String, TakenBack> {
        let Some(again) = &mut self.again else {
            self.sent.push_str(text);
            return Ok(text.to_owned());
        };
        again.push_str(text);
        if self.sent.starts_with(again.as_str()) {
            return Ok(String::new());
        }
        let rest = again.strip_prefix(self.sent.as_str()).map(str::to_owned).ok_or(TakenBack)?;
        self.sent.push_str(&rest);
        self.again = None;
        Ok(rest)
    }

    /// What is missing of the whole.
    fn remaining(&mut self, whole: &str) -> Result<String, TakenBack> {
        whole.strip_prefix(self.sent.as_str()).map(str::to_owned).ok_or(TakenBack)
    }
}

fn retracted_error(run: RunId) -> CompletionRefusal {
    let message = "The answer was interrupted and restarted with other text; discard what was shown.";
    let error = ApiError::new(ApiErrorCode::Unavailable, message)
        .hint(format!("Get the whole answer from GET /v1/runs/{run} or the session's messages."));
    CompletionRefusal::from(error).code("reply_taken_back")
}

fn shutdown_error() -> CompletionRefusal {
    let message = "The server is shutting down. The turn continues.";
    let hint = "Send the same request with the same Idempotency-Key to get the answer.";
    CompletionRefusal::from(ApiError::new(ApiErrorCode::Unavailable, message).hint(hint)).code("restarting")
}

fn disconnected_error() -> CompletionRefusal {
    CompletionRefusal::from(ApiError::from_code(ApiErrorCode::Unavailable))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_new_beginning_that_says_the_same_goes_unnoticed() {
        let mut said = Said::default();
        assert_eq!(said.push("One. Two.").unwrap(), "One. Two.");
        said.restart();
        assert_eq!(said.push("One.").unwrap(), "");
        assert_eq!(said.push(" Two. Three.").unwrap(), " Three.");
        assert_eq!(said.push(" Four.").unwrap(), " Four.");
        assert_eq!(said.remaining("One. Two. Three. Four. Five.").unwrap(), " Five.");
        said.restart();
        assert_eq!(said.push("Uno."), Err(TakenBack));
        let mut short = Said::default();
        short.push("One. Two.").unwrap();
        short.restart();
        short.push("One.").unwrap();
        assert_eq!(
            short.remaining("One."),
            Err(TakenBack),
            "an answer that is shorter now was not what was sent"
        );
    }

    proptest! {
        /// However a reply is cut into words and begun anew, what the client has at the end is the reply.
        #[test]
        fn what_was_sent_is_the_reply(reply in "[aअ ]{0,20}", cuts in prop::collection::vec(0usize..20, 0..6)) {
            let letters: Vec<char> = reply.chars().collect();
            let mut said = Said::default();
            let mut heard = String::new();
            for cut in cuts {
                let part: String = letters.iter().take(cut).collect();
                heard.push_str(&said.push(&part).unwrap());
                said.restart();
            }
            for letter in &letters {
                heard.push_str(&said.push(&letter.to_string()).unwrap());
            }
            heard.push_str(&said.remaining(&reply).unwrap());
            prop_assert_eq!(heard, reply);
        }
    }
}
