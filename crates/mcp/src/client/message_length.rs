//! Notices a message that is longer than any may be, while it comes: whoever waits for an answer is told at once, and
//! nothing of it is kept.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;

pub(super) struct MessageLengthWatcher<R> {
    inner: R,
    /// Since the last newline.
    length: usize,
    most: usize,
    too_long: watch::Sender<u64>,
}

impl<R> MessageLengthWatcher<R> {
    /// With what counts the messages that were too long.
    pub(super) fn new(inner: R, most: usize) -> (Self, watch::Receiver<u64>) {
        let (too_long, counted) = watch::channel(0);
        (Self { inner, length: 0, most, too_long }, counted)
    }

    fn observe(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let before = self.length;
            self.length = self.length.saturating_add(piece.len());
            if before <= self.most && self.length > self.most {
                self.too_long.send_modify(|count| *count += 1);
            }
            if piece.ends_with(b"\n") {
                self.length = 0;
            }
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for MessageLengthWatcher<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.inner).poll_read(context, buffer);
        if let Poll::Ready(Ok(())) = &polled {
            this.observe(buffer.filled().get(before..).unwrap_or_default());
        }
        polled
    }
}
