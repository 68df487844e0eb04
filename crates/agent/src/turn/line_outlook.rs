//! What whoever asks for a person is told of it: who is there, how many wait, and how long it usually takes.

use std::time::Duration;

use munshi_types::tier::Opening;
use munshi_types::{Timestamp, Zone};
use serde_json::{Value, json};

/// How it looks when somebody asks for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineOutlook {
    pub(super) opening: Opening,
    /// How many others wait.
    pub(super) waiting: i64,
    /// How long those waited who were come to last.
    pub(super) wait: Option<Duration>,
    /// Nobody of the business has a conversation in which they could be told.
    pub(super) is_unheard: bool,
    /// They are on the list of those who are called back already, and leave more.
    pub(super) is_listed: bool,
}

impl LineOutlook {
    /// As the model is told, with what it may say of it and no more.
    pub(super) fn describe(&self, zone: &Zone) -> Value {
        let mut told = match self.opening {
            Opening::Open => self.describe_open(),
            Opening::ClosedUntil(back) => json!({
                "people_are_there": false,
                "back_at": back.map(|back| format_local(back, zone)),
                "say": if self.is_listed { LISTED } else { CLOSED },
            }),
        };
        if self.is_unheard {
            told["note"] = json!("Nobody could be told yet; it stands in the list of conversations.");
        }
        told
    }

    /// Where nobody could be told, how long it took others says nothing.
    fn describe_open(&self) -> Value {
        let minutes = self.wait.filter(|_| !self.is_unheard).map(|wait| wait.as_secs().div_ceil(60));
        let say = if minutes.is_some() { OPEN } else { OPEN_WITHOUT_TIME };
        json!({
            "people_are_there": true,
            "waiting_before": self.waiting,
            "usual_wait_minutes": minutes,
            "say": say,
        })
    }
}

const OPEN: &str = "Tell them that they wait for a person, how many are before them and how long it usually takes. Promise no other time.";
const OPEN_WITHOUT_TIME: &str =
    "Tell them that they wait for a person and how many are before them. Promise no time.";
const CLOSED: &str = "Tell them that nobody is there now and, where it is known, when somebody is back. Ask what to pass on and where they \
    are reached; once they have said it, hand over again with that in the summary. They are on the list of those who are called back. \
    Promise no time.";
const LISTED: &str = "Tell them that what they left is noted for whoever calls them back. Promise no time.";

fn format_local(at: Timestamp, zone: &Zone) -> String {
    at.to_jiff().to_zoned(zone.to_jiff()).strftime("%A %Y-%m-%d %H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_line_promises_nobody() {
        let zone: Zone = "Asia/Kolkata".parse().unwrap();
        let back: Timestamp = "2026-11-20T04:30:00Z".parse().unwrap();
        let outlook = LineOutlook {
            opening: Opening::ClosedUntil(Some(back)),
            waiting: 2,
            wait: Some(Duration::from_secs(61)),
            is_unheard: false,
            is_listed: false,
        };
        let closed = outlook.describe(&zone);
        assert_eq!(
            (&closed["people_are_there"], &closed["back_at"]),
            (&json!(false), &json!("Friday 2026-11-20 10:00"))
        );
        assert!(closed["waiting_before"].is_null());
        assert_eq!(LineOutlook { is_listed: true, ..outlook }.describe(&zone)["say"], json!(LISTED));
        let open = LineOutlook { opening: Opening::Open, ..outlook };
        let told = open.describe(&zone);
        assert_eq!((&told["waiting_before"], &told["usual_wait_minutes"]), (&json!(2), &json!(2)));
        let unheard = LineOutlook { is_unheard: true, ..open }.describe(&zone);
        assert_eq!(
            (&unheard["usual_wait_minutes"], &unheard["say"]),
            (&Value::Null, &json!(OPEN_WITHOUT_TIME))
        );
        assert!(unheard["note"].as_str().unwrap().starts_with("Nobody could be told yet"));
    }
}
