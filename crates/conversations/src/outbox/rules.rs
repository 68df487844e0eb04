//! Whether a message may leave now: quiet hours, opting out, reminders, and what a channel allows. It reads nothing and knows no clock, so
//! that every case can be tried.

use std::fmt;
use std::time::Duration;

use jiff::civil::Time;
use munshi_types::{OutboundPurpose, Timestamp, Zone};

/// Nobody is woken between these hours of theirs.
pub const QUIET_FROM: Time = jiff::civil::time(21, 0, 0, 0);
pub const QUIET_UNTIL: Time = jiff::civil::time(9, 0, 0, 0);

/// Who wrote within so long is awake.
pub const JUST_WROTE: Duration = Duration::from_secs(3600);

/// So long what a colleague writes answers who has opted out and wrote again.
const ANSWERED: Duration = Duration::from_secs(24 * 3600);

/// Nobody is reminded of one thing, or at one address, sooner than so long after the last time.
pub const BETWEEN_REMINDERS: Duration = Duration::from_secs(3 * 24 * 3600);

/// All that the rules look at.
#[derive(Clone, Debug)]
pub struct OutboundFacts {
    pub purpose: OutboundPurpose,
    pub now: Timestamp,
    pub made_at: Timestamp,
    /// The recipient's.
    pub zone: Zone,
    /// When the recipient last wrote, on whatever channel.
    pub heard_at: Option<Timestamp>,
    /// When the recipient asked to be sent nothing but answers.
    pub opted_out_at: Option<Timestamp>,
    /// When somebody was last reminded of the same thing, or at the same address.
    pub reminded_at: Option<Timestamp>,
    /// How long after the recipient's last message the channel takes our own words; none where it always does.
    pub window: Option<ReplyWindow>,
    /// It carries a text that the channel's provider approved.
    pub has_template: bool,
    /// It is said in the recipient's own conversation, where what answers them stands behind it.
    pub is_in_conversation: bool,
}

/// A channel's rule about who wrote last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyWindow {
    pub length: Duration,
    /// When the recipient last wrote on this channel.
    pub heard_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboundVerdict {
    Now,
    /// Quiet hours: it is looked at again then, or when the recipient writes.
    NotBefore(Timestamp),
    Refused(OutboundRefusal),
}

/// Why a message may not leave, in words for whoever looks after the tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboundRefusal {
    OptedOut,
    RemindedAt(Timestamp),
    OutsideWindow,
}

impl fmt::Display for OutboundRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OptedOut => f.write_str("the recipient asked to be sent nothing but answers"),
            Self::RemindedAt(at) => {
                write!(f, "the recipient was reminded at {at}; wait three days between reminders")
            }
            Self::OutsideWindow => f.write_str(
                "the recipient has not written on this channel lately, and it takes only approved templates then",
            ),
        }
    }
}

/// Decides about one message. What is refused stays refused whatever the hour, so that comes first.
pub fn decide(facts: &OutboundFacts) -> OutboundVerdict {
    if facts.opted_out_at.is_some_and(|opted_out_at| !is_asked_for(facts, opted_out_at)) {
        return OutboundVerdict::Refused(OutboundRefusal::OptedOut);
    }
    if let Some(at) = facts.reminded_at
        && facts.purpose == OutboundPurpose::Reminder
        && facts.now < at.plus(BETWEEN_REMINDERS)
    {
        return OutboundVerdict::Refused(OutboundRefusal::RemindedAt(at));
    }
    if let Some(window) = facts.window
        && !facts.has_template
        && window.heard_at.is_none_or(|heard| facts.now > heard.plus(window.length))
    {
        return OutboundVerdict::Refused(OutboundRefusal::OutsideWindow);
    }
    if is_exempt_from_hours(facts) {
        return OutboundVerdict::Now;
    }
    match find_quiet_end(facts.now, &facts.zone) {
        Some(end) => OutboundVerdict::NotBefore(end),
        None => OutboundVerdict::Now,
    }
}

/// What somebody gets because they wrote or asked for it. What a colleague writes answers them where they wrote again after they had
/// opted out, for a day.
fn is_asked_for(facts: &OutboundFacts, opted_out_at: Timestamp) -> bool {
    let is_behind = |heard: Timestamp| {
        opted_out_at < heard && heard <= facts.made_at && facts.made_at <= heard.plus(ANSWERED)
    };
    match facts.purpose {
        OutboundPurpose::Reply | OutboundPurpose::Code => true,
        OutboundPurpose::Colleague => facts.heard_at.is_some_and(is_behind),
        OutboundPurpose::Reminder | OutboundPurpose::Alert | OutboundPurpose::Notice => false,
    }
}

/// A code is asked for this minute; who has just written is awake; and who had just written when they were answered gets that within the
/// hour, though a channel keeps it back for a while. That somebody wrote after it was made says nothing of when it was made.
fn is_exempt_from_hours(facts: &OutboundFacts) -> bool {
    let is_answer = facts.is_in_conversation
        || matches!(facts.purpose, OutboundPurpose::Reply | OutboundPurpose::Colleague);
    let is_fresh = |heard: Timestamp| {
        let was_answered = heard <= facts.made_at && facts.made_at <= heard.plus(JUST_WROTE);
        facts.now <= heard.plus(JUST_WROTE) || (was_answered && facts.now <= facts.made_at.plus(JUST_WROTE))
    };
    facts.purpose == OutboundPurpose::Code || (is_answer && facts.heard_at.is_some_and(is_fresh))
}

/// When quiet hours end, where they are now.
fn find_quiet_end(now: Timestamp, zone: &Zone) -> Option<Timestamp> {
    let zone = zone.to_jiff();
    let local = now.to_jiff().to_zoned(zone.clone());
    let day = match local.time() {
        time if time < QUIET_UNTIL => local.date(),
        time if time >= QUIET_FROM => local.date().tomorrow().ok()?,
        _ => return None,
    };
    let end = day.to_datetime(QUIET_UNTIL).to_zoned(zone).ok()?;
    let end = Timestamp::from_micros(end.timestamp().as_microsecond());
    (end > now).then_some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: i64 = 3_600_000_000;

    fn zones() -> impl Strategy<Value = Zone> {
        let names = ["Asia/Kolkata", "UTC", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"];
        prop::sample::select(names.to_vec()).prop_map(|name| name.parse().unwrap())
    }

    /// A year from the middle of 2026 on, so that clocks are changed in it.
    fn times() -> impl Strategy<Value = Timestamp> {
        (1_780_000_000i64..1_812_000_000).prop_map(|seconds| Timestamp::from_micros(seconds * 1_000_000))
    }

    prop_compose! {
        fn any_facts()(
            purpose in prop::sample::select(OutboundPurpose::ALL.to_vec()),
            now in times(),
            age in 0..(100 * HOUR),
            zone in zones(),
            heard in prop::option::of(0..(100 * HOUR)),
            opted_out in prop::option::of(0..(200 * HOUR)),
            reminded in prop::option::of(0..(100 * HOUR)),
            window in prop::option::of((1..(48 * HOUR), prop::option::of(0..(100 * HOUR)))),
            has_template in any::<bool>(),
            is_in_conversation in any::<bool>(),
        ) -> OutboundFacts {
            let before = |micros: i64| Timestamp::from_micros(now.as_micros() - micros);
            OutboundFacts {
                purpose,
                now,
                made_at: before(age),
                zone,
                heard_at: heard.map(before),
                opted_out_at: opted_out.map(before),
                reminded_at: reminded.map(before),
                window: window.map(|(length, heard)| ReplyWindow {
                    length: Duration::from_micros(length.unsigned_abs()),
                    heard_at: heard.map(before),
                }),
                has_template,
                is_in_conversation,
            }
        }
    }

    fn is_quiet(at: Timestamp, zone: &Zone) -> bool {
        let hour = at.to_jiff().to_zoned(zone.to_jiff()).hour();
        !(9..21).contains(&hour)
    }

    proptest! {
        #[test]
        fn nothing_leaves_that_may_not(facts in any_facts()) {
            let verdict = decide(&facts);
            if verdict != OutboundVerdict::Now {
                return Ok(());
            }
            let asked_for = matches!(facts.purpose, OutboundPurpose::Reply | OutboundPurpose::Code);
            let wrote_since = facts.purpose == OutboundPurpose::Colleague && facts.heard_at > facts.opted_out_at;
            prop_assert!(asked_for || wrote_since || facts.opted_out_at.is_none(), "who said stop is left alone");
            if facts.purpose == OutboundPurpose::Reminder {
                let late = facts.reminded_at.is_none_or(|at| facts.now.since(at) >= BETWEEN_REMINDERS);
                prop_assert!(late, "reminded twice in three days");
            }
            if let Some(window) = facts.window {
                let open = window.heard_at.is_some_and(|heard| facts.now.since(heard) <= window.length);
                prop_assert!(open || facts.has_template, "in our own words outside of the window");
            }
            if is_quiet(facts.now, &facts.zone) {
                // In whole minutes of silence, from what they did: not from what is sent.
                let silent = facts.heard_at.map(|heard| facts.now.since(heard).as_secs().div_ceil(60));
                let waits = |most: u64| silent.is_some_and(|minutes| minutes <= most);
                let is_word = matches!(facts.purpose, OutboundPurpose::Reply | OutboundPurpose::Colleague);
                let answers = is_word || facts.is_in_conversation;
                prop_assert!(facts.purpose == OutboundPurpose::Code || (answers && waits(120)), "somebody is woken");
                // Past the hour, only what answers what they wrote last, and is no older than that.
                let old = facts.now.since(facts.made_at).as_secs().div_ceil(60);
                let answers_it = waits(120) && old <= 60 && Some(facts.made_at) >= facts.heard_at;
                prop_assert!(facts.purpose == OutboundPurpose::Code || waits(60) || answers_it, "an old answer");
            }
        }

        #[test]
        fn what_waits_leaves_in_the_morning_and_no_later(facts in any_facts()) {
            if let OutboundVerdict::NotBefore(then) = decide(&facts) {
                prop_assert!(then > facts.now && then.since(facts.now) <= Duration::from_secs(13 * 3600));
                prop_assert!(!is_quiet(then, &facts.zone));
                // By then a reminder may still be too early, and a window may have closed; the hours are no obstacle any more.
                let later = OutboundFacts { now: then, ..facts };
                prop_assert!(!matches!(decide(&later), OutboundVerdict::NotBefore(_)));
            }
        }

        #[test]
        fn what_somebody_waits_for_is_never_held_up(facts in any_facts()) {
            let open = OutboundFacts { window: None, ..facts };
            let code = OutboundFacts { purpose: OutboundPurpose::Code, ..open.clone() };
            prop_assert_eq!(decide(&code), OutboundVerdict::Now);
            let reply = OutboundFacts { purpose: OutboundPurpose::Reply, heard_at: Some(open.now), ..open };
            prop_assert_eq!(decide(&reply), OutboundVerdict::Now);
        }
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::from_micros(text.parse::<jiff::Timestamp>().unwrap().as_microsecond())
    }

    /// At half past ten in the evening.
    fn at_night(purpose: OutboundPurpose) -> OutboundFacts {
        OutboundFacts {
            purpose,
            now: at("2026-11-19T17:00:00Z"),
            made_at: at("2026-11-19T17:00:00Z"),
            zone: "Asia/Kolkata".parse().unwrap(),
            heard_at: None,
            opted_out_at: None,
            reminded_at: None,
            window: None,
            has_template: false,
            is_in_conversation: false,
        }
    }

    #[test]
    fn a_note_in_a_conversation_keeps_no_answer_from_whoever_is_awake() {
        let note =
            OutboundFacts { heard_at: Some(at("2026-11-19T16:30:00Z")), ..at_night(OutboundPurpose::Alert) };
        let morning = OutboundVerdict::NotBefore(at("2026-11-20T03:30:00Z"));
        assert_eq!(decide(&note), morning, "apart from it they are left alone");
        let inside = OutboundFacts { is_in_conversation: true, ..note };
        assert_eq!(decide(&inside), OutboundVerdict::Now);
        assert_eq!(decide(&OutboundFacts { heard_at: None, ..inside.clone() }), morning, "nobody is woken");
        let opted_out = OutboundFacts { opted_out_at: Some(at("2026-11-19T08:00:00Z")), ..inside };
        assert_eq!(decide(&opted_out), OutboundVerdict::Refused(OutboundRefusal::OptedOut));
    }

    #[test]
    fn a_colleague_answers_who_wrote_again_after_they_had_opted_out() {
        let write = |heard_at: &str, made_at: &str| {
            decide(&OutboundFacts {
                heard_at: Some(at(heard_at)),
                made_at: at(made_at),
                now: at(made_at),
                opted_out_at: Some(at("2026-11-10T08:00:00Z")),
                ..at_night(OutboundPurpose::Colleague)
            })
        };
        let refused = OutboundVerdict::Refused(OutboundRefusal::OptedOut);
        // STOP was the last they wrote.
        assert_eq!(write("2026-11-10T08:00:00Z", "2026-11-10T08:10:00Z"), refused);
        // They wrote again, and are answered; two days later it would be news.
        assert_eq!(write("2026-11-19T08:00:00Z", "2026-11-19T08:10:00Z"), OutboundVerdict::Now);
        assert_eq!(write("2026-11-19T08:00:00Z", "2026-11-21T08:10:00Z"), refused);
    }

    #[test]
    fn an_old_answer_wakes_nobody_who_wrote_since() {
        let morning = OutboundVerdict::NotBefore(at("2026-11-20T03:30:00Z"));
        let reply = |made_at: &str, heard_at: &str| {
            let heard_at = Some(at(heard_at));
            decide(&OutboundFacts { made_at: at(made_at), heard_at, ..at_night(OutboundPurpose::Reply) })
        };
        // Made yesterday, and they wrote this noon about something else.
        assert_eq!(reply("2026-11-18T08:00:00Z", "2026-11-19T06:30:00Z"), morning);
        // Answered within the hour, and kept back by the channel for half of one; for more than one.
        assert_eq!(reply("2026-11-19T16:30:00Z", "2026-11-19T15:40:00Z"), OutboundVerdict::Now);
        assert_eq!(reply("2026-11-19T15:50:00Z", "2026-11-19T15:40:00Z"), morning);
        // An answer that took too long.
        assert_eq!(reply("2026-11-19T16:50:00Z", "2026-11-19T15:40:00Z"), morning);
        // They are writing.
        assert_eq!(reply("2026-11-18T08:00:00Z", "2026-11-19T16:01:00Z"), OutboundVerdict::Now);
    }

    #[test]
    fn a_colleague_answers_whoever_asked_after_stop() {
        let noon = |purpose, heard_at: &str| {
            decide(&OutboundFacts {
                now: at("2026-11-19T08:00:00Z"),
                opted_out_at: Some(at("2026-11-19T07:00:00Z")),
                heard_at: Some(at(heard_at)),
                ..at_night(purpose)
            })
        };
        let refused = OutboundVerdict::Refused(OutboundRefusal::OptedOut);
        assert_eq!(noon(OutboundPurpose::Colleague, "2026-11-19T07:00:00Z"), refused, "that was STOP itself");
        assert_eq!(noon(OutboundPurpose::Colleague, "2026-11-19T07:30:00Z"), OutboundVerdict::Now);
        assert_eq!(noon(OutboundPurpose::Reminder, "2026-11-19T07:30:00Z"), refused);
    }

    #[test]
    fn a_reminder_at_night_waits_for_nine_in_the_morning() {
        let facts = at_night(OutboundPurpose::Reminder);
        assert_eq!(decide(&facts), OutboundVerdict::NotBefore(at("2026-11-20T03:30:00Z")));
        let evening = OutboundFacts { now: at("2026-11-19T15:29:00Z"), ..facts.clone() };
        assert_eq!(decide(&evening), OutboundVerdict::Now);
        let again = OutboundFacts { reminded_at: Some(at("2026-11-17T15:29:00Z")), ..evening };
        let refused = OutboundVerdict::Refused(OutboundRefusal::RemindedAt(at("2026-11-17T15:29:00Z")));
        assert_eq!(decide(&again), refused);
    }
}
