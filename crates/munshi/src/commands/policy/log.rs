//! `munshi policy log`

use munshi_safety::policy::{self, Policy, PolicyVersion};
use munshi_tiers::plan::{FieldChange, fields};
use munshi_types::TenantName;
use serde::Serialize;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::failure::Result;
use crate::output::TextStyler;
use crate::output::shown::moment;
use crate::output::table::harmless;
use crate::wiring::database::ConfiguredDatabase;

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
    let database = ConfiguredDatabase::for_one_question(&context.config()?)?;
    let (tenant, versions) = context.block_on(async {
        let db = database.open().await?;
        let tenant = of.find(&db).await?;
        Ok((tenant.name, db.read(tenant.id, policy::history).await?))
    })?;
    let before = versions.iter().skip(1).map(|(_, policy)| policy.clone()).chain([Policy::default()]);
    let entries = versions.iter().zip(before).map(|((version, policy), before)| {
        let changes = fields(&policy::written(&before)?, &policy::written(policy)?);
        Ok(Entry { version: version.clone(), changes })
    });
    let log = Log { tenant, versions: entries.collect::<Result<_>>()? };
    context.output.answer(&log, words)
}

fn words(log: &Log, painter: TextStyler) -> String {
    if log.versions.is_empty() {
        return format!(
            "{} has no policy yet. A policy.toml in its folder and `munshi apply` give it one.",
            log.tenant
        );
    }
    let mut text = String::new();
    for (at, Entry { version, changes }) in log.versions.iter().enumerate() {
        let in_force = if at == 0 { " (in force)" } else { "" };
        let head = painter.bold(&format!("version {}{in_force}", version.version));
        text +=
            &format!("{head}  {}  {}\n", painter.dim(&moment(version.made_at)), harmless(&version.author));
        if !version.note.is_empty() {
            text += &format!("    {}\n", harmless(&version.note));
        }
        changes.iter().for_each(|change| text += &change.whole());
    }
    text
}
