//! A mail account that hears: one link a node.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use munshi_conversations::outbox::ChannelSender;
use munshi_http::AllowedHosts;
use munshi_safety::vault::{SecretRef, Vault, VaultSecret};
use munshi_store::{Db, PlatformTx, tenants};
use munshi_types::tier::Channel;
use munshi_types::{Clock, TenantId};
use tokio::time::Instant;
use tokio_rustls::rustls::ClientConfig;

use super::super::sender::MailSender;
use super::super::timings::MailTimings;
use super::authentication::{TrustedResults, read_server_name};
use super::automatic::SenderPace;
use super::cursor::MailCursor;
use super::files::{FilePlace, FileReference, find_file, read_reference};
use super::mailbox::{MailboxConnection, convert_fault};
use super::mime::MailHeaders;
use super::read::{MailReader, RawMail};
use super::webhook::{build_path_secret, find_mail, is_path_secret};
use crate::accounts::{ChannelAccountName, ImapMailbox, MailAccount, ReceiveWay};
use crate::incoming::{
    ArrivedFile, ChannelEvent, ChannelHappening, ChannelRefusal, ChannelRequest, ChannelRequestMethod,
    ChannelVerdict,
};
use crate::link::{ChannelLink, FileStream, LinkFault, LinkReport, LinkStep, PolledEvents};

/// A mail whose files are fetched one after the other is kept for so long.
const KEPT_FOR: Duration = Duration::from_secs(60);
/// Of so many mails the header is looked at, to see what their server says of senders.
const LOOKED_AT: usize = 5;
const LARGEST_HEADER: usize = 64 * 1024;

/// What an account that hears works with.
pub(crate) struct MailLinkParts {
    pub tenant: TenantId,
    pub name: ChannelAccountName,
    pub account: MailAccount,
    pub db: Db,
    pub vault: Vault,
    pub tls: Arc<ClientConfig>,
    /// Private places where its server may be.
    pub allowed: AllowedHosts,
    pub clock: Arc<dyn Clock>,
    pub timings: MailTimings,
    /// Where providers reach this; none where nobody outside does.
    pub public_url: Option<String>,
    /// The same by which messages leave.
    pub sender: Arc<MailSender>,
}

/// An account at a mail server, as it hears.
pub(crate) struct MailLink {
    pub(super) parts: MailLinkParts,
    trusted: TrustedResults,
    /// Kept between two polls, so that nothing is missed in between.
    connection: tokio::sync::Mutex<Option<MailboxConnection>>,
    /// The mail whose files were asked for last.
    loaded: Mutex<Option<LoadedMail>>,
    pace: Mutex<SenderPace>,
    /// The mail at which the line broke last, and how often.
    broken: Mutex<(u32, u32)>,
}

struct LoadedMail {
    number: (u32, u32),
    bytes: Arc<Vec<u8>>,
    since: Instant,
}

impl MailLink {
    pub(crate) fn new(parts: MailLinkParts) -> Self {
        let host = parts.account.mailbox.as_ref().map(|mailbox| mailbox.host.as_str());
        let trusted = TrustedResults::of(parts.account.auth_server.as_deref(), host);
        Self {
            parts,
            trusted,
            connection: tokio::sync::Mutex::default(),
            loaded: Mutex::default(),
            pace: Mutex::default(),
            broken: Mutex::default(),
        }
    }

    /// A mail as an event. One of somebody who sends too many is not answered.
    pub(super) fn read(&self, raw: &RawMail<'_>) -> ChannelEvent {
        let reader = MailReader { account: &self.parts.account, trusted: &self.trusted };
        let mut event = reader.read(raw);
        let when = raw.received_at.unwrap_or_else(|| self.parts.clock.now());
        if let ChannelHappening::Message(message) = &mut event.what
            && message.unanswerable.is_none()
            && lock(&self.pace).exceeds(&message.from.channel_id, when)
        {
            message.unanswerable =
                Some("its sender sends more mails in an hour than a person writes".to_owned());
        }
        event
    }

    pub(super) fn count_break(&self, mail: u32) -> u32 {
        let mut broken = lock(&self.broken);
        *broken = if broken.0 == mail { (mail, broken.1 + 1) } else { (mail, 1) };
        broken.1
    }

    pub(super) async fn open_secret(&self, reference: &SecretRef) -> Result<VaultSecret, LinkFault> {
        let opened = self.parts.vault.open(self.parts.tenant, reference).await;
        opened.map_err(|error| LinkFault::passing(error.to_string()))
    }

    fn find_mailbox(&self) -> Result<&ImapMailbox, LinkFault> {
        let none = || LinkFault::refused("this channel has no imap_host: there is no mailbox to be read");
        self.parts.account.mailbox.as_ref().ok_or_else(none)
    }

    /// The mail whose files are asked for, fetched once for all of them.
    async fn find_loaded(&self, validity: u32, mail: u32) -> Result<Arc<Vec<u8>>, LinkFault> {
        self.forget_loaded();
        if let Some(loaded) = lock(&self.loaded).as_ref().filter(|loaded| loaded.number == (validity, mail)) {
            return Ok(loaded.bytes.clone());
        }
        let bytes = Arc::new(self.load_mail(validity, mail).await?);
        let loaded = LoadedMail { number: (validity, mail), bytes: bytes.clone(), since: Instant::now() };
        *lock(&self.loaded) = Some(loaded);
        Ok(bytes)
    }

    fn forget_loaded(&self) {
        let mut loaded = lock(&self.loaded);
        if loaded.as_ref().is_some_and(|loaded| loaded.since.elapsed() > KEPT_FOR) {
            *loaded = None;
        }
    }

    async fn inspect_mailbox(&self, mailbox: &ImapMailbox, report: &mut LinkReport) {
        let mut connection = match self.connect(mailbox).await {
            Ok(connection) => connection,
            Err(fault) => return report.steps.push(LinkStep::failed("mailbox", fault.what)),
        };
        let mails = connection.folder().mails;
        report.steps.push(LinkStep::passed("mailbox", format!("{}: {mails} mails", mailbox.folder)));
        if self.trusted != TrustedResults::Nobodys {
            return report
                .steps
                .push(LinkStep::passed("senders", "proved by the server that takes the mails"));
        }
        let names = self.list_server_names(&mut connection).await;
        connection.close().await;
        report.steps.push(LinkStep::passed("senders", "nobody says who they are: each is a stranger"));
        match names.first() {
            Some(name) => report.to_do.push(format!(
                "So that people are known by their address: if {name} is the server that takes your mails, and not one that somebody \
                 wrote into a mail, set auth_server = \"{name}\"."
            )),
            None => report.to_do.push(
                "Your mail server says nothing about who sent a mail. Ask its provider to check DKIM and to add Authentication-Results, \
                 so that people are known by their address."
                    .to_owned(),
            ),
        }
    }

    /// What servers call themselves that say something of the newest mails.
    async fn list_server_names(&self, connection: &mut MailboxConnection) -> Vec<String> {
        let mails = connection.search("ALL").await.unwrap_or_default();
        let mut names = Vec::new();
        for mail in mails.into_iter().rev().take(LOOKED_AT) {
            let header = connection.fetch(mail, "HEADER", LARGEST_HEADER).await.ok().flatten();
            names.extend(header.and_then(|header| read_server_name(&MailHeaders::parse(&header))));
        }
        names
    }

    async fn inspect_webhook(&self, secret: &SecretRef, report: &mut LinkReport) {
        let opened = match self.open_secret(secret).await {
            Ok(opened) => opened,
            Err(fault) => return report.steps.push(LinkStep::failed("secret", fault.what)),
        };
        let (tenant, name) = (self.parts.tenant, &self.parts.name);
        let word = build_path_secret(&opened, tenant, name);
        let read = move |tx: &mut PlatformTx<'_>| tenants::find(tx, tenant);
        let found = self.parts.db.platform(tenants::TENANTS).read(read).await.ok().flatten();
        let Some(base) = self.parts.public_url.as_deref() else {
            let why =
                "nobody outside reaches this: set server.public_url, or read the mailbox with imap_host";
            return report.steps.push(LinkStep::failed("webhook", why));
        };
        let Some(found) = found else { return };
        let url = format!("{}/channels/{}/{name}/{word}", base.trim_end_matches('/'), found.name);
        report.steps.push(LinkStep::passed("webhook", "has an address"));
        report.to_do.push(format!(
            "At the provider that takes your mails, add a route that posts each mail as raw MIME to {url}. Whoever knows this address can \
             hand mails in."
        ));
    }
}

#[async_trait]
impl ChannelLink for MailLink {
    fn channel(&self) -> Channel {
        Channel::Email
    }

    fn address(&self) -> Option<String> {
        Some(self.parts.sender.address())
    }

    fn sender(self: Arc<Self>) -> Arc<dyn ChannelSender> {
        self.parts.sender.clone()
    }

    async fn verify(&self, request: &ChannelRequest) -> Result<ChannelVerdict, ChannelRefusal> {
        let refuse = |why: &str| ChannelRefusal::Unverified(why.to_owned());
        let MailLinkParts { tenant, name, account, .. } = &self.parts;
        let secret = account.secret.as_ref().filter(|_| account.receive == ReceiveWay::Webhook);
        let secret = secret.ok_or_else(|| refuse("this channel is handed no mails"))?;
        let given = request.path_secret.as_deref().ok_or_else(|| refuse("its address is not whole"))?;
        if request.method != ChannelRequestMethod::Post {
            return Err(refuse("mails are posted"));
        }
        let secret = self.open_secret(secret).await?;
        if !is_path_secret(given, &secret, *tenant, name) {
            return Err(refuse("its address is another"));
        }
        let mail = find_mail(request)?;
        let raw = RawMail {
            bytes: &mail,
            too_large: None,
            received_at: Some(request.now),
            place: FilePlace::Nowhere,
        };
        Ok(ChannelVerdict::Take(vec![self.read(&raw)]))
    }

    async fn poll(&self, cursor: Option<&str>) -> Result<PolledEvents, LinkFault> {
        let mailbox = self.find_mailbox()?;
        self.forget_loaded();
        let cursor = cursor.and_then(|text| text.parse::<MailCursor>().ok());
        let mut kept = self.connection.lock().await;
        // A line that was kept may have ended meanwhile; that is no fault.
        if let Some(mut connection) = kept.take() {
            let polled = self.poll_mailbox(&mut connection, (mailbox, cursor)).await;
            if let Ok(polled) = polled {
                *kept = Some(connection);
                return Ok(polled);
            }
        }
        let mut connection = self.connect(mailbox).await?;
        let polled = self.poll_mailbox(&mut connection, (mailbox, cursor)).await;
        let polled = polled.map_err(|fault| convert_fault(mailbox, &fault))?;
        *kept = Some(connection);
        Ok(polled)
    }

    async fn open_file(&self, file: &ArrivedFile) -> Result<FileStream, LinkFault> {
        let gone = || LinkFault::refused("the file is in no mail any more");
        let bytes = match read_reference(&file.reference).ok_or_else(gone)? {
            FileReference::Bytes(bytes) => bytes,
            FileReference::Mailbox { validity, mail, leaf } => {
                let raw = self.find_loaded(validity, mail).await?;
                find_file(&raw, leaf).ok_or_else(gone)?
            }
        };
        Ok(stream::iter([Ok(Bytes::from(bytes))]).boxed())
    }

    fn guide(&self) -> Vec<String> {
        let account = &self.parts.account;
        let mut steps = Vec::new();
        if account.receive == ReceiveWay::Webhook {
            steps.push(
                "At the provider that takes your mails, add a route that posts each mail as raw MIME to the address above. Whoever \
                 knows it can hand mails in."
                    .to_owned(),
            );
        }
        if account.hears() && self.trusted == TrustedResults::Nobodys {
            steps.push(
                "So that people are known by their address, set auth_server: what the server that takes your mails calls itself, first in \
                 the Authentication-Results of any mail. Without it each is a stranger."
                    .to_owned(),
            );
        }
        steps
    }

    async fn open_path_secret(&self) -> Result<Option<String>, LinkFault> {
        let MailLinkParts { tenant, name, account, .. } = &self.parts;
        match account.secret.as_ref().filter(|_| account.receive == ReceiveWay::Webhook) {
            Some(secret) => Ok(Some(build_path_secret(&self.open_secret(secret).await?, *tenant, name))),
            None => Ok(None),
        }
    }

    async fn inspect(&self) -> LinkReport {
        let mut report = LinkReport::default();
        let account = &self.parts.account;
        match (account.receive, &account.mailbox, &account.secret) {
            (ReceiveWay::Poll, Some(mailbox), _) => self.inspect_mailbox(mailbox, &mut report).await,
            (ReceiveWay::Webhook, _, Some(secret)) => self.inspect_webhook(secret, &mut report).await,
            _ => {}
        }
        report
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for MailLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MailLink").finish_non_exhaustive()
    }
}
