//! Tenants, from files as they stand in a folder.

use std::collections::BTreeMap;

use munshi_pack::TenantTemplate;
use munshi_pack::operation::OperationError;
use munshi_safety::audit::{AuditActor, AuditActorKind, AuditStamp, administer_platform};
use munshi_safety::policy;
use munshi_store::{Db, PlatformTx, tenants};
use munshi_tiers::{Authorship, InstalledNames, ROUTING, VanishedTierPolicy, files};
use munshi_types::{IdGenerator, TenantId, TenantName, Timestamp, Zone};

const HUMAN: &str = "+++\nname = \"Meera\"\nidentity = \"You keep the books of a shop.\"\n[speech]\n\
                     languages = [\"en\", \"hi\"]\nlock = \"open\"\n+++\n\nKind.\n";
const TEAM: &str =
    "+++\nname = \"Counter\"\nrole = \"You work at the counter.\"\nmembers = [\"meera\"]\n+++\n\nServe.\n";
const AGENT: &str = "name = \"Plain\"\n[policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";
const POLICY: &str = "policy.toml";

/// A tenant's folder: its files by their paths, and its policy.
#[derive(Clone, Debug)]
pub struct TenantFiles {
    name: TenantName,
    files: BTreeMap<String, String>,
    policy: Option<String>,
}

impl TenantFiles {
    pub fn new(name: &str) -> Self {
        Self { name: name.parse().unwrap(), files: BTreeMap::new(), policy: None }
    }

    /// A shop whose agent `plain` answers its people at `handle:NAME`, without any tool.
    pub fn shop(name: &str) -> Self {
        let binding = format!(
            "human = \"meera\"\nteam = \"counter\"\nagent = \"plain\"\ndoor = \"work\"\nkeys = [\"handle:{name}\"]\n"
        );
        Self::unbound(name).with_file("bindings/shop.toml", &binding)
    }

    /// The same without a binding: a human, a team and the agent `plain`.
    pub fn unbound(name: &str) -> Self {
        let files = Self::new(name).with_file("humans/meera.md", HUMAN).with_file("teams/counter.md", TEAM);
        files.with_agent(AGENT)
    }

    /// A tenant that comes ready with a pack, with its policy.
    pub fn from_template(name: &str, template: &TenantTemplate) -> Self {
        template.files.iter().fold(Self::new(name), |files, file| match file.path {
            POLICY => files.with_policy(file.text),
            path => files.with_file(path, file.text),
        })
    }

    /// Takes the place of a file of the same path.
    pub fn with_file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    /// The file of the agent `plain`.
    pub fn with_agent(self, text: &str) -> Self {
        self.with_file("agents/plain.toml", text)
    }

    /// Changes every file, its policy among them.
    pub fn edit(mut self, change: impl Fn(&str) -> String) -> Self {
        self.files.values_mut().chain(&mut self.policy).for_each(|text| *text = change(text));
        self
    }

    pub fn with_policy(self, text: &str) -> Self {
        Self { policy: Some(text.to_owned()), ..self }
    }

    /// Stores them, and gives back whose they are. What is stored and not among them stays.
    pub async fn apply(
        &self,
        db: &Db,
        ids: &IdGenerator,
        now: Timestamp,
        installed: &InstalledNames,
    ) -> TenantId {
        let place = tempfile::tempdir().unwrap();
        for (path, text) in &self.files {
            let path = place.path().join(self.name.as_str()).join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let folder = files::read(&place.path().join(self.name.as_str()), None).unwrap().remove(0);
        let plan = munshi_tiers::plan_folder(db, &folder, VanishedTierPolicy::Keep, installed).await.unwrap();
        let by = Authorship { author: "asha".to_owned(), note: "first".to_owned(), made_at: now };
        let stamp = AuditStamp {
            actor: AuditActor::new(AuditActorKind::Operator, "asha"),
            ids: ids.clone(),
            now,
            claim: None,
        };
        let made = ids.clone();
        administer_platform(db, ROUTING, TenantId::PLATFORM, stamp, move |tx| {
            Ok::<_, OperationError>(munshi_tiers::apply(tx, vec![plan], &Zone::default(), &by, &made)?)
        })
        .await
        .unwrap();
        let name = self.name.clone();
        let find = move |tx: &mut PlatformTx<'_>| tenants::find_by_name(tx, &name);
        let tenant = db.platform(tenants::TENANTS).read(find).await.unwrap().unwrap().id;
        if let Some(text) = &self.policy {
            let policy = policy::parse(text).unwrap();
            db.write(tenant, move |tx| policy::apply(tx, &policy, "test", "", now)).await.unwrap();
        }
        tenant
    }
}
