//! The business: who works there, and what its agent may do.

use std::time::Duration;

use munshi_identity::Role;
use munshi_store::Migration;
use munshi_test_app::{TenantFiles, TestApp, list_migrations, notes};
use munshi_types::{Effect, PersonId, TenantId, ToolSpec};

/// Without a key: a note that is written twice is seen, and not refused.
const NOTES: &[Migration] = &[Migration {
    name: "9001_notes",
    text: "CREATE TENANT TABLE notes (tenant_id UUID NOT NULL, act_id UUID NOT NULL, text TEXT NOT NULL);",
}];

pub(crate) fn migrations() -> Vec<&'static [Migration]> {
    list_migrations(&[NOTES])
}

/// A tool of every effect, and two that only look: here, and elsewhere.
pub(crate) const TOOLS: [(&str, Effect); 6] = [
    ("count", Effect::Read),
    ("fetch", Effect::Read),
    ("note", Effect::Inside),
    ("book", Effect::Keyed),
    ("order", Effect::Checked),
    ("fax", Effect::Once),
];

pub(crate) fn spec(name: &str, effect: Effect) -> ToolSpec {
    ToolSpec { timeout: Duration::from_secs(2), ..notes::build_spec(name, effect) }
}

const RATES: &str = "[rates]\ncalls_per_minute = 100000\nwrites_per_minute = 100000\n";
const AGENT: &str = "name = \"Plain\"\n\
    tools = [\"count\", \"fetch\", \"note\", \"book\", \"order\", \"fax\"]\n[limits]\ntool_calls = 8\n\
    [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";

pub(crate) struct Shop {
    pub(crate) tenant: TenantId,
    pub(crate) staff: Vec<PersonId>,
}

const STAFF: usize = 8;

impl Shop {
    pub(crate) async fn found(app: &TestApp) -> Self {
        let policy = format!("{}{RATES}", notes::OPEN_POLICY);
        let files = TenantFiles::shop("shop").with_agent(AGENT).with_policy(&policy);
        let tenant = app.apply_tenant(&files).await;
        // Somebody has to be there who is asked what nobody else can tell.
        app.add_person(tenant, "Farid", Some(Role::Owner)).await;
        let names = (0..STAFF).map(|number| format!("Asha {number}"));
        Self { tenant, staff: app.add_people(tenant, Some(Role::Staff), names).await }
    }
}
