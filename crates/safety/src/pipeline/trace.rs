//! A decision stage by stage, for whoever wants to know why.

use munshi_identity::Standing;
use munshi_types::Autonomy;
use serde::Serialize;

use super::{Ask, Draft, Ground, STAGES, StageName, Verdict, follow};
use crate::error::Result;

/// A verdict and the way to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// What the tool touches with these arguments; empty where there is no such tool.
    pub scope: String,
    pub passed: Vec<Passed>,
    /// The stage that decided; none where all let pass.
    pub stopped: Option<StageName>,
    pub verdict: Verdict,
}

/// A stage that had nothing against it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Passed {
    pub stage: StageName,
    pub why: String,
}

/// Decides as [`decide`](super::decide) does, and tells of every stage on the way.
pub fn trace(ask: &Ask<'_>, ground: &mut dyn Ground) -> Result<Trace> {
    let mut passed = Vec::new();
    let verdict = follow(&STAGES, ask, ground, &mut |stage, draft| {
        passed.push(Passed { stage, why: why(ask, stage, draft) });
    })?;
    let stopped = STAGES.get(passed.len()).map(|stage| stage.name);
    let scope = ask.tool.as_ref().map(|tool| tool.scope(&ask.arguments)).unwrap_or_default();
    Ok(Trace { scope, passed, stopped, verdict })
}

fn why(ask: &Ask<'_>, stage: StageName, draft: &Draft) -> String {
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

fn standing(standing: Standing) -> String {
    match standing {
        Standing::Member(role) => format!("the role {role}"),
        Standing::Known => "a known person".to_owned(),
        Standing::Anonymous => "anybody".to_owned(),
    }
}

/// The lowest counts, so all who say something are told.
fn autonomy(ask: &Ask<'_>, lowest: Autonomy) -> String {
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
