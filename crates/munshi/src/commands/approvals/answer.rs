//! `munshi approvals grant ID` and `munshi approvals refuse ID`

use clap::Args;
use munshi_identity::Person;
use munshi_safety::acts::ActServices;
use munshi_safety::approvals::{
    self, Approval, ApprovalAnswer, ApprovalAnswerOutcome, ApprovalCoverage, ApprovalDecision, ApprovalKind,
    ApprovalStatus,
};
use munshi_store::Tx;
use munshi_types::Timestamp;
use serde::Serialize;

use super::words::state;
use super::{ApprovalSelectorArguments, Named, find, missing};
use crate::commands::person;
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::output::shown::moment;
use crate::wiring::database::ConfiguredDatabase;
use crate::wiring::packs;
use crate::wiring::tools::office;

#[derive(Debug, Args)]
pub(crate) struct ApprovalGrantArguments {
    #[command(flatten)]
    answer: ApprovalRefuseArguments,
    /// Don't ask again for this tool in this conversation. Never for money, messages and what can do harm
    #[arg(long)]
    session: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalRefuseArguments {
    #[command(flatten)]
    which: ApprovalSelectorArguments,
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
    wanted: ApprovalCoverage,
}

/// An answer as it was typed.
struct Typed {
    id: String,
    person: Option<String>,
    shown: Option<String>,
    /// The command line and who is at it: they may answer for another.
    via: String,
    answer: ApprovalDecision,
    covers: ApprovalCoverage,
}

pub(super) fn grant(context: &CommandContext, arguments: ApprovalGrantArguments) -> Result<()> {
    let covers = if arguments.session { ApprovalCoverage::Session } else { ApprovalCoverage::Act };
    run(context, arguments.answer, ApprovalDecision::Yes, covers)
}

pub(super) fn refuse(context: &CommandContext, arguments: ApprovalRefuseArguments) -> Result<()> {
    run(context, arguments, ApprovalDecision::No, ApprovalCoverage::Act)
}

fn run(
    context: &CommandContext,
    given: ApprovalRefuseArguments,
    answer: ApprovalDecision,
    covers: ApprovalCoverage,
) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::for_one_question(&config)?;
    let house = packs::house()?;
    let (office, now) = (office(&config, context.clock.clone()).heard_by(house), context.now());
    let ApprovalRefuseArguments { which: ApprovalSelectorArguments { id, of }, person, shown, author } =
        given;
    let via = format!("cli:{author}");
    let typed = Typed { id, person, shown, via, answer, covers };
    let told = context.block_on(async {
        let db = database.open().await?;
        let tenant = of.find_open(&db).await?;
        db.write(tenant.id, move |tx| give(tx, &office, &typed, now)).await
    })?;
    context.output.answer(&told, |told, _| words(told, answer))
}

fn give(
    tx: &mut Tx<'_>,
    office: &ActServices,
    typed: &Typed,
    now: Timestamp,
) -> Result<Told, CommandFailure> {
    let approval = find(tx, &typed.id)?;
    let person = match &typed.person {
        Some(given) => person::find(tx, given)?,
        None => person::only_owner(tx)?,
    };
    let who = person.principal(tx);
    let shown = typed.shown.as_deref();
    let said = ApprovalAnswer {
        who: &who,
        answer: typed.answer,
        shown,
        covers: typed.covers,
        via: &typed.via,
        key: None,
    };
    match approvals::answer(tx, office, approval.id, &said, now)? {
        ApprovalAnswerOutcome::Granted(approval) => told(tx, *approval, &person, true, typed),
        ApprovalAnswerOutcome::Refused(approval) => told(tx, *approval, &person, true, typed),
        ApprovalAnswerOutcome::Already(approval) => already(tx, *approval, &person, typed),
        ApprovalAnswerOutcome::NotYours { ask } => {
            Err(CommandFailure::refused(format!("{} may not answer this; nothing was answered", person.name))
                .hint(format!("an owner or {ask} may: --as PERSON")))
        }
        ApprovalAnswerOutcome::OwnWish => {
            Err(CommandFailure::refused("it is what this key itself wants; nothing was answered"))
        }
        ApprovalAnswerOutcome::Changed { now } => Err(CommandFailure::refused(format!(
            "what was shown is not what would be done: that has the digest {now}. Nothing was answered"
        ))
        .hint(format!("look at it again: `munshi approvals show {}`", approval.id))),
        ApprovalAnswerOutcome::Expired => Err(expired(&approval)),
        ApprovalAnswerOutcome::Unknown => Err(missing(&typed.id)),
    }
}

/// The same answer a second time is no mistake; another one comes too late.
fn already(
    tx: &mut Tx<'_>,
    approval: Approval,
    person: &Person,
    typed: &Typed,
) -> Result<Told, CommandFailure> {
    let same = match typed.answer {
        ApprovalDecision::Yes => ApprovalStatus::Granted,
        ApprovalDecision::No => ApprovalStatus::Refused,
    };
    match approval.state {
        was if was == same => told(tx, approval, person, false, typed),
        ApprovalStatus::Expired => Err(expired(&approval)),
        was => {
            let named = Named::of(tx, approval)?;
            let by = named.answered_by_name.map(|name| format!(" by {name}")).unwrap_or_default();
            Err(CommandFailure::refused(format!(
                "it was {}{by} already, and an answer is given once",
                state(was)
            )))
        }
    }
}

fn expired(approval: &Approval) -> CommandFailure {
    let over = format!("its time was over at {} UTC", moment(approval.expires_at));
    match approval.state {
        ApprovalStatus::Pending => CommandFailure::refused(format!("{over}; nothing was answered")).hint(
            "within a minute it waits for somebody above, or is dropped: `munshi approvals show` says which",
        ),
        _ => CommandFailure::refused(format!("{over}; the act is dropped"))
            .hint("ask the agent again: it will propose it anew"),
    }
}

fn told(
    tx: &mut Tx<'_>,
    approval: Approval,
    person: &Person,
    changed: bool,
    typed: &Typed,
) -> Result<Told, CommandFailure> {
    let waivable =
        approval.session.is_some() && approval.question.reasons.iter().all(|reason| reason.is_waivable());
    let covers = match (typed.answer, typed.covers) {
        (ApprovalDecision::No, _) => None,
        (ApprovalDecision::Yes, ApprovalCoverage::Session) if changed && waivable => Some("session"),
        (ApprovalDecision::Yes, _) => Some("act"),
    };
    Ok(Told {
        named: Named::of(tx, approval)?,
        changed,
        covers,
        by: person.name.clone(),
        wanted: typed.covers,
    })
}

fn words(told: &Told, answer: ApprovalDecision) -> String {
    let (by, tool) = (&told.by, &told.named.approval.tool);
    if !told.changed {
        return "It was answered so already; nothing is done twice.".to_owned();
    }
    let mut text = match (told.named.approval.kind, answer) {
        (ApprovalKind::Act, ApprovalDecision::Yes) => {
            format!("Granted by {by}. {tool} may be called once, exactly as shown.")
        }
        (ApprovalKind::Act, ApprovalDecision::No) => format!("Refused by {by}. {tool} is not called."),
        (ApprovalKind::Outcome, ApprovalDecision::Yes) => format!("Noted by {by}: {tool} did happen."),
        (ApprovalKind::Outcome, ApprovalDecision::No) => format!("Noted by {by}: {tool} did not happen."),
    };
    match (told.wanted, told.covers) {
        (ApprovalCoverage::Session, Some("session")) => {
            text += " It is not asked again in this conversation.";
        }
        (ApprovalCoverage::Session, _) => {
            text += " It will be asked again: this is of a kind that is agreed to each time.";
        }
        (ApprovalCoverage::Act, _) => {}
    }
    text
}
