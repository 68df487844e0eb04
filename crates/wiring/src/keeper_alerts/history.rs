//! What is wrong, what of it was told, and whether to tell something now.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};

use super::KeeperAlert;

/// What is seen in one look alone is no alert, nor is it over by one: a database that is started anew is away for a moment.
const LOOKS: u32 = 2;
const HOUR: Duration = Duration::from_secs(3600);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AlertHistory {
    alerts: BTreeMap<String, KnownAlert>,
    /// When mails of the last hour were sent.
    sent: Vec<Timestamp>,
    /// When this node first looked.
    #[serde(default)]
    began_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KnownAlert {
    text: String,
    since: Timestamp,
    /// In how many looks on end it was seen.
    looks: u32,
    /// In how many looks on end since then it was not there.
    #[serde(default)]
    well: u32,
    told: bool,
    /// A mail with it was begun, and nobody knows yet whether it has arrived. After a crash it is told again: twice harms nobody.
    #[serde(default)]
    sending: bool,
    /// It was told, and is over, which is to be told.
    over: bool,
}

/// What a look found. What stands in neither is well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KeeperLook {
    pub wrong: Vec<KeeperAlert>,
    /// Keys of what could not be looked at: nobody knows more of it than before.
    pub unknown: Vec<&'static str>,
}

/// What is told in one mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeeperMail {
    pub subject: String,
    pub text: String,
    /// Some of it may have been told before.
    pub is_repeat: bool,
}

impl AlertHistory {
    /// Nothing where there is no file, or one that can't be read: then what is wrong is told once more.
    pub(super) fn load(file: &Path) -> Self {
        let read = std::fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        read.unwrap_or_default()
    }

    /// A disk that is full keeps nobody from being told.
    pub(super) fn store(&self, file: &Path) {
        let stored = serde_json::to_vec(self).map_err(std::io::Error::other).and_then(|bytes| {
            let whole = file.with_extension("new");
            std::fs::write(&whole, bytes)?;
            std::fs::rename(&whole, file)
        });
        if let Err(error) = stored {
            tracing::warn!(%error, "what was told of alerts can't be stored; after a restart it is told again");
        }
    }

    /// When this node first looked; now where it has not.
    pub(super) fn begin(&mut self, now: Timestamp) -> Timestamp {
        *self.began_at.get_or_insert(now)
    }

    /// Whether something was wrong when it was last looked at.
    pub(super) fn is_raised(&self, key: &str) -> bool {
        self.alerts.get(key).is_some_and(|known| !known.over)
    }

    /// Takes down what is wrong now. What comes back after it was over is another alert.
    pub(super) fn record(&mut self, look: &KeeperLook, now: Timestamp) {
        for one in &look.wrong {
            let known = self.alerts.entry(one.key.clone()).or_insert_with(|| KnownAlert::new(now));
            if known.over {
                *known = KnownAlert::new(now);
            }
            known.text.clone_from(&one.text);
            known.looks = known.looks.saturating_add(1);
            known.well = 0;
        }
        let is_well = |key: &String| {
            !look.wrong.iter().any(|one| one.key == *key) && !look.unknown.contains(&key.as_str())
        };
        self.alerts.retain(|key, known| !is_well(key) || known.may_be_told());
        for (_, known) in self.alerts.iter_mut().filter(|(key, _)| is_well(key)) {
            known.well = known.well.saturating_add(1);
            known.over |= known.well >= LOOKS;
        }
    }

    /// What to tell now; none where there is nothing new, or this hour has had its mails: then the next one says all.
    pub(super) fn build_mail(&self, per_hour: usize, now: Timestamp) -> Option<KeeperMail> {
        let recent = self.sent.iter().filter(|at| now.since(**at) < HOUR).count();
        if recent >= per_hour {
            return None;
        }
        let raised: Vec<&KnownAlert> = self.alerts.values().filter(|known| known.is_due()).collect();
        let over: Vec<&KnownAlert> = self.alerts.values().filter(|known| known.over).collect();
        let subject = match (raised.as_slice(), over.as_slice()) {
            ([], []) => return None,
            ([], _) => "over".to_owned(),
            ([one], _) => one.text.lines().next().unwrap_or_default().to_owned(),
            (several, _) => format!("{} alerts", several.len()),
        };
        let is_repeat = raised.iter().chain(&over).any(|known| known.sending);
        let repeated =
            is_repeat.then(|| "Perhaps for the second time: the mail before may have got lost.".to_owned());
        let told = raised.iter().map(|known| format!("Since {}: {}", known.since, known.text));
        let gone = over.iter().map(|known| format!("Over: {}", known.text));
        let text = repeated.into_iter().chain(told).chain(gone).collect::<Vec<_>>().join("\n\n");
        Some(KeeperMail { subject, text, is_repeat })
    }

    /// Before a mail is begun with all that is to be told.
    pub(super) fn mark_sending(&mut self) {
        for known in self.alerts.values_mut().filter(|known| known.is_due() || known.over) {
            known.sending = true;
        }
    }

    /// The mail has left, or was tried often enough.
    pub(super) fn mark_told(&mut self, now: Timestamp) {
        self.alerts.retain(|_, known| !known.over);
        for known in self.alerts.values_mut() {
            known.told |= known.is_due();
            known.sending = false;
        }
        self.count_mail(now);
    }

    /// A mail counts in its hour, whether anybody knows that it has arrived.
    pub(super) fn count_mail(&mut self, now: Timestamp) {
        self.sent.retain(|at| now.since(*at) < HOUR);
        self.sent.push(now);
    }
}

impl KnownAlert {
    const fn new(since: Timestamp) -> Self {
        Self { text: String::new(), since, looks: 0, well: 0, told: false, sending: false, over: false }
    }

    const fn is_due(&self) -> bool {
        !self.told && !self.over && self.looks >= LOOKS
    }

    /// Whether somebody may know of it: then they hear that it is over.
    const fn may_be_told(&self) -> bool {
        self.told || self.sending
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn alert(key: &str) -> KeeperAlert {
        KeeperAlert { key: key.to_owned(), text: format!("the {key} is full") }
    }

    fn minute(minute: i64) -> Timestamp {
        Timestamp::from_micros(minute * 60_000_000)
    }

    fn wrong(alerts: &[KeeperAlert]) -> KeeperLook {
        KeeperLook { wrong: alerts.to_vec(), unknown: Vec::new() }
    }

    /// One look a minute; the mails by the minute.
    fn tell(looks: &[Vec<KeeperAlert>], per_hour: usize) -> Vec<(i64, KeeperMail)> {
        let (mut history, mut mails) = (AlertHistory::default(), Vec::new());
        for (at, found) in (0i64..).zip(looks) {
            history.record(&wrong(found), minute(at));
            if let Some(mail) = history.build_mail(per_hour, minute(at)) {
                history.mark_told(minute(at));
                mails.push((at, mail));
            }
        }
        mails
    }

    #[test]
    fn an_alert_is_told_once_then_that_it_is_over_and_again_when_it_comes_back() {
        let (ill, well) = (vec![alert("disk")], Vec::new());
        let looks = [&ill, &ill, &ill, &ill, &well, &well, &ill, &ill, &ill].map(Clone::clone);
        let mails = tell(&looks, 12);
        let told: Vec<(i64, &str)> = mails.iter().map(|(at, mail)| (*at, mail.subject.as_str())).collect();
        assert_eq!(told, [(1, "the disk is full"), (5, "over"), (7, "the disk is full")]);
    }

    #[test]
    fn what_is_wrong_for_a_moment_is_not_told() {
        assert_eq!(tell(&[vec![alert("store")], Vec::new(), vec![alert("store")], Vec::new()], 12), []);
    }

    #[test]
    fn what_was_told_is_known_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keeper-alerts.json");
        let mut history = AlertHistory::load(&file);
        for at in 0..2 {
            history.record(&wrong(&[alert("disk")]), minute(at));
        }
        assert!(history.build_mail(1, minute(1)).is_some());
        history.mark_told(minute(1));
        history.store(&file);
        let mut history = AlertHistory::load(&file);
        history.record(&wrong(&[alert("disk")]), minute(2));
        assert_eq!(history.build_mail(1, minute(200)), None);
    }

    #[test]
    fn what_can_not_be_looked_at_stays_as_it_was() {
        let mut history = AlertHistory::default();
        let unknown = KeeperLook { wrong: Vec::new(), unknown: vec!["audit"] };
        for at in 0..2 {
            history.record(&wrong(&[alert("audit")]), minute(at));
        }
        assert!(history.build_mail(12, minute(1)).is_some());
        history.mark_told(minute(1));
        for at in 2..10 {
            history.record(&unknown, minute(at));
            assert_eq!(history.build_mail(12, minute(at)), None, "neither over nor anew");
        }
        // One good look is none yet, and one that sees nothing in between does not count.
        history.record(&KeeperLook::default(), minute(10));
        history.record(&unknown, minute(11));
        assert_eq!(history.build_mail(12, minute(11)), None);
        history.record(&KeeperLook::default(), minute(12));
        assert_eq!(history.build_mail(12, minute(12)).unwrap().subject, "over");
    }

    #[test]
    fn what_a_crash_came_between_is_told_again_and_said_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keeper-alerts.json");
        let mut history = AlertHistory::load(&file);
        for at in 0..2 {
            history.record(&wrong(&[alert("disk")]), minute(at));
        }
        assert!(!history.build_mail(12, minute(1)).unwrap().is_repeat);
        history.mark_sending();
        history.store(&file);
        let mut history = AlertHistory::load(&file);
        history.record(&wrong(&[alert("disk")]), minute(2));
        let mail = history.build_mail(12, minute(2)).unwrap();
        assert!(mail.is_repeat && mail.text.starts_with("Perhaps for the second time"), "{mail:?}");
        history.mark_told(minute(2));
        assert_eq!(history.build_mail(12, minute(3)), None);
        // Who may have heard of it hears that it is over, too.
        let mut history = AlertHistory::load(&file);
        for at in 2..4 {
            history.record(&KeeperLook::default(), minute(at));
        }
        assert_eq!(history.build_mail(12, minute(4)).unwrap().subject, "over");
    }

    #[test]
    fn a_file_of_before_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keeper-alerts.json");
        let mut history = AlertHistory::default();
        for at in 0..2 {
            history.record(&wrong(&[alert("disk")]), minute(at));
        }
        history.mark_told(minute(1));
        history.store(&file);
        let mut stored: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        stored.as_object_mut().unwrap().remove("began_at");
        for field in ["well", "sending"] {
            stored["alerts"]["disk"].as_object_mut().unwrap().remove(field);
        }
        std::fs::write(&file, stored.to_string()).unwrap();
        assert!(AlertHistory::load(&file).is_raised("disk"));
    }

    proptest! {
        #[test]
        fn no_hour_has_more_mails_and_nothing_is_lost(
            looks in prop::collection::vec(prop::collection::vec(0..4u8, 0..4), 1..300),
            per_hour in 1..5usize,
        ) {
            let looks: Vec<Vec<KeeperAlert>> =
                looks.iter().map(|keys| keys.iter().map(|key| alert(&format!("part-{key}"))).collect()).collect();
            let mails = tell(&looks, per_hour);
            for (at, _) in &mails {
                prop_assert!(mails.iter().filter(|(other, _)| (0..60).contains(&(at - other))).count() <= per_hour);
            }
            // Whatever stays wrong is told by the end of the next hour.
            let last = looks.last().cloned().unwrap_or_default();
            let more: Vec<_> = looks.into_iter().chain(std::iter::repeat_n(last.clone(), 130)).collect();
            let text: String = tell(&more, per_hour).into_iter().map(|(_, mail)| mail.text).collect();
            for one in last {
                prop_assert!(text.contains(&one.text));
            }
        }
    }
}
