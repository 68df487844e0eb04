//! What is to be done for a tenant's people: whom to tell of what and where, and what to take back.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use munshi_identity::Person;
use munshi_safety::approvals::ApproverPool;
use munshi_store::Tx;
use munshi_tools::TenantToolSource;
use munshi_types::tier::Channel;
use munshi_types::{MessageId, PersonId, ReplyAddress, Timestamp};
use uuid::Uuid;

use super::accounts::AccountEmails;
use super::news::{self, NewsItem};
use super::notices::{self, OpenNotice, RecentMails};
use super::places::{NoticeOutcome, NoticeRecord, choose_next};
use super::preferences::{ChosenPlaces, PersonPlaces, ReachKind};
use super::teller::NewsTellerParts;
use crate::error::Result;
use crate::outbox;

/// What people are told, the most pressing first.
const TOLD: [ReachKind; 4] =
    [ReachKind::Approvals, ReachKind::Requests, ReachKind::Logins, ReachKind::Alerts];
/// So many mails go to a tenant's people in one go; the rest a minute later.
const MOST: usize = 50;
/// So much stands in one mail; the rest in the next.
const MOST_IN_MAIL: usize = 20;
/// Nobody gets more mails with questions in an hour,
const QUESTION_MAILS_IN_HOUR: usize = 12;
/// nor more about customers who ask for a human: each has its own share, since anybody can make as many of these as they like,
const REQUEST_MAILS_IN_HOUR: usize = 4;
/// nor more with links that let a connector in again,
const LOGIN_MAILS_IN_HOUR: usize = 4;
/// nor more with alerts.
const ALERT_MAILS_IN_HOUR: usize = 6;
/// Nor more with alerts in a day, unless one is urgent: what is left out stands in the next.
const ALERT_MAILS_IN_DAY: usize = 3;
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// One mail to one person.
#[derive(Debug)]
pub(super) struct PlannedNews {
    pub person: PersonId,
    pub kind: ReachKind,
    pub to: ReplyAddress,
    pub recipient: Uuid,
    pub items: Vec<(ReachKind, Uuid)>,
}

#[derive(Debug, Default)]
pub(super) struct NewsPlan {
    /// What nobody is to be told of any more.
    pub over: BTreeSet<(ReachKind, Uuid)>,
    /// What is on its way and would not be sent now.
    pub recalled: BTreeSet<MessageId>,
    pub mails: Vec<PlannedNews>,
}

impl NewsPlan {
    pub(super) fn is_empty(&self) -> bool {
        self.over.is_empty() && self.recalled.is_empty() && self.mails.is_empty()
    }
}

/// What a plan is made with.
#[derive(Clone, Copy)]
pub(super) struct PlanContext<'a> {
    pub parts: &'a NewsTellerParts,
    pub accounts: &'a AccountEmails,
    /// By which channels something can leave; without them all are taken for served.
    pub served: Option<&'a [Channel]>,
    pub now: Timestamp,
}

impl<'a> PlanContext<'a> {
    pub(super) fn logins(self) -> &'a dyn TenantToolSource {
        self.parts.logins.as_ref()
    }
}

/// Where somebody can be told of one kind of news, with what stands for each address.
#[derive(Debug)]
pub(super) struct KindPlaces {
    pub places: Vec<(ReplyAddress, Uuid)>,
    pub has_chosen: bool,
}

impl KindPlaces {
    pub(super) fn has(&self, recipient: Uuid) -> bool {
        self.places.iter().any(|(_, own)| *own == recipient)
    }
}

type AllPlaces = BTreeMap<(PersonId, ReachKind), KindPlaces>;

/// Reads alone.
pub(super) fn plan(tx: &mut Tx<'_>, context: PlanContext<'_>) -> Result<NewsPlan> {
    let open = notices::list_open(tx)?;
    let pool = ApproverPool::load(tx, &context.parts.act_services)?;
    let told: BTreeSet<(ReachKind, Uuid)> = open.iter().map(|notice| (notice.kind, notice.subject)).collect();
    let news = news::collect(tx, (&pool, context.logins()), &told, context.now)?;
    let over = find_over(tx, context, &news, &open)?;
    if news.is_empty() && open.is_empty() {
        return Ok(NewsPlan::default());
    }
    let mut places = AllPlaces::new();
    for person in &pool.members {
        places.extend(load_places(tx, person.id, context.accounts)?);
    }
    let known = KnownPeople { members: &pool.members, places: &places };
    let recalled = plan_recalls(&known, &news, &open, &over);
    let mails = plan_mails(tx, context, &known, (&news, &open))?;
    Ok(NewsPlan { over, recalled, mails })
}

/// Where somebody can be told of each kind of news.
pub(super) fn load_places(
    tx: &mut Tx<'_>,
    person: PersonId,
    accounts: &AccountEmails,
) -> Result<Vec<((PersonId, ReachKind), KindPlaces)>> {
    let own = PersonPlaces::load(tx, person, accounts)?;
    let mut found = Vec::with_capacity(TOLD.len());
    for kind in TOLD {
        let (chosen, has_chosen) = match own.of_kind(kind) {
            ChosenPlaces::Own(places) => (places, true),
            ChosenPlaces::Usual(places) => (places, false),
        };
        let mut places = Vec::with_capacity(chosen.len());
        for place in chosen {
            let recipient = outbox::hash_recipient(tx, &place)?;
            places.push((place, recipient));
        }
        found.push(((person, kind), KindPlaces { places, has_chosen }));
    }
    Ok(found)
}

fn find_over(
    tx: &mut Tx<'_>,
    context: PlanContext<'_>,
    news: &[NewsItem],
    open: &[OpenNotice],
) -> Result<BTreeSet<(ReachKind, Uuid)>> {
    let current: BTreeSet<Uuid> = news.iter().map(|item| item.subject).collect();
    let absent = open.iter().filter(|notice| !current.contains(&notice.subject));
    let absent: BTreeSet<(ReachKind, Uuid)> = absent.map(|notice| (notice.kind, notice.subject)).collect();
    let mut over = BTreeSet::new();
    for subject in absent {
        if news::is_over(tx, context.logins(), subject, context.now)? {
            over.insert(subject);
        }
    }
    Ok(over)
}

/// Who works here, and where each is reached.
struct KnownPeople<'a> {
    members: &'a [Person],
    places: &'a AllPlaces,
}

impl KnownPeople<'_> {
    /// Whether somebody would be told of it there, were it new.
    fn would_tell(&self, notice: &OpenNotice, item: Option<&NewsItem>) -> bool {
        let person = self.members.iter().find(|person| person.id == notice.person);
        let (Some(person), Some(here)) = (person, self.places.get(&(notice.person, notice.kind))) else {
            return false;
        };
        let is_meant = item.is_none_or(|item| item.audience.includes(person, here.has_chosen));
        is_meant && here.has(notice.told.recipient)
    }
}

/// What has not left and tells nobody of anything that they would be told now: it was answered, or they have left, or the address is theirs no
/// longer. A mail that still tells of something goes on.
fn plan_recalls(
    known: &KnownPeople<'_>,
    news: &[NewsItem],
    open: &[OpenNotice],
    over: &BTreeSet<(ReachKind, Uuid)>,
) -> BTreeSet<MessageId> {
    let by_subject: BTreeMap<Uuid, &NewsItem> = news.iter().map(|item| (item.subject, item)).collect();
    let is_good = |notice: &&OpenNotice| {
        !over.contains(&(notice.kind, notice.subject))
            && known.would_tell(notice, by_subject.get(&notice.subject).copied())
    };
    let waiting = || open.iter().filter(|notice| notice.is_waiting);
    let good: BTreeSet<MessageId> = waiting().filter(is_good).map(|notice| notice.message).collect();
    waiting().map(|notice| notice.message).filter(|message| !good.contains(message)).collect()
}

fn plan_mails(
    tx: &mut Tx<'_>,
    context: PlanContext<'_>,
    known: &KnownPeople<'_>,
    (news, open): (&[NewsItem], &[OpenNotice]),
) -> Result<Vec<PlannedNews>> {
    let mut told: BTreeMap<(Uuid, PersonId), Vec<NoticeRecord>> = BTreeMap::new();
    for notice in open {
        told.entry((notice.subject, notice.person)).or_default().push(notice.told);
    }
    // What waits for the morning is enough: all else stands in the mail after it.
    let held = open.iter().filter(|notice| notice.told.outcome == NoticeOutcome::Held);
    let held: BTreeSet<(PersonId, Uuid)> =
        held.map(|notice| (notice.person, notice.told.recipient)).collect();
    let mut due = Vec::new();
    for kind in TOLD {
        for person in known.members {
            let Some(here) = known.places.get(&(person.id, kind)) else { continue };
            let meant = news.iter().filter(|item| item.kind == kind);
            let meant = meant.filter(|item| item.audience.includes(person, here.has_chosen));
            let mails = choose_mails(context, person.id, here, (meant, &told));
            due.extend(
                mails.into_iter().filter(|mail| !held.contains(&(mail.plan.person, mail.plan.recipient))),
            );
        }
    }
    if due.is_empty() {
        return Ok(Vec::new());
    }
    let mut recent = notices::count_recent(tx, (context.now.minus(HOUR), context.now.minus(DAY)))?;
    due.retain(|mail| take_share(recent.entry((mail.plan.person, mail.plan.kind)).or_default(), mail));
    due.truncate(MOST);
    Ok(due.into_iter().map(|mail| mail.plan).collect())
}

/// A mail that is due, if its reader has not had too many.
struct DueMail {
    plan: PlannedNews,
    has_urgent: bool,
}

/// What somebody is to be told now, in one mail for each address.
fn choose_mails<'n>(
    context: PlanContext<'_>,
    person: PersonId,
    here: &KindPlaces,
    (meant, told): (impl Iterator<Item = &'n NewsItem>, &BTreeMap<(Uuid, PersonId), Vec<NoticeRecord>>),
) -> Vec<DueMail> {
    let is_served =
        |place: &ReplyAddress| context.served.is_none_or(|served| served.contains(&place.channel));
    let places: Vec<&(ReplyAddress, Uuid)> =
        here.places.iter().filter(|(place, _)| is_served(place)).collect();
    let recipients: Vec<Uuid> = places.iter().map(|(_, recipient)| *recipient).collect();
    let when = (context.now, context.parts.next_after);
    let mut mails: BTreeMap<usize, DueMail> = BTreeMap::new();
    for item in meant {
        let told = told.get(&(item.subject, person)).map(Vec::as_slice).unwrap_or_default();
        if told.is_empty() && !item.is_fresh {
            continue;
        }
        let next = choose_next(&recipients, told, item.expected_answer(), when);
        let Some((at, (to, recipient))) = next.and_then(|at| Some((at, *places.get(at)?))) else { continue };
        let mail = mails.entry(at).or_insert_with(|| DueMail {
            plan: PlannedNews {
                person,
                kind: item.kind,
                to: to.clone(),
                recipient: *recipient,
                items: Vec::new(),
            },
            has_urgent: false,
        });
        if mail.plan.items.len() < MOST_IN_MAIL {
            mail.plan.items.push((item.kind, item.subject));
            mail.has_urgent |= item.is_urgent_alert();
        }
    }
    mails.into_values().collect()
}

/// Whether somebody may get one more mail of its kind, which is counted.
fn take_share(recent: &mut RecentMails, mail: &DueMail) -> bool {
    let is_usual_alert = mail.plan.kind == ReachKind::Alerts && !mail.has_urgent;
    let has_room = !is_usual_alert || recent.in_day < ALERT_MAILS_IN_DAY;
    if recent.in_hour >= count_most(mail.plan.kind) || !has_room {
        return false;
    }
    recent.in_hour += 1;
    recent.in_day += 1;
    true
}

/// How many mails of a kind somebody gets in an hour.
const fn count_most(kind: ReachKind) -> usize {
    match kind {
        ReachKind::Approvals => QUESTION_MAILS_IN_HOUR,
        ReachKind::Requests => REQUEST_MAILS_IN_HOUR,
        ReachKind::Alerts => ALERT_MAILS_IN_HOUR,
        ReachKind::Logins => LOGIN_MAILS_IN_HOUR,
        // Nobody makes any yet.
        ReachKind::Briefings => 0,
    }
}
