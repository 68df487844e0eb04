//! A line to Postgres that counts what is asked: how many statements something costs is no matter of time.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use munshi_store::{Db, StoreOptions};

use crate::database::TestDb;

/// Stands between the store and Postgres and counts statements and commits.
#[derive(Clone, Default)]
pub struct StatementCounter {
    statements: Arc<AtomicU64>,
    commits: Arc<AtomicU64>,
}

impl StatementCounter {
    /// The test's database through a line that counts, on one connection.
    pub async fn open(test: &TestDb) -> (Db, Self) {
        let url = test.place.postgres_url("munshi_owner");
        let place = url.split_once('@').unwrap().1.split_once('/').unwrap().0;
        let counter = Self::default();
        let line = counter.listen(place.replace("localhost", "127.0.0.1").parse().unwrap());
        let address = url.replace(place, &line.to_string()).parse().unwrap();
        let options = StoreOptions { connections: 1, ..test.options.clone() };
        (Db::open(&address, &options, &test.migrations).await.unwrap(), counter)
    }

    /// Statements and commits since the last time it was asked.
    pub fn take(&self) -> (u64, u64) {
        (self.statements.swap(0, Ordering::SeqCst), self.commits.swap(0, Ordering::SeqCst))
    }

    fn listen(&self, server: SocketAddr) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, counter) = (listener.local_addr().unwrap(), self.clone());
        thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                let (counter, server) = (counter.clone(), TcpStream::connect(server).unwrap());
                client.set_nodelay(true).unwrap();
                server.set_nodelay(true).unwrap();
                let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || std::io::copy(&mut from, &mut to));
                thread::spawn(move || counter.carry(client, server));
            }
        });
        address
    }

    /// One message after the other, as the protocol frames them; the first has no letter before its length.
    fn carry(&self, mut client: TcpStream, mut server: TcpStream) -> Option<()> {
        let mut is_first = true;
        loop {
            let mut head = vec![0; if is_first { 4 } else { 5 }];
            client.read_exact(&mut head).ok()?;
            let length = u32::from_be_bytes(head[head.len() - 4..].try_into().ok()?);
            let mut body = vec![0; usize::try_from(length).ok()?.checked_sub(4)?];
            client.read_exact(&mut body).ok()?;
            match head[0] {
                b'E' if !is_first => {
                    self.statements.fetch_add(1, Ordering::SeqCst);
                }
                b'Q' if !is_first && body.windows(6).any(|word| word == b"COMMIT") => {
                    self.commits.fetch_add(1, Ordering::SeqCst);
                }
                _ => {}
            }
            is_first = false;
            server.write_all(&head).ok()?;
            server.write_all(&body).ok()?;
        }
    }
}
