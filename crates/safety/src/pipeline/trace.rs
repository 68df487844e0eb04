//! A decision stage by stage, for whoever wants to know why.

use munshi_identity::PrincipalStanding;
use munshi_types::Autonomy;
use serde::Serialize;

use super::{ActVerdict, DecisionStore, Draft, PolicyRequest, STAGES, StageName, follow};
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
    let verdict = follow(&STAGES, ask, ground, &mut |stage, draft| {
        passed.push(PassedStage { stage, why: why(ask, stage, draft) });
    })?;
    let stopped = STAGES.get(passed.len()).map(|stage| stage.name);
    let scope = ask.tool.as_ref().map(|tool| tool.scope(&ask.arguments)).unwrap_or_default();
    Ok(DecisionTrace { scope, passed, stopped, verdict })
}

fn why(ask: &PolicyRequest<'_>, stage: StageName, draft: &Draft) -> String {
    let Some(tool) = &ask.tool else { return String::new() };
    let (scope, connector) = (&draft.scope, &tool.connector.name);
    let verb = if tool.spec.effect.writes() { "change" } else { "see" };
    match stage {
        StageName::Schema => "the tool is there and offered, and the arguments fit it".to_owned(),
        StageName::Permission => {
            format!("{} may {verb} {scope}", standing(ask.caller.principal.standing))
        }
        StageName::Door => format!("it can be reached through the {} door", ask.caller.door),
        StageName::Scope => format!("{scope} is open to the agent and on {connector}"),
        StageName::Autonomy => autonomy(ask, draft.autonomy),
        StageName::Limits => "no limit is reached".to_owned(),
        StageName::Redaction if draft.leaving.is_null() || draft.leaving == *ask.arguments => {
            "nothing in the arguments is hidden".to_owned()
        }
        StageName::Redaction => format!("some of the arguments are hidden from {connector}"),
        StageName::Consent if draft.consent.is_some() => "a person has agreed to it".to_owned(),
        StageName::Consent => "nobody has to be asked".to_owned(),
    }
}

fn standing(standing: PrincipalStanding) -> String {
    match standing {
        PrincipalStanding::Member(role) => format!("the role {role}"),
        PrincipalStanding::Known => "a known person".to_owned(),
        PrincipalStanding::Anonymous => "anybody".to_owned(),
    }
}

/// The lowest counts, so all who say something are told.
fn autonomy(ask: &PolicyRequest<'_>, lowest: Autonomy) -> String {
    let tool = ask.tool.as_ref();
    let conduct = tool.and_then(|tool| {
        ask.policy
            .conduct(&tool.connector.name, tool.connector.conduct.as_ref())
            .map(|conduct| (tool, conduct))
    });
    let mut said = vec![format!("the agent says {}", ask.agent.autonomy)];
    said.extend(conduct.map(|(tool, conduct)| format!("{} says {}", tool.connector.name, conduct.autonomy)));
    said.extend(ask.policy.most_autonomy.map(|most| format!("the policy at most {most}")));
    if tool.is_some_and(|tool| !tool.connector.declares) {
        said.push("a connector that does not declare its tools only looks".to_owned());
    }
    format!("it goes as far as {lowest}: {}", said.join(", "))
}
