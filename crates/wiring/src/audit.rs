//! Where anchors of the audit go.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_config::{Config, RedactedUrl};
use munshi_jobs::JobQueue;
use munshi_llm::Transport;
use munshi_safety::audit::anchors::{AnchorFile, AnchorService, AnchorWebhook};
use munshi_store::Db;
use munshi_types::{Clock, IdGenerator, SystemRandom};

use crate::data_folder;
use crate::failure::{CommandFailure, Result};

const FILE: &str = "audit-anchors.jsonl";

/// How long the other side may take; then the job tries again later.
const TIMEOUT: Duration = Duration::from_secs(10);

pub fn build_anchor_service(
    config: &Config,
    db: Db,
    queue: JobQueue,
    clock: Arc<dyn Clock>,
) -> Result<AnchorService> {
    data_folder::prepare(config)?;
    let file = AnchorFile::new(config.data.dir.join(FILE));
    let entries = i64::try_from(config.audit.anchor_entries).unwrap_or(i64::MAX);
    let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
    let webhook = config.audit.anchor_webhook.clone().map(|url| Post::build(url, &clock)).transpose()?;
    Ok(AnchorService::new(db, file, entries, queue, clock, ids).with_webhook(webhook))
}

#[derive(Debug)]
struct Post {
    url: RedactedUrl,
    transport: Transport,
}

impl Post {
    fn build(url: RedactedUrl, clock: &Arc<dyn Clock>) -> Result<Arc<dyn AnchorWebhook>> {
        let transport = Transport::new(clock.clone()).map_err(|fault| {
            CommandFailure::failed(format!("can't create the anchor webhook client: {fault}"))
        })?;
        Ok(Arc::new(Self { url, transport }))
    }
}

#[async_trait]
impl AnchorWebhook for Post {
    async fn send(&self, body: &str) -> std::result::Result<(), String> {
        let sent = self.transport.post(self.url.reveal(), body.to_owned(), TIMEOUT).await;
        match sent {
            Ok(200..=299) => Ok(()),
            Ok(status) => Err(format!("{} returned {status}", self.url)),
            Err(fault) => Err(format!("can't reach {}: {fault}", self.url)),
        }
    }
}
