//! What a reply carries beside its words: a link, a QR code, a picture.
//!
//! A tool gives them in its result, under `attachments`; each channel shows them in its own way. A picture is its bytes and
//! never an address to be fetched: an address that a model wrote could carry away what was said.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The field of a tool's result that holds them.
pub const FIELD: &str = "attachments";
/// More of one result are not shown.
const MOST: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Attachment {
    /// Something to open.
    Link {
        url: String,
        #[serde(default)]
        title: String,
    },
    /// A text that a phone reads with its camera, such as `upi://pay?…`.
    Qr {
        text: String,
        #[serde(default)]
        title: String,
    },
    Image {
        /// `image/png`, `image/svg+xml`.
        media_type: String,
        /// In base64.
        data: String,
        /// What it shows, for those who don't see it.
        #[serde(default)]
        title: String,
    },
}

/// Those of a tool's result, in order, also where it stands within what is said about it: `{"ok": true, "result": …}`.
/// What does not have the shape of one is none.
pub fn of_result(result: &Value) -> Vec<Attachment> {
    let own = result.get("result").filter(|_| result.get("ok") == Some(&Value::Bool(true))).unwrap_or(result);
    let given = own.get(FIELD).and_then(Value::as_array).into_iter().flatten();
    given.filter_map(|one| serde_json::from_value(one.clone()).ok()).take(MOST).collect()
}

/// A result as a model is told of it: of what is shown to the person the titles alone. A picture's bytes are a prompt's
/// length, and a link may be a key.
pub fn without_content(result: &Value) -> Value {
    let mut told = result.clone();
    let path = if told.get("ok").is_some() { "/result" } else { "" };
    let shown = told.pointer_mut(path).and_then(|own| own.get_mut(FIELD));
    if let Some(shown) = shown {
        let titles =
            shown.as_array().into_iter().flatten().map(|one| one.get("title").cloned().unwrap_or_default());
        *shown = titles.collect();
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tool_gives_what_is_shown() {
        let result = json!({ "total": 5, "attachments": [
            { "kind": "qr", "text": "upi://pay?pa=a@b", "title": "Pay" },
            { "kind": "picture" }, "x",
            { "kind": "link", "url": "https://a.example" },
        ] });
        let found = of_result(&result);
        let qr = Attachment::Qr { text: "upi://pay?pa=a@b".to_owned(), title: "Pay".to_owned() };
        let link = Attachment::Link { url: "https://a.example".to_owned(), title: String::new() };
        assert_eq!(found, [qr, link]);
        assert_eq!(of_result(&json!({ "ok": true, "result": result })), found, "as a turn tells it");
        assert!(of_result(&json!({ "ok": false, "result": result })).is_empty());
        let told = json!({ "total": 5, "attachments": ["Pay", null, null, null] });
        assert_eq!(without_content(&result), told, "a model is told the titles");
        let wrapped = json!({ "ok": true, "result": result });
        assert_eq!(without_content(&wrapped), json!({ "ok": true, "result": told }));
        assert_eq!(without_content(&json!({ "total": 5 })), json!({ "total": 5 }));
        assert!(of_result(&json!({ "attachments": 4 })).is_empty() && of_result(&json!([])).is_empty());
        let many = json!({ "attachments": vec![json!({ "kind": "qr", "text": "x" }); 20] });
        assert_eq!(of_result(&many).len(), MOST);
    }

    #[test]
    fn a_model_is_told_of_pictures_without_their_bytes() {
        let picture =
            json!({ "kind": "image", "media_type": "image/png", "data": "aGk=", "title": "The blue one" });
        let answer = json!({ "ok": true, "result": { "total": 5, "attachments": [picture] } });
        assert_eq!(of_result(&answer).len(), 1);
        let told = json!({ "ok": true, "result": { "total": 5, "attachments": ["The blue one"] } });
        assert_eq!(without_content(&answer), told);
        for plain in [json!({ "ok": false, "code": "x" }), json!(4), json!({ "result": [1] })] {
            assert_eq!(without_content(&plain), plain);
            assert!(of_result(&plain).is_empty());
        }
    }
}
