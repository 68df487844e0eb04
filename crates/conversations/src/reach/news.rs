//! What there is to tell now, and whom.

use std::collections::BTreeSet;
use std::time::Duration;

use munshi_identity::{Person, Role};
use munshi_pack::AlertSeverity;
use munshi_pack::alerts::{self, StoredAlert};
use munshi_safety::approvals::{self, Approval, ApprovalFilter, ApprovalStatus, ApproverChain, ApproverPool};
use munshi_safety::pipeline::ConsentGiver;
use munshi_store::{PageRequest, Tx};
use munshi_tools::{LostLogin, TenantToolSource};
use munshi_types::{AlertId, ApprovalId, HumanRequestId, Id, PersonId, Timestamp};
use uuid::Uuid;

use super::notices;
use super::places::AnswerExpectation;
use super::preferences::ReachKind;
use crate::error::Result;
use crate::human_requests::{self, HumanRequest, HumanRequestState};
use crate::{outbox, sessions};

/// What is older when it is seen first is told by lists alone: nobody gets a week of mails after an upgrade.
const FRESH: Duration = Duration::from_secs(24 * 3600);
/// So many of a kind are opened in one go: whoever asks for more keeps nobody of another tenant waiting.
const MOST_READ: u32 = 2_000;
/// Whoever sits at the desk has come to who asks for a human by then.
const DESK_COMES: Duration = Duration::from_secs(120);

/// One thing to be told.
#[derive(Clone, Debug)]
pub(super) struct NewsItem {
    pub subject: Uuid,
    pub kind: ReachKind,
    pub content: NewsContent,
    pub audience: NewsAudience,
    /// What is not fresh is told to nobody who has not heard of it.
    pub is_fresh: bool,
}

#[derive(Clone, Debug)]
pub(super) enum NewsContent {
    Question(Box<Approval>),
    Alert(Box<StoredAlert>),
    Request(Box<HumanRequest>),
    /// With the link of whoever is told; none before it was made, or where no link leads there.
    Login(Box<LostLogin>, Option<String>),
}

/// Who is to hear of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NewsAudience {
    Persons(Vec<PersonId>),
    /// Owners and admins, and whoever else of the tenant's people asked for it.
    Members,
    /// Owners and admins alone: nobody else lets us into a connector.
    Admins,
    /// Those who may join the conversation of a customer and belong to its team; all of them where nobody belongs to it.
    Desk {
        team: Option<String>,
        customer: Option<PersonId>,
    },
}

impl NewsItem {
    pub(super) fn expected_answer(&self) -> AnswerExpectation {
        match self.content {
            NewsContent::Question(_) | NewsContent::Request(_) | NewsContent::Login(..) => {
                AnswerExpectation::Yes
            }
            NewsContent::Alert(_) => AnswerExpectation::No,
        }
    }

    pub(super) fn is_urgent_alert(&self) -> bool {
        matches!(&self.content, NewsContent::Alert(alert) if alert.severity == AlertSeverity::Urgent)
    }
}

impl NewsAudience {
    /// Whether somebody hears of it who chose nothing, and who chose an address for it.
    pub(super) fn includes(&self, person: &Person, has_chosen: bool) -> bool {
        match self {
            Self::Persons(persons) => persons.contains(&person.id),
            Self::Members => has_chosen || matches!(person.role, Some(Role::Owner | Role::Admin)),
            Self::Admins => matches!(person.role, Some(Role::Owner | Role::Admin)),
            Self::Desk { team, customer } => {
                let may_join = person.role.is_some_and(|role| role <= Role::Staff);
                let is_theirs = team.as_ref().is_none_or(|team| person.tags.contains(team));
                may_join && *customer != Some(person.id) && (has_chosen || is_theirs)
            }
        }
    }
}

/// Whether there may be anything to tell.
pub(super) fn has_any(tx: &mut Tx<'_>, logins: &dyn TenantToolSource) -> Result<bool> {
    let one = PageRequest::new(None, 1);
    Ok(!approvals::list(tx, ApprovalFilter::Pending, &one)?.items.is_empty()
        || !alerts::list_pressing(tx, &one)?.items.is_empty()
        || !human_requests::list_open(tx, &one)?.items.is_empty()
        || !logins.list_lost_logins(tx)?.is_empty())
}

/// What there is to tell, the oldest of each kind first. What is not fresh is left out, unless somebody was `told` of it; of more than
/// [`MOST_READ`] of a kind the rest is looked at once those are over.
pub(super) fn collect(
    tx: &mut Tx<'_>,
    (pool, logins): (&ApproverPool, &dyn TenantToolSource),
    told: &BTreeSet<(ReachKind, Uuid)>,
    now: Timestamp,
) -> Result<Vec<NewsItem>> {
    let (since, mut news, mut seen) = (now.minus(FRESH), Vec::new(), BTreeSet::new());
    for approval in approvals::list_pending_since(tx, since, MOST_READ)? {
        seen.insert((ReachKind::Approvals, approval.id.as_uuid()));
        news.extend(build_question(tx, pool, approval, now)?);
    }
    for request in human_requests::list_unheld_since(tx, since, MOST_READ)? {
        seen.insert((ReachKind::Requests, request.id.as_uuid()));
        news.extend(build_request(tx, pool, request, now)?);
    }
    for lost in logins.list_lost_logins(tx)? {
        seen.insert((ReachKind::Logins, lost.id.as_uuid()));
        news.push(build_login(lost, now));
    }
    for alert in alerts::list_pressing_since(tx, since, MOST_READ)? {
        seen.insert((ReachKind::Alerts, alert.id.as_uuid()));
        news.extend(build_alert(tx, alert, now)?);
    }
    for subject in told.difference(&seen).take(MOST_READ as usize) {
        news.extend(load(tx, (pool, logins), *subject, now)?);
    }
    Ok(news)
}

/// One of them, as it is now; none where there is nothing to tell of it.
pub(super) fn load(
    tx: &mut Tx<'_>,
    (pool, logins): (&ApproverPool, &dyn TenantToolSource),
    (kind, subject): (ReachKind, Uuid),
    now: Timestamp,
) -> Result<Option<NewsItem>> {
    if is_over(tx, logins, (kind, subject), now)? {
        return Ok(None);
    }
    match kind {
        ReachKind::Approvals => match approvals::find(tx, ApprovalId::from_uuid(subject))? {
            Some(approval) => build_question(tx, pool, approval, now),
            None => Ok(None),
        },
        ReachKind::Alerts => match alerts::find(tx, AlertId::from_uuid(subject))? {
            Some(alert) => build_alert(tx, alert, now),
            None => Ok(None),
        },
        ReachKind::Requests => match human_requests::find(tx, HumanRequestId::from_uuid(subject))? {
            Some(request) => build_request(tx, pool, request, now),
            None => Ok(None),
        },
        ReachKind::Logins => Ok(find_login(tx, logins, subject)?.map(|lost| build_login(lost, now))),
        ReachKind::Briefings => Ok(None),
    }
}

/// Whether it was answered, has passed or is gone. What nobody is told of for the moment is not over.
pub(super) fn is_over(
    tx: &mut Tx<'_>,
    logins: &dyn TenantToolSource,
    (kind, subject): (ReachKind, Uuid),
    now: Timestamp,
) -> Result<bool> {
    Ok(match kind {
        ReachKind::Approvals => approvals::find(tx, ApprovalId::from_uuid(subject))?
            .is_none_or(|found| found.state != ApprovalStatus::Pending || found.expires_at <= now),
        ReachKind::Alerts => {
            alerts::find(tx, AlertId::from_uuid(subject))?.is_none_or(|found| found.cleared_at.is_some())
        }
        ReachKind::Requests => human_requests::find(tx, HumanRequestId::from_uuid(subject))?
            .is_none_or(|found| !is_waiting(&found)),
        ReachKind::Logins => find_login(tx, logins, subject)?.is_none(),
        ReachKind::Briefings => true,
    })
}

fn find_login(tx: &mut Tx<'_>, logins: &dyn TenantToolSource, subject: Uuid) -> Result<Option<LostLogin>> {
    Ok(logins.list_lost_logins(tx)?.into_iter().find(|lost| lost.id.as_uuid() == subject))
}

fn build_login(lost: LostLogin, now: Timestamp) -> NewsItem {
    NewsItem {
        subject: lost.id.as_uuid(),
        kind: ReachKind::Logins,
        is_fresh: now < lost.lost_at.plus(FRESH),
        content: NewsContent::Login(Box::new(lost), None),
        audience: NewsAudience::Admins,
    }
}

fn is_waiting(request: &HumanRequest) -> bool {
    matches!(request.state, HumanRequestState::Waiting | HumanRequestState::Callback)
}

/// A question begins anew where it goes to somebody above.
fn is_fresh_question(approval: &Approval, now: Timestamp) -> bool {
    now < approval.escalated_at.unwrap_or(approval.asked_at).plus(FRESH)
}

fn build_question(
    tx: &mut Tx<'_>,
    pool: &ApproverPool,
    approval: Approval,
    now: Timestamp,
) -> Result<Option<NewsItem>> {
    if approval.expires_at <= now {
        return Ok(None);
    }
    let asked = list_asked(tx, pool, &approval)?;
    Ok(Some(NewsItem {
        subject: approval.id.as_uuid(),
        kind: ReachKind::Approvals,
        is_fresh: is_fresh_question(&approval, now),
        content: NewsContent::Question(Box::new(approval)),
        audience: NewsAudience::Persons(asked),
    }))
}

fn build_alert(tx: &mut Tx<'_>, alert: StoredAlert, now: Timestamp) -> Result<Option<NewsItem>> {
    if alert.severity == AlertSeverity::Notice || is_about_own_mail(tx, &alert)? {
        return Ok(None);
    }
    Ok(Some(NewsItem {
        subject: alert.id.as_uuid(),
        kind: ReachKind::Alerts,
        is_fresh: now < alert.first_seen.plus(FRESH),
        content: NewsContent::Alert(Box::new(alert)),
        audience: NewsAudience::Members,
    }))
}

fn build_request(
    tx: &mut Tx<'_>,
    pool: &ApproverPool,
    request: HumanRequest,
    now: Timestamp,
) -> Result<Option<NewsItem>> {
    if !is_waiting(&request) || now < request.asked_at.plus(DESK_COMES) {
        return Ok(None);
    }
    let customer = sessions::find(tx, request.session)?.map(|session| session.person);
    let has_people = |team: &String| pool.members.iter().any(|member| member.tags.contains(team));
    let team = request.team.clone().filter(has_people);
    Ok(Some(NewsItem {
        subject: request.id.as_uuid(),
        kind: ReachKind::Requests,
        is_fresh: now < request.asked_at.plus(FRESH),
        content: NewsContent::Request(Box::new(request)),
        audience: NewsAudience::Desk { team, customer },
    }))
}

/// Those who may answer and are not asked in a conversation already. What somebody agrees to is asked of them there alone.
fn list_asked(tx: &mut Tx<'_>, pool: &ApproverPool, approval: &Approval) -> Result<Vec<PersonId>> {
    if approval.question.needs == ConsentGiver::Subject {
        return Ok(Vec::new());
    }
    let asked = match &approval.escalated_to {
        Some(above) => above.clone(),
        None => {
            let ApproverChain { first, above } = pool.resolve(tx, approval)?;
            if first.is_empty() { above } else { first }
        }
    };
    let is_there = |person: &PersonId| approval.session.is_some() && approval.asked_by == Some(*person);
    Ok(asked.into_iter().filter(|person| !is_there(person)).collect())
}

/// How such a mail ended is told by lists: a mail about it would go the same way, and so on for ever.
fn is_about_own_mail(tx: &mut Tx<'_>, alert: &StoredAlert) -> Result<bool> {
    match outbox::find_alerted_message(alert) {
        Some(message) => Ok(notices::is_notice(tx, message)?),
        None => Ok(false),
    }
}
