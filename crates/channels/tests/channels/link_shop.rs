//! A tenant with accounts at providers that stand-ins take the place of.

use std::sync::Arc;

use munshi_channels::accounts::parse;
use munshi_channels::incoming::{ChannelIntake, ChannelRequest, ChannelRequestMethod, IntakeOutcome};
use munshi_channels::link::ChannelLink;
use munshi_channels::{AllowedHosts, ChannelSenders, rows};
use munshi_conversations::outbox::{ChannelSender, SenderDirectory, SenderRoute};
use munshi_jobs::JobQueue;
use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_safety::vault::{SecretRef, Vault, VaultAuditContext, VaultSecret};
use munshi_store::{Tx, params};
use munshi_test_support::TestDb;
use munshi_types::tier::Channel;
use munshi_types::{Clock, OutboundMessage, ReplyAddress, TenantId};

use super::support::{QUICK, SenderWay, build_senders};

pub(crate) struct LinkShop {
    pub(crate) test: TestDb,
    pub(crate) tenant: TenantId,
    pub(crate) vault: Vault,
    pub(crate) senders: ChannelSenders,
    pub(crate) intake: ChannelIntake,
}

pub(crate) async fn open_link_shop(test: TestDb) -> LinkShop {
    let tenant = test.add_tenant("sharma").await;
    let allowed = AllowedHosts::new(["127.0.0.1".to_owned()]);
    let way = SenderWay { allowed, tls: None, timings: QUICK };
    let (vault, senders) = build_senders(&test.db, test.clock.clone(), &test.place.folder(), way).await;
    let intake = ChannelIntake {
        accounts: senders.clone(),
        queue: JobQueue::new(test.clock.clone(), test.ids.clone()),
        ids: test.ids.clone(),
        clock: test.clock.clone(),
    };
    LinkShop { test, tenant, vault, senders, intake }
}

impl LinkShop {
    pub(crate) async fn declare(&self, text: &str) {
        let (declared, now) = (parse(text).unwrap(), self.test.clock.now());
        let save = move |tx: &mut Tx<'_>| rows::save_accounts(tx, &declared, "test", "", now);
        self.test.db.write(self.tenant, save).await.unwrap();
    }

    pub(crate) async fn set_secret(&self, name: &str, value: &str) {
        let by = VaultAuditContext {
            actor: AuditActor::new(AuditActorKind::Operator, "test"),
            now: self.test.clock.now(),
        };
        let secret = VaultSecret::new(value.to_owned()).unwrap();
        self.vault.set(self.tenant, &SecretRef::from_name(name).unwrap(), secret, by).await.unwrap();
    }

    pub(crate) async fn find_link(&self, name: &str) -> Arc<dyn ChannelLink> {
        self.senders.find_link(self.tenant, &name.parse().unwrap()).await.unwrap().unwrap()
    }

    pub(crate) async fn find_sender(&self, channel: Channel) -> Arc<dyn ChannelSender> {
        let route = SenderRoute { tenant: self.tenant, binding: None, channel, from: None, account: None };
        self.senders.find(&route).await.unwrap()
    }

    pub(crate) fn build_request(&self, headers: &[(&str, &str)], body: &[u8]) -> ChannelRequest {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
        ChannelRequest {
            method: ChannelRequestMethod::Post,
            url: "https://munshi.example/channels/sharma/x".to_owned(),
            path_secret: None,
            headers: headers.collect(),
            query: Vec::new(),
            body: body.to_vec(),
            now: self.test.clock.now(),
        }
    }

    pub(crate) async fn take(&self, name: &str, request: &ChannelRequest) -> IntakeOutcome {
        self.intake.take(self.tenant, &name.parse().unwrap(), request).await.unwrap()
    }

    /// What waits to be taken in.
    pub(crate) async fn count_arrivals(&self) -> i64 {
        let read = |tx: &mut Tx<'_>| {
            tx.one("SELECT COUNT(*) FROM channel_arrivals WHERE tenant_id = $1", params![], |row| {
                row.get::<i64>(0)
            })
        };
        self.test.db.read(self.tenant, read).await.unwrap()
    }

    pub(crate) fn message(&self, channel: Channel, to: &str, text: &str) -> OutboundMessage {
        OutboundMessage::new(self.test.ids.next(), ReplyAddress::new(channel, to), text.to_owned())
    }
}
