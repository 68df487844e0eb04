//! Streamable HTTP, against a server of others and one that would lead us elsewhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use munshi_connectors::{AllowedHosts, ConnectorState, InProcessConnector};
use munshi_test_support::{choose_port, environment, wait_until};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::net::TcpListener;

use crate::behaving::sqlite;
use crate::support::{Shop, basics};

/// The reference server over HTTP; killed when dropped.
async fn reference(port: u16) -> tokio::process::Child {
    let program = environment::connectors().join("node/node_modules/.bin/mcp-server-everything");
    let child = tokio::process::Command::new(program)
        .arg("streamableHttp")
        .env_clear()
        .envs(basics())
        .env("PORT", port.to_string())
        .kill_on_drop(true)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_until(async || tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok()).await;
    child
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_server_answers_over_http() {
    let port = choose_port();
    let mut child = reference(port).await;
    let file = format!("[far]\nurl = \"http://localhost:{port}/mcp\"\n[far.tools.echo]\neffect = \"read\"\n");
    let shop =
        Shop::with(sqlite().await, &file, AllowedHosts::new(["localhost".to_owned()]), BTreeMap::new()).await;
    shop.start().await;
    shop.until_state("far", ConnectorState::Ready).await;
    let echo = shop.said("far_echo", json!({ "message": "over the wire" })).await;
    assert!(echo["result"].to_string().contains("over the wire"), "{echo}");
    child.kill().await.unwrap();
    shop.until("far", |standing| standing.restarts > 0 || standing.state == ConnectorState::Degraded).await;
    shop.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_address_is_not_reached_by_name_or_number() {
    for host in ["localhost", "127.0.0.1", "[::1]", "169.254.169.254"] {
        let file = format!("[far]\nurl = \"http://{host}:{}/mcp\"\n", choose_port());
        let shop = Shop::open(sqlite().await, &file).await;
        shop.start().await;
        let standing = shop.until_state("far", ConnectorState::Degraded).await;
        assert!(standing.why.contains("connectors.private_hosts"), "{host}: {}", standing.why);
        shop.host.stop().await;
    }
}

/// Answers every request with these bytes.
async fn plain(answer: &'static str, body: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut tasks = tokio::task::JoinSet::new();
    let serve = async move {
        while let Ok((mut line, _)) = listener.accept().await {
            tasks.spawn(async move {
                let mut asked = [0; 16 * 1024];
                let _ = line.read(&mut asked).await;
                let _ = line.write_all(answer.as_bytes()).await;
                let piece = vec![b' '; 64 * 1024];
                for _ in 0..body / piece.len() {
                    if line.write_all(&piece).await.is_err() {
                        return;
                    }
                }
            });
        }
    };
    let mut owner = tokio::task::JoinSet::new();
    owner.spawn(serve);
    std::mem::forget(owner);
    port
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_and_bodies_without_end_lead_nowhere() {
    let elsewhere = "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://169.254.169.254/latest\r\ncontent-length: 0\r\n\r\n";
    let endless = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
    for (answer, body, words) in [(elsewhere, 0, "307"), (endless, 256 * 1024 * 1024, "larger than")] {
        let port = plain(answer, body).await;
        let file = format!("[far]\nurl = \"http://127.0.0.1:{port}/mcp\"\n");
        let shop =
            Shop::with(sqlite().await, &file, AllowedHosts::new(["127.0.0.1".to_owned()]), BTreeMap::new())
                .await;
        shop.start().await;
        let standing = shop.until_state("far", ConnectorState::Degraded).await;
        assert!(standing.why.contains(words), "{}", standing.why);
        shop.host.stop().await;
    }
}

/// A part of this program: one tool, spoken on a line.
struct Clockwork;

impl InProcessConnector for Clockwork {
    fn serve(&self, line: DuplexStream) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            let (read, mut write) = tokio::io::split(line);
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let asked: serde_json::Value = serde_json::from_str(&line).unwrap();
                let Some(id) = asked.get("id") else { continue };
                let result = match asked["method"].as_str().unwrap() {
                    "initialize" => {
                        json!({ "protocolVersion": asked["params"]["protocolVersion"], "capabilities": { "tools": {} },
                                            "serverInfo": { "name": "clockwork", "version": "1" } })
                    }
                    "tools/list" => {
                        json!({ "tools": [{ "name": "tick", "description": "Ticks.", "inputSchema": { "type": "object" },
                                            "_meta": { "munshi/tool": { "effect": "read" } } }] })
                    }
                    "tools/call" => json!({ "content": [], "structuredContent": { "ticks": 1 } }),
                    "ping" => json!({}),
                    _ => {
                        let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "no" } });
                        write.write_all(format!("{error}\n").as_bytes()).await.unwrap();
                        continue;
                    }
                };
                let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
                write.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
            }
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_this_program_is_a_connector_like_others() {
    let inside: BTreeMap<String, Arc<dyn InProcessConnector>> =
        [("clockwork".to_owned(), Arc::new(Clockwork) as Arc<dyn InProcessConnector>)].into();
    let shop =
        Shop::with(sqlite().await, "[clock]\ninside = \"clockwork\"\n", AllowedHosts::default(), inside)
            .await;
    shop.start().await;
    shop.until_state("clock", ConnectorState::Ready).await;
    let said = shop.said("clock_tick", json!({})).await;
    assert_eq!(said["result"], json!({ "ticks": 1 }), "{said}");
    shop.host.stop().await;
}
