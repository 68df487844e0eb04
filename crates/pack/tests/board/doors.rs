//! The notice board's doors to the world: what is sent to it, what it asks for, and what other packs may use of it.

use std::sync::Arc;

use async_trait::async_trait;
use munshi_identity::ContactAddress;
use munshi_jobs::{JobFailure, JobKind};
use munshi_llm::gateway::Capability;
use munshi_llm::{ChatMessage, ChatRequest};
use munshi_pack::{
    FinishedTurn, Foreign, InvalidPack, KeptData, Pack, PackDeliveryCall, PackHttpRequest, PackInstaller,
    PackInterface, PackJob, PackJobCall, PackJobQueue, PackPoll, PackPollCall, PackScheduleTime, PackWebhook,
    PolledItem, PolledPage, RecordData, SignatureEncoding, SignatureHash, SubjectRecord, SubjectRecords,
    TurnHook, WebhookRejection, WebhookRequest, WebhookVerdict, verify_hmac,
};
use munshi_store::{Result, Tx, params};
use munshi_types::{ActId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::pack::{Sweep, SweepPayload, all};

/// A notice as the housing society's own server has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SentNotice {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) text: String,
}

/// Where that server sends notices, signed with a secret that both have.
pub(crate) struct NoticeHook;

#[async_trait]
impl PackWebhook for NoticeHook {
    fn name(&self) -> &'static str {
        "notices"
    }

    async fn verify(&self, request: &WebhookRequest) -> Result<WebhookVerdict, WebhookRejection> {
        let secret = request.services.credential("vault:board.hook").await?;
        let signature = request.header("x-board-signature").unwrap_or_default();
        let scheme = (SignatureHash::Sha256, SignatureEncoding::Hex);
        if !verify_hmac(scheme, &secret, &[request.body.get()], signature) {
            return Err(WebhookRejection::Unverified("the signature does not fit".to_owned()));
        }
        Ok(WebhookVerdict::Take { sender_id: request.header("x-board-id").map(str::to_owned) })
    }

    async fn handle(&self, call: &PackDeliveryCall) -> Result<(), JobFailure> {
        take_notice(call).await
    }
}

/// Puts a notice up as it came, and begins the reminder of it.
async fn take_notice(call: &PackDeliveryCall) -> Result<(), JobFailure> {
    let sent = call.payload.body.read_json::<SentNotice>();
    let sent = sent.map_err(|error| JobFailure::Lasting(error.to_string()))?;
    let input = sent.clone().map(|notice| json!({ "title": notice.title, "text": notice.text }));
    let run = call.payload.build_run("board.remind", input);
    let (services, id, now) = (call.services.clone(), call.ids.next::<ActId>(), call.now);
    call.finish(move |tx| {
        let SentNotice { title, text, .. } = sent.into_inner();
        pin(tx, id, (&title, &text), now)?;
        services.begin_run(tx, &run)?;
        Ok(())
    })
    .await
}

fn pin(tx: &mut Tx<'_>, id: ActId, (title, text): (&str, &str), now: Timestamp) -> Result<()> {
    tx.execute(
        "INSERT INTO notices (tenant_id, id, title, text, pinned_at) VALUES ($1, $2, $3, $4, $5)",
        params![id, title, text, now],
    )?;
    Ok(())
}

/// Asks the same server for what it could not send.
pub(crate) struct NoticeFeed {
    pub(crate) address: String,
}

#[derive(Deserialize)]
struct FeedPage {
    notices: Vec<SentNotice>,
    next: String,
    more: bool,
}

#[async_trait]
impl PackPoll for NoticeFeed {
    fn name(&self) -> &'static str {
        "feed"
    }

    fn source(&self) -> &'static str {
        "notices"
    }

    fn schedule(&self) -> PackScheduleTime {
        PackScheduleTime::every_minutes(10)
    }

    async fn poll(&self, call: &PackPollCall) -> Result<PolledPage, JobFailure> {
        // A tenant that has stored no key has no such server: this ends the poll, and nothing has failed.
        let key = call.services.credential("vault:board.feed").await?;
        let after = call.payload.0.clone().unwrap_or_default();
        let request = PackHttpRequest::get(format!("{}/notices?after={after}", self.address)).bearer(&key);
        let answer = call.services.http().send(request).await?;
        if !answer.is_success() {
            return Err(JobFailure::Passing(format!("the feed answered {}", answer.status)));
        }
        let page = answer.body.read_json::<FeedPage>();
        let page = page.map_err(|error| JobFailure::Passing(error.to_string()))?.into_inner();
        let item = |notice: &SentNotice| PolledItem {
            sender_id: notice.id.clone(),
            body: Foreign::new(json!(notice).to_string().into_bytes()),
        };
        let items = page.notices.iter().map(item).collect();
        Ok(PolledPage { items, next: Some(page.next), has_more: page.more })
    }

    async fn handle(&self, call: &PackDeliveryCall) -> Result<(), JobFailure> {
        take_notice(call).await
    }
}

/// Has a model put all notices into one.
pub(crate) struct Digest;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DigestPayload {}

impl PackJob for Digest {
    const KIND: JobKind = JobKind::new("board.digest").limit(1);
    type Payload = DigestPayload;

    async fn run(&self, call: PackJobCall<DigestPayload>) -> Result<(), JobFailure> {
        let titles = call.read(|tx| Ok(all(tx)?)).await?.into_iter().map(|notice| notice.title);
        let request = ChatRequest {
            system: vec!["Put these notices into one sentence.".to_owned()],
            messages: vec![ChatMessage::user(titles.collect::<Vec<_>>().join("\n"))],
            ..ChatRequest::default()
        };
        let reply = call.services.model(Capability::Summariser, request).await?;
        let (id, now) = (call.ids.next::<ActId>(), call.now);
        call.finish(move |tx| Ok(pin(tx, id, ("Digest", &reply.into_inner().text), now)?)).await
    }
}

/// After a turn that put up a notice, old ones may go.
pub(crate) struct MakeRoom;

impl TurnHook for MakeRoom {
    fn after_turn(&self, tx: &mut Tx<'_>, turn: &FinishedTurn, jobs: &PackJobQueue) -> Result<()> {
        if !turn.calls.iter().any(|call| call.ok && call.tool == "pin_notice") {
            return Ok(());
        }
        jobs.enqueue::<Sweep>(tx, &SweepPayload { days: 90 }, Some("turn"))
    }
}

/// What other packs may know of the board.
pub(crate) trait BoardCount: Send + Sync {
    fn count(&self, tx: &mut Tx<'_>) -> Result<usize>;
}

pub(crate) struct Counted;

impl BoardCount for Counted {
    fn count(&self, tx: &mut Tx<'_>) -> Result<usize> {
        Ok(all(tx)?.len())
    }
}

/// Another pack, which asks the board how full it is.
pub(crate) struct Lobby;

impl Pack for Lobby {
    fn name(&self) -> &'static str {
        "lobby"
    }

    fn install(&self, room: &mut PackInstaller<'_>) -> Result<(), InvalidPack> {
        let board = room.require_interface::<dyn BoardCount>("board.count");
        room.offer_interface::<dyn LobbySign>("sign", Arc::new(Sign { board }))
    }
}

pub(crate) trait LobbySign: Send + Sync {
    fn read(&self, tx: &mut Tx<'_>) -> Result<String>;
}

struct Sign {
    board: PackInterface<dyn BoardCount>,
}

impl LobbySign for Sign {
    fn read(&self, tx: &mut Tx<'_>) -> Result<String> {
        Ok(format!("{} notices", self.board.get()?.count(tx)?))
    }
}

/// What the board knows of people: those whom a notice names in its title.
pub(crate) struct NoticesOf;

impl SubjectRecords for NoticesOf {
    fn name(&self) -> &'static str {
        "notices"
    }

    /// A notice is known by its title alone, so none is anybody's by a near name.
    fn find_by_text(&self, tx: &mut Tx<'_>, text: &str) -> Result<Vec<SubjectRecord>> {
        tx.all("SELECT id, title FROM notices WHERE tenant_id = $1 AND title = $2", params![text], |row| {
            let ids = vec![row.get(0)?];
            let addresses = Vec::new();
            Ok(SubjectRecord { ids, name: row.get(1)?, addresses, is_exact: true, open_matter: None })
        })
    }

    fn find_by_addresses(&self, _: &mut Tx<'_>, _: &[ContactAddress]) -> Result<Vec<SubjectRecord>> {
        Ok(Vec::new())
    }

    fn erase(&self, tx: &mut Tx<'_>, record: Uuid, _: Timestamp) -> Result<u64> {
        tx.execute("DELETE FROM notices WHERE tenant_id = $1 AND id = $2", params![record])
    }

    fn data(&self) -> &'static [RecordData] {
        &[RecordData { name: "notices", list_next: list_notice, show: show_notice }]
    }

    fn kept(&self) -> &'static [KeptData] {
        &[]
    }
}

fn list_notice(_: &mut Tx<'_>, notice: Uuid, after: Uuid, _: u32) -> Result<Vec<Uuid>> {
    Ok(if after < notice { vec![notice] } else { Vec::new() })
}

fn show_notice(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    tx.optional("SELECT title FROM notices WHERE tenant_id = $1 AND id = $2", params![id], |row| {
        Ok(json!({ "title": row.get::<String>(0)? }))
    })
}
