//! Who pays, out of which pocket, and in which days and months it is counted.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use munshi_types::{BindingId, Id, PersonId, Timestamp, Zone};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! word {
    ($(#[$doc:meta])* $name:ident, $noun:literal { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().find(|known| known.as_str() == text).copied();
                found.ok_or_else(|| {
                    let known: Vec<&str> = Self::ALL.iter().map(|known| known.as_str()).collect();
                    format!("`{text}` is not a {}: use {}", $noun, known.join(" or "))
                })
            }
        }
    };
}

word! {
    /// Two pockets that never lend to each other.
    BudgetLane, "lane" {
        /// Somebody waits for it.
        People = "people",
        /// Heartbeats, learning, the steps of delegated jobs. Interactions and jobs are free here, tokens and money not.
        Background = "background",
    }
}

word! {
    /// Whose use is counted.
    BudgetScope, "scope" {
        Tenant = "tenant",
        Binding = "binding",
        Person = "person",
    }
}

word! {
    /// By the calendar of the tenant's zone.
    BudgetPeriod, "period" {
        Month = "month",
        Day = "day",
    }
}

/// Who pays. The tenant is that of the transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetAccount {
    pub binding: Option<BindingId>,
    pub person: Option<PersonId>,
    pub lane: BudgetLane,
    /// The tenant's: its days and months begin by it.
    pub zone: Zone,
}

/// One row of the counters: whose use, in which day or month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CounterSlot {
    /// Its name. Slots are locked in the order of their names, and the tenant's month stands first: whoever holds that
    /// row may take the lane's others of the month in any order.
    pub(crate) key: String,
    pub(crate) scope: BudgetScope,
    /// All zeros for the tenant.
    pub(crate) id: Uuid,
    pub(crate) period: BudgetPeriod,
    pub(crate) starts_on: Date,
}

impl BudgetAccount {
    pub(crate) fn day(&self, now: Timestamp) -> Date {
        now.to_jiff().to_zoned(self.zone.to_jiff()).date()
    }
}

/// Two to six slots, in the order of their names.
pub(crate) fn build_slots(
    lane: BudgetLane,
    binding: Option<BindingId>,
    person: Option<PersonId>,
    day: Date,
) -> Vec<CounterSlot> {
    let owners = [
        Some((BudgetScope::Tenant, Uuid::nil())),
        binding.map(|id| (BudgetScope::Binding, id.as_uuid())),
        person.map(|id| (BudgetScope::Person, id.as_uuid())),
    ];
    let mut slots = Vec::with_capacity(6);
    for (scope, id) in owners.into_iter().flatten() {
        for (period, starts_on) in [(BudgetPeriod::Month, day.first_of_month()), (BudgetPeriod::Day, day)] {
            slots.push(CounterSlot {
                key: key(lane, scope, id, period, starts_on),
                scope,
                id,
                period,
                starts_on,
            });
        }
    }
    slots
}

/// `people 0 2026-11` for the month, `people 0 2026-11-15` for the day, with the binding's or person's id behind.
fn key(lane: BudgetLane, scope: BudgetScope, id: Uuid, period: BudgetPeriod, starts_on: Date) -> String {
    let day = match period {
        BudgetPeriod::Month => String::new(),
        BudgetPeriod::Day => format!("-{:02}", starts_on.day()),
    };
    let (year, month) = (starts_on.year(), starts_on.month());
    match scope {
        BudgetScope::Tenant => format!("{lane} 0 {year:04}-{month:02}{day}"),
        BudgetScope::Binding => format!("{lane} 1 {year:04}-{month:02}{day} {id}"),
        BudgetScope::Person => format!("{lane} 2 {year:04}-{month:02}{day} {id}"),
    }
}

impl CounterSlot {
    /// When the next day or month begins in the zone; never, where the calendar ends.
    pub(crate) fn ends_at(&self, zone: &Zone) -> Timestamp {
        let next = match self.period {
            BudgetPeriod::Day => self.starts_on.tomorrow(),
            BudgetPeriod::Month => self.starts_on.last_of_month().tomorrow(),
        };
        let start = next.and_then(|date| date.to_zoned(zone.to_jiff()));
        start.map_or(Timestamp::MAX, |moment| moment.timestamp().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::IdGenerator;

    fn account(zone: &str) -> BudgetAccount {
        let ids = IdGenerator::system();
        let (binding, person) = (Some(ids.next()), Some(ids.next()));
        BudgetAccount { binding, person, lane: BudgetLane::People, zone: zone.parse().unwrap() }
    }

    fn edges(zone: &str, now: &str) -> (String, String, String) {
        let account = account(zone);
        let day = account.day(now.parse().unwrap());
        let slots = build_slots(BudgetLane::People, None, None, day);
        let ends = |slot: &CounterSlot| slot.ends_at(&account.zone).to_string();
        (day.to_string(), ends(&slots[1]), ends(&slots[0]))
    }

    #[test]
    fn days_and_months_begin_by_the_tenants_clock() {
        let told =
            |day: &str, first: &str, second: &str| (day.to_owned(), first.to_owned(), second.to_owned());
        // A minute before and at midnight in India, where UTC is half past six.
        assert_eq!(
            edges("Asia/Kolkata", "2026-11-30T18:29:59Z"),
            told("2026-11-30", "2026-11-30T18:30:00Z", "2026-11-30T18:30:00Z")
        );
        assert_eq!(
            edges("Asia/Kolkata", "2026-11-30T18:30:00Z"),
            told("2026-12-01", "2026-12-01T18:30:00Z", "2026-12-31T18:30:00Z")
        );
        // A day of 25 hours, and a year's end west of Greenwich.
        assert_eq!(
            edges("Europe/London", "2026-10-25T12:00:00Z"),
            told("2026-10-25", "2026-10-26T00:00:00Z", "2026-11-01T00:00:00Z")
        );
        assert_eq!(
            edges("America/New_York", "2027-01-01T04:59:59Z"),
            told("2026-12-31", "2027-01-01T05:00:00Z", "2027-01-01T05:00:00Z")
        );
        // Where clocks go forward at midnight, the day begins at one.
        assert_eq!(edges("Asia/Beirut", "2026-03-28T12:00:00Z").1, "2026-03-28T22:00:00Z");
        // Islands on either side of the date line.
        assert_eq!(edges("Pacific/Kiritimati", "2026-11-30T10:00:00Z").0, "2026-12-01");
        assert_eq!(edges("Pacific/Niue", "2026-12-01T10:00:00Z").0, "2026-11-30");
    }

    #[test]
    fn slots_stand_in_the_order_of_their_names_and_no_two_share_one() {
        let account = account("Asia/Kolkata");
        let day = account.day(Timestamp::EPOCH);
        let names = |lane, binding, person| {
            build_slots(lane, binding, person, day).into_iter().map(|slot| slot.key).collect::<Vec<_>>()
        };
        let all = names(BudgetLane::People, account.binding, account.person);
        assert_eq!(all.len(), 6);
        assert!(all.is_sorted(), "{all:?}");
        assert_eq!(names(BudgetLane::People, None, account.person).len(), 4);
        let other = names(BudgetLane::Background, account.binding, account.person);
        assert!(all.iter().all(|key| !other.contains(key)), "lanes share nothing");
        assert_eq!(all[..2], ["people 0 1970-01", "people 0 1970-01-01"]);
    }
}
