//! `munshi approvals grant ID` and `munshi approvals refuse ID`

use clap::Args;
use munshi_identity::Person;
use munshi_safety::acts::Office;
use munshi_safety::approvals::{self, Answer, Answered, Approval, Covers, Kind, Said, State};
use munshi_store::Tx;
use munshi_types::Timestamp;
use serde::Serialize;

use super::words::state;
use super::{Named, Which, find, missing};
use crate::commands::person;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::shown::moment;
use crate::wiring::database::Database;
use crate::wiring::packs;
use crate::wiring::tools::office;

#[derive(Debug, Args)]
pub(crate) struct Grant {
    #[command(flatten)]
    answer: Refuse,
    /// Don't ask again for this tool in this conversation. Never for money, messages and what can do harm
    #[arg(long)]
    session: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Refuse {
    #[command(flatten)]
    which: Which,
    /// Who answers: name, phone, e-mail, @handle or id; without it the owner, where there is one
    #[arg(long = "as", value_name = "PERSON")]
    person: Option<String>,
    /// The digest that was shown: if the act is not that one any more, nothing is answered
    #[arg(long, value_name = "DIGEST")]
    shown: Option<String>,
    /// Who types it, for the audit
    #[arg(long, value_name = "NAME", env = "USER", hide_env = true, default_value = "somebody")]
    author: String,
}

#[derive(Debug, Serialize)]
struct Told {
    #[serde(flatten)]
    named: Named,
    /// False when it was answered so before.
    changed: bool,
    /// How far a yes goes.
    covers: Option<&'static str>,
    #[serde(skip)]
    by: String,
    #[serde(skip)]
    wanted: Covers,
}

/// An answer as it was typed.
struct Typed {
    id: String,
    person: Option<String>,
    shown: Option<String>,
    /// The command line and who is at it: they may answer for another.
    via: String,
    answer: Answer,
    covers: Covers,
}

pub(super) fn grant(context: &Context, arguments: Grant) -> Result<()> {
    let covers = if arguments.session { Covers::Session } else { Covers::Act };
    run(context, arguments.answer, Answer::Yes, covers)
}

pub(super) fn refuse(context: &Context, arguments: Refuse) -> Result<()> {
    run(context, arguments, Answer::No, Covers::Act)
}

fn run(context: &Context, given: Refuse, answer: Answer, covers: Covers) -> Result<()> {
    let config = context.config()?;
    let database = Database::for_one_question(&config)?;
    let house = packs::house()?;
    let (office, now) = (office(&config, context.clock.clone()).heard_by(house), context.now());
    let Refuse { which: Which { id, of }, person, shown, author } = given;
    let via = format!("cli:{author}");
    let typed = Typed { id, person, shown, via, answer, covers };
    let told = context.block_on(async {
        let db = database.open().await?;
        let tenant = of.find_open(&db).await?;
        db.write(tenant.id, move |tx| give(tx, &office, &typed, now)).await
    })?;
    context.output.answer(&told, |told, _| words(told, answer))
}

fn give(tx: &mut Tx<'_>, office: &Office, typed: &Typed, now: Timestamp) -> Result<Told, Failure> {
    let approval = find(tx, &typed.id)?;
    let person = match &typed.person {
        Some(given) => person::find(tx, given)?,
        None => person::only_owner(tx)?,
    };
    let who = person.principal(tx);
    let shown = typed.shown.as_deref();
    let said =
        Said { who: &who, answer: typed.answer, shown, covers: typed.covers, via: &typed.via, key: None };
    match approvals::answer(tx, office, approval.id, &said, now)? {
        Answered::Granted(approval) => told(tx, *approval, &person, true, typed),
        Answered::Refused(approval) => told(tx, *approval, &person, true, typed),
        Answered::Already(approval) => already(tx, *approval, &person, typed),
        Answered::NotYours { ask } => {
            Err(Failure::refused(format!("{} may not answer this; nothing was answered", person.name))
                .hint(format!("an owner or {ask} may: --as PERSON")))
        }
        Answered::OwnWish => Err(Failure::refused("it is what this key itself wants; nothing was answered")),
        Answered::Changed { now } => Err(Failure::refused(format!(
            "what was shown is not what would be done: that has the digest {now}. Nothing was answered"
        ))
        .hint(format!("look at it again: `munshi approvals show {}`", approval.id))),
        Answered::Expired => Err(expired(&approval)),
        Answered::Unknown => Err(missing(&typed.id)),
    }
}

/// The same answer a second time is no mistake; another one comes too late.
fn already(tx: &mut Tx<'_>, approval: Approval, person: &Person, typed: &Typed) -> Result<Told, Failure> {
    let same = match typed.answer {
        Answer::Yes => State::Granted,
        Answer::No => State::Refused,
    };
    match approval.state {
        was if was == same => told(tx, approval, person, false, typed),
        State::Expired => Err(expired(&approval)),
        was => {
            let named = Named::of(tx, approval)?;
            let by = named.answered_by_name.map(|name| format!(" by {name}")).unwrap_or_default();
            Err(Failure::refused(format!("it was {}{by} already, and an answer is given once", state(was))))
        }
    }
}

fn expired(approval: &Approval) -> Failure {
    let over = format!("its time was over at {} UTC", moment(approval.expires_at));
    match approval.state {
        State::Pending => Failure::refused(format!("{over}; nothing was answered")).hint(
            "within a minute it waits for somebody above, or is dropped: `munshi approvals show` says which",
        ),
        _ => Failure::refused(format!("{over}; the act is dropped"))
            .hint("ask the agent again: it will propose it anew"),
    }
}

fn told(
    tx: &mut Tx<'_>,
    approval: Approval,
    person: &Person,
    changed: bool,
    typed: &Typed,
) -> Result<Told, Failure> {
    let waivable =
        approval.session.is_some() && approval.question.reasons.iter().all(|reason| reason.is_waivable());
    let covers = match (typed.answer, typed.covers) {
        (Answer::No, _) => None,
        (Answer::Yes, Covers::Session) if changed && waivable => Some("session"),
        (Answer::Yes, _) => Some("act"),
    };
    Ok(Told {
        named: Named::of(tx, approval)?,
        changed,
        covers,
        by: person.name.clone(),
        wanted: typed.covers,
    })
}

fn words(told: &Told, answer: Answer) -> String {
    let (by, tool) = (&told.by, &told.named.approval.tool);
    if !told.changed {
        return "It was answered so already; nothing is done twice.".to_owned();
    }
    let mut text = match (told.named.approval.kind, answer) {
        (Kind::Act, Answer::Yes) => format!("Granted by {by}. {tool} may be called once, exactly as shown."),
        (Kind::Act, Answer::No) => format!("Refused by {by}. {tool} is not called."),
        (Kind::Outcome, Answer::Yes) => format!("Noted by {by}: {tool} did happen."),
        (Kind::Outcome, Answer::No) => format!("Noted by {by}: {tool} did not happen."),
    };
    match (told.wanted, told.covers) {
        (Covers::Session, Some("session")) => {
            text += " It is not asked again in this conversation.";
        }
        (Covers::Session, _) => {
            text += " It will be asked again: this is of a kind that is agreed to each time.";
        }
        (Covers::Act, _) => {}
    }
    text
}
