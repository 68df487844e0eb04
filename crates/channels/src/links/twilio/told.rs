//! What Twilio tells: messages, and what became of ours.

use std::collections::BTreeMap;

use super::super::sms::{build_sender, read_number};
use crate::incoming::{ArrivedFile, ArrivedMessage, ArrivedReceipt, ChannelEvent, ChannelHappening};

/// Twilio sends no more with one message.
const MOST_FILES: usize = 10;
/// They wrote `STOP`, and Twilio sends them nothing of ours any more.
const OPTED_OUT: &str = "21610";

/// A request's fields; of several of one name the first counts.
pub(super) struct TwilioFields(BTreeMap<String, String>);

impl TwilioFields {
    pub(super) fn new(fields: Vec<(String, String)>) -> Self {
        let mut known = BTreeMap::new();
        for (name, value) in fields {
            known.entry(name).or_insert(value);
        }
        Self(known)
    }

    /// What is there and is not empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// The events of one request; none where there is nothing in it for us. The fault says which field is missing.
pub(super) fn read_events(fields: &TwilioFields, own: Option<&str>) -> Result<Vec<ChannelEvent>, String> {
    let id = fields.get("MessageSid").or(fields.get("SmsSid")).ok_or("it names no MessageSid")?;
    match fields.get("MessageStatus").filter(|status| !matches!(*status, "received" | "receiving")) {
        Some(status) => Ok(read_status(fields, id, status)),
        None => read_message(fields, id, own).map(|event| vec![event]),
    }
}

fn read_status(fields: &TwilioFields, id: &str, status: &str) -> Vec<ChannelEvent> {
    let code = fields.get("ErrorCode").unwrap_or("0");
    let receipt = match status {
        "delivered" => ArrivedReceipt::Delivered,
        "read" => ArrivedReceipt::Read,
        "undelivered" | "failed" | "canceled" => {
            ArrivedReceipt::Returned { why: format!("Twilio says {status}, error {code}: {}", explain(code)) }
        }
        // On its way.
        _ => return Vec::new(),
    };
    let build = |event: &str, lane: &str, what| ChannelEvent {
        id: format!("{event}:{id}:{status}"),
        lane: lane.to_owned(),
        happened_at: None,
        what,
    };
    let receipt = ChannelHappening::Receipt { message: id.to_owned(), receipt, own: None };
    let mut events = vec![build("status", &format!("status:{id}"), receipt)];
    if code == OPTED_OUT
        && let Some(to) = fields.get("To")
    {
        let what = ChannelHappening::Subscription { from: build_sender(to), wanted: false, reply_to: None };
        events.push(build("stopped", to, what));
    }
    events
}

fn read_message(fields: &TwilioFields, id: &str, own: Option<&str>) -> Result<ChannelEvent, String> {
    let number = fields.get("From").ok_or("it names no From")?;
    let from = build_sender(number);
    let event = |what| ChannelEvent { id: id.to_owned(), lane: number.to_owned(), happened_at: None, what };
    // Twilio has heard the word itself, and answered it.
    let subscribe = |from, wanted| ChannelHappening::Subscription { from, wanted, reply_to: None };
    match fields.get("OptOutType").map(str::to_ascii_uppercase).as_deref() {
        Some("STOP") => return Ok(event(subscribe(from, false))),
        Some("START") => return Ok(event(subscribe(from, true))),
        _ => {}
    }
    let unanswerable = if own.is_some_and(|own| read_number(number).as_deref() == Some(own)) {
        Some("it is from our own number")
    } else if read_number(number).is_none() {
        Some("a program wrote it: it has no number of a person")
    } else if fields.get("OptOutType").is_some() {
        Some("Twilio has answered it itself")
    } else {
        None
    };
    let files = list_files(fields);
    let text = fields.get("Body").unwrap_or_default();
    Ok(event(ChannelHappening::Message(Box::new(ArrivedMessage {
        outside_id: id.to_owned(),
        text: if text.trim().is_empty() && files.is_empty() { "[empty]".to_owned() } else { text.to_owned() },
        files,
        reply_to: number.to_owned(),
        to: fields.get("To").map(str::to_owned),
        unanswerable: unanswerable.map(str::to_owned),
        from,
        ..ArrivedMessage::default()
    }))))
}

fn list_files(fields: &TwilioFields) -> Vec<ArrivedFile> {
    let count = fields.get("NumMedia").and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
    let files = (0..count.min(MOST_FILES)).filter_map(|number| {
        Some(ArrivedFile {
            reference: fields.get(&format!("MediaUrl{number}"))?.to_owned(),
            media_type: fields.get(&format!("MediaContentType{number}")).unwrap_or_default().to_owned(),
            name: None,
            size: None,
        })
    });
    files.collect()
}

/// What a code of Twilio's means, for whoever looks after the account.
pub(super) fn explain(code: &str) -> &'static str {
    match code {
        "20003" => "the account's SID and token do not fit",
        "20429" | "14107" | "30022" => "too many messages were sent at once",
        "21211" | "21614" | "30005" | "30006" => "there is no such mobile number",
        "21212" | "21606" | "21659" | "21660" => {
            "our number is none of this account, or can't send text messages"
        }
        "21408" => "text messages to this country are switched off in Twilio's console",
        "21610" => "they asked to get no messages",
        "21612" => "our number can't reach this one",
        "21617" => "the message is too long",
        "30003" => "the phone is switched off or out of reach",
        "30004" => "the number blocks these messages",
        "30007" | "30034" => "a carrier took it for unwanted: the number or the text has to be registered",
        "30008" => "the carrier says no more",
        "63038" => "the account's limit for a day is reached",
        _ => "see Twilio's list of error codes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incoming::ArrivedSender;

    fn read(fields: &[(&str, &str)]) -> Result<Vec<ChannelEvent>, String> {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        read_events(&TwilioFields::new(fields), Some("+14155550100"))
    }

    fn read_one(fields: &[(&str, &str)]) -> ArrivedMessage {
        let mut events = read(fields).unwrap();
        assert_eq!(events.len(), 1);
        match events.remove(0).what {
            ChannelHappening::Message(message) => *message,
            other => panic!("no message: {other:?}"),
        }
    }

    const FROM: (&str, &str) = ("From", "+919812345678");

    #[test]
    fn a_message_is_read_with_its_files() {
        let message = read_one(&[
            ("MessageSid", "SM1"),
            FROM,
            ("To", "+14155550100"),
            ("Body", "Namaste"),
            ("NumMedia", "1"),
            ("MediaUrl0", "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages/MM1/Media/ME1"),
            ("MediaContentType0", "image/jpeg"),
            ("SmsStatus", "received"),
        ]);
        assert_eq!((message.outside_id.as_str(), message.text.as_str()), ("SM1", "Namaste"));
        assert_eq!((message.from.channel_id.as_str(), message.from.phone), ("+919812345678", None));
        assert_eq!(message.reply_to, "+919812345678");
        assert_eq!((message.files.len(), message.unanswerable), (1, None));
        assert_eq!(message.files[0].media_type, "image/jpeg");
    }

    #[test]
    fn nobody_answers_programs_or_ourselves() {
        let own = read_one(&[("MessageSid", "SM1"), ("From", "+14155550100"), ("Body", "hi")]);
        assert!(own.unanswerable.unwrap().contains("own"));
        for from in ["57575", "VK-SBIINB"] {
            let message = read_one(&[("MessageSid", "SM1"), ("From", from), ("Body", "Your OTP is 1")]);
            assert!(message.unanswerable.is_some(), "{from}");
        }
        let help = read_one(&[("MessageSid", "SM1"), FROM, ("Body", "HELP"), ("OptOutType", "HELP")]);
        assert!(help.unanswerable.is_some());
    }

    #[test]
    fn what_became_of_a_message_is_told_once_a_state() {
        let status = |status: &str, code: &str| {
            read(&[("MessageSid", "SM1"), ("MessageStatus", status), ("ErrorCode", code), ("To", FROM.1)])
                .unwrap()
        };
        assert!(status("queued", "").is_empty() && status("sent", "").is_empty());
        let delivered = status("delivered", "");
        let receipt = ChannelHappening::Receipt {
            message: "SM1".to_owned(),
            receipt: ArrivedReceipt::Delivered,
            own: None,
        };
        assert_eq!((delivered[0].id.as_str(), &delivered[0].what), ("status:SM1:delivered", &receipt));
        let failed = status("undelivered", "30003");
        let ChannelHappening::Receipt { receipt: ArrivedReceipt::Returned { why }, .. } = &failed[0].what
        else {
            panic!("{failed:?}");
        };
        assert!(why.contains("30003") && why.contains("switched off"), "{why}");
    }

    #[test]
    fn who_says_stop_is_written_to_no_more() {
        for (word, wanted) in [("STOP", false), ("START", true)] {
            let events = read(&[("MessageSid", "SM1"), FROM, ("Body", word), ("OptOutType", word)]).unwrap();
            let from = ArrivedSender { channel_id: FROM.1.to_owned(), ..ArrivedSender::default() };
            assert_eq!(events[0].what, ChannelHappening::Subscription { from, wanted, reply_to: None });
        }
        let failed = read(&[
            ("MessageSid", "SM1"),
            ("MessageStatus", "failed"),
            ("ErrorCode", "21610"),
            ("To", FROM.1),
        ])
        .unwrap();
        assert_eq!(failed.len(), 2, "{failed:?}");
        assert!(matches!(failed[1].what, ChannelHappening::Subscription { wanted: false, .. }));
    }

    #[test]
    fn what_names_nobody_is_no_message() {
        assert!(read(&[("From", "+919812345678")]).is_err());
        assert!(read(&[("MessageSid", "SM1")]).is_err());
    }
}
