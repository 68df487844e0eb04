//! Telegram, against a stand-in on this machine.

mod hearing;
mod sending;
mod stand_in;
mod webhooks;

use std::sync::Arc;

use munshi_channels::accounts::parse;
use munshi_channels::email::MailTimings;
use munshi_channels::incoming::ChannelIntake;
use munshi_channels::{AllowedHosts, ChannelSenderParts, ChannelSenders, rows};
use munshi_jobs::JobQueue;
use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_safety::vault::{MasterKeySource, Vault, VaultAuditContext, VaultSecret};
use munshi_store::Tx;
use munshi_test_support::TestDb;
use munshi_types::{Clock, IdGenerator, SystemRandom, TenantId};
use serde_json::{Value, json};

use self::stand_in::FakeTelegram;
use crate::channels::sdks::check_update;

pub(crate) const TOKEN: &str = "700:AA-secret_token";

/// A tenant with a bot.
pub(crate) struct BotShop {
    pub(crate) test: TestDb,
    pub(crate) tenant: TenantId,
    pub(crate) telegram: FakeTelegram,
    pub(crate) accounts: ChannelSenders,
    vault: Vault,
}

pub(crate) async fn open_bot_shop(test: TestDb, public_url: Option<&str>) -> BotShop {
    let tenant = test.add_tenant("sharma").await;
    let clock: Arc<dyn Clock> = test.clock.clone();
    let source = MasterKeySource::File(test.place.folder().join("vault.key"));
    let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
    let vault =
        Vault::start(test.db.clone(), source, Arc::new(SystemRandom), ids, clock.now()).await.unwrap();
    let parts = ChannelSenderParts {
        db: test.db.clone(),
        vault: vault.clone(),
        allowed: AllowedHosts::new(["127.0.0.1".to_owned()]),
        files: None,
        clock,
        timings: MailTimings::default(),
        base_url: None,
        public_url: public_url.map(str::to_owned),
        tls: None,
    };
    let accounts = ChannelSenders::new(parts).unwrap();
    let shop = BotShop { tenant, telegram: FakeTelegram::start().await, accounts, vault, test };
    shop.telegram.add_bot(TOKEN);
    shop.set_secret("vault:bot.token", TOKEN).await;
    shop
}

impl BotShop {
    pub(crate) async fn set_secret(&self, name: &str, value: &str) {
        let by = VaultAuditContext {
            actor: AuditActor::new(AuditActorKind::Operator, "test"),
            now: self.test.clock.now(),
        };
        let secret = VaultSecret::new(value.to_owned()).unwrap();
        self.vault.set(self.tenant, &name.parse().unwrap(), secret, by).await.unwrap();
    }

    /// An account with whatever else it says.
    pub(crate) fn account(&self, name: &str, more: &str) -> String {
        let url = self.telegram.url();
        format!(
            "[{name}]\nkind = \"telegram\"\ntoken = \"vault:{name}.token\"\napi_url = \"{url}\"\n{more}\n"
        )
    }

    pub(crate) async fn declare(&self, text: &str) {
        let (declared, now) = (parse(text).unwrap(), self.test.clock.now());
        let save = move |tx: &mut Tx<'_>| rows::save_accounts(tx, &declared, "test", "", now);
        self.test.db.write(self.tenant, save).await.unwrap();
    }

    /// What stores what is heard, as another process has it.
    pub(crate) fn intake(&self) -> ChannelIntake {
        let clock: Arc<dyn Clock> = self.test.clock.clone();
        let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
        let queue = JobQueue::new(clock.clone(), ids.clone());
        ChannelIntake { accounts: self.accounts.clone(), queue, ids, clock }
    }

    /// How many events are stored.
    pub(crate) async fn stored(&self) -> i64 {
        let count = |tx: &mut Tx<'_>| {
            tx.one("SELECT COUNT(*) FROM channel_arrivals WHERE tenant_id = $1", &[], |row| row.get::<i64>(0))
        };
        self.test.db.read(self.tenant, count).await.unwrap()
    }

    /// What somebody writes to the bot now.
    pub(crate) fn said(&self, update: i64, text: &str) -> Value {
        let now = self.test.clock.now().as_micros() / 1_000_000;
        said_at(update, text, now)
    }
}

pub(crate) fn said_at(update: i64, text: &str, seconds: i64) -> Value {
    let update = json!({ "update_id": update, "message": {
        "message_id": update, "date": seconds, "text": text,
        "from": { "id": 5, "is_bot": false, "first_name": "Meera" }, "chat": { "id": 5, "type": "private" },
    } });
    check_update("telegram", &update).unwrap();
    update
}
