//! The answer piece by piece.
//!
//! A reply that is taken back and begun anew can't be told in OpenAI's stream. So the new beginning is compared with what
//! was sent: while it says the same, the client notices nothing; where it says something else, the stream ends with an
//! error, and the answer stands in the store.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use munshi_agent::{RunEvent, RunFollower, RunOutcome, RunState, TurnEngine};
use munshi_types::{RunId, TenantId};
use tokio_util::sync::CancellationToken;

use super::answer::CompletionChunkBuilder;
use super::form::CompletionRefusal;
use super::told;
use crate::error::{ApiError, ApiErrorCode};

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
        self.open().await?;
        let first = json(&self.pieces.first());
        self.waiting.push_front(first);
        let events = stream::unfold(self, Self::next);
        let alive = KeepAlive::new().interval(HEARTBEAT).text("still here");
        Ok(Sse::new(events).keep_alive(alive).into_response())
    }

    /// Hears until there is a word to send, or the end, or it takes too long.
    async fn open(&mut self) -> Result<(), CompletionRefusal> {
        let until = tokio::time::Instant::now() + FIRST_WORD;
        while self.waiting.is_empty() && !self.has_ended {
            let Ok(Some((_, event))) = tokio::time::timeout_at(until, self.following.next()).await else {
                break;
            };
            if let RunEvent::Done { .. } = event {
                let outcome = self.engine.outcome(self.tenant, self.run).await?;
                if let Some(refusal) = told::refusal(&outcome) {
                    return Err(refusal);
                }
                self.end_with(&outcome);
            } else {
                self.hear(event).await;
            }
        }
        Ok(())
    }

    async fn next(mut self) -> Option<(Result<Sent, Infallible>, Self)> {
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
                    self.fail(&parted());
                    continue;
                }
            };
            match next {
                Some((_, event)) => self.hear(event).await,
                None => self.fail(&lost()),
            }
        }
        let data = self.waiting.pop_front()?;
        Some((Ok(Sent::default().data(data)), self))
    }

    async fn hear(&mut self, event: RunEvent) {
        match event {
            RunEvent::Token { .. } if self.is_closing => {}
            RunEvent::Token { text } => match self.said.more(&text) {
                Ok(text) if text.is_empty() => {}
                Ok(text) => self.waiting.push_back(json(&self.pieces.words(text))),
                Err(TakenBack) => self.fail(&taken_back(self.run)),
            },
            RunEvent::Reset { .. } => {
                self.is_closing = false;
                self.said.begin_again();
            }
            RunEvent::Thinking { what } => self.is_closing |= what == RunState::Responding.as_str(),
            RunEvent::Done { .. } => match self.engine.outcome(self.tenant, self.run).await {
                Ok(outcome) => match told::refusal(&outcome) {
                    Some(refusal) => self.fail(&refusal),
                    None => self.end_with(&outcome),
                },
                Err(error) => self.fail(&error.into()),
            },
            RunEvent::Error { message, .. } => {
                self.fail(&ApiError::new(ApiErrorCode::Unavailable, message).hint("").into());
            }
            RunEvent::ToolCall { .. }
            | RunEvent::ToolResult { .. }
            | RunEvent::Approval { .. }
            | RunEvent::Suggestions { .. } => {}
        }
    }

    fn end_with(&mut self, outcome: &RunOutcome) {
        match self.said.rest(&outcome.text) {
            Ok(rest) if rest.is_empty() => {}
            Ok(rest) => self.waiting.push_back(json(&self.pieces.words(rest))),
            Err(TakenBack) => return self.fail(&taken_back(self.run)),
        }
        self.waiting.extend(self.pieces.last(outcome).iter().map(json));
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
    fn begin_again(&mut self) {
        self.again = (!self.sent.is_empty()).then(String::new);
    }

    /// What of this is new to the client.
    fn more(&mut self, text: &str) -> Result<String, TakenBack> {
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
    fn rest(&mut self, whole: &str) -> Result<String, TakenBack> {
        whole.strip_prefix(self.sent.as_str()).map(str::to_owned).ok_or(TakenBack)
    }
}

fn taken_back(run: RunId) -> CompletionRefusal {
    let message = "The answer broke off and was begun anew with other words: what was shown is void.";
    let error = ApiError::new(ApiErrorCode::Unavailable, message)
        .hint(format!("The whole answer stands at GET /v1/runs/{run} and in the session's messages."));
    CompletionRefusal::from(error).code("reply_taken_back")
}

fn parted() -> CompletionRefusal {
    let message = "This server stops. The answer goes on without you.";
    let hint = "Send the same request with the same Idempotency-Key to hear it.";
    CompletionRefusal::from(ApiError::new(ApiErrorCode::Unavailable, message).hint(hint)).code("restarting")
}

fn lost() -> CompletionRefusal {
    CompletionRefusal::from(ApiError::plain(ApiErrorCode::Unavailable))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_new_beginning_that_says_the_same_goes_unnoticed() {
        let mut said = Said::default();
        assert_eq!(said.more("One. Two.").unwrap(), "One. Two.");
        said.begin_again();
        assert_eq!(said.more("One.").unwrap(), "");
        assert_eq!(said.more(" Two. Three.").unwrap(), " Three.");
        assert_eq!(said.more(" Four.").unwrap(), " Four.");
        assert_eq!(said.rest("One. Two. Three. Four. Five.").unwrap(), " Five.");
        said.begin_again();
        assert_eq!(said.more("Uno."), Err(TakenBack));
        let mut short = Said::default();
        short.more("One. Two.").unwrap();
        short.begin_again();
        short.more("One.").unwrap();
        assert_eq!(short.rest("One."), Err(TakenBack), "an answer that is shorter now was not what was sent");
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
                heard.push_str(&said.more(&part).unwrap());
                said.begin_again();
            }
            for letter in &letters {
                heard.push_str(&said.more(&letter.to_string()).unwrap());
            }
            heard.push_str(&said.rest(&reply).unwrap());
            prop_assert_eq!(heard, reply);
        }
    }
}
