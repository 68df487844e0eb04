//! Files that are no tiers: planned and applied with them, or not at all.

use std::sync::Arc;

use munshi_store::{Tx, params};
use munshi_test_support::on_both_engines;
use munshi_tiers::{
    Authorship, Error, ExtensionChange, FolderExtension, FolderProblem, Result, TierBody, VanishedTierPolicy,
    files,
};
use munshi_toml::TextPosition;
use munshi_types::TenantPacks;
use serde_json::Value;

use crate::tiers::support::{Shop, installed, perform};

/// Keeps one word of a file `colour.txt`, and tells of it in a table of its own.
#[derive(Debug)]
struct Colour;

const TABLE: &[munshi_store::Migration] = &[munshi_store::Migration {
    name: "9001_colours",
    text: "CREATE TENANT TABLE colours (tenant_id UUID NOT NULL, version INT NOT NULL, word TEXT NOT NULL,
           PRIMARY KEY (tenant_id, version));",
}];

impl FolderExtension for Colour {
    fn file_name(&self) -> &'static str {
        "colour.txt"
    }

    fn noun(&self) -> &'static str {
        "colour"
    }

    fn read(&self, file: &str, text: &str) -> Result<TierBody, Vec<FolderProblem>> {
        match text.trim() {
            "grey" => {
                Err(vec![FolderProblem::in_file(file, "grey is no colour").at_position(TextPosition::START)])
            }
            word => Ok(TierBody::from_iter([("word".to_owned(), Value::String(word.to_owned()))])),
        }
    }

    fn warnings(&self, _body: &TierBody, _beside: &munshi_tiers::ExtensionBodies) -> Vec<String> {
        vec!["paint is wet".to_owned()]
    }

    fn packs(&self, body: &TierBody) -> Option<TenantPacks> {
        let word = body.get("word").and_then(Value::as_str)?;
        Some(TenantPacks::only(word.split('-').map(ToOwned::to_owned)))
    }

    fn load_stored(&self, tx: &mut Tx<'_>) -> Result<(i64, TierBody)> {
        let found = tx.optional(
            "SELECT version, word FROM colours WHERE tenant_id = $1 ORDER BY version DESC LIMIT 1",
            &[],
            |row| Ok((row.get::<i64>(0)?, row.get::<String>(1)?)),
        )?;
        let body = |word: String| TierBody::from_iter([("word".to_owned(), Value::String(word))]);
        Ok(found.map_or((0, TierBody::new()), |(version, word)| (version, body(word))))
    }

    fn write(&self, tx: &mut Tx<'_>, change: &ExtensionChange, _by: &Authorship) -> Result<()> {
        let word = change.body["word"].as_str().unwrap_or_default();
        tx.execute(
            "INSERT INTO colours (tenant_id, version, word) VALUES ($1, $2, $3)",
            params![change.to, word],
        )?;
        // Refused last, so that a test sees the whole undone.
        match word {
            "black" => Err(Error::Unreadable("it is too dark to tell".to_owned())),
            _ => Ok(()),
        }
    }

    fn event(&self) -> &'static str {
        "colour.changed"
    }
}

async fn planned(test: &munshi_test_support::TestDb, shop: &Shop) -> Result<munshi_tiers::ApplyPlan> {
    let companions: [Arc<dyn FolderExtension>; 1] = [Arc::new(Colour)];
    let folder = files::read_with_extensions(&shop.path(), None, &companions)?.remove(0);
    munshi_tiers::plan_folder(&test.db, &folder, VanishedTierPolicy::Archive, &installed()).await
}

async fn applied(test: &munshi_test_support::TestDb, plan: &munshi_tiers::ApplyPlan) -> Result<()> {
    perform(test, &test.db, vec![plan.clone()]).await
}

/// Two packs have a tool called `note_sale`.
async fn plan_with_packs(test: &munshi_test_support::TestDb, shop: &Shop) -> Result<munshi_tiers::ApplyPlan> {
    let companions: [Arc<dyn FolderExtension>; 1] = [Arc::new(Colour)];
    let folder = files::read_with_extensions(&shop.path(), None, &companions)?.remove(0);
    let tools = ["red.search_items", "red.note_sale", "blue.note_sale"];
    let tools = tools.iter().map(|tool| tool.parse().unwrap()).collect();
    let installed = munshi_tiers::InstalledNames { tools, ..installed() };
    munshi_tiers::plan_folder(&test.db, &folder, VanishedTierPolicy::Archive, &installed).await
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_tiers::MIGRATIONS, TABLE];

    async fn a_name_that_two_packs_of_a_tenant_have_is_refused(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.write("colour.txt", "red-blue");
        let refused = plan_with_packs(&test, &shop).await.unwrap_err().to_string();
        assert!(refused.contains("several packs have a tool called note_sale: blue, red"), "{refused}");
        assert!(refused.contains("write blue.note_sale or red.note_sale"), "{refused}");

        shop.write("colour.txt", "red");
        let plan = plan_with_packs(&test, &shop).await.unwrap();
        assert!(!plan.warnings.iter().any(|warning| warning.contains("note_sale")), "{:?}", plan.warnings);

        shop.write("colour.txt", "blue");
        let plan = plan_with_packs(&test, &shop).await.unwrap();
        let missing = "tool search_items is of pack red, which policy.toml does not list, so it is not offered";
        assert!(plan.warnings.iter().any(|warning| warning.contains(missing)), "{:?}", plan.warnings);

        shop.write("colour.txt", "red-blue");
        shop.edit("agents/standard.toml", "\"note_sale\"", "\"red.note_sale\"");
        plan_with_packs(&test, &shop).await.unwrap();
        shop.edit("agents/standard.toml", "\"red.note_sale\"", "\"red.note_sale\", \"blue.note_sale\"");
        let refused = plan_with_packs(&test, &shop).await.unwrap_err().to_string();
        assert!(refused.contains("red.note_sale and blue.note_sale have the same name to a model"), "{refused}");
    }

    async fn a_companion_goes_with_the_tiers_or_not_at_all(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.write("colour.txt", "black");
        let refused = applied(&test, &planned(&test, &shop).await.unwrap()).await.unwrap_err();
        assert!(refused.to_string().contains("too dark"), "{refused}");
        assert!(planned(&test, &shop).await.unwrap().is_new, "nothing was done");

        shop.write("colour.txt", "blue");
        let first = planned(&test, &shop).await.unwrap();
        let words = first.to_string();
        assert!(words.contains("+ colour\n    word: is now \"blue\"\n") && words.contains("! paint is wet"), "{words}");
        applied(&test, &first).await.unwrap();
        assert!(planned(&test, &shop).await.unwrap().is_empty());

        shop.write("colour.txt", "red");
        let one = planned(&test, &shop).await.unwrap();
        shop.write("colour.txt", "green");
        applied(&test, &planned(&test, &shop).await.unwrap()).await.unwrap();
        let overtaken = applied(&test, &one).await.unwrap_err();
        assert!(matches!(overtaken, Error::Overtaken { .. }), "{overtaken}");

        shop.remove("colour.txt");
        let kept = planned(&test, &shop).await.unwrap();
        assert!(kept.is_empty() && kept.left_files == ["colour.txt"], "it stays, also when pruning: {kept}");
    }

    async fn what_is_wrong_with_a_companion_is_told_with_the_rest(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.write("colour.txt", "grey");
        shop.edit("agents/standard.toml", "tools", "tolls");
        let told = crate::tiers::support::problems(planned(&test, &shop).await.unwrap_err());
        assert!(told.contains("colour.txt:1:1: grey is no colour") && told.contains("`tolls`"), "{told}");
        let elsewhere = shop.parent().join("elsewhere.txt");
        std::fs::write(&elsewhere, "blue").unwrap();
        shop.remove("colour.txt");
        std::os::unix::fs::symlink(&elsewhere, shop.path().join("colour.txt")).unwrap();
        let told = crate::tiers::support::problems(planned(&test, &shop).await.unwrap_err());
        assert!(told.contains("points outside the folder"), "{told}");
    }
}
