//! `munshi policy show`

use munshi_safety::policy::{self, PolicyVersion};
use munshi_types::TenantName;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::sanitize_line;

#[derive(Debug, Serialize)]
struct Shown {
    tenant: TenantName,
    /// 0 where there is none.
    version: i64,
    author: Option<String>,
    /// Without what is so anyway.
    policy: Map<String, Value>,
    #[serde(skip)]
    file: String,
    #[serde(skip)]
    newest: Option<PolicyVersion>,
}

pub(super) fn run(context: &CommandContext, of: &TenantSelectorArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let (tenant, versions) = context.block_on(async {
        let db = database.open().await?;
        let tenant = of.find(&db).await?;
        Ok((tenant.name, db.read(tenant.id, policy::list_versions).await?))
    })?;
    let (newest, policy) = versions.into_iter().next().unzip();
    let policy = policy.unwrap_or_default();
    let shown = Shown {
        tenant,
        version: newest.as_ref().map_or(0, |newest| newest.version),
        author: newest.as_ref().map(|newest| newest.author.clone()),
        policy: policy::to_minimal_map(&policy)?,
        file: policy::to_toml(&policy)?,
        newest,
    };
    context.output.print_result(&shown, render_text)
}

fn render_text(shown: &Shown, painter: TextStyler) -> String {
    let tenant = &shown.tenant;
    let Some(newest) = &shown.newest else {
        return format!(
            "{tenant} has no policy: built-in packs use their defaults, everything else is denied.\n"
        );
    };
    let (version, author, when) =
        (newest.version, sanitize_line(&newest.author), format_time(newest.made_at));
    let head = painter.dim(&format!("# Policy of {tenant}, version {version}, by {author}, {when} UTC"));
    format!("{head}\n{}", shown.file)
}
