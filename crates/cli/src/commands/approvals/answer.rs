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
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::packs;
use munshi_wiring::tools::build_act_services;
use serde::Serialize;

use super::labels::state;
use super::{ApprovalSelectorArguments, Named, find, not_found_failure};
use crate::commands::person;
use crate::context::CommandContext;
use crate::output::formatting::format_time;

#[derive(Debug, Args)]
pub(crate) struct ApprovalGrantArguments {
    #[command(flatten)]
    answer: ApprovalRefuseArguments,
    /// Don't ask again for this tool in this conversation. Ignored for money, messages and dangerous tools
    #[arg(long)]
    session: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalRefuseArguments {
    #[command(flatten)]
    which: ApprovalSelectorArguments,
    /// Who answers: name, phone, e-mail, @handle or id. Default: the only owner
    #[arg(long = "as", value_name = "PERSON")]
    person: Option<String>,
    /// Expected digest; the answer is rejected if the act has changed
    #[arg(long, value_name = "DIGEST")]
    shown: Option<String>,
    /// Author, for the audit log
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
    let database = ConfiguredDatabase::single_connection(&config)?;
    let packs = packs::load_registry()?;
    let (act_services, now) =
        (build_act_services(&config, context.clock.clone()).on_refusal(packs), context.now());
    let ApprovalRefuseArguments { which: ApprovalSelectorArguments { id, of }, person, shown, author } =
        given;
    let via = format!("cli:{author}");
    let typed = Typed { id, person, shown, via, answer, covers };
    let told = context.block_on(async {
        let db = database.open().await?;
        let tenant = of.find_open(&db).await?;
        db.write(tenant.id, move |tx| submit_answer(tx, &act_services, &typed, now)).await
    })?;
    context.output.print_result(&told, |told, _| render_text(told, answer))
}

fn submit_answer(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
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
    match approvals::answer(tx, act_services, approval.id, &said, now)? {
        ApprovalAnswerOutcome::Granted(approval) => build_report(tx, *approval, &person, true, typed),
        ApprovalAnswerOutcome::Refused(approval) => build_report(tx, *approval, &person, true, typed),
        ApprovalAnswerOutcome::Already(approval) => handle_already_answered(tx, *approval, &person, typed),
        ApprovalAnswerOutcome::NotYours { ask } => Err(CommandFailure::refused(format!(
            "{} may not answer this approval; no answer was recorded",
            person.name
        ))
        .hint(format!("an owner or {ask} may answer: --as PERSON"))),
        ApprovalAnswerOutcome::OwnWish => {
            Err(CommandFailure::refused("a key can't answer its own request; no answer was recorded"))
        }
        ApprovalAnswerOutcome::Changed { now } => Err(CommandFailure::refused(format!(
            "the act has changed: its digest is now {now}. No answer was recorded"
        ))
        .hint(format!("review it again: `munshi approvals show {}`", approval.id))),
        ApprovalAnswerOutcome::Expired => Err(expired_failure(&approval)),
        ApprovalAnswerOutcome::Unknown => Err(not_found_failure(&typed.id)),
    }
}

/// The same answer a second time is no mistake; another one comes too late.
fn handle_already_answered(
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
        was if was == same => build_report(tx, approval, person, false, typed),
        ApprovalStatus::Expired => Err(expired_failure(&approval)),
        was => {
            let named = Named::load(tx, approval)?;
            let by = named.answered_by_name.map(|name| format!(" by {name}")).unwrap_or_default();
            Err(CommandFailure::refused(format!(
                "the approval was already {}{by}; an answer is final",
                state(was)
            )))
        }
    }
}

fn expired_failure(approval: &Approval) -> CommandFailure {
    let over = format!("the approval expired at {} UTC", format_time(approval.expires_at));
    match approval.state {
        ApprovalStatus::Pending => CommandFailure::refused(format!("{over}; no answer was recorded"))
            .hint("it escalates or is dropped within a minute: see `munshi approvals show`"),
        _ => CommandFailure::refused(format!("{over}; the act is dropped"))
            .hint("ask the agent again to get a new request"),
    }
}

fn build_report(
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
        named: Named::load(tx, approval)?,
        changed,
        covers,
        by: person.name.clone(),
        wanted: typed.covers,
    })
}

fn render_text(told: &Told, answer: ApprovalDecision) -> String {
    let (by, tool) = (&told.by, &told.named.approval.tool);
    if !told.changed {
        return "Already answered this way; nothing changed.".to_owned();
    }
    let mut text = match (told.named.approval.kind, answer) {
        (ApprovalKind::Act, ApprovalDecision::Yes) => {
            format!("Granted by {by}. {tool} may be called once, exactly as shown.")
        }
        (ApprovalKind::Act, ApprovalDecision::No) => format!("Refused by {by}. {tool} is not called."),
        (ApprovalKind::Outcome, ApprovalDecision::Yes) => format!("Recorded by {by}: {tool} did happen."),
        (ApprovalKind::Outcome, ApprovalDecision::No) => format!("Recorded by {by}: {tool} did not happen."),
    };
    match (told.wanted, told.covers) {
        (ApprovalCoverage::Session, Some("session")) => {
            text += " It won't ask again in this conversation.";
        }
        (ApprovalCoverage::Session, _) => {
            text += " It will ask again: this kind of act needs approval every time.";
        }
        (ApprovalCoverage::Act, _) => {}
    }
    text
}
