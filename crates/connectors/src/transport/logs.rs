//! What a connector says beside its answers: kept in a file that does not grow past its bound.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use munshi_privacy::Scrubber;
use munshi_types::Clock;
use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::sync::Mutex;

use crate::error::{Error, Result};

/// A longer line is cut into several.
const LONGEST_LINE: usize = 4 * 1024;
/// Past this the file becomes the older one, and what was older is gone.
const LARGEST: u64 = 512 * 1024;

pub(crate) const FILE: &str = "log";
pub(crate) const OLDER: &str = "log.1";

/// The last lines of a connector's log, the oldest first; none where it has said nothing.
pub async fn read_last_lines(folder: &Path, most: usize) -> Result<Vec<String>> {
    let mut lines = VecDeque::new();
    for file in crate::LOGS {
        let text = match fs::read(folder.join(file)).await {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::Unreachable(format!("the log can't be read: {error}"))),
        };
        for line in String::from_utf8_lossy(&text).lines() {
            if lines.len() == most {
                lines.pop_front();
            }
            // Nothing in it may drive a terminal.
            lines.push_back(line.replace(char::is_control, " "));
        }
    }
    Ok(lines.into())
}

/// The log of one connector. Clones write to the same file.
#[derive(Clone)]
pub(crate) struct ConnectorLog {
    folder: Option<PathBuf>,
    clock: Arc<dyn Clock>,
    open: Arc<Mutex<Option<(File, u64)>>>,
    /// Set once and for all: the program may write out what its tools look up, of which nothing is kept.
    withholds: Arc<AtomicBool>,
}

impl ConnectorLog {
    /// None keeps nothing.
    pub(crate) fn new(folder: Option<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self { folder, clock, open: Arc::default(), withholds: Arc::default() }
    }

    /// One line, with its time. A log that can't be written is no reason to stop.
    pub(crate) async fn write_line(&self, text: &str, scrubber: &Scrubber) {
        let Some(folder) = &self.folder else { return };
        let clean: String = scrubber
            .scrub_text(text)
            .chars()
            .map(|letter| if letter.is_control() { ' ' } else { letter })
            .collect();
        let line = format!("{} {clean}\n", self.clock.now());
        let mut open = self.open.lock().await;
        if let Err(error) = write(folder, &mut open, line.as_bytes()).await {
            *open = None;
            tracing::debug!(%error, "writing connector log failed");
        }
    }

    /// Keeps nothing from here on of what the program itself writes. Our own lines about it stay.
    pub(crate) async fn withhold_output(&self, scrubber: &Scrubber) {
        if !self.withholds.swap(true, Ordering::SeqCst) {
            let why = "munshi: some of its tools are transient, so what it writes from here on is not kept";
            self.write_line(why, scrubber).await;
        }
    }

    /// What the program has written, unless that is withheld.
    async fn write_output(&self, held: &[u8], scrubber: &Scrubber) {
        if !self.withholds.load(Ordering::SeqCst) {
            self.write_line(&String::from_utf8_lossy(held), scrubber).await;
        }
    }

    /// Everything a stream says until it ends, line by line, however long its lines are.
    pub(crate) async fn drain(&self, mut stream: impl AsyncRead + Unpin, scrubber: &Scrubber) {
        let (mut held, mut piece) = (Vec::with_capacity(LONGEST_LINE), [0_u8; 1024]);
        while let Ok(read @ 1..) = stream.read(&mut piece).await {
            for byte in piece.iter().take(read) {
                if *byte != b'\n' {
                    held.push(*byte);
                }
                if *byte == b'\n' || held.len() >= LONGEST_LINE {
                    self.write_output(&held, scrubber).await;
                    held.clear();
                }
            }
        }
        if !held.is_empty() {
            self.write_output(&held, scrubber).await;
        }
    }
}

async fn write(folder: &Path, open: &mut Option<(File, u64)>, line: &[u8]) -> std::io::Result<()> {
    if open.as_ref().is_some_and(|(_, size)| *size >= LARGEST) {
        *open = None;
        fs::rename(folder.join(FILE), folder.join(OLDER)).await?;
    }
    if open.is_none() {
        fs::create_dir_all(folder).await?;
        let file = OpenOptions::new().create(true).append(true).open(folder.join(FILE)).await?;
        let size = file.metadata().await?.len();
        *open = Some((file, size));
    }
    if let Some((file, size)) = open {
        file.write_all(line).await?;
        file.flush().await?;
        *size += line.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use munshi_types::SystemClock;

    use super::*;

    #[tokio::test]
    async fn what_a_program_writes_is_not_kept_once_its_tools_are_transient() {
        let folder = tempfile::tempdir().unwrap();
        let log = ConnectorLog::new(Some(folder.path().to_owned()), Arc::new(SystemClock));
        let scrubber = Scrubber::default();
        log.drain(&b"starting\n"[..], &scrubber).await;
        for _ in 0..2 {
            log.withhold_output(&scrubber).await;
        }
        log.drain(&b"found Asha\nmore of Asha"[..], &scrubber).await;
        log.write_line("munshi: it ended", &scrubber).await;
        let lines = read_last_lines(folder.path(), 10).await.unwrap();
        let said: Vec<&str> =
            lines.iter().filter_map(|line| line.split_once(' ')).map(|(_, said)| said).collect();
        let [first, why, last] = said.as_slice() else { panic!("{said:?}") };
        assert_eq!((*first, *last), ("starting", "munshi: it ended"));
        assert!(why.contains("transient"), "{why}");
    }
}
