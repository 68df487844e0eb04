//! `munshi policy log`

use munshi_safety::policy::{self, Policy, PolicyVersion};
use munshi_tiers::plan::{FieldChange, diff_fields};
use munshi_types::TenantName;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::sanitize_line;

#[derive(Debug, Serialize)]
struct Log {
    tenant: TenantName,
    versions: Vec<Entry>,
}

/// A version and how it differs from the one before.
#[derive(Debug, Serialize)]
struct Entry {
    #[serde(flatten)]
    version: PolicyVersion,
    changes: Vec<FieldChange>,
}

pub(super) fn run(context: &CommandContext, of: &TenantSelectorArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let (tenant, versions) = context.block_on(async {
        let db = database.open().await?;
        let tenant = of.find(&db).await?;
        Ok((tenant.name, db.read(tenant.id, policy::list_versions).await?))
    })?;
    let before = versions.iter().skip(1).map(|(_, policy)| policy.clone()).chain([Policy::default()]);
    let entries = versions.iter().zip(before).map(|((version, policy), before)| {
        let changes = diff_fields(&policy::to_minimal_map(&before)?, &policy::to_minimal_map(policy)?);
        Ok(Entry { version: version.clone(), changes })
    });
    let log = Log { tenant, versions: entries.collect::<Result<_>>()? };
    context.output.print_result(&log, render_text)
}

fn render_text(log: &Log, painter: TextStyler) -> String {
    if log.versions.is_empty() {
        return format!(
            "{} has no policy yet. Add a policy.toml to its folder and run `munshi apply`.",
            log.tenant
        );
    }
    let mut text = String::new();
    for (at, Entry { version, changes }) in log.versions.iter().enumerate() {
        let in_force = if at == 0 { " (in force)" } else { "" };
        let head = painter.bold(&format!("version {}{in_force}", version.version));
        text += &format!(
            "{head}  {}  {}\n",
            painter.dim(&format_time(version.made_at)),
            sanitize_line(&version.author)
        );
        if !version.note.is_empty() {
            text += &format!("    {}\n", sanitize_line(&version.note));
        }
        changes.iter().for_each(|change| text += &change.render_full());
    }
    text
}
