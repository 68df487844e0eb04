//! Meta's side of the Cloud API, as strict as its documents are.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::TOKEN;
use super::stand_in::{Asked, Reply};
use crate::channels::sdks::{SentRequest, check_request};

pub(crate) const PHONE: &str = "277321005464405";
pub(crate) const MESSAGES: &str = "/277321005464405/messages";
pub(crate) const MEDIA: &str = "/277321005464405/media";
pub(crate) const FILE: &[u8] = b"\x89PNG of a bill";

pub(crate) fn account() -> String {
    format!(
        "[wa]\nkind = \"whatsapp\"\naccount_id = \"{PHONE}\"\nowner_id = \"102290129340398\"\nnumber = \"+15550967852\"\n\
         token = \"vault:wa.token\"\nsecret = \"vault:wa.secret\"\napi_url = \"URL\"\n"
    )
}

pub(crate) fn check(asked: &Asked, own: &str) -> Result<Reply, String> {
    if asked.header("authorization") != format!("Bearer {TOKEN}") {
        return Err("no token".to_owned());
    }
    let said = |body: Value| Ok(Reply::Said(body));
    match (asked.method.as_str(), asked.path.as_str()) {
        ("POST", MESSAGES) => {
            let sent = SentRequest {
                method: &asked.method,
                path: &asked.path,
                media_type: asked.header("content-type"),
                body: &asked.body,
            };
            check_request("whatsapp", &sent)?;
            check_message(&asked.json())
        }
        ("POST", MEDIA) => check_upload(asked),
        ("POST", "/277321005464405") => {
            let set = &asked.json()["webhook_configuration"];
            match (set["override_callback_uri"].as_str(), set["verify_token"].as_str()) {
                (Some(url), Some(token)) if url.starts_with("https://") && token.len() == 64 => {
                    said(json!({ "success": true }))
                }
                _ => Err("no webhook".to_owned()),
            }
        }
        ("GET", "/277321005464405") => said(json!({
            "verified_name": "Sharma Traders", "display_phone_number": "+1 555-096-7852", "quality_rating": "GREEN",
            "webhook_configuration": { "application": "https://other.example/" }, "id": PHONE,
        })),
        ("GET", "/102290129340398/subscribed_apps") => said(json!({ "data": [] })),
        ("POST", "/102290129340398/subscribed_apps") => said(json!({ "success": true })),
        ("GET", "/102290129340398/message_templates") => said(json!({ "data": [
            { "name": "bill_due", "language": "hi", "status": "APPROVED" },
            { "name": "welcome", "language": "en", "status": "REJECTED" },
        ] })),
        ("GET", "/m1") => {
            said(json!({ "url": format!("{own}/files/1"), "mime_type": "image/png", "id": "m1" }))
        }
        ("GET", "/m2") => {
            said(json!({ "url": "https://evil.example/files/1", "mime_type": "image/png", "id": "m2" }))
        }
        // A file whose place answers so.
        ("GET", path) if path.starts_with("/m-") => {
            let status = path.trim_start_matches("/m-");
            said(
                json!({ "url": format!("{own}/files/status-{status}"), "mime_type": "image/png", "id": "m" }),
            )
        }
        ("GET", path) if path.starts_with("/files/status-") => {
            let status = path.trim_start_matches("/files/status-").parse();
            status.map(Reply::Status).map_err(|_| format!("no status: {path}"))
        }
        ("GET", "/files/1") => Ok(Reply::Bytes(FILE.to_vec())),
        (method, path) => Err(format!("nothing is at {method} {path}")),
    }
}

fn check_message(body: &Value) -> Result<Reply, String> {
    let need = |is_so: bool, what: &str| if is_so { Ok(()) } else { Err(format!("{what}: {body}")) };
    need(body["messaging_product"] == "whatsapp", "messaging_product")?;
    if body["status"] == "read" {
        need(body["message_id"].is_string(), "message_id")?;
        return Ok(Reply::Said(json!({ "success": true })));
    }
    need(body["recipient_type"] == "individual", "recipient_type")?;
    let is_digits = |to: &str| to.len() >= 8 && to.bytes().all(|byte| byte.is_ascii_digit());
    match (body["to"].as_str(), body["recipient"].as_str()) {
        (Some(to), None) => need(is_digits(to), "to")?,
        (None, Some(recipient)) => need(recipient.contains('.'), "recipient")?,
        _ => return Err("one of to and recipient".to_owned()),
    }
    let kind = body["type"].as_str().unwrap_or_default();
    let content = &body[kind];
    need(content.is_object(), "the content of its type")?;
    let short = |text: &Value, most: usize| {
        text.as_str().is_some_and(|text| (1..=most).contains(&text.chars().count()))
    };
    match kind {
        "text" => need(short(&content["body"], 4096), "text.body")?,
        "interactive" => check_interactive(content)?,
        "image" | "audio" | "video" | "document" => {
            need(content["id"].is_string(), "the file's id")?;
            need(kind == "document" || content.get("filename").is_none(), "only a document has a name")?;
        }
        "reaction" => {
            need(content["message_id"].is_string() && content["emoji"].is_string(), "reaction")?;
            return Ok(Reply::Said(json!({ "messages": [{ "id": "wamid.reaction" }] })));
        }
        "template" => {
            need(content["name"].is_string() && content["language"]["code"].is_string(), "template")?;
            for component in content["components"].as_array().into_iter().flatten() {
                for parameter in component["parameters"].as_array().into_iter().flatten() {
                    let is_line = parameter["text"].as_str().is_some_and(|text| !text.contains('\n'));
                    need(parameter["type"] == "text" && is_line, "a parameter")?;
                }
            }
        }
        _ => return Err(format!("type {kind}")),
    }
    if let Some(context) = body.get("context") {
        need(context["message_id"].as_str().is_some_and(|id| id.starts_with("wamid.")), "context")?;
    }
    Ok(Reply::Taken(|number| {
        json!({ "messaging_product": "whatsapp", "contacts": [{ "input": "919812345678", "wa_id": "919812345678" }],
                "messages": [{ "id": format!("wamid.{number}") }] })
    }))
}

fn check_interactive(content: &Value) -> Result<(), String> {
    let short = |text: &Value, most: usize| {
        text.as_str().is_some_and(|text| (1..=most).contains(&text.chars().count()))
    };
    let need = |is_so: bool, what: &str| if is_so { Ok(()) } else { Err(format!("{what}: {content}")) };
    need(short(&content["body"]["text"], 1024), "body")?;
    let mut ids = HashSet::new();
    match content["type"].as_str() {
        Some("button") => {
            let buttons = content["action"]["buttons"].as_array().ok_or("buttons")?;
            need((1..=3).contains(&buttons.len()), "one to three buttons")?;
            for button in buttons {
                let reply = &button["reply"];
                need(
                    button["type"] == "reply" && short(&reply["title"], 20) && short(&reply["id"], 256),
                    "button",
                )?;
                need(ids.insert(reply["id"].to_string()), "each id once")?;
            }
        }
        Some("list") => {
            need(short(&content["action"]["button"], 20), "the list's button")?;
            let rows = content["action"]["sections"][0]["rows"].as_array().ok_or("rows")?;
            need((1..=10).contains(&rows.len()), "one to ten rows")?;
            for row in rows {
                need(short(&row["title"], 24) && short(&row["id"], 200), "row")?;
                need(row.get("description").is_none_or(|words| short(words, 72)), "description")?;
                need(ids.insert(row["id"].to_string()), "each id once")?;
            }
        }
        _ => return Err("interactive".to_owned()),
    }
    Ok(())
}

fn check_upload(asked: &Asked) -> Result<Reply, String> {
    let boundary =
        asked.header("content-type").strip_prefix("multipart/form-data; boundary=").ok_or("no form")?;
    let body = String::from_utf8_lossy(&asked.body);
    let parts: Vec<&str> = body.split(&format!("--{boundary}")).collect();
    let has = |name: &str, value: &str| {
        parts.iter().any(|part| part.contains(&format!("name=\"{name}\"")) && part.contains(value))
    };
    let is_whole = body.ends_with(&format!("--{boundary}--\r\n")) && parts.len() == 5;
    match is_whole && has("messaging_product", "whatsapp") && has("type", "/") && has("file", "filename=") {
        true => Ok(Reply::Said(json!({ "id": "media-1" }))),
        false => Err("the form lacks something".to_owned()),
    }
}
