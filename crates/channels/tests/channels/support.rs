//! A tenant with accounts at a real mail server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use munshi_channels::accounts::{ChannelAccounts, parse};
use munshi_channels::email::MailTimings;
use munshi_channels::{AllowedHosts, ChannelSenderParts, ChannelSenders, rows};
use munshi_conversations::outbox::{ChannelSender, SendFault, SenderDirectory, SenderRoute};
use munshi_http::build_tls_config;
use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_safety::vault::{MasterKeySource, Vault, VaultAuditContext, VaultSecret};
use munshi_store::{Db, JsonText, Migration, Tx, params};
use munshi_test_support::TestDb;
use munshi_test_support::environment::{self, MailServer};
use munshi_tiers::TierTokenCounts;
use munshi_types::tier::Channel;
use munshi_types::{
    BindingId, Clock, IdGenerator, MessageId, OutboundMessage, ReplyAddress, SystemRandom, TenantId,
};
use serde_json::json;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The tables of everything that leaves, with those of channels.
pub(crate) fn migrations() -> Vec<&'static [Migration]> {
    munshi_test_app::list_migrations(&[munshi_channels::MIGRATIONS])
}

/// Quick enough for a test; longer than the server takes for an answer that comes late.
pub(crate) const QUICK: MailTimings = MailTimings {
    connect: Duration::from_secs(10),
    command: Duration::from_secs(10),
    content: Duration::from_secs(10),
    acceptance: Duration::from_secs(10),
    whole: Duration::from_secs(60),
};

pub(crate) struct Shop {
    pub(crate) test: TestDb,
    pub(crate) tenant: TenantId,
    pub(crate) server: MailServer,
    pub(crate) vault: Vault,
    pub(crate) senders: ChannelSenders,
}

/// Who believes the server, and may reach it.
pub(crate) async fn open_shop(test: TestDb) -> Shop {
    let allowed = AllowedHosts::new(["localhost".to_owned(), "127.0.0.1".to_owned()]);
    let tls = believe(&environment::mail());
    open_shop_with(test, allowed, Some(tls), QUICK).await
}

pub(crate) async fn open_shop_with(
    test: TestDb,
    allowed: AllowedHosts,
    tls: Option<Arc<ClientConfig>>,
    timings: MailTimings,
) -> Shop {
    let server = environment::mail();
    let tenant = test.add_tenant("sharma").await;
    let way = SenderWay { allowed, tls, timings };
    let (vault, senders) = build_senders(&test.db, test.clock.clone(), &test.place.folder(), way).await;
    Shop { test, tenant, server, vault, senders }
}

/// How servers are reached.
pub(crate) struct SenderWay {
    pub(crate) allowed: AllowedHosts,
    pub(crate) tls: Option<Arc<ClientConfig>>,
    pub(crate) timings: MailTimings,
}

/// What sends, as a process has it whose vault's key is in this folder.
pub(crate) async fn build_senders(
    db: &Db,
    clock: Arc<dyn Clock>,
    folder: &Path,
    way: SenderWay,
) -> (Vault, ChannelSenders) {
    let source = MasterKeySource::File(folder.join("vault.key"));
    let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
    let vault = Vault::start(db.clone(), source, Arc::new(SystemRandom), ids, clock.now()).await.unwrap();
    let SenderWay { allowed, tls, timings } = way;
    let parts = ChannelSenderParts {
        db: db.clone(),
        vault: vault.clone(),
        allowed,
        files: None,
        clock,
        timings,
        base_url: Some("https://munshi.example".to_owned()),
        public_url: Some("https://munshi.example".to_owned()),
        tls,
    };
    (vault, ChannelSenders::new(parts).unwrap())
}

fn believe(server: &MailServer) -> Arc<ClientConfig> {
    believe_authority(&server.certificate)
}

pub(crate) fn believe_authority(certificate: &Path) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate).unwrap()).unwrap();
    let provider = build_tls_config().unwrap().crypto_provider().clone();
    let versions =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(versions.with_root_certificates(roots).with_no_client_auth())
}

impl Shop {
    pub(crate) async fn declare(&self, text: &str) -> ChannelAccounts {
        let declared = parse(text).unwrap();
        self.store(&declared).await;
        declared
    }

    /// Stores what is declared, whether it can work or not.
    pub(crate) async fn store(&self, declared: &ChannelAccounts) {
        let (stored, now) = (declared.clone(), self.test.clock.now());
        let save = move |tx: &mut Tx<'_>| rows::save_accounts(tx, &stored, "test", "", now);
        self.test.db.write(self.tenant, save).await.unwrap();
    }

    /// A binding as far as its name goes.
    pub(crate) async fn add_binding(&self, name: &'static str) -> BindingId {
        let (id, now): (BindingId, _) = (self.test.ids.next(), self.test.clock.now());
        let add = move |tx: &mut Tx<'_>| {
            tx.execute(
                "INSERT INTO tiers (tenant_id, id, kind, name, status, version, latest, made_at)
                 VALUES ($1, $2, 'binding', $3, 'active', 1, 1, $4)",
                params![id, name, now],
            )?;
            tx.execute(
                "INSERT INTO tier_versions (tenant_id, tier_id, version, body, tokens, author, note, made_at)
                 VALUES ($1, $2, 1, $3, $4, 'test', '', $5)",
                params![id, JsonText::of(&json!({}))?, JsonText::of(&TierTokenCounts::default())?, now],
            )?;
            Ok::<_, munshi_store::Error>(())
        };
        self.test.db.write(self.tenant, add).await.unwrap();
        id
    }

    pub(crate) async fn set_secret(&self, name: &str, value: &str) {
        let by = VaultAuditContext {
            actor: AuditActor::new(AuditActorKind::Operator, "test"),
            now: self.test.clock.now(),
        };
        let secret = VaultSecret::new(value.to_owned()).unwrap();
        self.vault.set(self.tenant, &name.parse().unwrap(), secret, by).await.unwrap();
    }

    pub(crate) async fn find(
        &self,
        binding: Option<BindingId>,
        from: Option<&str>,
    ) -> Result<Arc<dyn ChannelSender>, SendFault> {
        let from = from.map(str::to_owned);
        self.senders
            .find(&SenderRoute { tenant: self.tenant, binding, channel: Channel::Email, from, account: None })
            .await
    }

    /// An address that no other test has.
    pub(crate) fn address(&self, mood: &str) -> String {
        let id: MessageId = self.test.ids.next();
        format!("{mood}+{id}@example.org")
    }

    /// A channel's name, and so a sender's, that no other test has.
    pub(crate) fn name(&self, mood: &str) -> String {
        let id: MessageId = self.test.ids.next();
        format!("{mood}-{}", &id.to_string()[24..])
    }

    pub(crate) fn message(&self, to: &str, text: &str) -> OutboundMessage {
        let to = ReplyAddress::new(Channel::Email, to.to_owned());
        OutboundMessage::new(self.test.ids.next(), to, text.to_owned())
    }

    /// An account in the open, with whatever else it says.
    pub(crate) fn plain(&self, name: &str, more: &str) -> String {
        let port = self.server.plain_port;
        format!(
            "[{name}]\nkind = \"email\"\nhost = \"127.0.0.1\"\nport = {port}\nsecurity = \"none\"\n\
             from = \"Sharma Traders <{name}@example.com>\"\n{more}\n"
        )
    }

    /// An encrypted account that logs in.
    pub(crate) fn secure(&self, security: &str, port: u16) -> String {
        let login = &self.server.login;
        format!(
            "[mail]\nkind = \"email\"\nhost = \"localhost\"\nport = {port}\nsecurity = \"{security}\"\nlogin = \"{login}\"\n\
             password = \"vault:mail.password\"\nfrom = \"Sharma Traders <shop@example.com>\"\n"
        )
    }
}
