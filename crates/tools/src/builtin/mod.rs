//! Tools that every installation has: what day it is, and sums that are right. What needs the tables of a crate above stands there, such as
//! `search_messages` in `conversations/src/search/tool.rs`. `wiring/src/packs.rs` installs all of them.

mod calculate;
mod fraction;
mod today;

use std::sync::Arc;

use munshi_safety::pipeline::{ConnectorOrigin, InvalidTool, ToolConnector};
use munshi_types::{Autonomy, Clock, Conduct, HOUSE};

use crate::handler::ToolHandler;
use crate::registry::ToolRegistry;

/// The name under which a policy speaks of them.
pub const NAME: &str = HOUSE;

/// Installs them. They only look, and anybody may use them unless a policy says otherwise.
pub fn install(registry: &mut ToolRegistry, clock: Arc<dyn Clock>) -> Result<(), InvalidTool> {
    let today = today::spec().map_err(|error| misnamed(&error))?;
    registry.add_of_pack(
        NAME,
        today,
        connector(),
        ToolHandler::Read(Arc::new(today::TodayTool { clock })),
    )?;
    let calculate = calculate::spec().map_err(|error| misnamed(&error))?;
    registry.add_of_pack(NAME, calculate, connector(), ToolHandler::Read(Arc::new(calculate::CalculateTool)))
}

/// Whose tools they are, and those that a crate above installs beside them.
pub fn connector() -> ToolConnector {
    let everything = format!("{NAME}.*").parse().into_iter().collect();
    let conduct = Conduct { autonomy: Autonomy::Investigate, read: everything, ..Conduct::default() };
    ToolConnector {
        name: NAME.to_owned(),
        origin: ConnectorOrigin::BuiltIn,
        declares: true,
        conduct: Some(conduct),
    }
}

fn misnamed(error: &munshi_types::ToolNameError) -> InvalidTool {
    InvalidTool { tool: NAME.to_owned(), what: error.to_string() }
}
