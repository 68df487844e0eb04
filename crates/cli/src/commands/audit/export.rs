//! `munshi audit export`

use clap::Args;
use munshi_operations::audit::{ExportAudit, ExportAuditInput};
use munshi_wiring::failure::Result;

use super::TenantScopeArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::{LARGEST_PAGE, OperationTarget};

#[derive(Debug, Args)]
pub(crate) struct AuditExportArguments {
    #[command(flatten)]
    whose: TenantScopeArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

/// One line of JSON each, with or without `--json`.
pub(super) fn run(context: &CommandContext, arguments: &AuditExportArguments) -> Result<()> {
    let of = arguments.whose.selector();
    let target = OperationTarget { of: &of, operator: Some(&arguments.operator) };
    let mut input = ExportAuditInput { after: None, limit: Some(LARGEST_PAGE) };
    loop {
        let part = context.run_operation::<ExportAudit>(&target, &input)?;
        for line in &part.lines {
            context.output.print(line)?;
        }
        match part.next {
            Some(next) => input.after = Some(next),
            None => return Ok(()),
        }
    }
}
