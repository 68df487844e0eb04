//! Folders on a server: the same words as on the machine, and nothing that a key may not do.

use std::fs;

use munshi_test_support::DatabaseEngine;
use serde_json::json;

use crate::app::support::{Installation, Ran};
use crate::app::tiers::{edit, write_folder};

const POLICY: &str = "[connectors.pay]\nautonomy = \"act\"\n\n[approvals]\nhours = 2\n";
const PAY: &str = "[pay]\nurl = \"https://pay.example/mcp\"\ntoken = \"t0p-s3cret\"\n";
const SPY: &str = "[spy]\ncommand = [\"python3\", \"-V\"]\n";

fn add_key(installation: &Installation, words: &[&str]) -> String {
    let made = installation.json(&[&["key", "add"], words].concat());
    made["text"].as_str().unwrap().to_owned()
}

fn with_key(installation: &Installation, url: &str, key: &str, words: &[&str]) -> Ran {
    installation.run(&[words, &["--server", url, "--server-key", key]].concat())
}

#[test]
fn a_folder_says_the_same_of_a_database_and_of_a_server() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let folder = write_folder(&installation, "tenants/shop");
    installation.json(&["apply", "tenants/shop", "--author", "asha"]);
    let areas = ["--area", "tiers", "--area", "bindings", "--area", "persons"];
    let owner = add_key(
        &installation,
        &[&["owner", "--speaks-as", "person", "--role", "owner"], &areas[..]].concat(),
    );
    let server = installation.serve();
    let url = format!("http://{}", server.address);
    let there = |words: &[&str]| with_key(&installation, &url, &owner, words);
    let alike = |words: &[&str]| {
        for format in [&[][..], &["--json"]] {
            let words = [words, format].concat();
            let (here, there) = (installation.run(&words), there(&words));
            assert_eq!((here.code, &here.out, &here.err), (there.code, &there.out, &there.err), "{words:?}");
        }
    };
    alike(&["diff", "tenants/shop"]);
    alike(&["apply", "tenants/shop"]);
    alike(&["apply", "tenants/shop", "--zone", "Asia/Dhaka"]);
    installation.json(&["export", "shop", "out/shop"]);
    alike(&["export", "shop", "out/shop"]);
    alike(&["tier", "rollback", "shop", "human", "meera"]);
    alike(&["tier", "rollback", "shop", "human", "meera", "--to", "1"]);
    alike(&["tier", "rollback", "shop", "human", "nobody"]);
    let test = ["policy", "test", "today", "--as"];
    alike(&[&test[..], &["anonymous", "--door", "public"]].concat());
    alike(&[&test[..], &["anonymous", "--binding", "counter", "--tenant", "shop"]].concat());
    alike(&[&test[..], &["anonymous", "--binding", "nowhere"]].concat());
    alike(&[&test[..], &["nobody", "--door", "work", "--args", "{\"x\": 1}"]].concat());
    let spec = json!({ "scope": "ledger.sale.add", "effect": "checked", "reach": "business" });
    fs::write(installation.folder().join("sale.json"), spec.to_string()).unwrap();
    let described = ["--spec", "sale.json", "--connector", "ledger"];
    alike(&[&["policy", "test", "sell", "--as", "anonymous", "--door", "work"], &described[..]].concat());
    fs::write(installation.folder().join("odd.json"), "{\"scope\": \"a.b\", \"odd\": 1}").unwrap();
    alike(&["policy", "test", "sell", "--as", "anonymous", "--door", "work", "--spec", "odd.json"]);
    edit(&folder, "humans/meera.md", "warm", "brisk");
    fs::remove_file(folder.join("teams/counter.md")).unwrap();
    alike(&["diff", "tenants/shop"]);
    alike(&["diff", "tenants/shop", "--prune"]);
    write_folder(&installation, "tenants/shop");
    edit(&folder, "humans/meera.md", "tone =", "tune =");
    alike(&["diff", "tenants/shop"]);
    alike(&["apply", "tenants/shop"]);
    there(&["apply", "tenants/shop", "--json"]).refused_as(9, "files");
    fs::create_dir(folder.join("agnets")).unwrap();
    alike(&["diff", "tenants/shop"]);
    fs::remove_dir(folder.join("agnets")).unwrap();
    // What is applied there is there, and stands under whom the server knows.
    write_folder(&installation, "tenants/shop");
    edit(&folder, "humans/meera.md", "warm", "brisk");
    let words = there(&["apply", "tenants/shop", "--note", "shorter", "--author", "nobody"]).ok();
    assert!(words.contains("Applied 1 change."), "{words}");
    let log = installation.json(&["tier", "log", "shop", "human", "meera"]);
    assert_eq!(log["versions"][0]["note"], "shorter", "{log}");
    assert!(log["versions"][0]["author"].as_str().unwrap().starts_with("api key "), "{log}");
    there(&["tier", "rollback", "shop", "human", "meera"]).ok();
    // Another's folder, and a new tenant, are not a key's.
    write_folder(&installation, "tenants/third");
    there(&["apply", "tenants/third", "--json"]).refused_as(5, "not_found");
    let once = ["apply", "tenants/shop", "--idempotency-key", "k1", "--json"];
    assert_eq!(there(&once).ok(), there(&once).ok());
    drop(server);
    assert_eq!(installation.json(&["audit", "verify"])["ok"], true);
}

/// The shop's policy and connectors, as its folder has them.
fn write_beside(installation: &Installation, policy: &str, connectors: &str) {
    let folder = installation.folder().join("tenants/shop");
    fs::write(folder.join("policy.toml"), policy).unwrap();
    fs::write(folder.join("connectors.toml"), connectors).unwrap();
}

#[test]
fn what_works_on_the_machine_is_its_keepers() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    write_folder(&installation, "tenants/shop");
    installation.json(&["apply", "tenants/shop"]);
    let tiers = ["--speaks-as", "person", "--role", "owner", "--area", "tiers"];
    let narrow = add_key(&installation, &[&["narrow"], &tiers[..]].concat());
    let wide = add_key(&installation, &[&["wide"], &tiers[..], &["--area", "connectors"]].concat());
    let program =
        ["program", "--speaks-as", "program", "--role", "owner", "--area", "tiers", "--area", "connectors"];
    let program = add_key(&installation, &program);
    let keeper = installation.json(&["keeper-key", "add", "keeper", "--speaks-as", "person"]);
    let keeper = keeper["text"].as_str().unwrap().to_owned();
    let server = installation.serve();
    let url = format!("http://{}", server.address);
    let apply =
        |key: &str| with_key(&installation, &url, key, &["apply", "tenants/shop", "--prune", "--json"]);
    let diff = |key: &str| with_key(&installation, &url, key, &["diff", "tenants/shop"]);
    write_beside(&installation, POLICY, PAY);
    for refused in [apply(&narrow), apply(&program)] {
        refused.refused_as(7, "forbidden");
    }
    assert_eq!(diff(&narrow).code, 7, "a plan would tell what is stored of connectors");
    assert!(!diff(&wide).ok().contains("t0p-s3cret"), "a secret in the file is not shown");
    assert!(!apply(&wide).ok().contains("t0p-s3cret"));
    // A program, or a file of the machine, is named and refused; nothing else of the folder goes in either.
    let policy = POLICY.replace("hours = 2", "hours = 3");
    let local = "[local]\nopenapi = \"/etc/shop.json\"\nserver = \"https://api.example\"\n";
    for (name, more) in [("spy", SPY), ("local", local)] {
        write_beside(&installation, &policy, &format!("{PAY}{more}"));
        let refused = apply(&wide);
        assert!(refused.err.contains(&format!("Connector {name} ")), "{refused:?}");
        refused.refused_as(7, "forbidden");
    }
    // Nor is a secret sent elsewhere, or a connector led into the installation's own network.
    let token = |secret: &str| format!("[far]\nurl = \"https://far.example/mcp\"\ntoken = \"{secret}\"\n");
    let inside = "[far]\nurl = \"http://127.0.0.1:9/mcp\"\n";
    for more in [&token("vault:pay.key"), &token("vault:connector/pay/login"), inside] {
        write_beside(&installation, &policy, &format!("{PAY}{more}"));
        diff(&wide).refused(7);
        apply(&wide).refused_as(7, "forbidden");
    }
    assert_eq!(installation.json(&["policy", "show"])["version"], 1);
    // What stands in plain text is told to its keeper alone.
    let taken = with_key(&installation, &url, &wide, &["export", "shop", "taken/shop"]).ok();
    assert!(!installation.folder().join("taken/shop/connectors.toml").exists(), "{taken}");
    write_beside(&installation, &policy, &format!("{PAY}{SPY}"));
    apply(&keeper).ok();
    assert_eq!(installation.json(&["policy", "show"])["version"], 2);
    // What stays as it is may stay; no more of the machine is opened for it.
    let declared = format!("{SPY}timeout_seconds = 30\n");
    write_beside(&installation, &policy, &declared);
    apply(&wide).ok();
    for more in [
        "reads = [\"/etc\"]\n",
        "writes = [\"/srv\"]\n",
        "listens = true\n",
        "folder = \"/srv\"\n",
        "[spy.environment]\nA = \"b\"\n",
    ] {
        write_beside(&installation, &policy, &format!("{declared}{more}"));
        apply(&wide).refused_as(7, "forbidden");
    }
    write_beside(&installation, &policy, &declared.replace("-V", "-c"));
    apply(&wide).refused_as(7, "forbidden");
    // Who may not see connectors takes them out of nothing.
    let export = |key: &str, place: &str| with_key(&installation, &url, key, &["export", "shop", place]).ok();
    export(&narrow, "out/narrow");
    export(&wide, "out/wide");
    let has_file = |place: &str| installation.folder().join(place).join("connectors.toml").exists();
    assert_eq!((has_file("out/narrow"), has_file("out/wide")), (false, true));
    drop(server);
    let told = installation.json(&["audit", "list", "--tenant", "shop", "--event", "connectors.changed"]);
    assert_eq!(told["items"].as_array().unwrap().len(), 3, "{told}");
    let told = installation.json(&["audit", "list", "--tenant", "shop", "--event", "tenant.exported"]);
    assert_eq!(told["items"].as_array().unwrap().len(), 3, "{told}");
}

#[test]
fn nobody_opens_for_themselves_what_the_policy_closes() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    write_folder(&installation, "tenants/shop");
    installation.json(&["apply", "tenants/shop"]);
    let add = |name: &str, role: &str| {
        add_key(&installation, &[name, "--speaks-as", "person", "--role", role, "--area", "tiers"])
    };
    let (owner, admin) = (add("owner", "owner"), add("admin", "admin"));
    let server = installation.serve();
    let url = format!("http://{}", server.address);
    let path = installation.folder().join("tenants/shop/policy.toml");
    let apply = |key: &str, policy: &str| {
        fs::write(&path, policy).unwrap();
        with_key(&installation, &url, key, &["apply", "tenants/shop", "--json"])
    };
    let closed = "[roles.admin]\ndeny = [\"ledger.report.*\"]\n";
    apply(&admin, closed).refused_as(7, "forbidden");
    apply(&owner, closed).ok();
    apply(&admin, "").refused_as(7, "forbidden");
    apply(&admin, &format!("{closed}\n[approvals]\nhours = 3\n")).ok();
    let shut = "[roles.admin]\ndeny = [\"policy.*\"]\n";
    apply(&owner, shut).ok();
    apply(&admin, &format!("{shut}\n[approvals]\nhours = 4\n")).refused_as(7, "forbidden");
    drop(server);
    let shown = installation.json(&["policy", "show"]);
    assert_eq!((&shown["version"], &shown["policy"]["approvals"]), (&json!(3), &json!(null)), "{shown}");
}

#[test]
fn only_an_owner_lets_messages_go_without_approval() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    write_folder(&installation, "tenants/shop");
    installation.json(&["apply", "tenants/shop"]);
    let add = |name: &str, role: &str| {
        add_key(&installation, &[name, "--speaks-as", "person", "--role", role, "--area", "tiers"])
    };
    let (owner, admin) = (add("owner", "owner"), add("admin", "admin"));
    let server = installation.serve();
    let url = format!("http://{}", server.address);
    let path = installation.folder().join("tenants/shop/policy.toml");
    let apply = |key: &str, policy: &str| {
        fs::write(&path, policy).unwrap();
        with_key(&installation, &url, key, &["apply", "tenants/shop", "--json"])
    };
    let messages = |template: &str, per_day: u32| {
        format!(
            "[[messages]]\ntool = \"remind_by_template\"\ntemplate = \"{template}\"\naudience = \"contacts\"\n\
             per_day = {per_day}\n"
        )
    };
    let due = messages("payment-due", 10);
    apply(&admin, &due).refused_as(7, "forbidden");
    apply(&owner, &due).ok();
    for wider in [messages("payment-due", 11), messages("other", 1), format!("{due}{}", messages("other", 1))]
    {
        apply(&admin, &wider).refused_as(7, "forbidden");
    }
    // The rest is theirs to change, and so is letting less go.
    apply(&admin, &format!("{due}\n[approvals]\nhours = 3\n")).ok();
    apply(&admin, &messages("payment-due", 5)).ok();
    apply(&admin, &due).refused_as(7, "forbidden");
    apply(&admin, "").ok();
}
