//! A tool that is not installed, described in a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use munshi_safety::pipeline::{CompiledTool, ConnectorOrigin, ToolConnector};
use munshi_types::ToolSpec;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::tools;
use serde_json::{Map, Value};

/// More than any description has.
const LARGEST: u64 = 1 << 20;

#[derive(Debug, Args)]
pub(super) struct ToolSpecArguments {
    /// JSON file that describes a tool that is not installed: scope, effect, reach, parameters …
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// With --spec: the tool's connector
    #[arg(long, value_name = "NAME", requires = "spec", default_value = "foreign")]
    connector: String,
    /// With --spec: a built-in pack, not a third party
    #[arg(long, requires = "spec")]
    house: bool,
    /// With --spec: the connector does not declare its tools
    #[arg(long, requires = "spec")]
    undeclared: bool,
}

impl ToolSpecArguments {
    /// The tool, from the file or as it is installed; none where there is none.
    pub(super) fn find(&self, name: &str) -> Result<Option<Arc<CompiledTool>>> {
        let Some(path) = &self.spec else {
            return Ok(tools::registry()?.get(name).map(|tool| tool.known.clone()));
        };
        let connector = ToolConnector {
            name: self.connector.clone(),
            origin: if self.house { ConnectorOrigin::BuiltIn } else { ConnectorOrigin::Foreign },
            declares: !self.undeclared,
            conduct: None,
        };
        let known = CompiledTool::new(read(path, name)?, connector);
        known.map(|known| Some(Arc::new(known))).map_err(|bad| CommandFailure::usage(bad.to_string()))
    }
}

/// What the file says over what a tool that only looks would be.
fn read(path: &Path, name: &str) -> Result<ToolSpec> {
    let shown = path.display();
    let wrong = |what: String| CommandFailure::usage(format!("{shown}: {what}"));
    let size = std::fs::metadata(path)
        .map_err(|error| CommandFailure::not_found(format!("can't read {shown}: {error}")))?;
    if size.len() > LARGEST {
        return Err(wrong(format!("it has {} bytes; the maximum is {LARGEST}", size.len())));
    }
    let text = std::fs::read_to_string(path).map_err(|error| wrong(format!("it can't be read: {error}")))?;
    let given: Map<String, Value> =
        serde_json::from_str(&text).map_err(|error| wrong(format!("it is not a JSON object: {error}")))?;
    if given.get("name").is_some_and(|other| other != name) {
        return Err(wrong(format!("it describes another tool than {name}")));
    }
    if !given.contains_key("scope") {
        return Err(wrong("`scope` is missing, such as ledger.sale.add".to_owned()));
    }
    let name = name
        .parse()
        .map_err(|error: munshi_types::ToolNameError| CommandFailure::usage(error.to_string()))?;
    let usual =
        serde_json::to_value(ToolSpec::read_only(name, "", "")).map_err(|error| wrong(error.to_string()))?;
    let Value::Object(mut whole) = usual else { return Err(wrong("it can't be read".to_owned())) };
    if let Some(other) = given.keys().find(|key| !whole.contains_key(*key)) {
        let known: Vec<&str> = whole.keys().map(String::as_str).collect();
        return Err(wrong(format!("unknown key `{other}`")).hint(format!("known keys: {}", known.join(", "))));
    }
    whole.extend(given);
    serde_json::from_value(Value::Object(whole)).map_err(|error| wrong(error.to_string()))
}
