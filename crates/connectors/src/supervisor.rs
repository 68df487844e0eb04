//! One connector's life: started, watched, started again, given up, stopped.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use metrics::counter;
use munshi_mcp::HandshakeMode;
use munshi_privacy::Scrubber;
use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_safety::policy;
use munshi_types::{ConnectorName, ConsentPurposeName, TenantId};
use serde_json::json;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::confine::ReachableSockets;
use crate::entries::ConnectorEntry;
use crate::error::{Error, Result};
use crate::host::ConnectorHostState;
use crate::manifest::ConnectorManifest;
use crate::rows;
use crate::state::{ConnectorState, ConnectorStatus};
use crate::translate::{self, ManifestAcceptance};
use crate::transport::logs::ConnectorLog;
use crate::transport::{ConnectorConnection, ConnectorOpenRequest, ConnectorSession, ConnectorSnapshot};

/// Since the process began, by what ended them.
const RESTARTS: &str = "munshi_connector_restarts_total";
const MOMENT: Duration = Duration::from_millis(20);

/// What a connector's tools are made from, beside its entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReviewedManifest {
    pub manifest: Arc<ConnectorManifest>,
    pub accepted: ManifestAcceptance,
}

pub(crate) struct ConnectorSupervisor {
    pub host: Arc<ConnectorHostState>,
    pub tenant: TenantId,
    pub name: ConnectorName,
    pub entry: Arc<ConnectorEntry>,
    pub home: PathBuf,
    pub log: ConnectorLog,
    pub tell: watch::Sender<ConnectorSnapshot>,
    pub shown: watch::Sender<Option<ReviewedManifest>>,
    /// A person may have accepted its list.
    pub look_again: Arc<Notify>,
    pub stop: CancellationToken,
    /// Cancelled when nothing of it is left.
    pub ended: CancellationToken,
}

/// Why a connection ended.
enum Ended {
    Stop,
    Broke(String),
    /// It wants a login.
    Shut(String),
}

impl ConnectorSupervisor {
    pub(crate) async fn run(self, after: Option<CancellationToken>) {
        // One of the same name has the folder, the log and its row in the store until it is gone.
        if let Some(before) = after {
            before.cancelled().await;
        }
        let mut ends: VecDeque<Instant> = VecDeque::new();
        loop {
            let greeting =
                if ends.len().is_multiple_of(2) { HandshakeMode::Newest } else { HandshakeMode::Older };
            let why = match self.run_connection(greeting).await {
                Ended::Stop => break,
                Ended::Broke(why) => why,
                Ended::Shut(why) => {
                    self.mark_login_needed(&why).await;
                    tokio::select! {
                        () = self.stop.cancelled() => break,
                        () = self.look_again.notified() => continue,
                        () = sleep(self.host.pace.retry) => continue,
                    }
                }
            };
            counter!(RESTARTS).increment(1);
            self.log.write_line(&format!("munshi: {why}"), &self.scrubber()).await;
            let pace = &self.host.pace;
            ends.push_back(Instant::now());
            while ends.front().is_some_and(|end| end.elapsed() > pace.window) {
                ends.pop_front();
            }
            let tries = ends.len();
            let pause = if tries > pace.restarts {
                ends.clear();
                self.degrade(&why).await;
                pace.retry
            } else {
                tracing::warn!(connector = %self.name, %why, tries, "connector exited; restarting");
                self.set_state(ConnectorState::Restarting, &why).await;
                let doubled = u32::try_from(tries).unwrap_or(u32::MAX).saturating_sub(1).min(16);
                pace.pause.saturating_mul(1 << doubled).min(pace.longest_pause)
            };
            tokio::select! {
                () = self.stop.cancelled() => break,
                () = sleep(pause) => {}
            }
        }
        self.tell.send_modify(|now| {
            now.session = None;
            now.standing.state = ConnectorState::Stopped;
        });
        self.host.delete_state(self.tenant, &self.name).await;
        self.ended.cancel();
    }

    /// One connection, from its start to its end.
    async fn run_connection(&self, greeting: HandshakeMode) -> Ended {
        let pass = self.host.way.build_credential(self.tenant, &self.name, &self.entry);
        let is_child = !self.entry.command.is_empty();
        let confined = is_child.then(|| self.host.way.confines(&self.entry));
        let closes_sockets = match confined {
            Some(true) => {
                Some(self.host.way.confinement.find_reachable_sockets().await == ReachableSockets::None)
            }
            other => other,
        };
        self.tell.send_modify(|now| {
            now.pass.clone_from(&pass);
            now.standing.confined = confined;
            now.standing.closes_sockets = closes_sockets;
        });
        let opening = ConnectorOpenRequest {
            way: &self.host.way,
            tenant: self.tenant,
            entry: &self.entry,
            pass,
            home: self.home.clone(),
            log: self.log.clone(),
            greeting,
        };
        let _turn = self.host.starting.acquire().await;
        let opened = tokio::select! {
            () = self.stop.cancelled() => return Ended::Stop,
            opened = opening.open() => opened,
        };
        drop(_turn);
        let (ConnectorConnection { session, manifest, took }, scrubber) = match opened {
            Ok(opened) => opened,
            Err(Error::WantsLogin(why)) => return Ended::Shut(why),
            Err(error) => return Ended::Broke(error.to_string()),
        };
        self.tell.send_modify(|now| now.scrubber = scrubber);
        if let Err(error) = self.apply_manifest(manifest, Some(&session)).await {
            session.close(self.host.pace.grace).await;
            return Ended::Broke(error.to_string());
        }
        tracing::info!(connector = %self.name, tenant = %self.tenant, took = took.as_millis(), "connector ready");
        let ended = self.monitor(&session).await;
        self.tell.send_modify(|now| now.session = None);
        if !matches!(ended, Ended::Stop) {
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = wait_for_calls(&session, self.host.pace.answer) => {}
            }
        }
        session.close(self.host.pace.grace).await;
        ended
    }

    /// Watches over a connection until it ends.
    async fn monitor(&self, session: &Arc<ConnectorSession>) -> Ended {
        let pace = self.host.pace;
        let mut rounds = 0;
        let gone = session.client.wait_closed();
        tokio::pin!(gone);
        // Whatever else happens meanwhile: who announces changes all the time is looked after, too.
        let mut health = tokio::time::Instant::now() + pace.health;
        loop {
            let relist = tokio::select! {
                () = self.stop.cancelled() => return Ended::Stop,
                () = &mut gone => return Ended::Broke("the connector exited or closed the connection".to_owned()),
                () = session.client.changed.notified() => true,
                () = self.look_again.notified() => true,
                () = tokio::time::sleep_until(health) => {
                    health = tokio::time::Instant::now() + pace.health;
                    let asked = async { session.client.is_alive(pace.answer).await || session.client.is_alive(pace.answer).await };
                    let is_alive = tokio::select! {
                        () = self.stop.cancelled() => return Ended::Stop,
                        is_alive = asked => is_alive,
                    };
                    if !is_alive {
                        return Ended::Broke("no answer to health checks".to_owned());
                    }
                    // It may have started while there was one tenant.
                    if !self.entry.command.is_empty()
                        && let Err(error @ Error::Invalid(_)) = self.host.way.confinement.admit_child().await
                    {
                        return Ended::Broke(error.to_string());
                    }
                    rounds += 1;
                    self.save_status().await;
                    rounds % pace.relist == 0
                }
            };
            if !relist {
                continue;
            }
            let listed = tokio::select! {
                () = self.stop.cancelled() => return Ended::Stop,
                listed = tokio::time::timeout(pace.answer, session.fetch_manifest()) => listed,
            };
            let shown = match listed {
                Ok(Ok(manifest)) => self.apply_manifest(manifest, None).await,
                Ok(Err(error)) => Err(error),
                Err(_) => Err(Error::TooSlow("listing tools timed out".to_owned())),
            };
            match shown {
                Ok(()) | Err(Error::Store(_) | Error::Safety(_)) => {}
                Err(Error::WantsLogin(why)) => return Ended::Shut(why),
                Err(error) => return Ended::Broke(error.to_string()),
            }
            // A server that changes its mind all the time is asked no more often than this.
            sleep(pace.pause.min(pace.health)).await;
        }
    }

    /// Takes up a list of tools: stores it, and offers them to the tenant.
    async fn apply_manifest(
        &self,
        manifest: ConnectorManifest,
        session: Option<&Arc<ConnectorSession>>,
    ) -> Result<()> {
        let (name, ids, now) = (self.name.to_string(), self.host.ids.clone(), self.host.clock.now());
        let manifest = Arc::new(manifest);
        let noted = manifest.clone();
        let accepted = self
            .host
            .db
            .write(self.tenant, move |tx| rows::record_manifest(tx, &name, &noted, now, &ids))
            .await?;
        let was_held = self.tell.borrow().standing.held;
        let held = accepted == ManifestAcceptance::Held;
        if held && !was_held {
            tracing::warn!(connector = %self.name, tenant = %self.tenant, manifest = manifest.hash,
                "connector tools changed; read-only until accepted");
        }
        let shown = ReviewedManifest { manifest, accepted };
        // Before anybody can call them.
        if translate::has_transient(&self.entry, &shown.manifest) {
            self.log.withhold_output(&self.scrubber()).await;
        }
        let is_new = self.shown.borrow().as_ref() != Some(&shown);
        if is_new {
            self.shown.send_replace(Some(shown.clone()));
        }
        let outcome =
            if is_new { self.host.rebuild_tools(self.tenant).await.remove(&self.name) } else { None };
        if let Some(outcome) = &outcome {
            self.warn_of_undeclared(&outcome.purposes).await;
        }
        self.tell.send_modify(|now| {
            if let Some(session) = session {
                now.session = Some(session.clone());
            }
            let standing = &mut now.standing;
            standing.server = shown.manifest.server.clone();
            standing.version = shown.manifest.version.clone();
            standing.manifest = shown.manifest.hash.clone();
            standing.held = held;
            if let Some(outcome) = outcome {
                (standing.tools, standing.undeclared) = (outcome.tools, outcome.undeclared);
                (standing.left_out, standing.purposes) = (outcome.left_out, outcome.purposes);
            }
        });
        self.set_state(ConnectorState::Ready, "").await;
        Ok(())
    }

    /// Says which tools are offered to nobody, since the policy does not declare what people would have to agree to: a server may ask for it
    /// itself, which no file tells.
    async fn warn_of_undeclared(&self, purposes: &BTreeMap<String, ConsentPurposeName>) {
        if purposes.is_empty() {
            return;
        }
        let rules = match self.host.db.read(self.tenant, policy::load_current).await {
            Ok((_, policy)) => policy.consent,
            Err(error) => return tracing::warn!(%error, "purposes of consent can't be checked"),
        };
        for (tool, purpose) in purposes.iter().filter(|(_, purpose)| !rules.declares(Some(purpose))) {
            tracing::warn!(connector = %self.name, tenant = %self.tenant, tool, %purpose,
                "tool is not offered: policy.toml has no [consent.purposes] entry of that name");
        }
    }

    /// Nobody is let in: its tools say so, until somebody has logged in.
    async fn mark_login_needed(&self, why: &str) {
        if self.tell.borrow().standing.state != ConnectorState::WantsLogin {
            tracing::warn!(connector = %self.name, tenant = %self.tenant, "connector requires a login");
            self.log.write_line(&format!("munshi: {why}"), &self.scrubber()).await;
        }
        self.set_state(ConnectorState::WantsLogin, why).await;
        self.tell.send_modify(|now| now.shut += 1);
    }

    async fn degrade(&self, why: &str) {
        tracing::error!(connector = %self.name, tenant = %self.tenant, %why,
            "connector failed too often; its tools are unavailable until it recovers");
        self.set_state(ConnectorState::Degraded, why).await;
        let entry = NewAuditEntry {
            actor: AuditActor::new(AuditActorKind::System, "connectors"),
            event: AuditEvent::CONNECTOR_DEGRADED,
            subject: self.name.to_string(),
            payload: json!({ "why": why }),
        };
        let (ids, now) = (self.host.ids.clone(), self.host.clock.now());
        let told = self.host.db.write(self.tenant, move |tx| audit::append(tx, &entry, now, &ids)).await;
        if let Err(error) = told {
            tracing::warn!(%error, "writing audit entry for degraded connector failed");
        }
    }

    /// Says how it is, here and to whoever asks the store.
    async fn set_state(&self, state: ConnectorState, why: &str) {
        let (now, why) =
            (self.host.clock.now(), self.scrubber().scrub_text(why).chars().take(500).collect::<String>());
        self.tell.send_modify(|known| {
            let standing = &mut known.standing;
            if state == ConnectorState::Restarting {
                standing.restarts += 1;
            }
            if standing.state != state || standing.since.is_none() {
                standing.since = Some(now);
            }
            (standing.state, standing.why) = (state, why);
        });
        self.save_status().await;
        self.host.settled.notify_waiters();
    }

    /// Renews its word in the store. One that can't be written is written the next time.
    async fn save_status(&self) {
        let standing: ConnectorStatus = self.tell.borrow().standing.clone();
        let (name, node, now) = (self.name.to_string(), self.host.node, self.host.clock.now());
        let told = self
            .host
            .db
            .write(self.tenant, move |tx| rows::upsert_state(tx, &name, node, &standing, now))
            .await;
        if let Err(error) = told {
            tracing::debug!(%error, "saving connector state failed");
        }
        self.host.record_metrics();
    }

    fn scrubber(&self) -> Scrubber {
        let now = self.tell.borrow();
        now.pass.as_ref().map_or_else(|| now.scrubber.clone(), |pass| pass.scrubber())
    }
}

/// Calls under way hear themselves what became of them; broken off, nobody could tell whether they were done.
async fn wait_for_calls(session: &Arc<ConnectorSession>, longest: Duration) {
    let began = Instant::now();
    while Arc::strong_count(session) > 1 && began.elapsed() < longest {
        sleep(MOMENT).await;
    }
}
