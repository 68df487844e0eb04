//! The business: who works there, and what its agent may do.

use std::path::{Path, PathBuf};
use std::time::Duration;

use munshi_identity::{Person, Role, persons};
use munshi_safety::policy;
use munshi_store::{Migration, tenants};
use munshi_test_support::TestDb;
use munshi_tiers::{Authorship, InstalledNames, VanishedTierPolicy, files};
use munshi_types::{Clock, Effect, PersonId, Reach, TenantId, ToolSpec, Zone};
use serde_json::json;

const NOTES: &[Migration] = &[Migration {
    name: "9001_notes",
    text: "CREATE TENANT TABLE notes (tenant_id UUID NOT NULL, act_id UUID NOT NULL, text TEXT NOT NULL);",
}];

pub(crate) const MIGRATIONS: [&[Migration]; 8] = [
    munshi_store::MIGRATIONS,
    munshi_jobs::MIGRATIONS,
    munshi_llm::MIGRATIONS,
    munshi_tiers::MIGRATIONS,
    munshi_identity::MIGRATIONS,
    munshi_safety::MIGRATIONS,
    munshi_agent::MIGRATIONS,
    NOTES,
];

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
    ToolSpec {
        parameters: json!({ "type": "object", "properties": { "text": { "type": "string" } } }),
        effect,
        reach: Reach::Business,
        timeout: Duration::from_secs(2),
        ..ToolSpec::read_only(name.parse().unwrap(), format!("Does {name}."), format!("shop.{name}"))
    }
}

const POLICY: &str = "[connectors.shop]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n\
                      [connectors.elsewhere]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n\
                      [rates]\ncalls_per_minute = 100000\nwrites_per_minute = 100000\n";
const HUMAN: &str = "+++\nname = \"Meera\"\nidentity = \"You keep the books of a shop.\"\n\
                     [speech]\nlanguages = [\"en\", \"hi\"]\nlock = \"open\"\n+++\n\nKind.\n";
const TEAM: &str =
    "+++\nname = \"Counter\"\nrole = \"You work at the counter.\"\nmembers = [\"meera\"]\n+++\n\nServe.\n";
const AGENT: &str = "name = \"Plain\"\n\
    tools = [\"count\", \"fetch\", \"note\", \"book\", \"order\", \"fax\"]\n[limits]\ntool_calls = 8\n\
    [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";
const BINDING: &str = "human = \"meera\"\nteam = \"counter\"\nagent = \"plain\"\ndoor = \"work\"\n\
                       keys = [\"handle:shop\"]\n";

pub(crate) struct Shop {
    pub(crate) tenant: TenantId,
    pub(crate) staff: Vec<PersonId>,
}

const STAFF: usize = 8;

impl Shop {
    pub(crate) async fn found(test: &TestDb) -> Self {
        let now = test.clock.now();
        let installed = InstalledNames {
            tools: TOOLS.iter().map(|(name, _)| (*name).to_owned()).collect(),
            models: ["one".to_owned()].into(),
        };
        let folder = files::read(&folder(&test.place.folder()), None).unwrap().remove(0);
        let made =
            munshi_tiers::plan_folder(&test.db, &folder, VanishedTierPolicy::Keep, &installed).await.unwrap();
        let by = Authorship { author: "asha".to_owned(), note: String::new(), made_at: now };
        munshi_tiers::apply(&test.db, vec![made], Zone::default(), by, &test.ids, |_, _, _| Ok(()))
            .await
            .unwrap();
        let find =
            |tx: &mut munshi_store::PlatformTx<'_>| tenants::find_by_name(tx, &"shop".parse().unwrap());
        let tenant = test.db.platform(tenants::TENANTS).read(find).await.unwrap().unwrap().id;
        let ids = test.ids.clone();
        let hire = test.db.write(tenant, move |tx| -> Result<_, munshi_safety::Error> {
            policy::apply(tx, &policy::parse(POLICY).unwrap(), "test", "", now)?;
            // Somebody has to be there who is asked what nobody else can tell.
            persons::upsert(tx, &Person { role: Some(Role::Owner), ..Person::new(&ids, "Farid", now) })?;
            let mut staff = Vec::new();
            for number in 0..STAFF {
                let name = format!("Asha {number}");
                let person = Person { role: Some(Role::Staff), ..Person::new(&ids, &name, now) };
                persons::upsert(tx, &person)?;
                staff.push(person.id);
            }
            Ok(staff)
        });
        Self { tenant, staff: hire.await.unwrap() }
    }
}

fn folder(place: &Path) -> PathBuf {
    let folder = place.join("shop");
    for (path, text) in [
        ("humans/meera.md", HUMAN),
        ("teams/counter.md", TEAM),
        ("agents/plain.toml", AGENT),
        ("bindings/shop.toml", BINDING),
    ] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}
