//! A spooled file as the body of a request: a piece at a time, its length known beforehand.

use std::fs::File;
use std::io::Read;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use crate::error::{Error, Result};
use crate::spool::SpooledFile;

const PIECE: usize = 64 * 1024;
/// So many pieces are read ahead.
const AHEAD: usize = 2;

pub(super) struct FileBody {
    pieces: mpsc::Receiver<std::io::Result<Bytes>>,
    left: u64,
}

impl FileBody {
    /// A thread reads the file; it ends with the file, or when nobody takes the pieces.
    pub(super) fn open(file: &SpooledFile) -> Result<Self> {
        let (length, mut file) = (file.length, file.open()?);
        let (sender, pieces) = mpsc::channel(AHEAD);
        drop(spawn_blocking(move || {
            while let Some(piece) = read_piece(&mut file).transpose() {
                let is_over = piece.is_err();
                if sender.blocking_send(piece).is_err() || is_over {
                    return;
                }
            }
        }));
        Ok(Self { pieces, left: length })
    }
}

fn read_piece(file: &mut File) -> std::io::Result<Option<Bytes>> {
    let mut piece = vec![0; PIECE];
    let length = file.read(&mut piece)?;
    piece.truncate(length);
    Ok((length > 0).then(|| piece.into()))
}

impl Body for FileBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let Some(piece) = ready!(self.pieces.poll_recv(context)) else { return Poll::Ready(None) };
        let piece =
            piece.map_err(|error| Error::Storage(format!("a file on its way can't be read: {error}")));
        if let Ok(piece) = &piece {
            self.left = self.left.saturating_sub(piece.len() as u64);
        }
        Poll::Ready(Some(piece.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
