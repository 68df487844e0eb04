//! A table of notes, a tool that writes it, and what the declarations of tools in tests share.

use munshi_safety::acts::Permit;
use munshi_store::{Migration, Result, Tx, params};
use munshi_tools::{ConnectorOrigin, ToolConnector, ToolFailure, ToolOutput, UndoCall, WriteToolHandler};
use munshi_types::{Effect, Reach, ToolSpec};
use serde_json::json;

pub const MIGRATIONS: &[Migration] = &[Migration {
    name: "9001_notes",
    text: "CREATE TENANT TABLE notes (tenant_id UUID NOT NULL, act_id UUID NOT NULL, text TEXT NOT NULL,
           PRIMARY KEY (tenant_id, act_id));",
}];

/// Everything open to the tools of [`build_house_connector`] and [`build_foreign_connector`].
pub const OPEN_POLICY: &str = "[connectors.shop]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n\
                               [connectors.elsewhere]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";

/// Writes its `text` as a note, in our own transaction.
pub struct NoteTool;

impl WriteToolHandler for NoteTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> std::result::Result<ToolOutput, ToolFailure> {
        let text = permit.arguments()["text"].as_str().unwrap_or_default();
        tx.execute(
            "INSERT INTO notes (tenant_id, act_id, text) VALUES ($1, $2, $3)",
            params![permit.act(), text],
        )?;
        let undo = UndoCall::new(UNNOTE.parse().unwrap(), json!({ "text": text }));
        Ok(ToolOutput { undo: Some(undo), ..ToolOutput::new(json!({ "noted": text })) })
    }
}

/// The name that [`UnnoteTool`] goes by.
pub const UNNOTE: &str = "unnote";

/// Takes back the notes of its `text`.
pub struct UnnoteTool;

impl WriteToolHandler for UnnoteTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> std::result::Result<ToolOutput, ToolFailure> {
        let text = permit.arguments()["text"].as_str().unwrap_or_default();
        let gone = tx.execute("DELETE FROM notes WHERE tenant_id = $1 AND text = $2", params![text])?;
        if gone == 0 {
            return Err(ToolFailure::permanent("not_found", "there is no such note"));
        }
        Ok(ToolOutput::new(json!({ "gone": gone })))
    }
}

pub fn count_notes(tx: &mut Tx<'_>) -> Result<i64> {
    tx.one("SELECT COUNT(*) FROM notes WHERE tenant_id = $1", params![], |row| row.get(0))
}

/// A tool that takes a text and is for whoever works here.
pub fn build_spec(name: &str, effect: Effect) -> ToolSpec {
    ToolSpec {
        parameters: json!({ "type": "object", "properties": { "text": { "type": "string" } } }),
        effect,
        reach: Reach::Business,
        ..ToolSpec::read_only(name.parse().unwrap(), format!("Does {name}."), format!("shop.{name}"))
    }
}

/// Tools of our own.
pub fn build_house_connector() -> ToolConnector {
    ToolConnector { name: "shop".to_owned(), origin: ConnectorOrigin::BuiltIn, declares: true, conduct: None }
}

/// Tools of others.
pub fn build_foreign_connector() -> ToolConnector {
    ToolConnector {
        name: "elsewhere".to_owned(),
        origin: ConnectorOrigin::Foreign,
        ..build_house_connector()
    }
}
