//! Which account a message leaves by.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use munshi_conversations::outbox::{ChannelSender, SendFault, SenderDirectory, SenderRoute};
use munshi_http::{AllowedHosts, GuardedHttpClients, HttpClientError, build_tls_config};
use munshi_safety::vault::Vault;
use munshi_store::{Db, Tx, tenants};
use munshi_types::tier::{Channel, TierName};
use munshi_types::{BindingId, Clock, Tenant, TenantId, TenantName};
use tokio_rustls::rustls::ClientConfig;

use crate::accounts::{
    ChannelAccount, ChannelAccountName, ChannelAccounts, ChannelTransport, LinkAccount, MailAccount,
};
use crate::email::{
    MailLink, MailLinkParts, MailSender, MailSenderParts, MailTimings, TenantConnectionPlaces,
};
use crate::error::{Error, Result};
use crate::files::FileSource;
use crate::link::{ChannelLink, LinkParts, build_webhook_url};
use crate::links;
use crate::log::LogSender;
use crate::rows;

/// What accounts are used with.
#[derive(Clone)]
pub struct ChannelSenderParts {
    pub db: Db,
    pub vault: Vault,
    /// Private places that mails may be handed to.
    pub allowed: AllowedHosts,
    /// None where no files go along.
    pub files: Option<Arc<dyn FileSource>>,
    pub clock: Arc<dyn Clock>,
    pub timings: MailTimings,
    /// Where people open this, by HTTPS; none where mails can have no links that lead here.
    pub base_url: Option<String>,
    /// Where providers reach this; none where nobody outside does.
    pub public_url: Option<String>,
    /// Which certificates are believed; none for those that everything here believes.
    pub tls: Option<Arc<ClientConfig>>,
}

/// The accounts of every tenant, each read when it is needed first and again when its file has changed.
#[derive(Clone)]
pub struct ChannelSenders(Arc<Inner>);

struct Inner {
    parts: ChannelSenderParts,
    tls: Arc<ClientConfig>,
    clients: Arc<GuardedHttpClients>,
    known: Mutex<HashMap<TenantId, Arc<TenantAccounts>>>,
}

/// What a tenant's file says, at one of its versions.
struct TenantAccounts {
    version: i64,
    declared: ChannelAccounts,
    ways: HashMap<ChannelAccountName, AccountWay>,
    /// As long as the process lives, whatever the file says.
    places: TenantConnectionPlaces,
}

/// A file as it was read, with what its tenant is called.
struct StoredAccounts {
    version: i64,
    declared: ChannelAccounts,
    tenant_name: TenantName,
}

/// What is in force: what is known already, or what was read.
enum AccountsInForce {
    Known(Arc<TenantAccounts>),
    Changed(StoredAccounts),
}

/// Whose accounts are built.
#[derive(Clone, Copy)]
struct AccountsOwner<'a> {
    tenant: TenantId,
    name: &'a TenantName,
    places: &'a TenantConnectionPlaces,
}

/// How an account sends.
#[derive(Clone)]
enum AccountWay {
    /// With what hears by it, where anything does.
    Mail(Arc<MailSender>, Option<Arc<dyn ChannelLink>>),
    Link(Arc<dyn ChannelLink>),
    Log,
    /// It was stored and can't work as it is, such as by the rules of a newer version; why.
    Broken(String),
}

impl ChannelSenders {
    pub fn new(parts: ChannelSenderParts) -> Result<Self, HttpClientError> {
        let tls = match &parts.tls {
            Some(tls) => tls.clone(),
            None => Arc::new(build_tls_config()?),
        };
        let clients = Arc::new(GuardedHttpClients::new(parts.allowed.clone())?);
        Ok(Self(Arc::new(Inner { parts, tls, clients, known: Mutex::default() })))
    }

    /// What sends by a mail account that is in force, the same by which messages leave; none where no mail leaves by that name.
    pub async fn find_mail_sender(
        &self,
        tenant: TenantId,
        name: &ChannelAccountName,
    ) -> Result<Option<Arc<MailSender>>> {
        let route = SenderRoute { tenant, binding: None, channel: Channel::Email, from: None, account: None };
        let (accounts, _) = self.load(&route).await?;
        Ok(match accounts.ways.get(name) {
            Some(AccountWay::Mail(sender, _)) => Some(sender.clone()),
            Some(AccountWay::Link(_) | AccountWay::Log | AccountWay::Broken(_)) | None => None,
        })
    }

    /// What the tenant's own mails leave by; none where it has no account that sends any: one that only shows reaches nobody.
    pub async fn find_tenant_mail_sender(&self, tenant: TenantId) -> Result<Option<Arc<MailSender>>> {
        let route = SenderRoute { tenant, binding: None, channel: Channel::Email, from: None, account: None };
        let (accounts, _) = self.load(&route).await?;
        let chosen = accounts.choose(&route, None).and_then(|name| accounts.ways.get(name));
        Ok(match chosen {
            Some(AccountWay::Mail(sender, _)) => Some(sender.clone()),
            Some(AccountWay::Link(_) | AccountWay::Log | AccountWay::Broken(_)) | None => None,
        })
    }

    /// An account in force that hears, or is spoken to over HTTP; none where there is none of that name, or where it can't work as it is.
    pub async fn find_link(
        &self,
        tenant: TenantId,
        name: &ChannelAccountName,
    ) -> Result<Option<Arc<dyn ChannelLink>>> {
        let accounts = self.load_all(tenant).await?;
        Ok(match accounts.ways.get(name) {
            Some(AccountWay::Link(link)) => Some(link.clone()),
            Some(AccountWay::Mail(_, link)) => link.clone(),
            Some(AccountWay::Log | AccountWay::Broken(_)) | None => None,
        })
    }

    /// An account as it is declared.
    pub async fn find_account(
        &self,
        tenant: TenantId,
        name: &ChannelAccountName,
    ) -> Result<Option<ChannelAccount>> {
        Ok(self.load_all(tenant).await?.declared.0.get(name).cloned())
    }

    /// Where providers reach this; none where nobody outside does.
    pub fn public_url(&self) -> Option<&str> {
        self.0.parts.public_url.as_deref()
    }

    /// Where a provider tells an account of what happens; none where nobody outside reaches this.
    pub fn build_webhook_url(
        &self,
        of: (&TenantName, &ChannelAccountName),
        path_secret: Option<&str>,
    ) -> Option<String> {
        build_webhook_url(self.public_url(), of, path_secret)
    }

    pub fn db(&self) -> &Db {
        &self.0.parts.db
    }

    async fn load_all(&self, tenant: TenantId) -> Result<Arc<TenantAccounts>> {
        let route = SenderRoute { tenant, binding: None, channel: Channel::Web, from: None, account: None };
        Ok(self.load(&route).await?.0)
    }

    /// What an account would be spoken to by, before it is in force: none where its kind is spoken to otherwise.
    pub fn build_link(
        &self,
        (tenant, tenant_name): (TenantId, &TenantName),
        name: &ChannelAccountName,
        account: LinkAccount,
    ) -> Option<Arc<dyn ChannelLink>> {
        let ChannelSenderParts { vault, files, clock, public_url, .. } = self.0.parts.clone();
        let (clients, kind) = (self.0.clients.clone(), account.kind);
        let (name, tenant_name) = (name.clone(), tenant_name.clone());
        let parts =
            LinkParts { tenant, tenant_name, name, account, vault, clients, files, clock, public_url };
        links::build(kind, parts)
    }

    fn build_mail_sender(
        &self,
        of: AccountsOwner<'_>,
        name: &ChannelAccountName,
        account: MailAccount,
    ) -> MailSender {
        let ChannelSenderParts { db, vault, allowed, files, clock, timings, base_url, .. } =
            self.0.parts.clone();
        MailSender::new(MailSenderParts {
            tenant: of.tenant,
            name: name.clone(),
            account,
            db,
            vault,
            password: None,
            keeps_password: false,
            tls: self.0.tls.clone(),
            allowed,
            files,
            clock,
            timings,
            tenant_places: of.places.clone(),
            base_url,
        })
    }

    fn build_mail_link(
        &self,
        tenant: TenantId,
        name: &ChannelAccountName,
        account: MailAccount,
        sender: &Arc<MailSender>,
    ) -> Arc<dyn ChannelLink> {
        let ChannelSenderParts { db, vault, allowed, clock, timings, public_url, .. } = self.0.parts.clone();
        Arc::new(MailLink::new(MailLinkParts {
            tenant,
            name: name.clone(),
            account,
            db,
            vault,
            tls: self.0.tls.clone(),
            allowed,
            clock,
            timings,
            public_url,
            sender: sender.clone(),
        }))
    }

    /// The tenant's accounts as they are in force, and the name of the binding where one of them asks for it.
    async fn load(&self, route: &SenderRoute) -> Result<(Arc<TenantAccounts>, Option<TierName>)> {
        let (known, binding) = (self.find_known(route.tenant), route.binding);
        let read = move |tx: &mut Tx<'_>| {
            let version = rows::load_version(tx)?;
            let found = match known {
                Some(known) if known.version == version => AccountsInForce::Known(known),
                _ => {
                    let (version, declared) = rows::load_accounts(tx)?;
                    let tenant_name = tenants::find_name(tx)?.unwrap_or_else(|| Tenant::installation().name);
                    AccountsInForce::Changed(StoredAccounts { version, declared, tenant_name })
                }
            };
            let asks = found.declared().0.values().any(|account| !account.bindings.is_empty());
            let name = match binding.filter(|_| asks) {
                Some(binding) => munshi_tiers::history::find_binding_name(tx, binding)?,
                None => None,
            };
            Ok::<_, Error>((found, name))
        };
        let (found, name) = self.0.parts.db.read(route.tenant, read).await?;
        let accounts = match found {
            AccountsInForce::Known(known) => known,
            AccountsInForce::Changed(stored) => self.remember(route.tenant, stored),
        };
        Ok((accounts, name))
    }

    fn find_known(&self, tenant: TenantId) -> Option<Arc<TenantAccounts>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner).get(&tenant).cloned()
    }

    fn remember(&self, tenant: TenantId, stored: StoredAccounts) -> Arc<TenantAccounts> {
        let StoredAccounts { version, declared, tenant_name } = stored;
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.get(&tenant).cloned();
        match before {
            // Somebody else has read it meanwhile.
            Some(other) if other.version >= version => other,
            before => {
                let places = before.as_ref().map(|before| before.places.clone()).unwrap_or_default();
                let of = AccountsOwner { tenant, name: &tenant_name, places: &places };
                let ways = declared.0.iter().map(|(name, account)| {
                    // What has left in this minute, and what is leaving, is counted in what is there: a change of another account
                    // begins nothing anew.
                    let kept = before.as_ref().and_then(|before| before.find_unchanged(name, account));
                    (name.clone(), kept.unwrap_or_else(|| self.build_way(of, name, account)))
                });
                let ways = ways.collect();
                let accounts = Arc::new(TenantAccounts { version, declared, ways, places });
                known.insert(tenant, accounts.clone());
                accounts
            }
        }
    }

    fn build_way(
        &self,
        of: AccountsOwner<'_>,
        name: &ChannelAccountName,
        account: &ChannelAccount,
    ) -> AccountWay {
        match account.resolve_transport() {
            Ok(ChannelTransport::Email(account)) => {
                let sender = Arc::new(self.build_mail_sender(of, name, (*account).clone()));
                let link = account.hears().then(|| self.build_mail_link(of.tenant, name, *account, &sender));
                AccountWay::Mail(sender, link)
            }
            Ok(ChannelTransport::Link(account)) => {
                match self.build_link((of.tenant, of.name), name, *account) {
                    Some(link) => AccountWay::Link(link),
                    None => AccountWay::Broken("nobody knows how to speak to it".to_owned()),
                }
            }
            Ok(ChannelTransport::Log) => AccountWay::Log,
            Err(why) => AccountWay::Broken(why),
        }
    }
}

impl AccountsInForce {
    fn declared(&self) -> &ChannelAccounts {
        match self {
            Self::Known(known) => &known.declared,
            Self::Changed(stored) => &stored.declared,
        }
    }
}

impl TenantAccounts {
    fn build(
        &self,
        tenant: TenantId,
        name: &ChannelAccountName,
        channel: Channel,
    ) -> Result<Arc<dyn ChannelSender>, SendFault> {
        match self.ways.get(name) {
            Some(AccountWay::Mail(sender, _)) => Ok(sender.clone()),
            Some(AccountWay::Link(link)) => Ok(link.clone().sender()),
            Some(AccountWay::Log) => Ok(Arc::new(LogSender { tenant, account: name.clone(), channel })),
            Some(AccountWay::Broken(why)) => {
                Err(SendFault::passing(format!("channel {name} can't work as it is declared: {why}")))
            }
            None => Err(SendFault::passing(format!("channel {name} is gone"))),
        }
    }

    /// How an account sends that is declared now as it was.
    fn find_unchanged(&self, name: &ChannelAccountName, account: &ChannelAccount) -> Option<AccountWay> {
        let is_unchanged = self.declared.0.get(name) == Some(account);
        self.ways.get(name).filter(|_| is_unchanged).cloned()
    }

    /// The account for a route: the one that it names, else one that has the very address, else one that is for the very binding, else one for all; one that only
    /// shows comes last. Of several alike, the first by name.
    fn choose(&self, route: &SenderRoute, binding: Option<&TierName>) -> Option<&ChannelAccountName> {
        let is_fit = |account: &ChannelAccount| {
            let is_open = account.bindings.is_empty() || route.binding.is_none();
            account.serves(route.channel)
                && (is_open || binding.is_some_and(|name| account.bindings.contains(name)))
        };
        let rank = |name: &ChannelAccountName, account: &ChannelAccount| {
            let way = self.ways.get(name);
            let address = match way {
                Some(AccountWay::Mail(sender, _)) => Some(sender.address()),
                Some(AccountWay::Link(link)) => link.address(),
                _ => None,
            };
            let is_same = |from: &String| address.is_some_and(|own| own.eq_ignore_ascii_case(from));
            let has_address = route.from.as_ref().is_some_and(is_same);
            let is_named = route.account.as_deref() == Some(name.as_str());
            // What can't leave by an account that is broken waits until that is mended: nobody looks for it in a log.
            let last = match way {
                Some(AccountWay::Mail(..) | AccountWay::Link(_)) => 0,
                Some(AccountWay::Broken(_)) => 1,
                Some(AccountWay::Log) | None => 2,
            };
            // What the tenant itself says goes by an account that is no binding's own, if there is one.
            let is_meant = account.bindings.is_empty() == route.binding.is_none();
            (!is_named, !has_address, last, !is_meant)
        };
        let fit = self.declared.0.iter().filter(|(_, account)| is_fit(account));
        fit.min_by_key(|(name, account)| rank(name, account)).map(|(name, _)| name)
    }
}

#[async_trait]
impl SenderDirectory for ChannelSenders {
    async fn find(&self, route: &SenderRoute) -> Result<Arc<dyn ChannelSender>, SendFault> {
        let (accounts, binding) = self
            .load(route)
            .await
            .map_err(|error| SendFault::passing(format!("the channels can't be read: {error}")))?;
        match accounts.choose(route, binding.as_ref()) {
            Some(name) => accounts.build(route.tenant, name, route.channel),
            None => {
                let what = match accounts.declared.serves(route.channel) {
                    true => format!("no channel for {} is open to this binding", route.channel),
                    false => format!("no channel for {} is set up", route.channel),
                };
                Err(SendFault::passing(format!("{what}: add one with `munshi channel add`")))
            }
        }
    }

    /// Looks once, however many are asked for: pages ask whenever they are looked at.
    async fn list_served(&self, tenant: TenantId, binding: BindingId, channels: &[Channel]) -> Vec<Channel> {
        let [first, ..] = channels else { return Vec::new() };
        let route =
            |channel| SenderRoute { tenant, binding: Some(binding), channel, from: None, account: None };
        let Ok((accounts, name)) = self.load(&route(*first)).await else { return Vec::new() };
        let is_served = |channel: &Channel| {
            let chosen = accounts.choose(&route(*channel), name.as_ref());
            chosen.is_some_and(|chosen| accounts.build(tenant, chosen, *channel).is_ok())
        };
        channels.iter().copied().filter(is_served).collect()
    }
}

impl fmt::Debug for ChannelSenders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelSenders").finish_non_exhaustive()
    }
}
