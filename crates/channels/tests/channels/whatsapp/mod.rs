//! WhatsApp, by the Cloud API and by Gupshup, against stand-ins on this machine.

mod cloud;
mod cloud_webhooks;
mod gupshup;
mod meta;
mod stand_in;
mod taking;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use munshi_channels::accounts::parse;
use munshi_channels::email::MailTimings;
use munshi_channels::incoming::{ChannelIntake, ChannelRequest, ChannelRequestMethod, IntakeOutcome};
use munshi_channels::link::ChannelLink;
use munshi_channels::{AllowedHosts, ChannelSenderParts, ChannelSenders, FileSource, rows};
use munshi_conversations::outbox::{ChannelSender, SendFault, SenderDirectory, SenderRoute};
use munshi_jobs::JobQueue;
use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_safety::vault::{MasterKeySource, Vault, VaultAuditContext, VaultSecret};
use munshi_store::Tx;
use munshi_test_support::TestDb;
use munshi_types::tier::Channel;
use munshi_types::{BlobId, Clock, IdGenerator, OutboundMessage, ReplyAddress, SystemRandom, TenantId};

use self::stand_in::{Check, StandIn};

pub(crate) const TOKEN: &str = "EAAG-token";
pub(crate) const SECRET: &str = "app_secret";
pub(crate) const MEERA: &str = "+919812345678";

/// A tenant with an account at a stand-in.
pub(crate) struct WhatsappShop {
    pub(crate) test: TestDb,
    pub(crate) tenant: TenantId,
    pub(crate) provider: StandIn,
    pub(crate) accounts: ChannelSenders,
    pub(crate) files: Arc<HeldFiles>,
    vault: Vault,
}

/// Files in memory.
#[derive(Default)]
pub(crate) struct HeldFiles(pub(crate) std::sync::Mutex<HashMap<BlobId, Vec<u8>>>);

#[async_trait]
impl FileSource for HeldFiles {
    async fn load(&self, _tenant: TenantId, file: BlobId, _most: u64) -> Result<Vec<u8>, SendFault> {
        let held = self.0.lock().unwrap().get(&file).cloned();
        held.ok_or_else(|| SendFault::refused("there is no such file"))
    }
}

pub(crate) async fn open_shop(test: TestDb, check: Check, account: &str) -> WhatsappShop {
    let tenant = test.add_tenant("sharma").await;
    let clock: Arc<dyn Clock> = test.clock.clone();
    let source = MasterKeySource::File(test.place.folder().join("vault.key"));
    let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
    let vault =
        Vault::start(test.db.clone(), source, Arc::new(SystemRandom), ids, clock.now()).await.unwrap();
    let files = Arc::<HeldFiles>::default();
    let parts = ChannelSenderParts {
        db: test.db.clone(),
        vault: vault.clone(),
        allowed: AllowedHosts::new(["127.0.0.1".to_owned()]),
        files: Some(files.clone()),
        clock,
        timings: MailTimings::default(),
        base_url: None,
        public_url: Some("https://munshi.example".to_owned()),
        tls: None,
    };
    let accounts = ChannelSenders::new(parts).unwrap();
    let provider = StandIn::start(check).await;
    let shop = WhatsappShop { tenant, provider, accounts, files, vault, test };
    shop.set_secret("vault:wa.token", TOKEN).await;
    shop.set_secret("vault:wa.secret", SECRET).await;
    let (declared, now) =
        (parse(&account.replace("URL", &shop.provider.url)).unwrap(), shop.test.clock.now());
    let save = move |tx: &mut Tx<'_>| rows::save_accounts(tx, &declared, "test", "", now);
    shop.test.db.write(shop.tenant, save).await.unwrap();
    shop
}

impl WhatsappShop {
    async fn set_secret(&self, name: &str, value: &str) {
        let by = VaultAuditContext {
            actor: AuditActor::new(AuditActorKind::Operator, "test"),
            now: self.test.clock.now(),
        };
        let secret = VaultSecret::new(value.to_owned()).unwrap();
        self.vault.set(self.tenant, &name.parse().unwrap(), secret, by).await.unwrap();
    }

    pub(crate) async fn link(&self) -> Arc<dyn ChannelLink> {
        self.accounts.find_link(self.tenant, &"wa".parse().unwrap()).await.unwrap().unwrap()
    }

    pub(crate) async fn sender(&self) -> Arc<dyn ChannelSender> {
        let route = SenderRoute {
            tenant: self.tenant,
            binding: None,
            channel: Channel::Whatsapp,
            from: None,
            account: None,
        };
        self.accounts.find(&route).await.unwrap()
    }

    pub(crate) fn message(&self, text: &str) -> OutboundMessage {
        let to = ReplyAddress::new(Channel::Whatsapp, MEERA);
        OutboundMessage::new(self.test.ids.next(), to, text.to_owned())
    }

    pub(crate) fn hold_file(&self, bytes: &[u8]) -> BlobId {
        let id: BlobId = self.test.ids.next();
        self.files.0.lock().unwrap().insert(id, bytes.to_vec());
        id
    }

    pub(crate) fn request(&self, method: ChannelRequestMethod, body: &[u8]) -> ChannelRequest {
        ChannelRequest {
            method,
            url: "https://munshi.example/channels/sharma/wa".to_owned(),
            path_secret: None,
            headers: Vec::new(),
            query: Vec::new(),
            body: body.to_vec(),
            now: self.test.clock.now(),
        }
    }

    pub(crate) async fn take(&self, request: &ChannelRequest) -> IntakeOutcome {
        let clock: Arc<dyn Clock> = self.test.clock.clone();
        let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
        let queue = JobQueue::new(clock.clone(), ids.clone());
        let intake = ChannelIntake { accounts: self.accounts.clone(), queue, ids, clock };
        intake.take(self.tenant, &"wa".parse().unwrap(), request).await.unwrap()
    }

    /// How many events are stored.
    pub(crate) async fn stored(&self) -> i64 {
        let count = |tx: &mut Tx<'_>| {
            tx.one("SELECT COUNT(*) FROM channel_arrivals WHERE tenant_id = $1", &[], |row| row.get::<i64>(0))
        };
        self.test.db.read(self.tenant, count).await.unwrap()
    }
}
