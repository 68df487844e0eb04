//! Handing a mail to a server, step by step.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use lettre::Address;
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{Extension, MailParameter};
use lettre::transport::smtp::response::Severity;
use munshi_conversations::outbox::opt_outs::UnsubscribeToken;
use munshi_conversations::outbox::{ChannelSender, SendFault, SendIdempotency, SendReceipt};
use munshi_http::AllowedHosts;
use munshi_safety::vault::{Vault, VaultSecret};
use munshi_store::{Db, Tx};
use munshi_types::tier::Channel;
use munshi_types::{Clock, OutboundMessage, OutboundPurpose, TenantId};
use tokio::time::Instant;
use tokio_rustls::rustls::ClientConfig;

use super::connection::MailConnector;
use super::dial::{MailDialer, limit};
use super::fault::{MailFault, MailStage};
use super::format::{FormattedMail, format_mail, load_files};
use super::places::{ConnectionPlaces, TenantConnectionPlaces};
use super::timings::MailTimings;
use crate::accounts::{ChannelAccountName, MailAccount};
use crate::files::FileSource;
use crate::send_rate::SendRate;

/// Bytes that are written at a time.
const CHUNK: usize = 16 * 1024;

/// What a server says to DATA before it takes the mail. After any other it would take the mail's lines for commands.
const ASKS_FOR_MAIL: u16 = 354;

/// Sends by one account. A connection is opened for each mail and closed behind it.
pub struct MailSender {
    parts: MailSenderParts,
    rate: SendRate,
    places: ConnectionPlaces,
    /// As it was opened last, where it is kept.
    opened: Mutex<Option<Arc<VaultSecret>>>,
}

pub struct MailSenderParts {
    pub tenant: TenantId,
    pub name: ChannelAccountName,
    pub account: MailAccount,
    pub db: Db,
    pub vault: Vault,
    /// The password itself, where it is in the settings; else it is opened in the vault for each connection.
    pub password: Option<Arc<VaultSecret>>,
    /// Whether it is remembered as it was opened last, for mails that say that the vault can't be reached.
    pub keeps_password: bool,
    /// Which certificates are believed.
    pub tls: Arc<ClientConfig>,
    /// Private places that mails may be handed to.
    pub allowed: AllowedHosts,
    /// None where no files go along.
    pub files: Option<Arc<dyn FileSource>>,
    pub clock: Arc<dyn Clock>,
    pub timings: MailTimings,
    /// Shared by all accounts of the tenant.
    pub tenant_places: TenantConnectionPlaces,
    /// Where people open this, by HTTPS; none where mails can have no links that lead here.
    pub base_url: Option<String>,
}

impl MailSender {
    pub fn new(parts: MailSenderParts) -> Self {
        let rate = SendRate::new(parts.account.per_minute);
        let places = ConnectionPlaces::new(parts.tenant_places.clone());
        Self { parts, rate, places, opened: Mutex::default() }
    }

    /// Our address.
    pub fn address(&self) -> String {
        self.parts.account.from.email.to_string()
    }

    /// Hands a mail over, and says at which step it failed. What it gives is the mail's id.
    ///
    /// What may not leave now is put off before anything is done for it: whoever asks is held up by no slow server but its own.
    pub async fn deliver(&self, outbound: &OutboundMessage) -> Result<String, MailFault> {
        self.deliver_within(outbound, &self.parts.timings).await
    }

    /// The same with other times for its steps. It counts as any other.
    pub async fn deliver_within(
        &self,
        outbound: &OutboundMessage,
        timings: &MailTimings,
    ) -> Result<String, MailFault> {
        let now = self.parts.clock.now();
        let _place = self.places.take(outbound.purpose, now)?;
        self.rate.take(outbound.purpose, now)?;
        let MailSenderParts { tenant, account, files, .. } = &self.parts;
        let to: Address = outbound.to.address.parse().map_err(|_| {
            MailFault::refused(MailStage::Recipient, "the recipient's address is not one of an e-mail")
        })?;
        let files = load_files(files.as_deref(), *tenant, outbound).await?;
        let unsubscribe = self.build_unsubscribe_link(outbound).await?;
        let mail =
            format_mail((account, self.parts.base_url.as_deref()), outbound, to, files, unsubscribe, now)
                .map_err(|what| MailFault::refused(MailStage::Prepare, what))?;
        let password = self.open_password().await?;
        let connector = self.connector(timings);
        let mut connection = connector.open(password.as_deref()).await?;
        drop(password);
        let handed = self.hand_over(&connector, &mut connection, &mail).await;
        if handed.is_ok() {
            // It has the mail. It is told that this was all, and nobody waits for what it says to that.
            let _ended = limit(Duration::ZERO, connection.quit()).await;
        }
        handed.map_err(|fault| fault.hide_recipient(&mail.to))?;
        Ok(mail.id)
    }

    fn connector<'a>(&'a self, timings: &'a MailTimings) -> MailConnector<'a> {
        let MailSenderParts { account, tls, allowed, .. } = &self.parts;
        let dialer = MailDialer {
            host: &account.host,
            port: account.port,
            security: account.security,
            other_port: "; with port 587 use security = \"starttls\"",
            tls,
            allowed,
            timings,
            until: Instant::now() + timings.whole,
        };
        MailConnector { account, dialer, timings }
    }

    /// How whoever gets what they did not ask for ends it; none for other messages, and where no link leads here.
    async fn build_unsubscribe_link(&self, outbound: &OutboundMessage) -> Result<Option<String>, MailFault> {
        let is_unasked = matches!(outbound.purpose, OutboundPurpose::Reminder | OutboundPurpose::Notice);
        let Some(base) = self.parts.base_url.as_deref().filter(|_| is_unasked) else { return Ok(None) };
        let MailSenderParts { tenant, db, vault, clock, .. } = &self.parts;
        let fault = |why: String| MailFault::passing(MailStage::Prepare, why);
        let key = vault.code_key(*tenant, clock.now()).await.map_err(|error| fault(error.to_string()))?;
        let to = outbound.to.clone();
        let build = move |tx: &mut Tx<'_>| UnsubscribeToken::build(tx, &to, &key);
        let token = db.read(*tenant, build).await.map_err(|error| fault(error.to_string()))?;
        Ok(Some(format!("{base}/unsubscribe/{token}")))
    }

    async fn open_password(&self) -> Result<Option<Arc<VaultSecret>>, MailFault> {
        let Some(login) = &self.parts.account.login else { return Ok(None) };
        if let Some(given) = &self.parts.password {
            return Ok(Some(given.clone()));
        }
        let opened = self.parts.vault.open(self.parts.tenant, &login.password).await.map(Arc::new);
        if !self.parts.keeps_password {
            let fault =
                |error: munshi_safety::Error| MailFault::passing(MailStage::Prepare, error.to_string());
            return opened.map(Some).map_err(fault);
        }
        let mut kept = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        match opened {
            Ok(secret) => {
                *kept = Some(secret.clone());
                Ok(Some(secret))
            }
            Err(error) => match kept.clone() {
                Some(secret) => Ok(Some(secret)),
                None => Err(MailFault::passing(MailStage::Prepare, error.to_string())),
            },
        }
    }

    /// Opens the password now, where it is kept, so that it is at hand when the vault is not. What fails is told when a mail is sent.
    pub async fn open_ahead(&self) {
        if self.parts.keeps_password {
            let _later = self.open_password().await;
        }
    }

    async fn hand_over(
        &self,
        connector: &MailConnector<'_>,
        connection: &mut AsyncSmtpConnection,
        mail: &FormattedMail,
    ) -> Result<(), MailFault> {
        let (from, to) = (self.parts.account.from.email.clone(), mail.to.clone());
        let takes_utf8 = connection.server_info().supports_feature(Extension::SmtpUtfEight);
        let needs_utf8 =
            [&from, &to].iter().any(|address| !address.user().is_ascii() || !address.domain().is_ascii());
        if needs_utf8 && !takes_utf8 {
            let what = "the server takes only addresses in Latin letters (it has no SMTPUTF8)";
            return Err(MailFault::refused(MailStage::Recipient, what));
        }
        let options = if needs_utf8 { vec![MailParameter::SmtpUtfEight] } else { Vec::new() };
        let doing = format!("the server refused the sender {from}");
        connector.step(MailStage::Sender, &doing, connection.command(Mail::new(Some(from), options))).await?;
        let doing = "the server refused the recipient";
        connector.step(MailStage::Recipient, doing, connection.command(Rcpt::new(to, Vec::new()))).await?;
        let asked = connection.command(Data);
        let asked = connector.step(MailStage::Content, "the server took no mail", asked).await?;
        if !asked.has_code(ASKS_FOR_MAIL) {
            let what = format!("the server answered {} and did not ask for the mail", asked.code());
            return Err(MailFault::passing(MailStage::Content, what));
        }
        write_content(connector, connection, &mail.bytes).await
    }
}

/// The mail and its last dot. Until the last of its bytes is written nobody has it; from then on only the answer tells.
async fn write_content(
    connector: &MailConnector<'_>,
    connection: &mut AsyncSmtpConnection,
    bytes: &[u8],
) -> Result<(), MailFault> {
    let is_written = AtomicBool::new(false);
    // The client asks for the next piece when the one before is written, and for one more than there are before the dot.
    let pieces = bytes.chunks(CHUNK).map(Some).chain([None]).map_while(|piece| {
        is_written.store(piece.is_none(), Ordering::SeqCst);
        piece
    });
    let mut writing = pin!(connection.message_iter(pieces));
    let mut answer = connector.limit(connector.timings.content, &mut writing).await;
    if answer.is_none() && is_written.load(Ordering::SeqCst) {
        answer = connector.limit(connector.timings.acceptance, writing).await;
    }
    let is_whole = is_written.load(Ordering::SeqCst);
    match answer {
        Some(Ok(reply)) if reply.code().severity == Severity::PositiveCompletion => Ok(()),
        Some(Ok(reply)) => {
            Err(MailFault::unknown(format!("the server answered {} to the whole mail", reply.code())))
        }
        Some(Err(error)) if is_whole => Err(MailFault::from_acceptance(&error)),
        Some(Err(error)) => {
            Err(MailFault::from_smtp(MailStage::Content, "the connection broke within the mail", &error))
        }
        None if is_whole => {
            Err(MailFault::unknown("the server did not answer after the whole mail was sent"))
        }
        None => Err(MailFault::passing(MailStage::Content, "writing the mail took too long")),
    }
}

#[async_trait]
impl ChannelSender for MailSender {
    fn channel(&self) -> Channel {
        Channel::Email
    }

    /// A server that gets the same mail twice delivers it twice.
    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Once
    }

    fn account(&self) -> Option<&str> {
        Some(self.parts.name.as_str())
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        let id = self.deliver(outbound).await?;
        Ok(SendReceipt { outside_id: Some(id) })
    }
}
