//! A service's document as a connector: a real service that nobody here wrote, and a small one that leads astray.

use std::collections::BTreeMap;

use munshi_connectors::conformance::{self, ConnectorVerdict, WriteTestMode};
use munshi_connectors::{AllowedHosts, ConnectorState};
use munshi_test_support::{choose_port, environment, wait_until};
use munshi_tools::ToolAnswer;
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::behaving::sqlite;
use crate::support::{Shop, basics, server};

/// Waits until somebody listens.
async fn listening(child: Child, port: u16) -> Child {
    wait_until(async || tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok()).await;
    child
}

fn quiet(command: &mut Command) -> Child {
    let null = std::process::Stdio::null;
    command.env_clear().envs(basics()).kill_on_drop(true).stdout(null()).stderr(null()).spawn().unwrap()
}

/// Jupyter's contents service, which looks after the files of a folder.
async fn contents(folder: &std::path::Path, port: u16) -> Child {
    let packages = environment::connectors().join("service");
    let mut command = Command::new("python3");
    command.arg("-B").arg(packages.join("bin/jupyverse"));
    command
        .args(["--host", "127.0.0.1", "--port", &port.to_string(), "--timeout", "120"])
        .current_dir(folder);
    let null = std::process::Stdio::null;
    let child = command
        .env_clear()
        .envs(basics())
        .env("PYTHONPATH", packages)
        .env("HOME", folder)
        .kill_on_drop(true)
        .stdout(null())
        .stderr(null())
        .spawn()
        .unwrap();
    listening(child, port).await
}

async fn small(mood: &str) -> (Child, u16) {
    let port = choose_port();
    let child = quiet(Command::new("python3").args([&server("service.py"), &port.to_string(), mood]));
    (listening(child, port).await, port)
}

async fn shop(file: &str) -> Shop {
    Shop::with(sqlite().await, file, AllowedHosts::new(["127.0.0.1".to_owned()]), BTreeMap::new()).await
}

fn orders(port: u16) -> String {
    format!(
        "[orders]\nopenapi = \"http://127.0.0.1:{port}/openapi.json\"\nlogins = {{ gateway = \"vault:orders.key\" }}\n\
         [orders.tools.slow]\ntimeout_seconds = 2\n"
    )
}

async fn opened(mood: &str) -> (Child, u16, Shop) {
    let (child, port) = small(mood).await;
    let shop = shop(&orders(port)).await;
    shop.secret("orders.key", "s3cret-gateway-key").await;
    shop.start().await;
    shop.until_state("orders", ConnectorState::Ready).await;
    (child, port, shop)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_nobody_here_wrote_becomes_tools() {
    let test = sqlite().await;
    let share = test.place.folder().join("share");
    std::fs::create_dir_all(&share).unwrap();
    std::fs::write(share.join("hello.txt"), "namaste").unwrap();
    let port = choose_port();
    let _child = contents(&share, port).await;
    let file = format!(
        "[jupyter]\nopenapi = \"http://127.0.0.1:{port}/openapi.json\"\ntimeout_seconds = 120\n\
         [jupyter.tools.delete_content_api_contents__path__delete]\ndestructive = false\nscope = \"file.drop\"\n\
         description = \"Puts a file away.\"\n\
         [jupyter.tools.get_checkpoint_api_contents__path__checkpoints_get]\noff = true\n"
    );
    let shop = Shop::with(test, &file, AllowedHosts::new(["127.0.0.1".to_owned()]), BTreeMap::new()).await;
    shop.start().await;
    let standing = shop.until_state("jupyter", ConnectorState::Ready).await;
    assert_eq!((standing.undeclared, standing.held), (0, false), "{standing:?}");
    let names: Vec<String> = shop.shelf().all().map(|tool| tool.known.spec.name.to_string()).collect();
    assert!(!names.iter().any(|name| name.contains("get_checkpoint")), "{names:?}");
    let read = shop
        .said("jupyter_get_content_api_contents_path_get", json!({ "path": "hello.txt", "content": 1 }))
        .await;
    assert_eq!(read["result"]["body"]["content"], "namaste", "{read}");
    assert_eq!(read["source"], json!({ "untrusted": true, "connector": "jupyter" }));
    let listed = shop.said("jupyter_get_root_content_api_contents_get", json!({ "content": 1 })).await;
    assert!(listed["result"]["body"].to_string().contains("hello.txt"), "{listed}");
    let put = "jupyter_save_content_api_contents_path_put";
    let asks = shop.call(put, json!({ "path": "new.txt" })).await;
    assert!(matches!(asks, ToolAnswer::Waiting(_)), "what overwrites asks first: {asks:?}");
    let wrong = shop.call(put, json!({ "path": "new.txt", "mode": "x" })).await;
    assert!(matches!(wrong, ToolAnswer::Refused(_)), "what it does not take is not sent: {wrong:?}");
    let drop = "jupyter_delete_content_api_contents_path_delete";
    assert_eq!(shop.shelf().get(drop).unwrap().known.spec.scope, "jupyter.file.drop");
    let gone = shop.call(drop, json!({ "path": "hello.txt" })).await;
    assert!(matches!(gone, ToolAnswer::Done(_)), "the operator's word counts: {gone:?}");
    assert!(!share.join("hello.txt").exists());
    let missing = shop
        .said("jupyter_get_content_api_contents_path_get", json!({ "path": "nothing.txt", "content": 1 }))
        .await;
    assert_eq!(missing["ok"], false, "{missing}");
    let report = conformance::test(&shop.trial(&file, WriteTestMode::Never)).await;
    assert!(report.tools > 0, "{report:#?}");
    // How long it takes to say so is the machine's affair.
    let failed: Vec<_> =
        report.findings.iter().filter(|finding| finding.verdict == ConnectorVerdict::Fail).collect();
    assert!(
        failed.iter().all(|finding| matches!(finding.check, "initialize" | "dry_run" | "idempotency_key")),
        "{failed:#?}"
    );
    shop.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_opens_it_and_is_never_shown() {
    let (_child, port, shop) = opened("good").await;
    let standing = shop.standing("orders");
    assert_eq!((standing.server.as_str(), standing.version.as_str()), ("Orders", "7"));
    let echo = shop.said("orders_echo", json!({})).await;
    assert!(!echo.to_string().contains("s3cret"), "{echo}");
    assert_eq!(echo["result"]["body"]["x-gateway-key"], "[secret hidden]", "{echo}");
    for item in ["tea", "rice", "salt"] {
        let added = shop.said("orders_add_order", json!({ "body": { "item": item } })).await;
        let key = &added["result"]["body"]["key"];
        assert!(key.as_str().is_some_and(|key| key.len() > 20), "the act's key goes along: {added}");
    }
    let page = shop.said("orders_list_orders", json!({ "limit": 2 })).await;
    assert_eq!(
        (&page["result"]["body"][0]["item"], &page["result"]["next"]),
        (&json!("tea"), &json!({ "offset": 2 }))
    );
    let rest = shop.said("orders_list_orders", json!({ "limit": 2, "offset": 2 })).await;
    assert_eq!((&rest["result"]["body"][0]["item"], &rest["result"]["next"]), (&json!("salt"), &Value::Null));
    let refused = shop.call("orders_add_order", json!({ "body": { "item": "tea", "price": 1 } })).await;
    assert!(matches!(refused, ToolAnswer::Refused(_)), "{refused:?}");
    let climbing = shop.said("orders_read_order", json!({ "id": "../openapi.json" })).await;
    assert_eq!(climbing["code"], "not_found", "{climbing}");
    shop.host.stop().await;
    // Without its login nothing of it can be used, and the log says why.
    let locked = self::shop(&format!("[orders]\nopenapi = \"http://127.0.0.1:{port}/openapi.json\"\n")).await;
    locked.start().await;
    locked.until_state("orders", ConnectorState::Ready).await;
    assert!(locked.shelf().is_empty());
    assert!(locked.log("orders").contains("logins.gateway"), "{}", locked.log("orders"));
    locked.host.stop().await;
}

/// What a small service was asked for so far.
fn asked(port: u16) -> String {
    let mut line = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    std::io::Write::write_all(&mut line, b"GET /count HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .unwrap();
    std::io::read_to_string(line).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_opens_a_service_goes_to_nobody_else() {
    let ((_keeper, keeper), (_service, service)) = (small("good").await, small("good").await);
    for document in [keeper, service] {
        let file = format!(
            "[orders]\nopenapi = \"http://127.0.0.1:{document}/openapi.json\"\nserver = \"http://127.0.0.1:{service}\"\n\
             token = \"vault:orders.token\"\nheaders = {{ x-gateway-key = \"vault:orders.key\" }}\n"
        );
        let shop = shop(&file).await;
        shop.secret("orders.token", "t0ken-of-the-service").await;
        shop.secret("orders.key", "s3cret-gateway-key").await;
        shop.start().await;
        shop.until_state("orders", ConnectorState::Ready).await;
        let echo = shop.said("orders_echo", json!({})).await;
        assert_eq!(echo["result"]["status"], 200, "the service itself is told: {echo}");
        shop.host.stop().await;
    }
    assert!(asked(keeper).contains("document None None"), "{}", asked(keeper));
    assert!(!asked(keeper).contains("t0ken") && !asked(keeper).contains("s3cret"), "{}", asked(keeper));
    assert!(asked(service).contains("document Bearer t0ken-of-the-service"), "{}", asked(service));
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_half_of_a_login_is_shown() {
    let (_child, port) = small("good").await;
    let file = format!(
        "[orders]\nopenapi = \"http://127.0.0.1:{port}/openapi.json\"\nlogins = {{ basic = \"vault:orders.basic\" }}\n"
    );
    let shop = shop(&file).await;
    shop.secret("orders.basic", "meera:tiger-of-the-hills").await;
    shop.start().await;
    shop.until_state("orders", ConnectorState::Ready).await;
    let told = shop.said("orders_whoami", json!({})).await;
    assert_eq!(told["result"]["body"], json!({ "user": "meera", "said": "[secret hidden]" }), "{told}");
    shop.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_misbehaves_harms_nobody() {
    let (_child, port, shop) = opened("good").await;
    let elsewhere = shop.said("orders_elsewhere", json!({})).await;
    assert_eq!(elsewhere["code"], "moved", "{elsewhere}");
    let endless = shop.said("orders_endless", json!({})).await;
    assert_eq!(endless["code"], "too_long", "{endless}");
    let slow = shop.said("orders_slow", json!({})).await;
    assert_eq!(slow["code"], "too_slow", "{slow}");
    // A write that broke off may have happened: it is not tried again, and a person is asked.
    let perhaps = shop.call("orders_break_it", json!({})).await;
    assert!(matches!(perhaps, ToolAnswer::Unknown { .. }), "{perhaps:?}");
    for _ in 0..6 {
        let broken = shop.said("orders_broken", json!({})).await;
        assert_eq!(broken["code"], "service_failed", "{broken}");
    }
    let left = shop.said("orders_list_orders", json!({})).await;
    assert!(left["detail"].as_str().unwrap().contains("left alone"), "{left}");
    let told = asked(port);
    assert!(told.matches("/broken").count() <= 6, "{told}");
    assert_eq!(told.matches("POST /broken").count(), 1, "{told}");
    shop.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_leads_elsewhere_is_not_followed() {
    let (_child, _, shop) = opened("astray").await;
    assert!(shop.shelf().is_empty());
    assert!(shop.log("orders").contains("not allowed"), "{}", shop.log("orders"));
    shop.host.stop().await;
    let (_child, port) = small("hidden").await;
    let hidden = self::shop(&orders(port)).await;
    hidden.secret("orders.key", "s3cret-gateway-key").await;
    hidden.start().await;
    let standing = hidden.until_state("orders", ConnectorState::Degraded).await;
    assert!(standing.why.contains("302"), "{}", standing.why);
    hidden.host.stop().await;
    let private = Shop::open(sqlite().await, &orders(port)).await;
    private.secret("orders.key", "s3cret-gateway-key").await;
    private.start().await;
    let standing = private.until_state("orders", ConnectorState::Degraded).await;
    assert!(standing.why.contains("connectors.private_hosts"), "{}", standing.why);
    private.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_may_stand_in_the_entry_itself() {
    let (_child, port) = small("good").await;
    let echo = json!({ "operationId": "echo", "responses": { "200": { "description": "what came" } } });
    let document = json!({ "openapi": "3.1.0", "info": { "title": "Orders", "version": "1" },
                           "paths": { "/echo": { "get": echo } } });
    let text = json!(document.to_string());
    let shop = shop(&format!(
        "[orders]\nopenapi = {text}\nserver = \"http://127.0.0.1:{port}\"\nheaders = {{ x-gateway-key = \"vault:orders.key\" }}\n"
    ))
    .await;
    shop.secret("orders.key", "s3cret-gateway-key").await;
    shop.start().await;
    shop.until_state("orders", ConnectorState::Ready).await;
    let told = shop.said("orders_echo", json!({})).await;
    assert_eq!(told["result"]["status"], 200, "{told}");
    assert!(!asked(port).contains("document"), "nobody is asked for one: {}", asked(port));
    shop.host.stop().await;
}
