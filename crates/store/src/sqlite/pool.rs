//! The way in to the SQLite threads, and their end.

use std::path::Path;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, SendError, Sender, unbounded};

use super::checkpointer::Checkpointer;
use super::connection::SqliteConnection;
use super::reader::SqliteReader;
use super::writer::SqliteWriter;
use crate::error::Result;
use crate::health::StoreHealth;
use crate::options::StoreOptions;
use crate::threads::{QUEUE_LENGTH, join, queue_full_error, start};
use crate::unit::UnitOfWork;

type Queue = (Sender<UnitOfWork>, Receiver<UnitOfWork>);

/// The open database. Dropping it lets queued units finish, then ends the threads.
pub(crate) struct SqlitePool {
    write: Option<Sender<UnitOfWork>>,
    read: Option<Sender<UnitOfWork>>,
    threads: Vec<JoinHandle<()>>,
}

impl SqlitePool {
    /// Opens the file, makes it when it is not there, and starts one writer and the readers.
    pub(crate) fn open(path: &Path, options: &StoreOptions, health: &StoreHealth) -> Result<Self> {
        let busy = options.busy_timeout;
        let writer = SqliteConnection::open_writer(path, busy)?;
        if options.wipes_removed {
            writer.wipe_removed()?;
        }
        // Counted by `submit`: a bounded channel would hold the memory of its whole length from the start.
        let (write, write_queue): Queue = unbounded();
        let (read, read_queue): Queue = unbounded();
        let mut threads = Vec::with_capacity(options.readers + 2);
        for number in 0..options.readers.max(1) {
            let connection = SqliteConnection::open_reader(path, busy)?;
            let reader = SqliteReader::new(connection, read_queue.clone(), options, health)?;
            threads.push(start(format!("store-read-{number}"), move || reader.run())?);
        }
        let (tidier, bell) = Checkpointer::new(path, busy)?;
        threads.push(start("store-tidy".to_owned(), move || tidier.run())?);
        let writer = SqliteWriter::new(writer, write_queue, bell, (options, health))?;
        threads.push(start("store-write".to_owned(), move || writer.run())?);
        Ok(Self { write: Some(write), read: Some(read), threads })
    }

    pub(crate) fn write(&self, work: UnitOfWork) {
        submit(self.write.as_ref(), work);
    }

    pub(crate) fn read(&self, work: UnitOfWork) {
        submit(self.read.as_ref(), work);
    }
}

fn submit(queue: Option<&Sender<UnitOfWork>>, work: UnitOfWork) {
    let refused = match queue {
        Some(queue) if queue.len() < QUEUE_LENGTH => queue.send(work).err().map(SendError::into_inner),
        Some(_) | None => Some(work),
    };
    if let Some(work) = refused {
        work.settle(Err(queue_full_error()));
    }
}

impl Drop for SqlitePool {
    fn drop(&mut self) {
        self.write = None;
        self.read = None;
        join(&mut self.threads);
    }
}
