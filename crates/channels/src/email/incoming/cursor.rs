//! How far a mailbox was read.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use mail_parser::DateTime;
use munshi_types::Timestamp;

use super::read::convert_date;

/// Where the numbers of mails begin anew, mails of so long before the last one are looked at again. Those that were taken are known.
const OVERLAP: Duration = Duration::from_secs(24 * 3600);
/// A mail that arrived so long before the last one, and has a new number, was only moved: it is nobody's question any more.
const OLD: Duration = Duration::from_secs(3 * 24 * 3600);

/// `UIDVALIDITY:UID:SECONDS` of the last mail that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MailCursor {
    pub validity: u32,
    pub last: u32,
    /// When the newest arrived; the epoch where nothing was there yet.
    pub at: Timestamp,
}

impl MailCursor {
    /// What the server is asked for.
    pub(super) fn build_search(&self, validity: u32) -> String {
        if validity == self.validity {
            return format!("UID {}:*", self.last.saturating_add(1));
        }
        let day = self.at.minus(OVERLAP);
        format!("SINCE {}", format_day(day))
    }

    /// Of what it said, what is new: servers give the last mail for any number beyond it.
    pub(super) fn keep_new(&self, validity: u32, mails: Vec<u32>) -> Vec<u32> {
        mails.into_iter().filter(|mail| validity != self.validity || *mail > self.last).collect()
    }

    pub(super) fn is_old(&self, received_at: Option<Timestamp>) -> bool {
        received_at.is_some_and(|at| at < self.at.minus(OLD))
    }

    /// Behind one more.
    pub(super) fn advance(self, validity: u32, mail: u32, received_at: Option<Timestamp>) -> Self {
        let last = if validity == self.validity { self.last.max(mail) } else { mail };
        Self { validity, last, at: received_at.map_or(self.at, |at| at.max(self.at)) }
    }
}

impl fmt::Display for MailCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.validity, self.last, self.at.as_millis() / 1000)
    }
}

impl FromStr for MailCursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split(':');
        let mut word = || words.next().ok_or(());
        let (validity, last, seconds) = (word()?, word()?, word()?);
        let seconds: i64 = seconds.parse().map_err(|_| ())?;
        Ok(Self {
            validity: validity.parse().map_err(|_| ())?,
            last: last.parse().map_err(|_| ())?,
            at: Timestamp::from_micros(seconds.saturating_mul(1_000_000)),
        })
    }
}

/// `17-Jul-2026 02:44:25 +0530`, as servers say when a mail arrived.
pub(super) fn parse_arrival(text: &str) -> Option<Timestamp> {
    let spaced = text.trim().replacen('-', " ", 2);
    DateTime::parse_rfc822(&spaced).filter(DateTime::is_valid).as_ref().and_then(convert_date)
}

/// `17-Jul-2026`.
fn format_day(day: Timestamp) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let seconds = i64::try_from(day.as_millis() / 1000).unwrap_or(0);
    let date = DateTime::from_timestamp(seconds);
    let month = MONTHS.get(usize::from(date.month).saturating_sub(1)).unwrap_or(&"Jan");
    format!("{}-{month}-{}", date.day, date.year)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_is_told_from_what_was_read() {
        let cursor: MailCursor = "9:41:1800000000".parse().unwrap();
        assert_eq!(cursor.to_string(), "9:41:1800000000");
        assert_eq!(cursor.build_search(9), "UID 42:*");
        assert_eq!(cursor.keep_new(9, vec![41]), Vec::<u32>::new(), "the last one again");
        assert_eq!(cursor.keep_new(9, vec![41, 44]), [44]);
        // 1800000000 is 2027-01-15 08:00 UTC.
        assert_eq!(cursor.build_search(10), "SINCE 14-Jan-2027");
        assert_eq!(cursor.keep_new(10, vec![1, 2]), [1, 2]);
        assert_eq!(cursor.advance(10, 2, None).to_string(), "10:2:1800000000");
        for wrong in ["", "9", "9:41", "a:b:c", "9:41:"] {
            assert!(wrong.parse::<MailCursor>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_mail_that_was_only_moved_is_no_new_one() {
        let cursor: MailCursor = "9:41:1800000000".parse().unwrap();
        let at = |seconds: i64| Some(Timestamp::from_micros(seconds * 1_000_000));
        assert!(cursor.is_old(at(1_800_000_000 - 4 * 86_400)));
        assert!(!cursor.is_old(at(1_800_000_000 - 86_400)) && !cursor.is_old(None));
        assert_eq!(cursor.advance(9, 44, at(1_700_000_000)).at, cursor.at, "it goes back for nothing");
    }

    #[test]
    fn when_a_mail_arrived_is_read() {
        let arrived = parse_arrival("17-Jul-1996 02:44:25 -0700").unwrap();
        assert_eq!(arrived, Timestamp::from_micros(837_596_665_000_000));
        assert_eq!(
            parse_arrival(" 7-Jul-1996 02:44:25 -0700"),
            Some(Timestamp::from_micros(836_732_665_000_000))
        );
        assert_eq!(parse_arrival("yesterday"), None);
    }
}
