//! IMAP, as far as mails are read by it: the newest of a folder, without a trace in it.
//!
//! It is small on purpose: what a tenant's server says is bounded at every place, since that server may be anybody's.

mod answer;
mod reader;

use std::future::Future;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use munshi_safety::vault::VaultSecret;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use self::answer::{AnswerKind, AnswerStatus};
use self::reader::{ImapAnswer, ImapLine, ImapReadError};
use super::super::fault::redact_reply;
use crate::accounts::MailLogin;

pub(super) use self::answer::FetchedItems;

/// To one command. A mailbox of a hundred thousand mails says little more.
const MOST_ANSWERS: usize = 20_000;
/// Beyond what was asked for, a literal may be longer by so much.
const SPARE: usize = 64 * 1024;
/// Where the server does not tell of new mails by itself, it is asked so often.
const ASK_EVERY: Duration = Duration::from_secs(10);

/// At which step it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImapStep {
    Greet,
    Encrypt,
    Login,
    Folder,
    Mails,
}

/// Why a server did not do what it was asked. It names no secret and nobody's address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub(super) struct ImapFault {
    pub step: ImapStep,
    pub what: String,
    /// It said no, and the line is as good as before.
    pub is_refusal: bool,
}

/// A folder as it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OpenedFolder {
    /// The numbers of mails mean what they meant as long as this is the same.
    pub validity: u32,
    pub mails: u32,
}

/// What came of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitOutcome {
    /// There is something to look at.
    Changed,
    Quiet,
}

/// A line to a server, once it is encrypted as it is to be.
#[derive(Debug)]
pub(super) struct ImapConnection<S> {
    line: ImapLine<S>,
    /// For an answer.
    command_time: Duration,
    commands: u32,
    capabilities: Vec<String>,
    folder: OpenedFolder,
    /// More mails than when it was searched last, as the server told beside an answer. It does not tell of them again.
    has_grown: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> ImapConnection<S> {
    pub(super) fn new(stream: S, command_time: Duration) -> Self {
        Self {
            line: ImapLine::new(stream),
            command_time,
            commands: 0,
            capabilities: Vec::new(),
            folder: OpenedFolder::default(),
            has_grown: false,
        }
    }

    /// The server speaks first.
    pub(super) async fn greet(&mut self) -> Result<(), ImapFault> {
        let greeting = self.read(ImapStep::Greet).await?;
        match greeting.strip("OK").is_some() || greeting.strip("PREAUTH").is_some() {
            true => Ok(()),
            false => {
                let said = redact_reply(&String::from_utf8_lossy(&greeting.text));
                Err(fault(ImapStep::Greet, format!("the server did not greet: {said}")))
            }
        }
    }

    /// Gives the line where its next byte is the first of TLS. What was said in the open behind that is nobody's.
    pub(super) async fn start_tls(mut self) -> Result<S, ImapFault> {
        self.command(ImapStep::Encrypt, "STARTTLS").await?;
        match self.line.has_unread() {
            true => Err(fault(ImapStep::Encrypt, "more was said in the open than was asked for")),
            false => Ok(self.line.into_stream()),
        }
    }

    pub(super) async fn log_in(
        &mut self,
        login: &MailLogin,
        password: &VaultSecret,
    ) -> Result<(), ImapFault> {
        self.ask_capabilities().await?;
        let logged_in = if self.can("AUTH=PLAIN") {
            let words = STANDARD.encode(format!("\0{}\0{}", login.name, password.expose()));
            self.authenticate("PLAIN", &words).await
        } else {
            let words = format!("LOGIN {} {}", quote(&login.name)?, quote(password.expose())?);
            self.command(ImapStep::Login, &words).await.map(drop)
        };
        logged_in.map_err(|error| ImapFault {
            what: format!("the server refused the login: {}", error.what),
            ..error
        })?;
        // Some say only now what they can.
        self.ask_capabilities().await
    }

    /// Opens a folder to be read alone: no mail in it is marked as read.
    pub(super) async fn open(&mut self, folder: &str) -> Result<OpenedFolder, ImapFault> {
        let words = format!("EXAMINE {}", quote(folder)?);
        let said = self.command(ImapStep::Folder, &words).await?;
        let validity = said.iter().find_map(|answer| answer.code("UIDVALIDITY"));
        let validity =
            validity.ok_or_else(|| fault(ImapStep::Folder, "the server gives mails no lasting numbers"))?;
        let mails = said.iter().rev().find_map(ImapAnswer::exists).unwrap_or(0);
        self.folder = OpenedFolder { validity, mails };
        self.has_grown = false;
        Ok(self.folder)
    }

    pub(super) fn folder(&self) -> OpenedFolder {
        self.folder
    }

    /// The numbers of mails that are so, in their order.
    pub(super) async fn search(&mut self, criteria: &str) -> Result<Vec<u32>, ImapFault> {
        self.has_grown = false;
        let said = self.command(ImapStep::Mails, &format!("UID SEARCH {criteria}")).await?;
        let mut found: Vec<u32> = said
            .iter()
            .filter_map(|answer| answer.strip("SEARCH"))
            .flat_map(|words| words.split(' ').filter_map(|word| word.parse().ok()).collect::<Vec<u32>>())
            .collect();
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// What is known of some mails without reading them.
    pub(super) async fn list(&mut self, mails: &[u32]) -> Result<Vec<FetchedItems>, ImapFault> {
        let numbers: Vec<String> = mails.iter().map(u32::to_string).collect();
        let words = format!("UID FETCH {} (UID RFC822.SIZE INTERNALDATE)", numbers.join(","));
        let said = self.command(ImapStep::Mails, &words).await?;
        Ok(said.iter().filter_map(ImapAnswer::fetched).filter(|items| items.uid.is_some()).collect())
    }

    /// A mail, or its first bytes; none where it is gone. `section` is empty for all of it, or `HEADER`.
    pub(super) async fn fetch(
        &mut self,
        mail: u32,
        section: &str,
        most: usize,
    ) -> Result<Option<Vec<u8>>, ImapFault> {
        self.line.bound_literals(most + SPARE);
        let words = format!("UID FETCH {mail} (UID BODY.PEEK[{section}]<0.{most}>)");
        let said = self.command(ImapStep::Mails, &words).await;
        self.line.bound_literals(SPARE);
        let items = said?.into_iter().filter_map(|answer| answer.fetched());
        let found = items.filter(|items| items.uid == Some(mail)).find_map(|items| items.body);
        Ok(found.map(|mut bytes| {
            bytes.truncate(most);
            bytes
        }))
    }

    /// Waits until the folder changes, or so long.
    pub(super) async fn wait(&mut self, time: Duration) -> Result<WaitOutcome, ImapFault> {
        if self.has_grown {
            return Ok(WaitOutcome::Changed);
        }
        let until = Instant::now() + time;
        if !self.can("IDLE") {
            tokio::time::sleep_until(until.min(Instant::now() + ASK_EVERY)).await;
            self.command(ImapStep::Mails, "NOOP").await?;
            return Ok(WaitOutcome::Changed);
        }
        let tag = self.send(ImapStep::Mails, "IDLE").await?;
        let mut outcome = WaitOutcome::Quiet;
        let mut is_idle = false;
        loop {
            let Ok(answer) = tokio::time::timeout_at(until, self.line.read()).await else { break };
            let answer = answer.map_err(|error| broken(ImapStep::Mails, &error))?;
            match answer.kind() {
                AnswerKind::GoOn => is_idle = true,
                AnswerKind::Untagged if answer.exists().is_some() => {
                    outcome = WaitOutcome::Changed;
                    break;
                }
                AnswerKind::Untagged if answer.strip("BYE").is_some() => {
                    return Err(fault(ImapStep::Mails, "the server closed the connection"));
                }
                AnswerKind::Untagged => {}
                AnswerKind::Tagged { words, .. } => {
                    return Err(refuse(ImapStep::Mails, &words));
                }
            }
        }
        if !is_idle && outcome == WaitOutcome::Quiet {
            return Err(fault(ImapStep::Mails, "the server did not answer in time"));
        }
        self.write(ImapStep::Mails, b"DONE\r\n").await?;
        self.finish(ImapStep::Mails, &tag).await?;
        Ok(outcome)
    }

    /// Says goodbye, and waits for nothing.
    pub(super) async fn close(mut self) {
        let _gone = tokio::time::timeout(Duration::from_secs(1), self.send(ImapStep::Mails, "LOGOUT")).await;
    }

    fn can(&self, what: &str) -> bool {
        self.capabilities.iter().any(|known| known == what)
    }

    async fn ask_capabilities(&mut self) -> Result<(), ImapFault> {
        let said = self.command(ImapStep::Greet, "CAPABILITY").await?;
        let words = said.iter().find_map(|answer| answer.strip("CAPABILITY")).unwrap_or_default();
        self.capabilities = words.split(' ').map(str::to_ascii_uppercase).collect();
        Ok(())
    }

    async fn authenticate(&mut self, mechanism: &str, words: &str) -> Result<(), ImapFault> {
        let tag = self.send(ImapStep::Login, &format!("AUTHENTICATE {mechanism}")).await?;
        loop {
            let answer = self.read(ImapStep::Login).await?;
            match answer.kind() {
                AnswerKind::GoOn => break,
                AnswerKind::Untagged => {}
                AnswerKind::Tagged { words, .. } => return Err(refuse(ImapStep::Login, &words)),
            }
        }
        self.write(ImapStep::Login, format!("{words}\r\n").as_bytes()).await?;
        self.finish(ImapStep::Login, &tag).await.map(drop)
    }

    async fn command(&mut self, step: ImapStep, words: &str) -> Result<Vec<ImapAnswer>, ImapFault> {
        let tag = self.send(step, words).await?;
        self.finish(step, &tag).await
    }

    async fn send(&mut self, step: ImapStep, words: &str) -> Result<String, ImapFault> {
        self.commands += 1;
        let tag = format!("m{}", self.commands);
        self.write(step, format!("{tag} {words}\r\n").as_bytes()).await?;
        Ok(tag)
    }

    async fn write(&mut self, step: ImapStep, bytes: &[u8]) -> Result<(), ImapFault> {
        let time = self.command_time;
        let written = limit(time, step, self.line.write(bytes)).await?;
        written.map_err(|error| fault(step, format!("the connection broke: {error}")))
    }

    async fn read(&mut self, step: ImapStep) -> Result<ImapAnswer, ImapFault> {
        let time = self.command_time;
        limit(time, step, self.line.read()).await?.map_err(|error| broken(step, &error))
    }

    fn note_growth(&mut self, answer: &ImapAnswer) {
        if let Some(mails) = answer.exists().filter(|mails| *mails > self.folder.mails) {
            self.folder.mails = mails;
            self.has_grown = true;
        }
    }

    /// What was said until the command's end.
    async fn finish(&mut self, step: ImapStep, tag: &str) -> Result<Vec<ImapAnswer>, ImapFault> {
        let mut said = Vec::new();
        loop {
            let answer = self.read(step).await?;
            match answer.kind() {
                AnswerKind::Untagged if said.len() >= MOST_ANSWERS => {
                    return Err(fault(step, "the server says more than was asked for"));
                }
                AnswerKind::Untagged => {
                    self.note_growth(&answer);
                    said.push(answer);
                }
                AnswerKind::GoOn => {}
                AnswerKind::Tagged { tag: of, status: AnswerStatus::Ok, .. } if of == tag => return Ok(said),
                AnswerKind::Tagged { tag: of, words, .. } if of == tag => return Err(refuse(step, &words)),
                AnswerKind::Tagged { .. } => {
                    return Err(fault(step, "the server answers what nobody asked"));
                }
            }
        }
    }
}

async fn limit<T>(time: Duration, step: ImapStep, work: impl Future<Output = T>) -> Result<T, ImapFault> {
    let waited = tokio::time::timeout(time, work).await;
    waited.map_err(|_| fault(step, "the server did not answer in time"))
}

fn fault(step: ImapStep, what: impl Into<String>) -> ImapFault {
    ImapFault { step, what: what.into(), is_refusal: false }
}

fn refuse(step: ImapStep, words: &str) -> ImapFault {
    ImapFault { step, what: redact_reply(words), is_refusal: true }
}

fn broken(step: ImapStep, error: &ImapReadError) -> ImapFault {
    fault(step, redact_reply(&error.to_string()))
}

/// As a word of a command.
fn quote(text: &str) -> Result<String, ImapFault> {
    if text.chars().any(|c| c.is_control() || !c.is_ascii()) {
        return Err(fault(ImapStep::Login, "the server takes only names and passwords in Latin letters"));
    }
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests;
