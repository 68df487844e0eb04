//! Hands a conversation on, or back to where it began.

use munshi_conversations::handoffs::{self, HandoffBundle, ManualHandoff, ManualHandoffOutcome};
use munshi_identity::keys::{ApiAccess, Area, KeySpeaker};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_types::SessionId;
use munshi_types::tier::Destination;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::HandoffView;
use crate::sessions::find;
use crate::turn_errors::convert_turn_error;
use crate::{HouseCall, HouseServices};

/// Where a session began.
const FRONT: &str = "front";
const LONGEST_REASON: usize = 300;
const LONGEST_SUMMARY: usize = 1_500;

/// A session, and where it goes.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MakeHandoffInput {
    /// The session.
    #[schema(value_type = uuid::Uuid)]
    pub id: SessionId,
    /// A team's name or `binding/NAME`, as the team where it is may hand over to; or `front`, for where it began.
    #[schema(max_length = 80, example = "front")]
    pub to: String,
    /// Why, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 300)]
    pub reason: Option<String>,
    /// What those who take over should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1500)]
    pub summary: Option<String>,
}

pub struct MakeHandoff;

impl Operation<HouseServices> for MakeHandoff {
    type Input = MakeHandoffInput;
    type View = HandoffView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "handoffs",
        noun: "handoff",
        command: "handoffs",
        verb: "make",
        about: "Hand a session over along the ways of the team where it is, or back to where it began.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Write),
        effect: OperationEffect::Write(&["conversation.handed_over"]),
        method: RouteMethod::Post,
        path: "/v1/sessions/{id}/handoffs",
    };

    async fn run(call: &HouseCall, input: MakeHandoffInput) -> Result<HandoffView, OperationError> {
        let to = read_destination(&input.to)?;
        let bundle = HandoffBundle {
            reason: check_length("reason", input.reason, LONGEST_REASON)?,
            summary: check_length("summary", input.summary, LONGEST_SUMMARY)?,
            open_questions: Vec::new(),
        };
        let (caller, id, now) = (call.caller.clone(), call.ids.next(), call.now);
        let is_program = caller.speaks_as() == KeySpeaker::Program;
        let person = caller.api_caller().and_then(|api| api.principal.person);
        let made = call.write(move |tx| {
            let session = find(tx, &caller, input.id)?;
            let wanted = ManualHandoff { id, person, is_program, to, bundle, now };
            let made = handoffs::hand_over(tx, &session, &wanted).map_err(convert_turn_error)?;
            let handoff = match made {
                // Whoever reaches one binding alone sends nobody to another.
                ManualHandoffOutcome::Done(handoff) if !caller.reaches(handoff.to.binding) => {
                    return Err(OperationError::new(OperationErrorCode::Forbidden, "This key does not reach that binding."));
                }
                ManualHandoffOutcome::Done(handoff) => *handoff,
                ManualHandoffOutcome::NotAllowed(ways) => return Err(describe_ways(&ways)),
                ManualHandoffOutcome::Nowhere => {
                    let what = "Nobody is there: it was archived or removed.";
                    return Err(OperationError::new(OperationErrorCode::Conflict, what));
                }
            };
            let payload = json!({ "handoff": handoff.id, "destination": handoff.destination, "from": handoff.from,
                                  "to": handoff.to });
            tx.note("conversation.handed_over", session.id.to_string(), payload);
            Ok(handoff)
        });
        Ok(made.await?.into())
    }
}

fn read_destination(text: &str) -> Result<Option<Destination>, OperationError> {
    let invalid = |what: String| OperationError::new(OperationErrorCode::Invalid, what);
    match text.trim() {
        FRONT => Ok(None),
        text => match text.parse() {
            Ok(Destination::Person) => {
                Err(invalid("A person is asked to take over by the persona alone.".to_owned())
                    .hint("Name a team, binding/NAME, or front."))
            }
            Ok(destination) => Ok(Some(destination)),
            Err(error) => Err(invalid(error)),
        },
    }
}

fn describe_ways(ways: &[String]) -> OperationError {
    let conflict = |what: String| OperationError::new(OperationErrorCode::Conflict, what);
    match ways.is_empty() {
        true => conflict("The team where this session is hands over to nobody.".to_owned())
            .hint("Add [[handoffs]] to its file, or name front."),
        false => conflict(format!(
            "The team where this session is hands over to {} and nobody else.",
            ways.join(", ")
        )),
    }
}

fn check_length(field: &str, text: Option<String>, longest: usize) -> Result<String, OperationError> {
    let text = text.unwrap_or_default();
    if text.chars().count() > longest {
        let what = format!("`{field}` has more than {longest} characters.");
        return Err(OperationError::new(OperationErrorCode::Invalid, what));
    }
    Ok(text.trim().to_owned())
}
