//! An account at a provider that is spoken to over HTTP, as the rest of this crate uses it: each kind is a folder with one of these.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use munshi_conversations::outbox::{ChannelSender, SendFault};
use munshi_http::{GuardedHttpClients, RequestBuilder, Url};
use munshi_safety::vault::{SecretRef, Vault, VaultSecret};
use munshi_types::tier::Channel;
use munshi_types::{Clock, TenantId, TenantName};
use ring::hmac;

use crate::accounts::{ChannelAccountName, LinkAccount};
use crate::files::FileSource;
use crate::incoming::{
    ArrivedFile, ArrivedMessage, ChannelAnswer, ChannelEvent, ChannelRefusal, ChannelRequest, ChannelVerdict,
};

/// So many bytes of it nobody guesses.
const PATH_SECRET: usize = 20;

/// What an account of a provider works with.
#[derive(Clone)]
pub struct LinkParts {
    pub tenant: TenantId,
    /// As it stands in the addresses that providers tell.
    pub tenant_name: TenantName,
    pub name: ChannelAccountName,
    pub account: LinkAccount,
    pub vault: Vault,
    pub clients: Arc<GuardedHttpClients>,
    /// None where no files go along.
    pub files: Option<Arc<dyn FileSource>>,
    pub clock: Arc<dyn Clock>,
    /// Where providers reach this, such as `https://munshi.example.com`; none where nobody outside does.
    pub public_url: Option<String>,
}

/// An account at a provider, both ways. Shared by all who use it on a node.
#[async_trait]
pub trait ChannelLink: Send + Sync + 'static {
    fn channel(&self) -> Channel;

    /// Our own address there, as the tenant knows it: a number, a handle.
    fn address(&self) -> Option<String>;

    /// What sends by it.
    fn sender(self: Arc<Self>) -> Arc<dyn ChannelSender>;

    /// Whether a request is the provider's, and what it tells. Nothing is written, nothing asked of others that could be late.
    async fn verify(&self, request: &ChannelRequest) -> Result<ChannelVerdict, ChannelRefusal>;

    /// What a provider is answered whose request was taken.
    fn acknowledge(&self) -> ChannelAnswer {
        ChannelAnswer::plain("ok")
    }

    /// Whether it is heard by asking as things stand here; only asked of accounts that may be.
    fn is_asked(&self) -> bool {
        true
    }

    /// Whether what is heard by asking may have been said before the account was declared here: such is left out.
    fn replays_history(&self) -> bool {
        false
    }

    /// What is heard by asking, from where the cursor stands, for accounts that are not told: it waits for a while where there is nothing.
    /// Nothing is written; the cursor moves once it is stored.
    async fn poll(&self, cursor: Option<&str>) -> Result<PolledEvents, LinkFault> {
        let _ = cursor;
        Err(LinkFault::refused("this channel can't be asked for what is new"))
    }

    /// A file that somebody sent, from the provider.
    async fn open_file(&self, file: &ArrivedFile) -> Result<FileStream, LinkFault>;

    /// Shows in the person's chat that their message was seen and is being worked on, or that this has ended. Where the channel has no such
    /// sign nothing is done.
    async fn show_working(&self, message: &ArrivedMessage, sign: WorkingSign) -> Result<(), LinkFault> {
        let _ = (message, sign);
        Ok(())
    }

    /// What is to do in the provider's own pages before anything comes or goes, in order: which value to put where. It is told at once when
    /// an account is added, so it asks nobody, and has no secret.
    fn guide(&self) -> Vec<String> {
        Vec::new()
    }

    /// The word behind the account in the address that the provider tells, for one that signs nothing; none where requests are signed.
    async fn open_path_secret(&self) -> Result<Option<String>, LinkFault> {
        Ok(None)
    }

    /// Sets up what can be set up over the provider's API, and says step by step whether the account can send and hear. Asked by a person
    /// who waits.
    async fn inspect(&self) -> LinkReport;
}

/// The bytes of a file, as they come.
pub type FileStream = BoxStream<'static, Result<Bytes, LinkFault>>;

/// What was heard in one go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolledEvents {
    pub events: Vec<ChannelEvent>,
    /// Where to go on from; none leaves it where it is.
    pub next: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkingSign {
    Shown,
    Removed,
}

/// Why a provider did not do what it was asked. Shown to whoever looks after the tenant: it names no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct LinkFault {
    pub what: String,
    pub lasting: FaultDuration,
    /// Not before so long from now, where the provider says so.
    pub retry_after: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultDuration {
    /// Asking again may help.
    Passing,
    /// It will be the same each time, such as for a file that is gone.
    Lasting,
    /// Somebody has to mend the account first, such as a token that has ended.
    UntilMended,
}

/// Whether an account works, step by step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkReport {
    pub steps: Vec<LinkStep>,
    /// What is left to somebody to do in the provider's own pages, in order: which value to put where.
    pub to_do: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkStep {
    /// `token`, `number`, `webhook`: a word.
    pub step: &'static str,
    /// Why not and what to do about it, where it failed.
    pub failed: Option<String>,
    /// What was found, such as the name that the provider shows.
    pub found: Option<String>,
}

impl LinkFault {
    pub fn passing(what: impl Into<String>) -> Self {
        Self { what: what.into(), lasting: FaultDuration::Passing, retry_after: None }
    }

    pub fn refused(what: impl Into<String>) -> Self {
        Self { what: what.into(), lasting: FaultDuration::Lasting, retry_after: None }
    }

    pub fn until_mended(what: impl Into<String>) -> Self {
        Self { what: what.into(), lasting: FaultDuration::UntilMended, retry_after: None }
    }
}

impl LinkStep {
    pub fn passed(step: &'static str, found: impl Into<String>) -> Self {
        Self { step, failed: None, found: Some(found.into()).filter(|found: &String| !found.is_empty()) }
    }

    pub fn failed(step: &'static str, why: impl Into<String>) -> Self {
        Self { step, failed: Some(why.into()), found: None }
    }
}

impl LinkParts {
    /// Opens a secret of the account, for the request that needs it.
    pub async fn open(&self, reference: &SecretRef) -> Result<VaultSecret, LinkFault> {
        self.vault.open(self.tenant, reference).await.map_err(|error| LinkFault::passing(error.to_string()))
    }

    /// Refuses a number that stands for a place in a private network: no name is resolved for it, so nobody else looks.
    pub fn check_place(&self, url: &Url) -> Result<(), LinkFault> {
        self.clients.allowed.find_refusal(url).map_or(Ok(()), |why| Err(LinkFault::refused(why)))
    }

    /// A request to the provider's API. Addresses in private networks are refused unless the operator allowed them.
    pub fn get(&self, url: Url) -> RequestBuilder {
        self.clients.select(&url).get(url)
    }

    pub fn post(&self, url: Url) -> RequestBuilder {
        self.clients.select(&url).post(url)
    }

    /// Where the provider's API is, with what is asked of it: `api_url` of the account, else the provider's own.
    pub fn build_url(&self, own: &str, path: &str) -> Result<Url, LinkFault> {
        let base = self.account.api_url.as_deref().unwrap_or(own).trim_end_matches('/');
        let url = format!("{base}/{}", path.trim_start_matches('/'));
        let url: Url = url.parse().map_err(|_| LinkFault::refused("api_url is not an address"))?;
        self.check_place(&url)?;
        match self.account.api_url.is_some() || url.scheme() == "https" {
            true => Ok(url),
            false => Err(LinkFault::refused("a provider is spoken to by https alone")),
        }
    }

    /// Where the provider tells us of what happens; none where nobody outside reaches this. `secret` for providers that sign nothing.
    pub fn webhook_url(&self, secret: Option<&str>) -> Option<String> {
        build_webhook_url(self.public_url.as_deref(), (&self.tenant_name, &self.name), secret)
    }

    /// A word that only the provider and we know, for the address of one that signs nothing: made of the account's secret, else of its
    /// token, so that nobody has to think of one. It is another for each account, and when the secret changes.
    pub async fn make_path_secret(&self) -> Result<String, LinkFault> {
        let reference = self.account.secret.as_ref().unwrap_or(&self.account.token);
        let secret = self.open(reference).await?;
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes());
        let of = format!("munshi.channel.path\0{}\0{}", self.tenant, self.name);
        let made = hmac::sign(&key, of.as_bytes());
        Ok(made.as_ref().iter().take(PATH_SECRET).map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Where a provider tells an account of a tenant of what happens.
pub(crate) fn build_webhook_url(
    public_url: Option<&str>,
    (tenant, account): (&TenantName, &ChannelAccountName),
    secret: Option<&str>,
) -> Option<String> {
    let base = public_url?.trim_end_matches('/');
    let own = format!("{base}/channels/{tenant}/{account}");
    Some(secret.map_or(own.clone(), |secret| format!("{own}/{secret}")))
}

/// What sending meets is what anything else at the provider meets.
impl From<LinkFault> for SendFault {
    fn from(fault: LinkFault) -> Self {
        let build = match fault.lasting {
            FaultDuration::Passing | FaultDuration::UntilMended => SendFault::passing(fault.what),
            FaultDuration::Lasting => SendFault::refused(fault.what),
        };
        SendFault { retry_after: fault.retry_after, ..build }
    }
}

impl From<LinkFault> for ChannelRefusal {
    fn from(fault: LinkFault) -> Self {
        Self::Failed(fault.what)
    }
}

impl fmt::Debug for LinkParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkParts")
            .field("tenant", &self.tenant)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
