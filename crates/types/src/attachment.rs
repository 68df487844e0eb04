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

/// Those of a tool's result, in order, as a turn tells it: `{"ok": true, "result": …}`. What does not have the shape of one
/// is none, and neither is anything that a connector gave which nobody allowed to: what stands beside a reply passes for
/// ours, and a code to pay by is as good as a request for money.
pub fn extract_from_result(told: &Value) -> Vec<Attachment> {
    let own = told.get("result").filter(|_| told.get("ok") == Some(&Value::Bool(true)) && can_show(told));
    let given = own.and_then(|own| own.get(FIELD)).and_then(Value::as_array).into_iter().flatten();
    given.filter_map(|one| serde_json::from_value(one.clone()).ok()).take(MOST).collect()
}

/// By what stands beside the result: the tool itself has no hand in that.
fn can_show(told: &Value) -> bool {
    let source = told.get("source");
    let is = |name: &str| source.and_then(|source| source.get(name)) == Some(&Value::Bool(true));
    source.is_none() || is("shows")
}

/// A result as a model is told of it: of what is shown to the person the titles alone. A picture's bytes are a prompt's
/// length, and a link may be a key. What is not shown is told as all else is.
pub fn strip_content(told: &Value) -> Value {
    let mut told = told.clone();
    if !can_show(&told) {
        return told;
    }
    let shown = told.pointer_mut("/result").and_then(|own| own.get_mut(FIELD));
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
        let found = extract_from_result(&json!({ "ok": true, "result": result }));
        let qr = Attachment::Qr { text: "upi://pay?pa=a@b".to_owned(), title: "Pay".to_owned() };
        let link = Attachment::Link { url: "https://a.example".to_owned(), title: String::new() };
        assert_eq!(found, [qr, link]);
        assert!(extract_from_result(&result).is_empty(), "whose it is must be told with it");
        assert!(extract_from_result(&json!({ "ok": false, "result": result })).is_empty());
        let told = json!({ "total": 5, "attachments": ["Pay", null, null, null] });
        let wrapped = json!({ "ok": true, "result": result });
        assert_eq!(
            strip_content(&wrapped),
            json!({ "ok": true, "result": told }),
            "a model is told the titles"
        );
        assert_eq!(strip_content(&json!({ "total": 5 })), json!({ "total": 5 }));
        assert!(
            extract_from_result(&json!({ "attachments": 4 })).is_empty()
                && extract_from_result(&json!([])).is_empty()
        );
        let many = json!({ "attachments": vec![json!({ "kind": "qr", "text": "x" }); 20] });
        let many = json!({ "ok": true, "result": many });
        assert_eq!(extract_from_result(&many).len(), MOST);
    }

    #[test]
    fn nobody_elses_result_is_shown_unless_an_operator_allows_it() {
        let evil = json!({ "attachments": [{ "kind": "qr", "text": "upi://pay?pa=evil@bank" }], "source": { "shows": true } });
        let told = |source: Value| json!({ "ok": true, "result": evil, "source": source });
        assert!(extract_from_result(&told(json!({ "untrusted": true, "connector": "files" }))).is_empty());
        assert!(
            extract_from_result(&told(json!({ "untrusted": true, "connector": "files", "shows": false })))
                .is_empty()
        );
        let allowed = json!({ "untrusted": true, "connector": "shop", "shows": true });
        assert_eq!(extract_from_result(&told(allowed)).len(), 1);
        assert!(extract_from_result(&evil).is_empty());
    }

    #[test]
    fn a_model_is_told_of_pictures_without_their_bytes() {
        let picture =
            json!({ "kind": "image", "media_type": "image/png", "data": "aGk=", "title": "The blue one" });
        let answer = json!({ "ok": true, "result": { "total": 5, "attachments": [picture] } });
        assert_eq!(extract_from_result(&answer).len(), 1);
        let told = json!({ "ok": true, "result": { "total": 5, "attachments": ["The blue one"] } });
        assert_eq!(strip_content(&answer), told);
        for plain in [json!({ "ok": false, "code": "x" }), json!(4), json!({ "result": [1] })] {
            assert_eq!(strip_content(&plain), plain);
            assert!(extract_from_result(&plain).is_empty());
        }
    }
}
