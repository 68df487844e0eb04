//! Which account a message leaves by.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use munshi_conversations::outbox::{ChannelSender, SendFault, SenderDirectory, SenderRoute};
use munshi_http::{AllowedHosts, HttpClientError, build_tls_config};
use munshi_safety::vault::Vault;
use munshi_store::{Db, Tx};
use munshi_types::tier::{Channel, TierName};
use munshi_types::{BindingId, Clock, TenantId};
use tokio_rustls::rustls::ClientConfig;

use crate::accounts::{ChannelAccount, ChannelAccountName, ChannelAccounts, ChannelTransport, MailAccount};
use crate::email::{MailSender, MailSenderParts, MailTimings, TenantConnectionPlaces};
use crate::error::{Error, Result};
use crate::files::FileSource;
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
    /// Which certificates are believed; none for those that everything here believes.
    pub tls: Option<Arc<ClientConfig>>,
}

/// The accounts of every tenant, each read when it is needed first and again when its file has changed.
#[derive(Clone)]
pub struct ChannelSenders(Arc<Inner>);

struct Inner {
    parts: ChannelSenderParts,
    tls: Arc<ClientConfig>,
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

/// How an account sends.
#[derive(Clone)]
enum AccountWay {
    Mail(Arc<MailSender>),
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
        Ok(Self(Arc::new(Inner { parts, tls, known: Mutex::default() })))
    }

    /// What sends by a mail account that is in force, the same by which messages leave; none where no mail leaves by that name.
    pub async fn find_mail_sender(
        &self,
        tenant: TenantId,
        name: &ChannelAccountName,
    ) -> Result<Option<Arc<MailSender>>> {
        let route = SenderRoute { tenant, binding: None, channel: Channel::Email, from: None };
        let (accounts, _) = self.load(&route).await?;
        Ok(match accounts.ways.get(name) {
            Some(AccountWay::Mail(sender)) => Some(sender.clone()),
            Some(AccountWay::Log | AccountWay::Broken(_)) | None => None,
        })
    }

    /// What the tenant's own mails leave by; none where it has no account that sends any: one that only shows reaches nobody.
    pub async fn find_tenant_mail_sender(&self, tenant: TenantId) -> Result<Option<Arc<MailSender>>> {
        let route = SenderRoute { tenant, binding: None, channel: Channel::Email, from: None };
        let (accounts, _) = self.load(&route).await?;
        let chosen = accounts.choose(&route, None).and_then(|name| accounts.ways.get(name));
        Ok(match chosen {
            Some(AccountWay::Mail(sender)) => Some(sender.clone()),
            Some(AccountWay::Log | AccountWay::Broken(_)) | None => None,
        })
    }

    fn build_mail_sender(
        &self,
        (tenant, places): (TenantId, &TenantConnectionPlaces),
        name: &ChannelAccountName,
        account: MailAccount,
    ) -> MailSender {
        let ChannelSenderParts { db, vault, allowed, files, clock, timings, base_url, .. } =
            self.0.parts.clone();
        MailSender::new(MailSenderParts {
            tenant,
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
            tenant_places: places.clone(),
            base_url,
        })
    }

    /// The tenant's accounts as they are in force, and the name of the binding where one of them asks for it.
    async fn load(&self, route: &SenderRoute) -> Result<(Arc<TenantAccounts>, Option<TierName>)> {
        let (known, binding) = (self.find_known(route.tenant), route.binding);
        let read = move |tx: &mut Tx<'_>| {
            let version = rows::load_version(tx)?;
            let changed = match &known {
                Some(known) if known.version == version => None,
                _ => Some(rows::load_accounts(tx)?),
            };
            let declared =
                changed.as_ref().map(|(_, declared)| declared).or(known.as_deref().map(|one| &one.declared));
            let asks = declared
                .is_some_and(|declared| declared.0.values().any(|account| !account.bindings.is_empty()));
            let name = match binding.filter(|_| asks) {
                Some(binding) => munshi_tiers::history::find_binding_name(tx, binding)?,
                None => None,
            };
            Ok::<_, Error>((changed, known, name))
        };
        let (changed, known, name) = self.0.parts.db.read(route.tenant, read).await?;
        let accounts = match (changed, known) {
            (None, Some(known)) => known,
            (changed, _) => self.remember(route.tenant, changed.unwrap_or_default()),
        };
        Ok((accounts, name))
    }

    fn find_known(&self, tenant: TenantId) -> Option<Arc<TenantAccounts>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner).get(&tenant).cloned()
    }

    fn remember(&self, tenant: TenantId, (version, declared): (i64, ChannelAccounts)) -> Arc<TenantAccounts> {
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.get(&tenant).cloned();
        match before {
            // Somebody else has read it meanwhile.
            Some(other) if other.version >= version => other,
            before => {
                let places = before.as_ref().map(|before| before.places.clone()).unwrap_or_default();
                let ways = declared.0.iter().map(|(name, account)| {
                    // What has left in this minute, and what is leaving, is counted in what is there: a change of another account
                    // begins nothing anew.
                    let kept = before.as_ref().and_then(|before| before.find_unchanged(name, account));
                    (name.clone(), kept.unwrap_or_else(|| self.build_way((tenant, &places), name, account)))
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
        of: (TenantId, &TenantConnectionPlaces),
        name: &ChannelAccountName,
        account: &ChannelAccount,
    ) -> AccountWay {
        match account.resolve_transport() {
            Ok(ChannelTransport::Email(account)) => {
                AccountWay::Mail(Arc::new(self.build_mail_sender(of, name, *account)))
            }
            Ok(ChannelTransport::Log) => AccountWay::Log,
            Err(why) => AccountWay::Broken(why),
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
            Some(AccountWay::Mail(sender)) => Ok(sender.clone()),
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

    /// The account for a route: one that has the very address, else one that is for the very binding, else one for all; one that only
    /// shows comes last. Of several alike, the first by name.
    fn choose(&self, route: &SenderRoute, binding: Option<&TierName>) -> Option<&ChannelAccountName> {
        let is_fit = |account: &ChannelAccount| {
            let is_open = account.bindings.is_empty() || route.binding.is_none();
            account.serves(route.channel)
                && (is_open || binding.is_some_and(|name| account.bindings.contains(name)))
        };
        let rank = |name: &ChannelAccountName, account: &ChannelAccount| {
            let way = self.ways.get(name);
            let has_address = match (way, &route.from) {
                (Some(AccountWay::Mail(sender)), Some(from)) => sender.address().eq_ignore_ascii_case(from),
                _ => false,
            };
            // What can't leave by an account that is broken waits until that is mended: nobody looks for it in a log.
            let last = match way {
                Some(AccountWay::Mail(_)) => 0,
                Some(AccountWay::Broken(_)) => 1,
                Some(AccountWay::Log) | None => 2,
            };
            // What the tenant itself says goes by an account that is no binding's own, if there is one.
            let is_meant = account.bindings.is_empty() == route.binding.is_none();
            (!has_address, last, !is_meant)
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
        let route = |channel| SenderRoute { tenant, binding: Some(binding), channel, from: None };
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
