//! Last: apply, rehearse, or ask a person first?

use munshi_identity::{Role, may_approve};
use munshi_types::{Autonomy, Egress, ToolSpec};
use serde::{Deserialize, Serialize};

use super::decision_store::ConsentGrant;
use super::purpose::{self, PurposeOutcome};
use super::refusal::{ActRefusal, RefusalCode};
use super::taint::ArgumentFacts;
use super::{
    ActClearance, ActVerdict, DecisionStore, Draft, PolicyRequest, ProposalMode, StageName, Step, egress,
    refuse,
};
use crate::consents::PurposeQuestion;
use crate::error::Result;

/// Why a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsentReason {
    /// The agent or connector only proposes.
    Proposes,
    /// The policy wants it asked.
    Policy,
    Dangerous,
    Destructive,
    Money,
    /// Words to somebody else that nobody has seen.
    Message,
    /// Other people's text led here.
    #[serde(rename = "foreign")]
    Tainted,
    /// A check found something unusual.
    Concern,
    /// A look that may carry away what the run knows, where other people's text led.
    Egress,
    /// The person has not agreed to what the tool is for.
    Purpose,
}

impl ConsentReason {
    /// Who has to say yes.
    const fn required_giver(self) -> ConsentGiver {
        match self {
            Self::Destructive | Self::Tainted | Self::Concern | Self::Egress => ConsentGiver::Asker,
            Self::Purpose => ConsentGiver::Subject,
            Self::Proposes | Self::Policy | Self::Dangerous | Self::Money | Self::Message => {
                ConsentGiver::Approver
            }
        }
    }

    /// Whether "don't ask again" can cover it for a conversation.
    pub const fn is_waivable(self) -> bool {
        matches!(self, Self::Proposes | Self::Policy)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsentGiver {
    /// Whoever asked for it confirms that they meant it.
    Asker,
    /// Whoever it is done for agrees to what it is for, and nobody in their place.
    Subject,
    /// Somebody whose role may approve it.
    Approver,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    Low,
    Medium,
    High,
}

/// What a person has to be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentQuestion {
    pub reasons: Vec<ConsentReason>,
    pub needs: ConsentGiver,
    pub risk: Risk,
    /// What they are asked to consent to, where the tool needs that: then it is theirs alone to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<PurposeQuestion>,
}

pub(super) fn run(
    ask: &PolicyRequest<'_>,
    draft: &mut Draft,
    ground: &mut dyn DecisionStore,
) -> Result<Step> {
    let Some(tool) = &ask.tool else { return Ok(Step::On) };
    let leaves = egress::decide(ask.proposal);
    // A rehearsal is given the arguments, too, and nobody is asked before one.
    let is_refused = match (ask.wanted, leaves) {
        (_, Egress::Allow) => false,
        (ProposalMode::Rehearsal, Egress::Ask | Egress::Deny) => true,
        (ProposalMode::Act, leaves) => leaves == Egress::Deny && !tool.spec.effect.writes(),
    };
    if is_refused {
        let what = "What it would be given are not the person's own words, and may carry away what was read. Call it with \
                    their words, or answer without it.";
        return refuse(
            ActRefusal::new(StageName::Consent, RefusalCode::CarriesData, what)
                .with_approver(Some(Role::Owner)),
        );
    }
    let purpose = match purpose::check(ask, &tool.spec, ground)? {
        PurposeOutcome::Open(consent) => {
            draft.purpose = consent;
            None
        }
        PurposeOutcome::Ask(question) => Some(question),
        PurposeOutcome::Refuse(refusal) => return refuse(refusal),
    };
    if ask.wanted == ProposalMode::Rehearsal {
        return rehearse(ask, draft, &tool.spec);
    }
    let reasons = match tool.spec.effect.writes() {
        true => collect_reasons(ask, draft, ground)?,
        false => (leaves == Egress::Ask).then_some(ConsentReason::Egress).into_iter().collect(),
    };
    if let Some(purpose) = purpose {
        return Ok(Step::Stop(ActVerdict::Ask(build_purpose_question(purpose, reasons, &tool.spec))));
    }
    if reasons.is_empty() {
        if draft.purpose.is_some() {
            // The yes by which they agreed is used up with the act that it was asked for.
            draft.consent = match ground.find_consent(ask, &reasons)? {
                Some(ConsentGrant::Act(approval, _) | ConsentGrant::Purpose(approval)) => Some(approval),
                _ => None,
            };
        }
        return Ok(Step::On);
    }
    if tool.spec.sends.as_ref().is_some_and(|sending| sending.audience.is_some()) {
        return refuse_unseen_words();
    }
    let needs = resolve_giver(&reasons);
    match ground.find_consent(ask, &reasons)? {
        Some(ConsentGrant::Act(approval, asked)) if is_enough(ask, draft, needs, asked) => {
            draft.consent = Some(approval);
        }
        // Whoever confirmed their own wish has not approved what somebody else must approve since.
        Some(ConsentGrant::Act(..) | ConsentGrant::Purpose(_)) => {
            let what =
                "What was agreed to is no longer enough. Propose it anew, so that the right person is asked.";
            return refuse(
                ActRefusal::new(StageName::Consent, RefusalCode::Outgrown, what)
                    .with_approver(Some(Role::Admin)),
            );
        }
        Some(ConsentGrant::Session(approval)) if reasons.iter().all(|reason| reason.is_waivable()) => {
            draft.consent = Some(approval);
        }
        _ => return Ok(Step::Stop(ActVerdict::Ask(build_question(reasons, &tool.spec)))),
    }
    Ok(Step::On)
}

/// A tool for a whole audience makes its words when it sends: a yes would be to words that nobody has seen.
fn refuse_unseen_words() -> Result<Step> {
    let what = "Somebody has to approve this, and its words can't be shown to them. Draft the words, and send them with the tool \
                that has them approved.";
    refuse(ActRefusal::new(StageName::Consent, RefusalCode::TooFar, what))
}

/// Whether the yes of one who was asked is that of whoever is needed by now: who agrees for themself and may approve has done both.
fn is_enough(ask: &PolicyRequest<'_>, draft: &Draft, needs: ConsentGiver, asked: ConsentGiver) -> bool {
    let who = &ask.caller.principal;
    let approves = || {
        matches!(who.role(), Some(Role::Owner | Role::Admin))
            && may_approve(who, &ask.policy.roles, &draft.scope)
    };
    needs <= asked || (asked == ConsentGiver::Subject && approves())
}

fn rehearse(ask: &PolicyRequest<'_>, draft: &mut Draft, spec: &ToolSpec) -> Result<Step> {
    if spec.effect.writes() && !spec.dry_run {
        let what = "This tool can't be tried out. Say what it would do, in words.";
        return refuse(ActRefusal::new(StageName::Consent, RefusalCode::NoRehearsal, what));
    }
    let leaving = if draft.leaving.is_null() { (*ask.arguments).clone() } else { draft.leaving.take() };
    let cleared =
        ActClearance { arguments: leaving, autonomy: draft.autonomy, approval: None, consent: draft.purpose };
    Ok(Step::Stop(ActVerdict::Rehearse(cleared)))
}

fn collect_reasons(
    ask: &PolicyRequest<'_>,
    draft: &Draft,
    ground: &mut dyn DecisionStore,
) -> Result<Vec<ConsentReason>> {
    let Some(tool) = &ask.tool else { return Ok(Vec::new()) };
    let spec = &tool.spec;
    let connector = ask.policy.conduct(&tool.connector.name, tool.connector.conduct.as_ref());
    let asked = ask.agent.requires_approval(&draft.scope)
        || connector.is_some_and(|conduct| conduct.requires_approval(&draft.scope));
    let unseen = spec.sends.is_some() && !is_authorised(ask, spec, ground)?;
    let names = ArgumentFacts {
        is_named: &|name| tool.has_argument(name),
        counts_paise: &|name| tool.counts_paise(name),
    };
    let foreign = !ask.taint.is_clean() && !ask.taint.own_words_cover(&ask.arguments, names);
    let found = [
        (draft.autonomy < Autonomy::Act, ConsentReason::Proposes),
        (asked, ConsentReason::Policy),
        (spec.dangerous, ConsentReason::Dangerous),
        (spec.destructive, ConsentReason::Destructive),
        (spec.money, ConsentReason::Money),
        (unseen, ConsentReason::Message),
        (foreign, ConsentReason::Tainted),
        (!ask.concerns.is_empty(), ConsentReason::Concern),
    ];
    Ok(found.into_iter().filter_map(|(is, reason)| is.then_some(reason)).collect())
}

/// Whether the owner has agreed beforehand to this template for the audience the recipient belongs to.
fn is_authorised(ask: &PolicyRequest<'_>, spec: &ToolSpec, ground: &mut dyn DecisionStore) -> Result<bool> {
    let Some(sending) = &spec.sends else { return Ok(false) };
    let argument = |name: &str| ask.arguments.get(name).and_then(serde_json::Value::as_str);
    let template = sending.template.as_deref().and_then(argument);
    let (Some(recipient), Some(template)) = (argument(&sending.to), template) else { return Ok(false) };
    for authorised in ask.policy.list_authorised(spec, template) {
        let audience = authorised.audience.as_str();
        let is_member =
            sending.audience.as_deref() == Some(audience) || ground.is_in_audience(recipient, audience)?;
        if is_member && ground.take_unasked(ask, authorised)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn resolve_giver(reasons: &[ConsentReason]) -> ConsentGiver {
    reasons.iter().map(|reason| reason.required_giver()).max().unwrap_or(ConsentGiver::Approver)
}

fn build_question(reasons: Vec<ConsentReason>, spec: &ToolSpec) -> ConsentQuestion {
    let needs = resolve_giver(&reasons);
    let risk = match () {
        () if spec.dangerous => Risk::High,
        () if spec.money || spec.destructive || spec.sends.is_some() => Risk::Medium,
        () if reasons.contains(&ConsentReason::Egress) => Risk::Medium,
        () => Risk::Low,
    };
    ConsentQuestion { reasons, needs, risk, purpose: None }
}

/// The question whether they agree, with what else has to be asked about the act: it is the same person's to answer.
fn build_purpose_question(
    purpose: PurposeQuestion,
    others: Vec<ConsentReason>,
    spec: &ToolSpec,
) -> ConsentQuestion {
    let reasons = [ConsentReason::Purpose].into_iter().chain(others).collect();
    let question = build_question(reasons, spec);
    ConsentQuestion {
        needs: ConsentGiver::Subject,
        risk: question.risk.max(Risk::Medium),
        purpose: Some(purpose),
        ..question
    }
}
