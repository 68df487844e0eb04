//! What was imported as files, for somebody to look at and then apply.

use munshi_types::tier::{Agent, Human, Team, TierKind};
use serde::Serialize;
use serde_json::{Map, Value};

use super::ImportedWorkspace;
use crate::draft::TierBody;
use crate::files::render;

impl ImportedWorkspace {
    /// Paths within a tenant's folder and the files' texts. Only what differs from the defaults is written.
    pub fn files(&self) -> Vec<(String, String)> {
        let bodies = [
            (TierKind::Human, body(&self.human, Some(&Human::default()))),
            (TierKind::Team, body(&self.team, Some(&Team::default()))),
            (TierKind::Agent, body(&self.agent, Some(&Agent::default()))),
            (TierKind::Binding, body(&self.binding, None)),
        ];
        let path = |kind: TierKind| format!("{}/{}.{}", kind.folder(), self.name, kind.extension());
        bodies.into_iter().map(|(kind, body)| (path(kind), render(kind, &body))).collect()
    }
}

fn body<T: Serialize>(tier: &T, default: Option<&T>) -> TierBody {
    let object = |value: &T| match serde_json::to_value(value) {
        Ok(Value::Object(body)) => body,
        _ => Map::new(),
    };
    strip_defaults(object(tier), &default.map(object).unwrap_or_default())
}

/// Without nothings and without what is the same by default.
fn strip_defaults(body: TierBody, default: &TierBody) -> TierBody {
    let told = body.into_iter().filter_map(|(key, value)| {
        let usual = default.get(&key);
        match value {
            Value::Null => None,
            Value::Array(items) if items.is_empty() => None,
            same if Some(&same) == usual => None,
            Value::Object(inner) => {
                let none = Map::new();
                let inner = strip_defaults(inner, usual.and_then(Value::as_object).unwrap_or(&none));
                (!inner.is_empty()).then_some((key, Value::Object(inner)))
            }
            other => Some((key, other)),
        }
    });
    told.collect()
}
