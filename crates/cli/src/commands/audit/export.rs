//! `munshi audit export`

use munshi_safety::audit;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;

use super::TenantScopeArguments;
use crate::context::CommandContext;

/// One line of JSON each, with or without `--json`.
pub(super) fn run(context: &CommandContext, whose: &TenantScopeArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let output = context.output;
    context.block_on(async {
        let db = database.open().await?;
        let tenant = whose.find(&db).await?;
        let say =
            |line: &str| output.print(line).map_err(|failure| munshi_safety::Error::Invalid(failure.message));
        audit::export(&db, tenant, say).await?;
        Ok(())
    })
}
