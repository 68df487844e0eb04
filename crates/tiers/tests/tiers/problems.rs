//! Everything that can be wrong, told at once, with its place and what to do.

use munshi_tiers::files;

use crate::tiers::support::{Shop, problems};

fn told(shop: &Shop) -> String {
    let text = problems(files::read(&shop.path(), None).unwrap_err());
    text.replace(&shop.path().display().to_string(), "~")
}

#[test]
fn every_slip_in_every_file_is_named() {
    let shop = Shop::new("sharma");
    shop.write("humans/asha.md", "+++\nname = \"Asha\"\nidentiy = \"You.\"\nflaw = 7\n\n[voice]\ntone = [\"warm\"]\n\n[speech]\nlanguages = [\"hi\", \"Hindi\"]\nlock = \"lsited\"\n+++\nprose\n");
    shop.write("humans/ravi.md", "---\nname: Ravi\n---\nprose\n");
    shop.write("humans/endless.md", "+++\nname = \"X\"\n");
    shop.write("humans/empty.md", "");
    shop.write("teams/half.md", "+++\nname = \"Half\"\nrole = \"r\"\nsops = \"here\"\nregister = \"shouting\"\n[[handoffs]]\nto = \"x/y\"\n+++\n");
    shop.write("agents/odd.toml", "name = \"Odd\"\ntools = [\"Fly Kite\"]\n[models.uses]\nfastest = [\"x\"]\ncheap = \"x\"\n[limits]\ntool_calls = 99\ntoken = {}\n[limits.tokens]\nhuman = 1.5\n");
    shop.write("agents/broken.toml", "name = \"Broken\nname = 1\n= 3\n");
    shop.write("bindings/none.toml", "human = \"meera\"\nkeys = [\"98123\", \"number:98123\", \"host:https://x\"]\n[[slices]]\nname = \"a\"\nshare = 5\n");
    shop.write(
        "bindings/double.toml",
        "human = \"meera\"\nteam = \"counter\"\nagent = \"counter\"\nagent = \"counter\"\n",
    );
    insta::assert_snapshot!("slips", told(&shop));
}

#[test]
fn files_that_are_none_are_named() {
    let shop = Shop::new("sharma");
    shop.write("humans/Big Name.md", "+++\n+++\n");
    shop.write("humans/notes.txt", "x");
    shop.write("human/meera.md", "+++\n+++\n");
    shop.write("agents/bytes.toml", b"name = \"a\"\n# \xff\n");
    shop.write("agents/large.toml", "#".repeat(300_000));
    shop.write("README.md", "left alone");
    shop.write(".git/config", "left alone");
    shop.write("humans/meera.md~", "left alone");
    shop.write("knowledge/prices.txt", "left alone");
    std::fs::create_dir(shop.path().join("teams/inner.md")).unwrap();
    insta::assert_snapshot!("files", told(&shop));
}

#[test]
fn no_link_leads_out() {
    let shop = Shop::new("sharma");
    let outside = shop.parent().join("secret.md");
    std::fs::write(&outside, "+++\nname = \"S\"\nidentity = \"You.\"\n+++\nsecret\n").unwrap();
    std::os::unix::fs::symlink(&outside, shop.path().join("humans/spy.md")).unwrap();
    std::os::unix::fs::symlink("meera.md", shop.path().join("humans/alias.md")).unwrap();
    std::os::unix::fs::symlink("nowhere.md", shop.path().join("humans/dangling.md")).unwrap();
    insta::assert_snapshot!("links", told(&shop));
    std::fs::remove_file(shop.path().join("humans/spy.md")).unwrap();
    std::fs::remove_file(shop.path().join("humans/dangling.md")).unwrap();
    let folder = files::read(&shop.path(), None).unwrap().remove(0);
    assert!(folder.drafts.iter().any(|draft| draft.name.as_str() == "alias"), "a link inside is followed");
}

#[test]
fn a_folder_of_links_is_not_followed_out_either() {
    let (shop, other) = (Shop::new("sharma"), Shop::new("other"));
    std::fs::remove_dir_all(shop.path().join("humans")).unwrap();
    std::os::unix::fs::symlink(other.path().join("humans"), shop.path().join("humans")).unwrap();
    assert!(told(&shop).contains("~/humans: this symlink points outside the folder and is not followed"));
}

#[test]
fn a_place_without_tiers_says_what_is_wanted() {
    let shop = Shop::empty("sharma");
    assert!(told(&shop).contains("no tiers found\n  hint: pass a tenant's folder"), "{}", told(&shop));
    let missing = problems(files::read(&shop.path().join("nowhere"), None).unwrap_err());
    assert!(missing.contains("no such file or folder"), "{missing}");
    let named = Shop::new("Sharma Kirana");
    assert!(told(&named).contains("is not a valid tenant name"), "{}", told(&named));
    let tenant = "sharma".parse().unwrap();
    assert_eq!(files::read(&named.path(), Some(&tenant)).unwrap()[0].tenant, tenant);
}
