//! A loopback proxy in front of a server, which can fail the way networks do.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const OPEN: u8 = 0;
const CUT: u8 = 1;
const CUT_AFTER_COMMIT: u8 = 2;

/// Stands between a client and a server until it is dropped.
pub struct Proxy {
    pub address: SocketAddr,
    mode: Arc<AtomicU8>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    pub async fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mode = Arc::new(AtomicU8::new(OPEN));
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, server, mode.clone()));
        Self { address, mode, _tasks: tasks }
    }

    /// Drops every connection and every new one.
    pub fn cut(&self) {
        self.mode.store(CUT, Ordering::SeqCst);
    }

    /// Lets the next COMMIT through to the server, then breaks the line before its answer.
    pub fn cut_after_commit(&self) {
        self.mode.store(CUT_AFTER_COMMIT, Ordering::SeqCst);
    }

    pub fn restore(&self) {
        self.mode.store(OPEN, Ordering::SeqCst);
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, mode: Arc<AtomicU8>) {
    let mut lines = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        if mode.load(Ordering::SeqCst) != CUT {
            lines.spawn(forward(client, server, mode.clone()));
        }
    }
}

async fn forward(mut client: TcpStream, server: SocketAddr, mode: Arc<AtomicU8>) {
    let Ok(mut server) = TcpStream::connect(server).await else { return };
    let (mut asked, mut answered) = (vec![0; 65536], vec![0; 65536]);
    loop {
        let outcome = tokio::select! {
            read = client.read(&mut asked) => match read {
                Ok(size) if size > 0 => {
                    let commits = asked[..size].windows(6).any(|word| word == b"COMMIT");
                    let sent = server.write_all(&asked[..size]).await;
                    if commits && mode.load(Ordering::SeqCst) == CUT_AFTER_COMMIT {
                        tokio::time::sleep(Duration::from_millis(200)).await;
                        return;
                    }
                    sent
                }
                _ => return,
            },
            read = server.read(&mut answered) => match read {
                Ok(size) if size > 0 => client.write_all(&answered[..size]).await,
                _ => return,
            },
            () = tokio::time::sleep(Duration::from_millis(10)) => Ok(()),
        };
        if outcome.is_err() || mode.load(Ordering::SeqCst) == CUT {
            return;
        }
    }
}
