//! What the server sends, byte for byte, and where it fails.

use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;

/// An answer in steps. The body is chunked, one chunk a [`FakeModelStep::Send`].
#[derive(Clone, Debug)]
pub struct FakeModelAnswer {
    /// None: nothing is ever said, not even a head.
    pub head: Option<FakeModelHead>,
    pub steps: Vec<FakeModelStep>,
}

#[derive(Clone, Debug)]
pub struct FakeModelHead {
    pub status: u16,
    pub headers: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub enum FakeModelStep {
    Send(Vec<u8>),
    /// Again and again until the client leaves.
    Repeat(Vec<u8>),
    /// Silence until the client leaves.
    Hang,
    /// Closes the connection in the middle of the body.
    Cut,
    /// The proper end of the body, whatever was in it.
    End,
}

impl FakeModelAnswer {
    pub fn new(status: u16, content_type: &str, steps: Vec<FakeModelStep>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { head: Some(FakeModelHead { status, headers }), steps }
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(
            status,
            "application/json",
            vec![FakeModelStep::Send(body.to_string().into_bytes()), FakeModelStep::End],
        )
    }

    pub fn stream(steps: Vec<FakeModelStep>) -> Self {
        Self::new(200, "text/event-stream; charset=utf-8", steps)
    }

    /// Takes the request and never says a word.
    pub fn silence() -> Self {
        Self { head: None, steps: vec![FakeModelStep::Hang] }
    }

    /// Takes the request and closes the connection.
    pub fn disconnect() -> Self {
        Self { head: None, steps: vec![FakeModelStep::Cut] }
    }

    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        if let Some(head) = &mut self.head {
            head.headers.retain(|(known, _)| known != name);
            head.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    pub(super) async fn send(self, writer: &mut OwnedWriteHalf) -> FakeModelOutcome {
        if let Some(head) = &self.head
            && writer.write_all(&head.bytes()).await.is_err()
        {
            return FakeModelOutcome::Left;
        }
        for step in self.steps {
            match step.run(writer).await {
                Ok(None) => {}
                Ok(Some(outcome)) => return outcome,
                Err(_) => return FakeModelOutcome::Left,
            }
        }
        FakeModelOutcome::Closed
    }
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FakeModelOutcome {
    /// Properly; the connection can serve another request.
    Ended,
    /// By us.
    Closed,
    /// The client did not wait for the end.
    Left,
}

impl FakeModelStep {
    async fn run(self, writer: &mut OwnedWriteHalf) -> std::io::Result<Option<FakeModelOutcome>> {
        match self {
            Self::Send(bytes) if bytes.is_empty() => {}
            Self::Send(bytes) => {
                writer.write_all(&encode_chunk(&bytes)).await?;
                // One byte after another really is that, and not one packet.
                tokio::task::yield_now().await;
            }
            Self::Repeat(bytes) => loop {
                writer.write_all(&encode_chunk(&bytes)).await?;
            },
            Self::Hang => std::future::pending().await,
            Self::Cut => {
                writer.shutdown().await?;
                return Ok(Some(FakeModelOutcome::Closed));
            }
            Self::End => {
                writer.write_all(b"0\r\n\r\n").await?;
                return Ok(Some(FakeModelOutcome::Ended));
            }
        }
        Ok(None)
    }
}

impl FakeModelHead {
    fn bytes(&self) -> Vec<u8> {
        let mut text = format!("HTTP/1.1 {} Said\r\ntransfer-encoding: chunked\r\n", self.status);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text.into_bytes()
    }
}

fn encode_chunk(bytes: &[u8]) -> Vec<u8> {
    let size = format!("{:x}\r\n", bytes.len());
    [size.as_bytes(), bytes, b"\r\n"].concat()
}
