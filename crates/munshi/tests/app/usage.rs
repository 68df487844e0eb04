//! The command line itself: help, mistakes, completions, JSON everywhere.

use serde_json::Value;

use crate::app::support::Installation;

#[test]
fn help_says_what_there_is_and_what_the_codes_mean() {
    let installation = Installation::sqlite();
    let help = installation.run(&["--help"]).ok();
    insta::assert_snapshot!(help);
    assert!(installation.run(&["tenant", "add", "--help"]).ok().contains("sharma-kirana"));
    assert_eq!(installation.run(&["--version"]).ok(), concat!("munshi ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn mistakes_end_with_two() {
    let installation = Installation::sqlite();
    for arguments in [
        &[][..],
        &["frobnicate"],
        &["tenant"],
        &["tenant", "frob"],
        &["serve", "--port", "80"],
        &["completions", "klingon"],
        &["restore"],
        &["--config"],
        &["\u{1b}[2J"],
    ] {
        let ran = installation.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}");
    }
    installation.run(&["frobnicate", "--json"]).refused_as(2, "usage");
    installation.run(&["--json", "tenant", "add"]).refused_as(2, "usage");
    assert!(installation.run(&["tenent", "list"]).refused(2).contains("tenant"), "the nearest is offered");
}

#[test]
fn completions_are_made_for_every_shell() {
    let installation = Installation::sqlite();
    for shell in ["bash", "zsh", "fish"] {
        let script = installation.run(&["completions", shell]).ok();
        assert!(script.contains("munshi") && script.contains("tenant"), "{shell}");
        assert_eq!(installation.json(&["completions", shell])["script"], script);
    }
}

#[test]
fn every_command_answers_in_json() {
    let installation = Installation::sqlite();
    let humans = installation.folder().join("tenants/shop/humans");
    std::fs::create_dir_all(&humans).unwrap();
    std::fs::write(humans.join("asha.md"), "+++\nname = \"Asha\"\nidentity = \"You.\"\n+++\n").unwrap();
    for arguments in [
        &["doctor"][..],
        &["migrate", "--dry-run"],
        &["migrate"],
        &["tenant", "add", "a"],
        &["tenant", "pause", "a"],
        &["tenant", "resume", "a"],
        &["tenant", "list"],
        &["tenant", "archive", "a", "--yes"],
        &["apply", "tenants"],
        &["diff", "tenants"],
        &["tier", "list", "shop"],
        &["tier", "log", "shop", "human", "asha"],
        &["tier", "show", "shop", "human", "asha"],
        &["tier", "rollback", "shop", "human", "asha", "--to", "1"],
        &["export", "shop", "out"],
        &["schema", "agent"],
        &["schema", "policy"],
        &["person", "add", "Asha", "--role", "owner", "--tenant", "shop"],
        &["person", "set", "Asha", "--tags", "team"],
        &["person", "list"],
        &["person", "add", "Ravi"],
        &["person", "leave", "Ravi"],
        &["approvals", "list"],
        &["policy", "show"],
        &["policy", "log"],
        &["policy", "test", "today", "--as", "anonymous", "--door", "public"],
        &["audit", "tail"],
        &["audit", "verify"],
        &["audit", "verify", "--anchor"],
        &["vault", "list"],
        &["vault", "rotate"],
        &["jobs", "list"],
        &["jobs", "retry", "--all"],
        &["backup", "copy.db"],
        &["restore", "copy.db", "--yes"],
        &["config", "show"],
        &["config", "check"],
        &["config", "example"],
        &["completions", "bash"],
        &["doctor"],
    ] {
        assert_ne!(installation.json(arguments), Value::Null, "{arguments:?}");
    }
    assert_eq!(installation.json(&["--version"])["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn nothing_is_coloured_where_nobody_watches() {
    let installation = Installation::sqlite();
    for arguments in [&["--help"][..], &["doctor"], &["tenant", "list"], &["frob"]] {
        let ran = installation.run(arguments);
        assert!(!format!("{}{}", ran.out, ran.err).contains('\u{1b}'), "{ran:?}");
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let installation = Installation::sqlite();
    let mut child =
        installation.command(&["config", "example"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
