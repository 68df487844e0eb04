//! The two tools every installation has: what day it is, and sums that are right.

mod calculate;
mod exact;
mod today;

use std::sync::Arc;

use munshi_safety::pipeline::{BadTool, Connector, Maker};
use munshi_types::{Autonomy, Clock, Conduct};

use crate::body::Body;
use crate::registry::Registry;

/// The name under which a policy speaks of them.
pub const NAME: &str = "house";

/// Installs them. They only look, and anybody may use them unless a policy says otherwise.
pub fn install(registry: &mut Registry, clock: Arc<dyn Clock>) -> Result<(), BadTool> {
    let today = today::spec().map_err(|error| misnamed(&error))?;
    registry.add(today, connector(), Body::Look(Arc::new(today::Today { clock })))?;
    let calculate = calculate::spec().map_err(|error| misnamed(&error))?;
    registry.add(calculate, connector(), Body::Look(Arc::new(calculate::Calculate)))
}

fn connector() -> Connector {
    let everything = format!("{NAME}.*").parse().into_iter().collect();
    let conduct = Conduct { autonomy: Autonomy::Investigate, read: everything, ..Conduct::default() };
    Connector { name: NAME.to_owned(), maker: Maker::House, declares: true, conduct: Some(conduct) }
}

fn misnamed(error: &munshi_types::ToolNameError) -> BadTool {
    BadTool { tool: NAME.to_owned(), what: error.to_string() }
}
