//! What whoever keeps the installation is told by mail: that the database or the store of keys does not answer, the disk fills up,
//! backups are old, the audit does not add up. The log and readiness have all of it either way; a mail finds somebody who looks at
//! neither.
//!
//! Each node looks for itself and remembers in its own data folder what it has told and what it was telling, so that it works while the
//! database does not. Nothing that has arrived is told again after a restart; what nobody knows of is, and says so: twice harms nobody.
//! It holds up nothing: it is a task of its own that serves nobody.
//!
//! # Layout
//! - `history`: what was told, and whether to tell something now; `checks`: the disk, the backups and the audit

mod checks;
mod history;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use munshi_channels::email::{MailOutcome, MailSender, MailTimings};
use munshi_config::Config;
use munshi_identity::ContactAddress;
use munshi_store::Db;
use munshi_types::tier::Channel;
use munshi_types::{Clock, IdGenerator, OutboundMessage, OutboundPurpose, ReplyAddress, SystemRandom};
use tokio_util::sync::CancellationToken;

use self::checks::InstallationChecks;
use self::history::{AlertHistory, KeeperMail};
use crate::account;
use crate::failure::{CommandFailure, Exit, Result};

const LOOK: Duration = Duration::from_secs(60);
/// Who stops the node waits so long for a mail that is on its way.
const GRACE: Duration = Duration::from_secs(10);
/// Nobody waits for these mails, and servers may take their time with the answer.
const TIMINGS: MailTimings = MailTimings {
    acceptance: Duration::from_secs(120),
    whole: Duration::from_secs(180),
    ..MailTimings::TRIAL
};
/// What the node remembers having told; in the data folder.
const FILE: &str = "keeper-alerts.json";

/// Something that is wrong now, under a key that stays the same while it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeeperAlert {
    pub key: String,
    /// In English, as the log: what it is and what to do.
    pub text: String,
}

/// Says what is wrong with this node, such as by its own probes.
pub type NodeChecks = Arc<dyn Fn() -> KeeperAlertsFuture + Send + Sync>;

pub type KeeperAlertsFuture = Pin<Box<dyn Future<Output = Vec<KeeperAlert>> + Send>>;

/// Looks what is wrong and tells the keeper.
pub struct KeeperAlertWatch {
    sender: Arc<MailSender>,
    to: ContactAddress,
    /// Where people open this, where the settings say so.
    place: Option<String>,
    /// The machine's name: each of several nodes tells of itself.
    node_name: String,
    file: PathBuf,
    per_hour: usize,
    checks: InstallationChecks,
    node: NodeChecks,
    clock: Arc<dyn Clock>,
    ids: IdGenerator,
}

impl KeeperAlertWatch {
    /// None where the settings name nobody to tell.
    pub fn from_config(
        config: &Config,
        db: &Db,
        clock: &Arc<dyn Clock>,
        node: NodeChecks,
        sender: Option<Arc<MailSender>>,
    ) -> Result<Option<Self>> {
        let wrong = |what: String| CommandFailure::new(Exit::Settings, what);
        if config.alerts.email.is_empty() {
            return Ok(None);
        }
        let sender = sender.ok_or_else(|| {
            wrong("alerts.email is set, but there is no mail account".to_owned())
                .hint("set host and from in [mail], or remove alerts.email")
        })?;
        let to = ContactAddress::email(&config.alerts.email)
            .map_err(|error| wrong(format!("alerts.email: {error}")))?;
        Ok(Some(Self {
            sender,
            to,
            place: account::public_url(config),
            node_name: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            file: config.data.dir.join(FILE),
            per_hour: config.alerts.per_hour,
            checks: InstallationChecks::from_config(config, db, clock),
            node,
            clock: clock.clone(),
            ids: IdGenerator::new(clock.clone(), Arc::new(SystemRandom)),
        }))
    }

    /// Looks once a minute until it is told to stop. A mail that is on its way then has a moment more.
    pub async fn run(self, stop: CancellationToken) {
        let mut history = AlertHistory::load(&self.file);
        history.begin(self.clock.now());
        history.store(&self.file);
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = looks.tick() => {}
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.look(&mut history) => {}
            }
            tokio::select! {
                () = self.tell(&mut history) => {}
                () = wait_after(&stop) => return,
            }
        }
    }

    async fn look(&self, history: &mut AlertHistory) {
        // It is at hand when the database is away.
        self.sender.open_ahead().await;
        let wrong = (self.node)().await;
        let mut look = self.checks.run(history).await;
        look.wrong.extend(wrong);
        history.record(&look, self.clock.now());
    }

    /// Tells what is to be told. That it is being told is written down before: after a crash in between it is told again, and said to be.
    async fn tell(&self, history: &mut AlertHistory) {
        let now = self.clock.now();
        let Some(mail) = history.build_mail(self.per_hour, now) else { return };
        let before = history.clone();
        history.mark_sending();
        history.store(&self.file);
        match self.send(&mail).await {
            KeeperMailOutcome::Sent => history.mark_told(now),
            // Once more; a server that never answers is not asked each minute for ever.
            KeeperMailOutcome::Unknown if !mail.is_repeat => history.count_mail(now),
            KeeperMailOutcome::Unknown => history.mark_told(now),
            KeeperMailOutcome::NotSent => *history = before,
        }
        history.store(&self.file);
    }

    async fn send(&self, mail: &KeeperMail) -> KeeperMailOutcome {
        let to = ReplyAddress::new(Channel::Email, self.to.as_str().to_owned());
        let text = [Some(mail.text.clone()), self.place.clone()].into_iter().flatten().collect::<Vec<_>>();
        let outbound = OutboundMessage {
            purpose: OutboundPurpose::Alert,
            subject: Some(format!("Munshi on {}: {}", self.node_name, mail.subject)),
            ..OutboundMessage::new(self.ids.next(), to, text.join("\n\n"))
        };
        match self.sender.deliver_within(&outbound, &TIMINGS).await {
            Ok(_) => KeeperMailOutcome::Sent,
            Err(fault) if fault.outcome == MailOutcome::Unknown => {
                tracing::warn!(why = fault.what, "nobody knows whether a mail with alerts has arrived");
                KeeperMailOutcome::Unknown
            }
            Err(fault) => {
                tracing::warn!(stage = %fault.stage, why = fault.what, "a mail with alerts did not leave; retrying");
                KeeperMailOutcome::NotSent
            }
        }
    }
}

async fn wait_after(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(GRACE).await;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeeperMailOutcome {
    Sent,
    /// It may have left.
    Unknown,
    /// It surely did not.
    NotSent,
}

#[cfg(test)]
mod tests {
    use munshi_config::ConfigSources;
    use munshi_test_support::environment;
    use munshi_test_support::{TestDb, on_both_engines, wait_until};

    use super::*;
    use crate::channels;

    /// What is wrong in a test, and the node that looks.
    struct Node {
        watch: KeeperAlertWatch,
        history: AlertHistory,
    }

    impl Node {
        /// A node of this test's data folder, after a start.
        async fn start(test: &TestDb, to: &str) -> Self {
            let (server, folder) = (environment::mail(), test.place.folder());
            let text = format!(
                "[data]\ndir = {:?}\n[mail]\nhost = \"127.0.0.1\"\nport = {}\nsecurity = \"none\"\n\
                 from = \"munshi@example.com\"\n[alerts]\nemail = {to:?}\n",
                folder.join("data").display().to_string(),
                server.plain_port
            );
            let config = Config::load(&ConfigSources::default().with_text("munshi.toml", text)).unwrap();
            let clock: Arc<dyn Clock> = test.clock.clone();
            let mail = channels::build_installation_mail(&config, &test.db, &clock).await.unwrap();
            let node: NodeChecks = Arc::new(|| -> KeeperAlertsFuture {
                let alert = KeeperAlert { key: "tried".to_owned(), text: "the test is wrong".to_owned() };
                Box::pin(async { vec![alert] })
            });
            let watch =
                KeeperAlertWatch::from_config(&config, &test.db, &clock, node, mail).unwrap().unwrap();
            let history = AlertHistory::load(&watch.file);
            Self { watch, history }
        }

        async fn look(&mut self) {
            self.watch.look(&mut self.history).await;
        }

        async fn tell(&mut self) {
            self.watch.tell(&mut self.history).await;
        }
    }

    fn address(test: &TestDb, mood: &str) -> String {
        let id: munshi_types::MessageId = test.ids.next();
        format!("{mood}+{id}@example.org")
    }

    on_both_engines! {
        with [munshi_store::MIGRATIONS, munshi_safety::MIGRATIONS];

        async fn an_alert_is_mailed_once_and_not_again_after_a_restart(test: TestDb) {
            let (server, to) = (environment::mail(), address(&test, "keeper"));
            let mut node = Node::start(&test, &to).await;
            node.look().await;
            node.tell().await;
            assert_eq!(server.read_mailbox(&to).len(), 0, "one look alone is no alert");
            for _ in 0..3 {
                node.look().await;
                node.tell().await;
            }
            let mails = server.read_mailbox(&to);
            assert!(mails.len() == 1 && mails[0].contains("the test is wrong"), "{mails:?}");
            let mut node = Node::start(&test, &to).await;
            node.look().await;
            node.tell().await;
            assert_eq!(server.read_mailbox(&to).len(), 1);
        }

        async fn a_mail_that_a_kill_cut_off_is_sent_again_and_says_so(test: TestDb) {
            let (server, to) = (environment::mail(), address(&test, "silent"));
            let mut node = Node::start(&test, &to).await;
            node.look().await;
            node.look().await;
            // It dies when the server has all of it and has not answered.
            tokio::select! {
                () = node.tell() => panic!("the server answered"),
                () = wait_until(async || server.read_mailbox(&to).len() == 1) => {}
            }
            let mut node = Node::start(&test, &to).await;
            node.look().await;
            tokio::select! {
                () = node.tell() => panic!("the server answered"),
                () = wait_until(async || server.read_mailbox(&to).len() == 2) => {}
            }
            let mails = server.read_mailbox(&to);
            assert!(!mails[0].contains("second time") && mails[1].contains("second time"), "{mails:?}");
        }

        async fn what_surely_did_not_leave_is_told_at_the_next_look(test: TestDb) {
            let to = address(&test, "full");
            let mut node = Node::start(&test, &to).await;
            for _ in 0..3 {
                node.look().await;
                node.tell().await;
            }
            let mail = node.history.build_mail(12, test.clock.now()).unwrap();
            assert!(!mail.is_repeat, "{mail:?}");
        }
    }
}
