//! `munshi audit verify`

use std::process::ExitCode;

use clap::Args;
use munshi_operations::audit::{
    AnchorAudit, AuditVerificationView, ChainVerificationView, VerifyAudit, VerifyAuditInput,
};
use munshi_types::TenantId;
use munshi_wiring::failure::{CommandFailure, Exit, Result};

use super::TenantScopeArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::formatting::format_count;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

#[derive(Debug, Args)]
pub(crate) struct AuditVerifyArguments {
    #[command(flatten)]
    whose: TenantScopeArguments,
    /// Then anchor every valid chain: store its length and hash outside the database
    #[arg(long)]
    anchor: bool,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &AuditVerifyArguments) -> Result<ExitCode> {
    let of = arguments.whose.selector();
    let verified = if arguments.anchor {
        if of.name().is_some() {
            return Err(CommandFailure::usage("every chain is anchored at once").hint("leave --tenant out"));
        }
        let target = OperationTarget::installation(Some(&arguments.operator));
        context.run_operation::<AnchorAudit>(&target, &VerifyAuditInput {})?
    } else {
        let target = OperationTarget { of: &of, operator: None };
        context.run_operation::<VerifyAudit>(&target, &VerifyAuditInput {})?
    };
    context.output.print_result(&verified, render_text)?;
    Ok(if verified.ok { ExitCode::SUCCESS } else { Exit::Failed.into() })
}

fn render_text(verified: &AuditVerificationView, painter: TextStyler) -> String {
    let mut table = OutputTable::new(&["WHOSE", "ENTRIES", "ANCHORS", ""]);
    for chain in &verified.chains {
        table.add_row([
            format_owner(chain).into(),
            chain.entries.to_string().into(),
            chain.anchors.to_string().into(),
            match &chain.words {
                None => OutputTableCell::new("sound", OutputCellStyle::Good),
                Some(words) => OutputTableCell::new(words.clone(), OutputCellStyle::Bad),
            },
        ]);
    }
    let mut text = table.render(painter);
    if let Some(flaw) = &verified.flaw {
        let what = flaw["what"].as_str().unwrap_or_default();
        text += &format!("\nThe anchor file was altered: line {}, {what}.\n", flaw["line"]);
        text += "Anchoring stops until you restore it or run `munshi audit restart-anchors`.\n";
    }
    if verified.anchored > 0 {
        text += &format!("\nWrote {}.\n", format_count(verified.anchored as u64, "anchor"));
    }
    text + if verified.ok { "\nThe audit log is intact.\n" } else { "\nThe audit log was tampered with.\n" }
}

fn format_owner(chain: &ChainVerificationView) -> String {
    match &chain.tenant_name {
        Some(name) => name.clone(),
        None if chain.tenant == TenantId::PLATFORM => "(installation)".to_owned(),
        None => chain.tenant.to_string(),
    }
}
