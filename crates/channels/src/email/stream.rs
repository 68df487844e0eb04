//! The bytes of a connection to a mail server, plain or encrypted.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// What the SMTP client takes for the greeting of a server that greeted before the line was encrypted. Nothing of what it said then
/// counts any more.
const REPEATED_GREETING: &[u8] = b"220 greeted before\r\n";

#[derive(Debug)]
pub(super) struct MailStream {
    line: MailLine,
    peer: SocketAddr,
    /// Still to be read before what the server says.
    ahead: &'static [u8],
}

#[derive(Debug)]
enum MailLine {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl MailStream {
    pub(super) fn plain(line: TcpStream, peer: SocketAddr) -> Self {
        Self { line: MailLine::Plain(line), peer, ahead: &[] }
    }

    /// Encrypted before the server has said anything.
    pub(super) fn encrypted(line: TlsStream<TcpStream>, peer: SocketAddr) -> Self {
        Self { line: MailLine::Encrypted(Box::new(line)), peer, ahead: &[] }
    }

    /// Encrypted by STARTTLS: the server does not greet again.
    pub(super) fn upgraded(line: TlsStream<TcpStream>, peer: SocketAddr) -> Self {
        Self { ahead: REPEATED_GREETING, ..Self::encrypted(line, peer) }
    }

    fn writer(&mut self) -> Pin<&mut (dyn AsyncWrite + Send + Unpin)> {
        match &mut self.line {
            MailLine::Plain(line) => Pin::new(line),
            MailLine::Encrypted(line) => Pin::new(line.as_mut()),
        }
    }
}

impl AsyncTokioStream for MailStream {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}

impl AsyncRead for MailStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = self.get_mut();
        if !stream.ahead.is_empty() {
            let (now, later) = stream.ahead.split_at(stream.ahead.len().min(buffer.remaining()));
            buffer.put_slice(now);
            stream.ahead = later;
            return Poll::Ready(Ok(()));
        }
        match &mut stream.line {
            MailLine::Plain(line) => Pin::new(line).poll_read(context, buffer),
            MailLine::Encrypted(line) => Pin::new(line.as_mut()).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for MailStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().writer().poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().writer().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().writer().poll_shutdown(context)
    }
}
