//! Whose names a model elsewhere does not read, in a call that is no turn's.

use munshi_conversations::marks::ReplyMarks;
use munshi_conversations::messages::Message;
use munshi_conversations::sessions::Session;
use munshi_conversations::{Result, RunEvent};
use munshi_privacy::{ProtectedPeople, PseudonymRedactor, PseudonymTable};
use munshi_types::tier::LanguageCode;
use munshi_types::{Script, TenantId};

use crate::engine::TurnEngineInner;
use crate::entities::SessionEntities;
use crate::mask_people;

/// Tokens of this one call: what comes back stands in the person's own words again. Hidden are all whom a turn would
/// hide: those the tenant and its packs know, those the conversation spoke of, those its tools named.
pub(crate) fn build_call_redactor(
    (engine, tenant): (&TurnEngineInner, TenantId),
    (session, people): (&Session, &ProtectedPeople),
    language: Option<&LanguageCode>,
    messages: &[Message],
) -> Result<PseudonymRedactor> {
    let script = match language.and_then(LanguageCode::language) {
        Some(known) if !language.is_some_and(LanguageCode::is_latin) => known.script(),
        _ => Script::Latin,
    };
    let known = engine.people.get_or_build(tenant, people);
    let veil = PseudonymRedactor::new(known, PseudonymTable::new(tenant, session.person), script)
        .map_err(|crossed| munshi_safety::Error::Invalid(crossed.to_string()))?;
    veil.add_names(mask_people::list_known_people(&SessionEntities::from_stored(&session.entities)));
    for said in messages {
        let marks: ReplyMarks = serde_json::from_value(said.marks.clone()).unwrap_or_default();
        for mark in marks.events {
            if let RunEvent::ToolResult { tool, result, .. } = mark.event {
                let tool = engine.dispatcher.registry().get(&tool);
                let scope = tool.map_or("", |tool| &tool.known.spec.scope);
                veil.add_names(mask_people::extract_people(&result, scope));
            }
        }
    }
    Ok(veil)
}
