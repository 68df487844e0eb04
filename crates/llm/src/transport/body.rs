//! An answer's bytes: as they come or all of them, in time and not too many.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use munshi_http::Response;
use tokio::time::{Instant, timeout_at};

use crate::error::{ModelError, TimeoutStage};

/// That it will not is known already; its reasons are not waited for any longer.
const REFUSAL_PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponseDeadlines {
    /// Until the first delta; none where only the whole counts.
    pub first: Option<Instant>,
    pub between: Duration,
    pub deadline: Instant,
}

impl ResponseDeadlines {
    pub(crate) fn for_first_byte(&self) -> (Instant, TimeoutStage) {
        match self.first {
            Some(first) if first < self.deadline => (first, TimeoutStage::FirstByte),
            _ => (self.deadline, TimeoutStage::Whole),
        }
    }

    fn for_next_byte(&self) -> (Instant, TimeoutStage) {
        let next = Instant::now() + self.between;
        if next < self.deadline {
            (next, TimeoutStage::BetweenBytes)
        } else {
            (self.deadline, TimeoutStage::Whole)
        }
    }
}

/// Owns the connection while it is read; dropping it before its end closes the socket.
pub(crate) struct ProviderResponseBody {
    response: Response,
    deadlines: ResponseDeadlines,
    /// Set by the reader at the first delta, from when silence is what is measured.
    pub has_begun: bool,
    left: usize,
    limit: usize,
}

impl fmt::Debug for ProviderResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderResponseBody").field("left", &self.left).finish_non_exhaustive()
    }
}

impl ProviderResponseBody {
    pub(super) fn new(response: Response, limit: usize, deadlines: ResponseDeadlines) -> Self {
        Self { response, deadlines, has_begun: false, left: limit, limit }
    }

    /// The next bytes; none at a proper end. Nothing is lost when this is dropped while it waits.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ModelError> {
        let (until, stage) = match self.has_begun {
            true => self.deadlines.for_next_byte(),
            false => self.deadlines.for_first_byte(),
        };
        let read = timeout_at(until, self.response.chunk()).await.map_err(|_| ModelError::Timeout(stage))?;
        let bytes = read.map_err(|_| ModelError::Interrupted)?;
        self.left = self
            .left
            .checked_sub(bytes.as_ref().map_or(0, Bytes::len))
            .ok_or_else(|| ModelError::Garbled(format!("the response exceeds {} bytes", self.limit)))?;
        Ok(bytes)
    }

    /// All of it.
    pub(crate) async fn read_all(mut self) -> Result<Vec<u8>, ModelError> {
        let mut all = Vec::new();
        while let Some(bytes) = self.next().await? {
            all.extend_from_slice(&bytes);
        }
        Ok(all)
    }

    /// The beginning of an answer that only says why not, as far as it comes.
    pub(crate) async fn read_beginning(mut self, enough: usize) -> Vec<u8> {
        let until = Instant::now() + REFUSAL_PATIENCE;
        let mut all = Vec::new();
        while all.len() < enough {
            match timeout_at(until, self.next()).await {
                Ok(Ok(Some(bytes))) => all.extend_from_slice(&bytes),
                _ => break,
            }
        }
        all
    }
}
