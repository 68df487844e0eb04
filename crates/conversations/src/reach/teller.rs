//! The job that tells people of a tenant what waits for them, once a minute.

use std::sync::Arc;
use std::time::Duration;

use munshi_identity::operators::Operator;
use munshi_identity::operators::roles::TenantOperator;
use munshi_identity::{Role, persons};
use munshi_jobs::schedule::{self, Schedule, ScheduleRule};
use munshi_jobs::{Job, JobFailure, JobKind, JobQueue, JobRegistry};
use munshi_pack::PackRegistry;
use munshi_safety::acts::ActServices;
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Cursor, Db, PageRequest, PlatformTx, Tx};
use munshi_tools::TenantToolSource;
use munshi_types::tier::Channel;
use munshi_types::{Clock, IdGenerator, Tenant, TenantId, TenantStatus, Zone};

use super::accounts::{self, AccountEmails};
use super::plan::{PlanContext, plan};
use super::{mailing, news, notices};
use crate::error::{Error, Result};
use crate::outbox::{self, SenderDirectory, SenderRoute};

pub const KIND: &str = "reach.tell";

const EVERY: Duration = Duration::from_secs(60);
/// The channels that addresses of people lead to.
const REACHED_BY: [Channel; 2] = [Channel::Email, Channel::Whatsapp];
const PAGE: u32 = 100;
/// Of so many messages the words are emptied in one go; of the rest a minute later.
const EMPTIED: u32 = 100;

/// What people are told with.
#[derive(Clone)]
pub struct NewsTellerParts {
    pub db: Db,
    pub queue: JobQueue,
    pub clock: Arc<dyn Clock>,
    pub ids: IdGenerator,
    pub senders: Arc<dyn SenderDirectory>,
    pub act_services: Arc<ActServices>,
    /// Which connectors somebody has to let us into again, and links with which they do.
    pub logins: Arc<dyn TenantToolSource>,
    /// Whose phrases alerts and questions are worded in.
    pub packs: Arc<PackRegistry>,
    /// Where people open the pages, without a slash at its end; none where the settings say nothing of it. Then commands are named.
    pub public_url: Option<String>,
    /// Who has not answered within so long is told at their next address.
    pub next_after: Duration,
}

#[derive(Clone)]
pub struct NewsTeller(Arc<NewsTellerParts>);

impl NewsTeller {
    pub fn new(parts: NewsTellerParts) -> Self {
        Self(Arc::new(parts))
    }

    pub fn install(&self, registry: &mut JobRegistry) {
        let teller = self.clone();
        registry.add(JobKind::new(KIND).limit(1), move |job| {
            let teller = teller.clone();
            async move { teller.run(&job).await }
        });
    }

    /// Sets the schedule; again at every start, which changes nothing.
    pub async fn set_schedule(db: &Db, clock: &dyn Clock) -> Result<()> {
        let schedule = Schedule::new(KIND, KIND, &(), ScheduleRule::every(EVERY)?)?;
        let now = clock.now();
        db.write(TenantId::PLATFORM, move |tx| schedule::set(tx, &schedule, &Zone::default(), now)).await?;
        Ok(())
    }

    /// What breaks for one tenant keeps no other from being told.
    async fn run(&self, job: &Job) -> Result<(), JobFailure> {
        let mut after: Option<Cursor> = None;
        loop {
            let request = PageRequest::new(after.take(), PAGE);
            let read = move |tx: &mut PlatformTx<'_>| tenants::list(tx, &request);
            let page = self.0.db.platform(TENANTS).read(read).await.map_err(Error::from)?;
            for tenant in page.items.into_iter().filter(|tenant| tenant.status == TenantStatus::Active) {
                if job.cancelled.is_cancelled() {
                    return Err(JobFailure::Passing("job cancelled".to_owned()));
                }
                if let Err(error) = self.tell(&tenant).await {
                    tracing::warn!(tenant = %tenant.id, %error, "telling a tenant's people failed; retrying");
                }
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// Tells the people of one tenant what they were not told yet, and says how many mails that made.
    pub async fn tell(&self, tenant: &Tenant) -> Result<usize> {
        let logins = self.0.logins.clone();
        let look = move |tx: &mut Tx<'_>| {
            let has_news = news::has_any(tx, logins.as_ref())?;
            Ok::<_, Error>((has_news, !notices::list_open(tx)?.is_empty()))
        };
        let (has_news, has_told) = self.0.db.read(tenant.id, look).await?;
        let made = match has_news || has_told {
            true => self.tell_news(tenant).await?,
            false => 0,
        };
        self.empty_told(tenant.id).await?;
        Ok(made)
    }

    async fn tell_news(&self, tenant: &Tenant) -> Result<usize> {
        let operators = accounts::list_operators(&self.0.db, tenant.id).await?;
        let served = self.list_served(tenant.id).await;
        if !served.is_empty() {
            self.add_operators(tenant.id, &operators).await?;
        }
        let known = Arc::new(AccountEmails::of(tenant.id, &operators));
        let mut found = self.plan(tenant.id, &known, None).await?;
        if !found.mails.is_empty() {
            found = self.plan(tenant.id, &known, Some(served)).await?;
        }
        if found.is_empty() {
            return Ok(0);
        }
        let (parts, id, tenant) = (self.0.clone(), tenant.id, tenant.clone());
        let act = move |tx: &mut Tx<'_>| {
            let context =
                PlanContext { parts: &parts, accounts: &known, served: None, now: parts.clock.now() };
            mailing::carry_out(tx, context, &tenant, found)
        };
        self.0.db.write(id, act).await
    }

    async fn plan(
        &self,
        tenant: TenantId,
        known: &Arc<AccountEmails>,
        served: Option<Vec<Channel>>,
    ) -> Result<super::plan::NewsPlan> {
        let (parts, known) = (self.0.clone(), known.clone());
        let look = move |tx: &mut Tx<'_>| {
            let served = served.as_deref();
            let context = PlanContext { parts: &parts, accounts: &known, served, now: parts.clock.now() };
            plan(tx, context)
        };
        self.0.db.read(tenant, look).await
    }

    /// Whoever came by invitation becomes somebody of the tenant, so that they can be asked: otherwise they do when they first talk there.
    /// Only where something can be sent: a second person of an owner's name is in the way of who names them.
    async fn add_operators(&self, tenant: TenantId, operators: &[TenantOperator]) -> Result<()> {
        let invited = operators.iter().filter(|one| one.has_known_email(tenant));
        let invited: Vec<(Operator, Role)> =
            invited.filter_map(|one| Some((one.operator.clone(), one.role?))).collect();
        let look = move |tx: &mut Tx<'_>| {
            let mut missing = Vec::new();
            for (operator, role) in invited {
                if !persons::is_known_operator(tx, &operator, role)? {
                    missing.push((operator, role));
                }
            }
            Ok::<_, Error>(missing)
        };
        let missing = self.0.db.read(tenant, look).await?;
        if missing.is_empty() {
            return Ok(());
        }
        let (ids, now) = (self.0.ids.clone(), self.0.clock.now());
        let add = move |tx: &mut Tx<'_>| {
            for (operator, role) in &missing {
                persons::find_or_add_operator(tx, &ids, operator, *role, now)?;
            }
            Ok::<_, Error>(())
        };
        self.0.db.write(tenant, add).await
    }

    /// Empties what was said of what was told: it names people, and nobody needs it any more.
    async fn empty_told(&self, tenant: TenantId) -> Result<()> {
        let look = |tx: &mut Tx<'_>| Ok::<_, Error>(notices::list_told_out(tx, EMPTIED)?);
        let told = self.0.db.read(tenant, look).await?;
        if told.is_empty() {
            return Ok(());
        }
        let now = self.0.clock.now();
        let empty = move |tx: &mut Tx<'_>| {
            for message in &told {
                outbox::empty_body(tx, *message)?;
                notices::mark_emptied(tx, *message, now)?;
            }
            Ok::<_, Error>(())
        };
        self.0.db.write(tenant, empty).await
    }

    /// By which channels something can leave now that the tenant itself says.
    async fn list_served(&self, tenant: TenantId) -> Vec<Channel> {
        let mut served = Vec::new();
        for channel in REACHED_BY {
            let route = SenderRoute { tenant, binding: None, channel, from: None, account: None };
            if self.0.senders.find(&route).await.is_ok() {
                served.push(channel);
            }
        }
        served
    }
}
