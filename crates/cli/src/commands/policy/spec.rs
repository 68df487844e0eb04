//! A tool that is not installed, described in a file.

use std::path::{Path, PathBuf};

use clap::Args;
use munshi_operations::policy::DescribedToolInput;
use munshi_wiring::failure::{CommandFailure, Result};
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
    /// What the file says; none where there is none.
    pub(super) fn read(&self) -> Result<Option<DescribedToolInput>> {
        let Some(path) = &self.spec else { return Ok(None) };
        Ok(Some(DescribedToolInput {
            tool: read(path)?,
            connector: Some(self.connector.clone()),
            built_in: Some(self.house),
            undeclared: Some(self.undeclared),
        }))
    }
}

fn read(path: &Path) -> Result<Map<String, Value>> {
    let shown = path.display();
    let wrong = |what: String| CommandFailure::usage(format!("{shown}: {what}"));
    let size = std::fs::metadata(path)
        .map_err(|error| CommandFailure::not_found(format!("can't read {shown}: {error}")))?;
    if size.len() > LARGEST {
        return Err(wrong(format!("it has {} bytes; the maximum is {LARGEST}", size.len())));
    }
    let text = std::fs::read_to_string(path).map_err(|error| wrong(format!("it can't be read: {error}")))?;
    serde_json::from_str(&text).map_err(|error| wrong(format!("it is not a JSON object: {error}")))
}
