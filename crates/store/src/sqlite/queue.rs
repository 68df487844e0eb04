//! The way in to the SQLite threads, and their end.

use std::path::Path;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use super::connection::Connection;
use super::reader::Reader;
use super::tidier::Tidier;
use super::writer::Writer;
use crate::error::Result;
use crate::health::Health;
use crate::options::Options;
use crate::threads::{QUEUE_LENGTH, join, start, too_many};
use crate::unit::Unit;

type Queue = (Sender<Unit>, Receiver<Unit>);

/// The open database. Dropping it lets queued units finish, then ends the threads.
pub(crate) struct Sqlite {
    write: Option<Sender<Unit>>,
    read: Option<Sender<Unit>>,
    threads: Vec<JoinHandle<()>>,
}

impl Sqlite {
    /// Opens the file, makes it when it is not there, and starts one writer and the readers.
    pub(crate) fn open(path: &Path, options: &Options, health: &Health) -> Result<Self> {
        let busy = options.busy_timeout;
        let writer = Connection::writer(path, busy)?;
        let (write, write_queue): Queue = bounded(QUEUE_LENGTH);
        let (read, read_queue): Queue = bounded(QUEUE_LENGTH);
        let mut threads = Vec::with_capacity(options.readers + 2);
        for number in 0..options.readers.max(1) {
            let connection = Connection::reader(path, busy)?;
            let reader = Reader::new(connection, read_queue.clone(), options, health)?;
            threads.push(start(format!("store-read-{number}"), move || reader.run())?);
        }
        let (tidier, bell) = Tidier::new(path, busy)?;
        threads.push(start("store-tidy".to_owned(), move || tidier.run())?);
        let writer = Writer::new(writer, write_queue, bell, (options, health))?;
        threads.push(start("store-write".to_owned(), move || writer.run())?);
        Ok(Self { write: Some(write), read: Some(read), threads })
    }

    pub(crate) fn write(&self, work: Unit) {
        submit(self.write.as_ref(), work);
    }

    pub(crate) fn read(&self, work: Unit) {
        submit(self.read.as_ref(), work);
    }
}

fn submit(queue: Option<&Sender<Unit>>, work: Unit) {
    let refused = match queue {
        Some(queue) => queue.try_send(work).err().map(TrySendError::into_inner),
        None => Some(work),
    };
    if let Some(work) = refused {
        work.settle(Err(too_many()));
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.write = None;
        self.read = None;
        join(&mut self.threads);
    }
}
