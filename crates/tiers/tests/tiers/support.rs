//! A folder on disk to write tiers into, and the way from it to the database.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use munshi_store::{Db, PlatformAdminTx};
use munshi_test_support::TestDb;
use munshi_test_support::database::MORNING;
use munshi_tiers::{ApplyPlan, Authorship, InstalledNames, ROUTING, Result, VanishedTierPolicy, files};
use munshi_types::Zone;
use munshi_types::tier::{RoutingKey, RoutingKeyKind};

const DOCS: &str = include_str!("../../../../docs/tiers.md");

/// The files of the example in the docs, by path.
pub(crate) fn example() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut rest = DOCS;
    while let Some((_, after)) = rest.split_once("\n```") {
        let (head, body) = after.split_once('\n').unwrap();
        let (text, after) = body.split_once("\n```").unwrap();
        if let Some((_, path)) = head.split_once(' ') {
            files.insert(path.to_owned(), format!("{text}\n"));
        }
        rest = after;
    }
    files
}

/// A tenant's folder that goes with the test.
pub(crate) struct Shop {
    folder: tempfile::TempDir,
    pub(crate) name: String,
}

impl Shop {
    /// With the example of the docs in it.
    pub(crate) fn new(name: &str) -> Self {
        let shop = Self::empty(name);
        example().iter().for_each(|(path, text)| shop.write(path, text));
        shop
    }

    pub(crate) fn empty(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(name)).unwrap();
        Self { folder, name: name.to_owned() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// The folder that the tenant's is in.
    pub(crate) fn parent(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn edit(&self, path: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path().join(path)).unwrap();
        assert!(text.contains(from), "{path} has no {from:?}");
        self.write(path, text.replace(from, to));
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.path().join(path)).unwrap();
    }

    pub(crate) async fn plan(&self, db: &Db, vanished: VanishedTierPolicy) -> Result<ApplyPlan> {
        let folder = files::read(&self.path(), None)?.remove(0);
        munshi_tiers::plan_folder(db, &folder, vanished, &installed()).await
    }

    pub(crate) async fn apply(&self, test: &TestDb) -> Result<ApplyPlan> {
        self.apply_with(test, VanishedTierPolicy::Keep).await
    }

    pub(crate) async fn apply_with(&self, test: &TestDb, vanished: VanishedTierPolicy) -> Result<ApplyPlan> {
        let plan = self.plan(&test.db, vanished).await?;
        perform(test, &test.db, vec![plan.clone()]).await?;
        Ok(plan)
    }
}

#[allow(clippy::disallowed_methods, reason = "the audit stands on a floor above")]
pub(crate) async fn perform(test: &TestDb, db: &Db, plans: Vec<ApplyPlan>) -> Result<()> {
    let ids = test.ids.clone();
    db.platform(ROUTING)
        .write(move |tx| {
            let unit = |tx: &mut PlatformAdminTx<'_, '_>| {
                munshi_tiers::apply(tx, plans, &Zone::default(), &by("asha"), &ids)
            };
            PlatformAdminTx::run(tx, unit).map(|_| ())
        })
        .await
}

pub(crate) fn by(author: &str) -> Authorship {
    Authorship { author: author.to_owned(), note: "a note".to_owned(), made_at: MORNING }
}

pub(crate) fn installed() -> InstalledNames {
    let tools = ["search_items", "note_sale"].iter().map(|tool| tool.parse().unwrap()).collect();
    InstalledNames { tools, models: ["offline".to_owned()].into() }
}

pub(crate) fn key(kind: RoutingKeyKind, text: &str) -> RoutingKey {
    RoutingKey::new(kind, text).unwrap()
}

pub(crate) fn problems(error: munshi_tiers::Error) -> String {
    match error {
        munshi_tiers::Error::Problems(problems) => problems.to_string(),
        other => panic!("{other}"),
    }
}
