//! A mailbox at its server: connected to, read, and waited at.

use std::time::Duration;

use munshi_types::Timestamp;
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::super::dial::MailDialer;
use super::super::fault::MailFault;
use super::super::stream::MailStream;
use super::cursor::{MailCursor, parse_arrival};
use super::files::FilePlace;
use super::imap::{FetchedItems, ImapConnection, ImapFault, ImapStep, WaitOutcome};
use super::link::MailLink;
use super::read::RawMail;
use crate::accounts::{ImapMailbox, MailSecurity};
use crate::incoming::{ChannelEvent, ChannelHappening};
use crate::link::{LinkFault, PolledEvents};

/// A mail that is larger is told of, and not read.
pub(super) const LARGEST_MAIL: usize = 25 * 1024 * 1024;
/// Of one that is too large, so much of its header is read.
const LARGEST_HEADER: usize = 256 * 1024;
/// In one go.
const MOST_MAILS: usize = 20;
/// So long a server is waited at. A listener that is told to end waits no longer.
const WAIT: Duration = Duration::from_secs(25);
/// Who is told that the password is wrong asks again after so long: some lock accounts of whoever goes on.
const LOGIN_PAUSE: Duration = Duration::from_secs(600);
/// A mail at which the line breaks so often is left where it is.
const MOST_BREAKS: u32 = 3;

/// A line to the server, encrypted as it is to be.
pub(super) type MailboxConnection = ImapConnection<MailStream>;

/// What came of a mail.
enum MailReadOutcome {
    Event(Box<ChannelEvent>),
    /// It is gone, or old.
    Nothing,
}

impl MailLink {
    /// A line that is logged in, with the folder open.
    pub(super) async fn connect(&self, mailbox: &ImapMailbox) -> Result<MailboxConnection, LinkFault> {
        let name_server =
            |what: String| LinkFault::passing(format!("the mailbox at {}: {what}", mailbox.host));
        let timings = &self.parts.timings;
        let dialer = MailDialer {
            host: &mailbox.host,
            port: mailbox.port,
            security: mailbox.security,
            other_port: "; with port 143 use imap_security = \"starttls\"",
            tls: &self.parts.tls,
            allowed: &self.parts.allowed,
            timings,
            until: Instant::now() + timings.connect + timings.command,
        };
        let password = self.open_secret(&mailbox.login.password).await?;
        let opened = async {
            let (line, peer) = dialer.connect().await.map_err(|fault: MailFault| name_server(fault.what))?;
            let mut connection = match mailbox.security {
                MailSecurity::None => ImapConnection::new(MailStream::plain(line, peer), timings.command),
                MailSecurity::Tls => {
                    let line = dialer.encrypt(line).await.map_err(|fault| name_server(fault.what))?;
                    ImapConnection::new(MailStream::encrypted(line, peer), timings.command)
                }
                MailSecurity::Starttls => {
                    let line =
                        ask_for_tls(line, timings.command).await.map_err(|fault| name_server(fault.what))?;
                    let line = dialer.encrypt(line).await.map_err(|fault| name_server(fault.what))?;
                    ImapConnection::new(MailStream::encrypted(line, peer), timings.command)
                }
            };
            // After STARTTLS nobody greets again.
            if mailbox.security != MailSecurity::Starttls {
                connection.greet().await.map_err(|fault| convert_fault(mailbox, &fault))?;
            }
            connection
                .log_in(&mailbox.login, &password)
                .await
                .map_err(|fault| convert_fault(mailbox, &fault))?;
            connection.open(&mailbox.folder).await.map_err(|fault| convert_fault(mailbox, &fault))?;
            Ok::<MailboxConnection, LinkFault>(connection)
        };
        // All steps together may not take longer than one mail that leaves.
        let done = tokio::time::timeout(timings.whole, opened).await;
        done.map_err(|_| name_server("it is too slow".to_owned()))?
    }

    /// What is new; waits for something where nothing is.
    pub(super) async fn poll_mailbox(
        &self,
        connection: &mut MailboxConnection,
        (mailbox, cursor): (&ImapMailbox, Option<MailCursor>),
    ) -> Result<PolledEvents, ImapFault> {
        let Some(cursor) = cursor else {
            return Ok(PolledEvents {
                events: Vec::new(),
                next: Some(self.find_end(connection, mailbox).await?.to_string()),
            });
        };
        // Somebody may have made the folder anew while it was waited at.
        let validity = connection.open(&mailbox.folder).await?.validity;
        let mut found = find_new(connection, &cursor).await?;
        if found.is_empty() && validity != cursor.validity {
            // The numbers began anew, and nothing of late is there.
            let end = self.find_end(connection, mailbox).await?;
            return Ok(PolledEvents {
                events: Vec::new(),
                next: Some(MailCursor { at: cursor.at.max(end.at), ..end }.to_string()),
            });
        }
        if found.is_empty() {
            if connection.wait(WAIT).await? == WaitOutcome::Quiet {
                return Ok(PolledEvents::default());
            }
            found = find_new(connection, &cursor).await?;
        }
        found.truncate(MOST_MAILS);
        self.read_mails(connection, cursor, &found).await
    }

    /// The newest mail: what was there before anybody asked is not answered.
    async fn find_end(
        &self,
        connection: &mut MailboxConnection,
        mailbox: &ImapMailbox,
    ) -> Result<MailCursor, ImapFault> {
        let folder = connection.open(&mailbox.folder).await?;
        let newest = if folder.mails == 0 { Vec::new() } else { connection.search("UID *").await? };
        let Some(last) = newest.last().copied() else {
            return Ok(MailCursor { validity: folder.validity, last: 0, at: Timestamp::EPOCH });
        };
        let listed = connection.list(&[last]).await?;
        let received = listed.first().and_then(|items| items.received.as_deref()).and_then(parse_arrival);
        let at = received.unwrap_or_else(|| self.parts.clock.now());
        Ok(MailCursor { validity: folder.validity, last, at })
    }

    async fn read_mails(
        &self,
        connection: &mut MailboxConnection,
        cursor: MailCursor,
        mails: &[u32],
    ) -> Result<PolledEvents, ImapFault> {
        if mails.is_empty() {
            return Ok(PolledEvents::default());
        }
        let validity = connection.folder().validity;
        let listed = connection.list(mails).await?;
        let (mut events, mut next) = (Vec::new(), cursor);
        for mail in mails.iter().copied() {
            let items = listed.iter().find(|items| items.uid == Some(mail));
            let received_at = items.and_then(|items| items.received.as_deref()).and_then(parse_arrival);
            let read = match items {
                Some(items) if !cursor.is_old(received_at) => {
                    self.read_mail(connection, (mail, items), received_at).await
                }
                _ => Ok(MailReadOutcome::Nothing),
            };
            match read {
                Ok(MailReadOutcome::Event(event)) => events.push(*event),
                Ok(MailReadOutcome::Nothing) => {}
                // What was read before it is not read again.
                Err(fault) if next == cursor => return Err(fault),
                Err(_) => break,
            }
            next = next.advance(validity, mail, received_at);
        }
        Ok(PolledEvents { events, next: Some(next.to_string()) })
    }

    async fn read_mail(
        &self,
        connection: &mut MailboxConnection,
        (mail, items): (u32, &FetchedItems),
        received_at: Option<Timestamp>,
    ) -> Result<MailReadOutcome, ImapFault> {
        let too_large = items.size.filter(|size| *size > LARGEST_MAIL as u64);
        let (section, most) = match too_large {
            Some(_) => ("HEADER", LARGEST_HEADER),
            None => ("", LARGEST_MAIL),
        };
        let validity = connection.folder().validity;
        let bytes = match connection.fetch(mail, section, most).await {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(MailReadOutcome::Nothing),
            Err(fault) if fault.is_refusal || self.count_break(mail) >= MOST_BREAKS => {
                return Ok(MailReadOutcome::Event(Box::new(build_notice(validity, mail, &fault))));
            }
            Err(fault) => return Err(fault),
        };
        let place = FilePlace::Mailbox { validity, mail };
        let raw = RawMail { bytes: &bytes, too_large, received_at, place };
        Ok(MailReadOutcome::Event(Box::new(self.read(&raw))))
    }

    /// All of a mail, for its files.
    pub(super) async fn load_mail(&self, validity: u32, mail: u32) -> Result<Vec<u8>, LinkFault> {
        let gone = || LinkFault::refused("the mail is no longer in the mailbox");
        let mailbox = self.parts.account.mailbox.as_ref().ok_or_else(gone)?;
        let mut connection = self.connect(mailbox).await?;
        if connection.folder().validity != validity {
            return Err(gone());
        }
        let loaded = connection.fetch(mail, "", LARGEST_MAIL).await;
        connection.close().await;
        loaded.map_err(|fault| convert_fault(mailbox, &fault))?.ok_or_else(gone)
    }
}

/// Leads a fresh line to where its next byte is the first of TLS.
async fn ask_for_tls(line: TcpStream, time: Duration) -> Result<TcpStream, ImapFault> {
    let mut plain = ImapConnection::new(line, time);
    plain.greet().await?;
    plain.start_tls().await
}

async fn find_new(connection: &mut MailboxConnection, cursor: &MailCursor) -> Result<Vec<u32>, ImapFault> {
    let validity = connection.folder().validity;
    let found = connection.search(&cursor.build_search(validity)).await?;
    Ok(cursor.keep_new(validity, found))
}

/// For whoever looks after the account: it is not read, and not lost.
fn build_notice(validity: u32, mail: u32, fault: &ImapFault) -> ChannelEvent {
    let what = format!("mail {mail} of the mailbox can't be read, and is still there: {fault}");
    ChannelEvent {
        id: format!("unreadable:{validity}:{mail}"),
        lane: "mailbox".to_owned(),
        happened_at: None,
        what: ChannelHappening::Notice { what },
    }
}

pub(super) fn convert_fault(mailbox: &ImapMailbox, fault: &ImapFault) -> LinkFault {
    let hint = match fault.step {
        ImapStep::Login => ": many providers want an app password here",
        ImapStep::Folder => ": check folder",
        ImapStep::Encrypt => ": use imap_security = \"tls\" with port 993 if it has that",
        ImapStep::Greet | ImapStep::Mails => "",
    };
    let pause = (fault.step == ImapStep::Login && fault.is_refusal).then_some(LOGIN_PAUSE);
    let what = format!("the mailbox at {}: {}{hint}", mailbox.host, fault.what);
    LinkFault { retry_after: pause, ..LinkFault::passing(what) }
}
