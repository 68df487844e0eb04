//! `munshi ledger …`: the books from the command line.

use munshi_test_support::DatabaseEngine;
use serde_json::json;

use crate::app::support::Installation;

const KIRANA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packs/ledger/tenants/kirana");

fn shop(engine: DatabaseEngine) -> Installation {
    let installation = Installation::migrated(engine);
    installation.run(&["apply", KIRANA]).ok();
    installation
}

fn books_go_out_and_come_in_again(engine: DatabaseEngine) {
    let installation = shop(engine);
    for said in
        ["Ramesh ko 500 udhaar diya", "2 kilo cheeni aayi", "Ramesh ne 200 diye", "aaj 1250 ki bikri hui"]
    {
        installation.run(&["ask", "counter", said]).ok();
    }
    installation.run(&["ledger", "item", "cheeni", "--price", "46", "--gst", "5%"]).ok();
    let out = installation.folder().join("books");
    let out = out.to_str().unwrap();
    let written = installation.json(&["ledger", "export", out]);
    assert_eq!((&written["contacts"], &written["entry_rows"]), (&json!(1), &json!(4)), "{written}");
    let again = installation.run(&["ledger", "export", out]);
    assert!(again.code != 0 && again.err.contains("--replace"), "{again:?}");

    installation.run(&["tenant", "add", "copy"]).ok();
    let rehearsed = installation.json(&["ledger", "import", out, "--dry-run", "--tenant", "copy"]);
    assert_eq!((&rehearsed["entries"], &rehearsed["is_applied"]), (&json!(4), &json!(false)), "{rehearsed}");
    let empty = installation.json(&["ledger", "check", "--tenant", "copy"]);
    assert_eq!(empty["entries"], 0, "a rehearsal takes nothing");
    let taken = installation.json(&["ledger", "import", out, "--tenant", "copy"]);
    assert_eq!((&taken["entries"], &taken["is_applied"]), (&json!(4), &json!(true)), "{taken}");
    let known = installation.json(&["ledger", "import", out, "--tenant", "copy"]);
    assert_eq!(
        (&known["entries"], &known["is_applied"]),
        (&json!(0), &json!(true)),
        "again adds nothing: {known}"
    );
    assert_eq!(installation.json(&["ledger", "check", "--tenant", "copy"])["entries"], 4);

    let copied = installation.folder().join("copied");
    installation.run(&["ledger", "export", copied.to_str().unwrap(), "--tenant", "copy"]).ok();
    for name in ["contacts.csv", "items.csv", "entries.csv"] {
        let read = |folder: &str| std::fs::read_to_string(std::path::Path::new(folder).join(name)).unwrap();
        assert_eq!(read(out), read(copied.to_str().unwrap()), "{name}");
    }
}

#[test]
fn books_go_out_and_come_in_again_on_sqlite() {
    books_go_out_and_come_in_again(DatabaseEngine::Sqlite);
}

#[test]
fn books_go_out_and_come_in_again_on_postgres() {
    books_go_out_and_come_in_again(DatabaseEngine::Postgres);
}

#[test]
fn every_wrong_row_is_named_and_none_is_taken() {
    let installation = shop(DatabaseEngine::Sqlite);
    let sheet = installation.folder().join("sheet.csv");
    let rows = "\u{feff}when,kind,amount,contact,means\n\
                15/10/2026,sale,\"₹1,200\",,cash\n\
                2026-10-16,sale,much,,cash\n\
                2026-10-17,credit_given,300,Meena,\n\
                2026-13-45,sale,100,,cash\n";
    std::fs::write(&sheet, rows).unwrap();
    let sheet = sheet.to_str().unwrap();
    let refused = installation.run(&["ledger", "import", "--entries", sheet]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(
        refused.out.contains("entries.csv line 3") && refused.out.contains("entries.csv line 5"),
        "{refused:?}"
    );
    assert!(!refused.out.contains("line 2:") && refused.err.contains("2 rows are invalid"), "{refused:?}");
    assert_eq!(installation.json(&["ledger", "check"])["entries"], 0);
    let nothing = installation.run(&["ledger", "import"]);
    assert!(nothing.code != 0 && nothing.err.contains("--entries FILE"), "{nothing:?}");
}

#[test]
fn a_profile_is_shown_changed_and_checked() {
    let installation = shop(DatabaseEngine::Sqlite);
    let set = [
        "--business",
        "Gupta Kirana",
        "--gstin",
        "27aapfu0939f1zv",
        "--scheme",
        "regular",
        "--upi",
        "gupta@okbank",
    ];
    installation.run(&[&["ledger", "profile"][..], &set].concat()).ok();
    let known = installation.json(&["ledger", "profile"]);
    assert_eq!(
        (&known["business"], &known["gstin"], &known["state"], &known["upi"]),
        (&json!("Gupta Kirana"), &json!("27AAPFU0939F1ZV"), &json!("27"), &json!("gupta@okbank"))
    );
    for (option, wrong) in
        [("--gstin", "27AAPFU0939F1ZX"), ("--upi", "gupta"), ("--scheme", "simple"), ("--phone", "12")]
    {
        let refused = installation.run(&["ledger", "profile", option, wrong]);
        assert!(refused.code != 0 && !refused.err.is_empty(), "{option} {wrong}: {refused:?}");
    }
    assert_eq!(installation.json(&["ledger", "profile"]), known, "what is wrong changes nothing");
    installation.run(&["ledger", "profile", "--upi", ""]).ok();
    assert_eq!(installation.json(&["ledger", "profile"])["upi"], json!(null));
}
