//! Operators from the first link to the last, as whoever has the machine makes and removes them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use munshi_test_support::DatabaseEngine;
use serde_json::json;

use crate::app::support::{Installation, Running};

/// The path of a link.
pub(crate) fn path(link: &str) -> String {
    format!("/account/{}", link.split_once("/account/").unwrap().1)
}

/// Sends a form as a page of this server would; gives the status and the whole answer.
pub(crate) fn post(server: &Running, path: &str, form: &str) -> (u16, String) {
    let host = server.address;
    let mut stream = TcpStream::connect(host).unwrap();
    let length = form.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\nconnection: close\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n{form}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}

fn operators_come_and_go(engine: DatabaseEngine) {
    let installation = Installation::on(engine);
    let mut server = installation.serve();
    installation.json(&["tenant", "add", "shop"]);
    let first = path(server.ready["first_link"].as_str().unwrap());
    assert_eq!(server.get(&first).0, 200);
    // A newer link ends the one before.
    assert_eq!(installation.json(&["operator", "list"]), json!({ "items": [], "next": null }));
    let shown = installation.json(&["operator", "link"]);
    assert_eq!(server.get(&first).0, 410);
    let link = path(shown["link"].as_str().unwrap());
    let form = "email=farid%40house.example&name=Farid&password=correct+horse+battery";
    let (status, answer) = post(&server, &link, form);
    assert!(status == 303 && answer.contains("set-cookie: munshi_sign_in="), "{answer}");
    assert_eq!(post(&server, &link, form).0, 410);
    assert_eq!(installation.json(&["operator", "list"])["items"][0]["keeper"], true);

    let invited = installation.json(&[
        "operator",
        "invite",
        "asha@shop.example",
        "--role",
        "staff",
        "--tenant",
        "shop",
    ]);
    // An invitation waits for days, is listed, and can be taken back.
    let listed = &installation.json(&["operator", "list", "--invited"])["items"];
    assert_eq!((&listed[0]["tenant"], &listed[0]["role"]), (&json!("shop"), &json!("staff")));
    installation.json(&["operator", "invite", "vik@house.example", "--keeper"]);
    let keeper = &installation.json(&["operator", "list", "--invited"])["items"];
    assert_eq!((keeper.as_array().unwrap().len(), &keeper[0]["tenant"]), (2, &json!(null)));
    assert_eq!(installation.json(&["operator", "withdraw", "Vik@house.example"])["withdrawn"], 1);
    installation.run(&["operator", "withdraw", "vik@house.example", "--json"]).refused_as(5, "not_found");
    let (status, answer) =
        post(&server, &path(invited["link"].as_str().unwrap()), "name=Asha&password=correct+horse+battery");
    assert_eq!(status, 303, "{answer}");
    let changed = installation.json(&["operator", "role", "asha@shop.example", "admin"]);
    assert_eq!((&changed["before"], &changed["now"]), (&json!("staff"), &json!("admin")));
    let sign_in = "email=asha%40shop.example&password=";
    assert_eq!(post(&server, "/account/sign-in", &format!("{sign_in}correct+horse+battery")).0, 303);
    // Locked out, and let in again.
    installation.run(&["operator", "link", "--json"]).refused_as(2, "invalid");
    let link = installation.json(&["operator", "link", "Asha@shop.example"]);
    let (status, answer) = post(&server, &path(link["link"].as_str().unwrap()), "password=another+good+one");
    assert_eq!(status, 303, "{answer}");
    assert_eq!(post(&server, "/account/sign-in", &format!("{sign_in}correct+horse+battery")).0, 401);
    assert_eq!(post(&server, "/account/sign-in", &format!("{sign_in}another+good+one")).0, 303);

    installation.run(&["operator", "remove", "asha@shop.example", "--json"]).refused_as(7, "refused");
    installation.json(&["operator", "remove", "asha@shop.example", "--yes"]);
    installation.run(&["operator", "role", "asha@shop.example", "none", "--json"]).refused_as(5, "not_found");
    assert_eq!(post(&server, "/account/sign-in", &format!("{sign_in}another+good+one")).0, 401);
    let told = installation.json(&["audit", "tail", "--tenant", "shop", "--limit", "50"]).to_string();
    for event in ["link.made", "link.used", "sign_in.began", "operator.role_changed", "operator.removed"] {
        assert!(told.contains(event), "{event}: {told}");
    }
    assert!(!told.contains("asha@shop") && !told.contains("/account/link/"), "{told}");
    server.signal(rustix::process::Signal::TERM);
    server.wait();
    assert!(installation.serve().ready.get("first_link").is_none(), "somebody has an account");
}

#[test]
fn operators_come_and_go_on_sqlite() {
    operators_come_and_go(DatabaseEngine::Sqlite);
}

#[test]
fn operators_come_and_go_on_postgres() {
    operators_come_and_go(DatabaseEngine::Postgres);
}

#[test]
fn an_account_is_proved_before_it_looks_after_a_second_tenant() {
    let installation = Installation::on(DatabaseEngine::Sqlite);
    let server = installation.serve();
    for tenant in ["shop", "clinic"] {
        installation.json(&["tenant", "add", tenant]);
    }
    let first = path(server.ready["first_link"].as_str().unwrap());
    post(&server, &first, "email=farid%40house.example&name=Farid&password=correct+horse+battery");
    let asha = "asha@shop.example";
    let invited = installation.json(&["operator", "invite", asha, "--role", "admin", "--tenant", "shop"]);
    let link = path(invited["link"].as_str().unwrap());
    assert_eq!(post(&server, &link, "name=Asha&password=correct+horse+battery").0, 303);
    let listed = &installation.json(&["operator", "list"])["items"];
    assert_eq!(
        (&listed[0]["proved_at"], listed[1]["proved_at"].is_string()),
        (&json!(null), true),
        "{listed}"
    );
    let role = ["operator", "role", asha, "owner", "--tenant", "clinic", "--json"];
    let refused = installation.run(&role).refused_as(7, "forbidden");
    assert!(refused.to_string().contains("munshi operator prove"), "{refused}");
    assert_eq!(installation.json(&["operator", "prove", asha])["first"], true);
    assert_eq!(installation.json(&["operator", "prove", asha])["first"], false);
    let sign_in = "email=asha%40shop.example&password=correct+horse+battery";
    assert_eq!(post(&server, "/account/sign-in", sign_in).0, 401, "who chose it before proved nothing");
    let link = installation.json(&["operator", "link", asha]);
    assert_eq!(post(&server, &path(link["link"].as_str().unwrap()), "password=another+good+one").0, 303);
    assert_eq!(installation.json(&role[..6])["now"], "owner", "whoever has the machine let them in");
    let told = installation.json(&["audit", "tail", "--tenant", "shop", "--limit", "50"]).to_string();
    assert!(told.contains("operator.proved"), "{told}");
}

#[test]
fn a_keeper_looks_after_operators_of_a_server_too() {
    let installation = Installation::on(DatabaseEngine::Sqlite);
    let server = installation.serve();
    installation.json(&["tenant", "add", "shop"]);
    let first = path(server.ready["first_link"].as_str().unwrap());
    post(&server, &first, "email=farid%40house.example&name=Farid&password=correct+horse+battery");
    let made = installation.json(&["keeper-key", "add", "desk", "--speaks-as", "person"]);
    let (url, key) = (format!("http://{}", server.address), made["text"].as_str().unwrap());
    let remote = |words: &[&str]| {
        installation.run(&[words, &["--server", url.as_str(), "--server-key", key]].concat())
    };
    let asha = "asha@shop.example";
    let invited = ["operator", "invite", asha, "--role", "owner", "--tenant", "shop", "--json"];
    let invited: serde_json::Value = serde_json::from_str(&remote(&invited).ok()).unwrap();
    let link = path(invited["link"].as_str().unwrap());
    assert_eq!(post(&server, &link, "name=Asha&password=correct+horse+battery").0, 303);
    installation.json(&["operator", "invite", "vik@house.example", "--keeper"]);
    remote(&["operator", "list"]).ok();
    for words in [
        &["operator", "list"][..],
        &["operator", "list", "--tenant", "shop"],
        &["operator", "list", "--tenant", "nowhere"],
        &["operator", "list", "--invited"],
        &["operator", "list", "--invited", "--tenant", "shop"],
        &["invitation", "list"],
        &["invitation", "withdraw", "nothing", "--tenant", "shop"],
        &["operator", "role", asha, "staff", "--tenant", "shop"],
        &["operator", "role", asha, "owner", "--tenant", "shop"],
        &["operator", "role", "nobody@shop.example", "staff", "--tenant", "shop"],
        &["operator", "link", "nobody@shop.example"],
        &["operator", "prove", "farid@house.example"],
        &["operator", "withdraw", "nobody@shop.example"],
        &["operator", "withdraw", "nonsense"],
        &["operator", "invite", "nonsense", "--role", "staff", "--tenant", "shop"],
        &["operator", "remove", "nobody@shop.example", "--yes"],
    ] {
        for format in [&[][..], &["--json"]] {
            let words = [words, format].concat();
            let (here, there) = (installation.run(&words), remote(&words));
            assert_eq!((here.code, &here.out, &here.err), (there.code, &there.out, &there.err), "{words:?}");
        }
    }
    remote(&["operator", "link", "--json"]).refused_as(2, "usage");
    remote(&["operator", "withdraw", "vik@house.example"]).ok();
    remote(&["operator", "prove", asha]).ok();
    assert_eq!(installation.json(&["operator", "prove", asha])["first"], false);
    remote(&["operator", "link", asha]).ok();
    remote(&["operator", "remove", asha, "--yes"]).ok();
    assert_eq!(installation.json(&["operator", "list"])["items"].as_array().unwrap().len(), 1);
}

#[test]
fn a_server_that_nobody_watches_logs_no_link() {
    let installation = Installation::on(DatabaseEngine::Sqlite);
    let mut child =
        installation.command(&["serve"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = String::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        log = format!("{log}{}\n", line.unwrap());
        if log.contains("\"ready\"") || log.contains(" ready") {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(log.contains("munshi operator link") && !log.contains("/account/link/"), "{log}");
}

/// Puts the widget's secret into the shop's vault.
fn keep(installation: &Installation, secret: &str) {
    let mut command = installation.command(&["vault", "set", "widget", "--tenant", "shop"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(secret.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn keys_of_hosts_follow_each_other() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "shop"]);
    installation.run(&["host-key", "add", "one", "--secret", "widget", "--json"]).refused_as(5, "not_found");
    keep(&installation, "too short");
    installation.run(&["host-key", "add", "one", "--secret", "widget", "--json"]).refused_as(2, "invalid");
    keep(&installation, "0123456789abcdef0123456789abcdef");
    assert_eq!(
        installation.json(&["host-key", "add", "one", "--secret", "vault:widget"])["algorithm"],
        "HS256"
    );
    let made: serde_json::Value =
        serde_json::from_str(include_str!("../../../identity/tests/jwt/pyjwt.json")).unwrap();
    let file = installation.folder().join("public.pem");
    std::fs::write(&file, made["cases"][2]["pem"].as_str().unwrap()).unwrap();
    let file = file.display().to_string();
    assert_eq!(installation.json(&["host-key", "add", "two", "--public-key", &file])["algorithm"], "ES256");
    installation
        .run(&["host-key", "add", "x", "--public-key", "Cargo.toml", "--json"])
        .refused_as(5, "not_found");
    let third = ["host-key", "add", "three", "--jwks", "https://shop.example/keys", "--algorithm", "RS256"];
    installation.run(&[&third[..], &["--json"]].concat()).refused_as(2, "invalid");
    installation.json(&["host-key", "retire", "one", "--grace", "0"]);
    installation.json(&third);
    installation.run(&["host-key", "retire", "nothing", "--json"]).refused_as(5, "not_found");
    let listed = installation.run(&["host-key", "list"]).ok();
    assert!(
        listed.contains("ended") && listed.contains("vault:widget") && !listed.contains("0123456789"),
        "{listed}"
    );
}
