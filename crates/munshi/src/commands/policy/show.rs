//! `munshi policy show`

use munshi_safety::policy::{self, PolicyVersion};
use munshi_types::TenantName;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::failure::Result;
use crate::output::TextStyler;
use crate::output::shown::moment;
use crate::output::table::harmless;
use crate::wiring::database::ConfiguredDatabase;

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
    let database = ConfiguredDatabase::for_one_question(&context.config()?)?;
    let (tenant, versions) = context.block_on(async {
        let db = database.open().await?;
        let tenant = of.find(&db).await?;
        Ok((tenant.name, db.read(tenant.id, policy::history).await?))
    })?;
    let (newest, policy) = versions.into_iter().next().unzip();
    let policy = policy.unwrap_or_default();
    let shown = Shown {
        tenant,
        version: newest.as_ref().map_or(0, |newest| newest.version),
        author: newest.as_ref().map(|newest| newest.author.clone()),
        policy: policy::written(&policy)?,
        file: policy::to_toml(&policy)?,
        newest,
    };
    context.output.answer(&shown, words)
}

fn words(shown: &Shown, painter: TextStyler) -> String {
    let tenant = &shown.tenant;
    let Some(newest) = &shown.newest else {
        return format!(
            "{tenant} has no policy: packs of the house are used as they were shipped, all else is closed.\n"
        );
    };
    let (version, author, when) = (newest.version, harmless(&newest.author), moment(newest.made_at));
    let head = painter.dim(&format!("# Policy of {tenant}, version {version}, by {author}, {when} UTC"));
    format!("{head}\n{}", shown.file)
}
