//! A decision stage by stage, for whoever wants to know why.

use munshi_identity::PrincipalStanding;
use munshi_types::Autonomy;
use serde::Serialize;

use super::{ActVerdict, DecisionStore, Draft, PolicyRequest, STAGES, StageName, run_stages_observed};
use crate::error::Result;

/// A verdict and the way to it.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionTrace {
    /// What the tool touches with these arguments; empty where there is no such tool.
    pub scope: String,
    pub passed: Vec<PassedStage>,
    /// The stage that decided; none where all let pass.
    pub stopped: Option<StageName>,
    pub verdict: ActVerdict,
}

/// A stage that had nothing against it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PassedStage {
    pub stage: StageName,
    pub why: String,
}

/// Decides as [`decide`](super::decide) does, and tells of every stage on the way.
pub fn trace(ask: &PolicyRequest<'_>, ground: &mut dyn DecisionStore) -> Result<DecisionTrace> {
    let mut passed = Vec::new();
    let verdict = run_stages_observed(&STAGES, ask, ground, &mut |stage, draft| {
        passed.push(PassedStage { stage, why: explain_stage(ask, stage, draft) });
    })?;
    let stopped = STAGES.get(passed.len()).map(|stage| stage.name);
    let scope = ask.tool.as_ref().map(|tool| tool.render_scope(&ask.arguments)).unwrap_or_default();
    Ok(DecisionTrace { scope, passed, stopped, verdict })
}

fn explain_stage(ask: &PolicyRequest<'_>, stage: StageName, draft: &Draft) -> String {
    let Some(tool) = &ask.tool else { return String::new() };
    let (scope, connector) = (&draft.scope, &tool.connector.name);
    let verb = if tool.spec.effect.writes() { "change" } else { "see" };
    match stage {
        StageName::Schema => {
            "the tool is installed and offered, and the arguments match its schema".to_owned()
        }
        StageName::Permission => {
            format!("{} may {verb} {scope}", describe_standing(ask.caller.principal.standing))
        }
        StageName::Door => format!("the {} door allows it", ask.caller.door),
        StageName::Scope => format!("{scope} is allowed for the agent and on {connector}"),
        StageName::Autonomy => explain_autonomy(ask, draft.autonomy),
        StageName::Limits => "no rate limit is reached".to_owned(),
        StageName::Redaction if draft.leaving.is_null() || draft.leaving == *ask.arguments => {
            "no argument is redacted".to_owned()
        }
        StageName::Redaction => format!("some arguments are redacted for {connector}"),
        StageName::Consent if draft.purpose.is_some() && draft.consent.is_none() => {
            "the person consents to its purpose".to_owned()
        }
        StageName::Consent if draft.consent.is_some() => "a person approved it".to_owned(),
        StageName::Consent => "no approval is needed".to_owned(),
    }
}

fn describe_standing(standing: PrincipalStanding) -> String {
    match standing {
        PrincipalStanding::Member(role) => format!("the role {role}"),
        PrincipalStanding::Known => "a known person".to_owned(),
        PrincipalStanding::Anonymous => "anybody".to_owned(),
        PrincipalStanding::Service => "work that nobody typed".to_owned(),
    }
}

/// The lowest counts, so all who say something are told.
fn explain_autonomy(ask: &PolicyRequest<'_>, lowest: Autonomy) -> String {
    let tool = ask.tool.as_ref();
    let conduct = tool.and_then(|tool| {
        ask.policy
            .conduct(&tool.connector.name, tool.connector.conduct.as_ref())
            .map(|conduct| (tool, conduct))
    });
    let mut said = vec![format!("the agent allows {}", ask.agent.autonomy)];
    said.extend(
        conduct.map(|(tool, conduct)| format!("{} allows {}", tool.connector.name, conduct.autonomy)),
    );
    said.extend(ask.policy.most_autonomy.map(|most| format!("the policy allows at most {most}")));
    if tool.is_some_and(|tool| !tool.connector.declares) {
        said.push("a connector that does not declare its tools can only read".to_owned());
    }
    format!("the autonomy is {lowest}: {}", said.join(", "))
}
