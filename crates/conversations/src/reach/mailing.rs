//! Carrying out what was planned, in one transaction with what is written down of it.

use munshi_dialogue::act_words;
use munshi_identity::Person;
use munshi_lang::Locale;
use munshi_pack::alerts::StoredAlert;
use munshi_safety::approvals::{Approval, ApprovalKind, ApproverPool};
use munshi_store::Tx;
use munshi_types::{MessageId, OutboundMessage, OutboundPurpose, Tenant};
use uuid::Uuid;

use super::news::{self, NewsContent, NewsItem};
use super::notices::{self, NewReachNotice};
use super::plan::{NewsPlan, PlanContext, PlannedNews, load_places};
use super::teller::NewsTellerParts;
use super::words::{self, AlertLine, AnswerLine, LoginLine};
use crate::error::Result;
use crate::outbox::{self, NewNotice, OutboxWish, enqueue_notice};

/// What is over is kept for so long.
const KEPT: std::time::Duration = std::time::Duration::from_secs(30 * 24 * 3600);

/// Says how many mails it made. What has changed since the plan was made is looked at once more.
pub(super) fn carry_out(
    tx: &mut Tx<'_>,
    context: PlanContext<'_>,
    tenant: &Tenant,
    plan: NewsPlan,
) -> Result<usize> {
    let now = context.now;
    let mut sent = 0;
    if !plan.mails.is_empty() {
        let pool = ApproverPool::load(tx, &context.parts.act_services)?;
        for mail in &plan.mails {
            sent += usize::from(send(tx, context, (tenant, &pool), mail)?);
        }
    }
    for subject in plan.over {
        if news::is_over(tx, context.logins(), subject, now)? {
            notices::end(tx, subject.1, now)?;
        }
    }
    notices::sweep(tx, now.minus(KEPT))?;
    for message in plan.recalled {
        recall(tx, context, message)?;
    }
    Ok(sent)
}

/// Takes back what has not left. What has, or may have, stays as it is.
fn recall(tx: &mut Tx<'_>, context: PlanContext<'_>, message: MessageId) -> Result<()> {
    let NewsTellerParts { queue, ids, .. } = context.parts;
    let wish = OutboxWish { message, queue, ids, now: context.now };
    if outbox::recall(tx, &wish)? {
        outbox::empty_body(tx, message)?;
        notices::forget(tx, message)?;
    }
    Ok(())
}

/// Whether there was anything to tell that they had not been told.
fn send(
    tx: &mut Tx<'_>,
    context: PlanContext<'_>,
    (tenant, pool): (&Tenant, &ApproverPool),
    mail: &PlannedNews,
) -> Result<bool> {
    let Some(person) = pool.members.iter().find(|person| person.id == mail.person) else { return Ok(false) };
    let places = load_places(tx, person.id, context.accounts)?;
    let here = places.into_iter().find(|((_, kind), _)| *kind == mail.kind).map(|(_, here)| here);
    let Some(here) = here.filter(|here| here.has(mail.recipient)) else { return Ok(false) };
    let message: MessageId = context.parts.ids.next();
    let mut items = Vec::new();
    for (kind, subject) in &mail.items {
        let item = news::load(tx, (pool, context.logins()), (*kind, *subject), context.now)?;
        let Some(mut item) = item.filter(|item| item.audience.includes(person, here.has_chosen)) else {
            continue;
        };
        let notice = NewReachNotice {
            subject: item.subject,
            person: person.id,
            recipient: mail.recipient,
            kind: item.kind,
            message,
        };
        if notices::add(tx, &notice, context.now)? {
            if let NewsContent::Login(lost, link) = &mut item.content {
                *link = context.logins().create_login_link(tx, &lost.connector, person.id)?;
            }
            items.push(item);
        }
    }
    if items.is_empty() {
        return Ok(false);
    }
    let outbound = OutboundMessage {
        purpose: OutboundPurpose::Alert,
        language: person.language.and_then(|language| language.code().parse().ok()),
        ..OutboundMessage::new(message, mail.to.clone(), render(context.parts, tenant, person, &items))
    };
    let notice = NewNotice {
        outbound,
        person: Some(person.id),
        subject: None,
        binding: None,
        about: None,
        not_before: None,
    };
    enqueue_notice(tx, &context.parts.queue, &notice, context.now)?;
    Ok(true)
}

/// All of one kind.
fn render(parts: &NewsTellerParts, tenant: &Tenant, person: &Person, items: &[NewsItem]) -> String {
    let voice = words::choose_voice(person.language);
    let name = tenant.name.as_str();
    let (mut questions, mut requests, mut alerts) = (Vec::new(), Vec::new(), Vec::new());
    let mut logins = Vec::new();
    for item in items {
        match &item.content {
            NewsContent::Question(approval) => questions.push(AnswerLine {
                text: describe_question(parts, approval, voice),
                place: name_question(parts, tenant, approval),
            }),
            NewsContent::Request(request) => requests.push(AnswerLine {
                text: request.reason.clone(),
                place: match &parts.public_url {
                    Some(url) => format!("{url}/account/desk/{}", request.session),
                    None => format!("munshi sessions take {} --tenant {name}", request.session),
                },
            }),
            NewsContent::Login(lost, link) => logins.push(LoginLine {
                connector: lost.connector.clone(),
                place: match link {
                    Some(link) => link.clone(),
                    None => format!("munshi connector login {} --tenant {name}", lost.connector),
                },
            }),
            NewsContent::Alert(alert) => AlertLine::add(&mut alerts, describe_alert(parts, alert, voice)),
        }
    }
    if !questions.is_empty() {
        return words::render_questions(&questions, name, voice);
    }
    if !requests.is_empty() {
        return words::render_requests(&requests, name, voice);
    }
    if !logins.is_empty() {
        return words::render_logins(&logins, name, voice);
    }
    let place = match &parts.public_url {
        Some(url) => format!("{url}/account"),
        None => format!("munshi alerts list --tenant {name}"),
    };
    words::render_alerts(&alerts, name, &place, voice)
}

/// The page on which it is answered, or the command.
fn name_question(parts: &NewsTellerParts, tenant: &Tenant, approval: &Approval) -> String {
    match &parts.public_url {
        Some(url) => format!("{url}/account/approvals/{}/{}", tenant.name, approval.id),
        None => format!("munshi approvals grant {} --tenant {}", approval.id, tenant.name),
    }
}

/// In the reader's language as far as the tool has words in it and names nobody by an id; else in its plain words.
fn describe_question(parts: &NewsTellerParts, approval: &Approval, voice: Locale) -> String {
    let is_id = |value: &serde_json::Value| value.as_str().is_some_and(|text| Uuid::parse_str(text).is_ok());
    let has_ids = approval.arguments.as_object().is_none_or(|fields| fields.values().any(is_id));
    let tool = parts.packs.tools.get(&approval.tool);
    let tool = tool.filter(|_| approval.kind == ApprovalKind::Act && !has_ids);
    approval.render_question(
        tool.and_then(|tool| act_words::render(&tool.known.spec, &approval.arguments, voice)),
    )
}

/// What it says, and the command that shows the message it is about.
fn describe_alert(
    parts: &NewsTellerParts,
    alert: &StoredAlert,
    voice: Locale,
) -> (String, Option<&'static str>) {
    let worded = parts.packs.render_phrase(voice, &alert.phrase, &alert.slots);
    let hint = outbox::find_alert_hint(alert);
    (worded.unwrap_or_else(|_| alert.text.clone()), hint)
}
