//! Servers that nobody here wrote.

use std::path::PathBuf;

use munshi_connectors::ConnectorState;
use munshi_test_support::environment;
use munshi_tools::ToolAnswer;
use serde_json::json;

use crate::behaving::sqlite;
use crate::support::Shop;

/// They are large, and machines are slow.
const PATIENT: &str = "start_seconds = 120\ntimeout_seconds = 120\n";

pub(crate) fn filesystem(folder: &std::path::Path) -> String {
    let program = environment::connectors().join("node/node_modules/.bin/mcp-server-filesystem");
    format!("[files]\ncommand = [\"{}\", \"{}\"]\n{PATIENT}", program.display(), folder.display())
}

pub(crate) fn everything() -> String {
    let program = environment::connectors().join("node/node_modules/.bin/mcp-server-everything");
    format!("[everything]\ncommand = [\"{}\"]\n{PATIENT}", program.display())
}

pub(crate) fn python(name: &str, module: &str, arguments: &[&str]) -> String {
    let packages: PathBuf = environment::connectors().join("python");
    let run = format!("import {module}; {module}.main()");
    let command: Vec<String> =
        ["python3", "-c", &run].iter().chain(arguments).map(|part| format!("\"{part}\"")).collect();
    format!(
        "[{name}]\ncommand = [{}]\nenvironment = {{ PYTHONPATH = \"{}\" }}\n{PATIENT}",
        command.join(", "),
        packages.display()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn the_filesystem_server_reads_and_writes_as_it_was_declared() {
    let test = sqlite().await;
    let share = test.place.folder().join("share");
    std::fs::create_dir_all(&share).unwrap();
    let share = share.canonicalize().unwrap();
    std::fs::write(share.join("hello.txt"), "namaste").unwrap();
    let file = filesystem(&share)
        + "[files.tools.write_file]\neffect = \"keyed\"\ndestructive = false\nscope = \"file.write\"\n";
    let shop = Shop::open(test, &file).await;
    shop.start().await;
    let standing = shop.until_state("files", ConnectorState::Ready).await;
    assert!(standing.tools >= 10 && standing.left_out.is_empty(), "{standing:?}");
    let read = shop.said("files_read_text_file", json!({ "path": share.join("hello.txt") })).await;
    assert!(read["result"].to_string().contains("namaste"), "{read}");
    let written =
        shop.call("files_write_file", json!({ "path": share.join("new.txt"), "content": "kal" })).await;
    assert!(matches!(written, ToolAnswer::Done(_)), "{written:?}");
    assert_eq!(std::fs::read_to_string(share.join("new.txt")).unwrap(), "kal");
    let moved = json!({ "source": share.join("new.txt"), "destination": share.join("old.txt") });
    let undeclared = shop.call("files_move_file", moved).await;
    assert!(matches!(undeclared, ToolAnswer::Refused(_)), "{undeclared:?}");
    let outside = shop.said("files_read_text_file", json!({ "path": "/etc/passwd" })).await;
    assert_eq!(outside["code"], "tool_failed", "{outside}");
    shop.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_everything_and_time_servers_answer() {
    let file = everything()
        + "[everything.tools.echo]\neffect = \"read\"\n[everything.tools.get-sum]\neffect = \"read\"\n"
        + &python("time", "mcp_server_time", &["--local-timezone", "Asia/Kolkata"])
        + "[time.tools.convert_time]\neffect = \"read\"\n";
    let shop = Shop::open(sqlite().await, &file).await;
    shop.start().await;
    for name in ["everything", "time"] {
        shop.until_state(name, ConnectorState::Ready).await;
    }
    let echo = shop.said("everything_echo", json!({ "message": "नमस्ते" })).await;
    assert!(echo["result"].to_string().contains("नमस्ते"), "{echo}");
    let sum = shop.said("everything_get_sum", json!({ "a": 2, "b": 40 })).await;
    assert!(sum["result"].to_string().contains("42"), "{sum}");
    let asked = json!({ "source_timezone": "Asia/Kolkata", "time": "12:00", "target_timezone": "UTC" });
    let time = shop.said("time_convert_time", asked).await;
    assert!(time["result"].to_string().contains("06:30"), "{time}");
    shop.host.stop().await;
}
