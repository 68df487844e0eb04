//! What MSG91 tells: what became of our messages, and what people wrote to the business's number.
//!
//! Its reports come in three shapes, as somebody chose in its panel: a form with a list in it, one object, or a list that names no message.

use ring::digest::{SHA256, digest};
use serde_json::{Map, Value};

use super::super::sms::{build_sender, read_number};
use crate::incoming::{ArrivedMessage, ArrivedReceipt, ChannelEvent, ChannelHappening, ChannelRequest};

/// What is more in one request is somebody's who tries what we bear.
const MOST_REPORTS: usize = 1000;
/// So many bytes of a hash are an id.
const HASH: usize = 16;

/// What a request says, in one shape; none where it can't be read.
pub(super) fn read_body(request: &ChannelRequest) -> Option<Vec<Map<String, Value>>> {
    let objects = match request.form() {
        Some(fields) => match fields.iter().find(|(name, _)| name == "data") {
            Some((_, text)) => list_objects(serde_json::from_str(text).ok()?),
            None => vec![fields.into_iter().map(|(name, value)| (name, Value::String(value))).collect()],
        },
        None if request.body.is_empty() => {
            let fields = request.query.iter().cloned();
            vec![fields.map(|(name, value)| (name, Value::String(value))).collect()]
        }
        None => list_objects(serde_json::from_slice(&request.body).ok()?),
    };
    Some(objects)
}

fn list_objects(body: Value) -> Vec<Map<String, Value>> {
    match body {
        Value::Object(one) => vec![one],
        Value::Array(many) => many
            .into_iter()
            .filter_map(|one| match one {
                Value::Object(one) => Some(one),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The events of a request. What is unreadable in it loses none of the others.
pub(super) fn read_events(objects: &[Map<String, Value>], own: Option<&str>) -> Vec<ChannelEvent> {
    let mut events = Vec::new();
    for object in objects {
        if let Some(id) = find_text(object, &["requestId", "request_id", "requestid"]) {
            let reports = object.get("report").and_then(Value::as_array);
            match reports {
                Some(reports) => {
                    let reports = reports.iter().filter_map(Value::as_object);
                    events.extend(reports.filter_map(|report| read_report(&id, report)));
                }
                None => events.extend(read_report(&id, object)),
            }
        } else {
            events.extend(read_message(object, own));
        }
    }
    events.truncate(MOST_REPORTS);
    events
}

/// What became of one message to one number.
fn read_report(id: &str, report: &Map<String, Value>) -> Option<ChannelEvent> {
    let status = find_text(report, &["status"]).unwrap_or_default();
    let words = find_text(report, &["desc", "description"]).unwrap_or_default().to_ascii_uppercase();
    let receipt = match (status.as_str(), words.as_str()) {
        ("1", _) | (_, "DELIVERED") => ArrivedReceipt::Delivered,
        ("2", _) | (_, "FAILED") => {
            returned("it failed: the phone is off, out of reach, or there is no such number")
        }
        ("9", _) | (_, "NDNC") => returned("they asked their carrier for no advertising"),
        ("16" | "25", _) | (_, "REJECTED") => {
            returned("it was rejected: compare the text with the registered template, and the sender's id")
        }
        ("17", _) | (_, "BLOCKED" | "BLOCKED NUMBER") => returned("the number is blocked at MSG91"),
        // On its way.
        _ => return None,
    };
    let state = match &receipt {
        ArrivedReceipt::Delivered => "delivered",
        _ => "returned",
    };
    Some(ChannelEvent {
        id: format!("status:{id}:{state}"),
        lane: format!("status:{id}"),
        happened_at: None,
        what: ChannelHappening::Receipt { message: id.to_owned(), receipt, own: None },
    })
}

fn returned(why: &str) -> ArrivedReceipt {
    ArrivedReceipt::Returned { why: format!("MSG91 says {why}") }
}

/// What somebody wrote. MSG91 gives no id to it at times: then it is known by who wrote what and when.
fn read_message(object: &Map<String, Value>, own: Option<&str>) -> Option<ChannelEvent> {
    let from = find_text(object, &["mobile", "sender", "from", "number"])?;
    let text = find_text(object, &["message", "content", "text", "msg"])?;
    let at = find_text(object, &["date", "time", "receivedAt", "ts"]);
    let id = find_text(object, &["id", "messageId", "uuid"])
        .or_else(|| at.as_ref().map(|at| hash(&format!("{from}\0{at}\0{text}"))))?;
    let number = read_number(&from);
    let unanswerable = match &number {
        None => Some("a program wrote it: it has no number of a person"),
        Some(number) if own == Some(number.as_str()) => Some("it is from our own number"),
        Some(_) => None,
    };
    let from = number.unwrap_or(from);
    Some(ChannelEvent {
        id: format!("message:{id}"),
        lane: from.clone(),
        happened_at: None,
        what: ChannelHappening::Message(Box::new(ArrivedMessage {
            outside_id: id,
            from: build_sender(&from),
            text,
            reply_to: from,
            to: own.map(str::to_owned),
            unanswerable: unanswerable.map(str::to_owned),
            ..ArrivedMessage::default()
        })),
    })
}

/// An id that says nothing of anybody.
fn hash(text: &str) -> String {
    let hashed = digest(&SHA256, text.as_bytes());
    hashed.as_ref().iter().take(HASH).map(|byte| format!("{byte:02x}")).collect()
}

/// The first of some names that is there and says something.
fn find_text(object: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match object.get(*name)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use munshi_types::Timestamp;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::incoming::ChannelRequestMethod;

    fn request(media_type: &str, body: &[u8]) -> ChannelRequest {
        ChannelRequest {
            method: ChannelRequestMethod::Post,
            url: "https://munshi.example/channels/shop/sms/secret".to_owned(),
            path_secret: None,
            headers: vec![("content-type".to_owned(), media_type.as_bytes().to_vec())],
            query: Vec::new(),
            body: body.to_vec(),
            now: Timestamp::EPOCH,
        }
    }

    fn read(media_type: &str, body: &[u8]) -> Vec<ChannelEvent> {
        read_events(&read_body(&request(media_type, body)).unwrap(), Some("+919000000001"))
    }

    fn delivered(id: &str) -> ChannelHappening {
        ChannelHappening::Receipt { message: id.to_owned(), receipt: ArrivedReceipt::Delivered, own: None }
    }

    const FORM: &str = "application/x-www-form-urlencoded";

    #[test]
    fn each_shape_of_a_report_is_read() {
        let list = json!([{ "senderId": "SHARMA", "requestId": "346a", "userId": "27", "campaignName": "api", "report": [
            { "date": "2024-05-22 10:06:20", "number": "919812345678", "status": "1", "desc": "DELIVERED" },
            { "date": "2024-05-22 10:06:21", "number": "919812345679", "status": "16", "desc": "REJECTED" }] }]);
        let form = serde_urlencoded::to_string([("data", list.to_string())]).unwrap();
        let events = read(FORM, form.as_bytes());
        assert_eq!((events.len(), &events[0].what), (2, &delivered("346a")), "{events:?}");
        let one = json!({ "date": "2024-05-22 09:58:16", "number": "919812345678", "requestId": "346b", "status": "1",
                          "desc": "DELIVERED" });
        assert_eq!(read("application/json", one.to_string().as_bytes())[0].what, delivered("346b"));
        // This shape names no message: nothing can be known of it.
        let nameless = json!([{ "data": [{ "meta": "0", "description": "DELIVERED", "ts": 1_726_729_500 }], "event": "delivered" }]);
        assert!(read("application/json", nameless.to_string().as_bytes()).is_empty());
    }

    #[test]
    fn what_somebody_wrote_is_taken_once() {
        let body =
            json!({ "mobile": "919812345678", "message": "Is it open?", "date": "2026-11-19 10:00:00" })
                .to_string();
        let events = read("application/json", body.as_bytes());
        let again = read("application/json", body.as_bytes());
        assert_eq!(events, again);
        let ChannelHappening::Message(message) = &events[0].what else { panic!("{events:?}") };
        assert_eq!((message.text.as_str(), message.reply_to.as_str()), ("Is it open?", "+919812345678"));
        assert!(message.unanswerable.is_none());
    }

    proptest! {
        #[test]
        fn nothing_breaks_it(body in proptest::collection::vec(any::<u8>(), 0..300), form in any::<bool>()) {
            let media_type = if form { FORM } else { "application/json" };
            if let Some(objects) = read_body(&request(media_type, &body)) {
                read_events(&objects, None);
            }
        }
    }
}
