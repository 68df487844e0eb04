//! `munshi audit export`

use munshi_safety::audit;

use super::Whose;
use crate::context::Context;
use crate::failure::Result;
use crate::wiring::database::Database;

/// One line of JSON each, with or without `--json`.
pub(super) fn run(context: &Context, whose: &Whose) -> Result<()> {
    let database = Database::for_one_question(&context.config()?)?;
    let output = context.output;
    context.block_on(async {
        let db = database.open().await?;
        let tenant = whose.find(&db).await?;
        let say =
            |line: &str| output.say(line).map_err(|failure| munshi_safety::Error::Invalid(failure.message));
        audit::export(&db, tenant, say).await?;
        Ok(())
    })
}
