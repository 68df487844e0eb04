//! Rate limits of requests and messages, checked before any model is called.
//!
//! Counted twice. First in the memory of this node, so that a flood never reaches the database: what has room here is
//! given back as a [`RateLimit`], and counted once more with the message's own transaction
//! (`munshi_safety::rate_limits`), where all nodes count as one. Requests of a key and of those who have no good one are
//! counted by each node for itself: they keep a node from being flooded. Memory is bounded: while there is no room for
//! another counter, newcomers share one.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use munshi_identity::keys::ApiCaller;
use munshi_safety::budget::UsagePlan;
use munshi_safety::rate_limits::{LimitRefill, LimitSubject, RateLimit, RateLimitHit};
use munshi_types::{BindingId, Clock, PersonId, TenantId, Timestamp};

use crate::client_address::to_network;
use crate::error::{ApiError, ApiErrorCode};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// `count` in each `period`; a burst may use all of them at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRate {
    pub count: u32,
    pub period: Duration,
}

impl RequestRate {
    const fn new(count: u32, period: Duration) -> Self {
        Self { count, period }
    }

    /// When all that was used will be free again, with one more.
    fn use_one(self, free_at: Timestamp, now: Timestamp) -> Result<Timestamp, Reached> {
        let each = self.period / self.count.max(1);
        // A clock that was set back must not shut anybody out for longer than the period.
        let after = free_at.max(now).min(now.plus(self.period)).plus(each);
        let over = after.since(now).saturating_sub(self.period);
        if over > Duration::ZERO { Err(Reached { limit: self, wait: over }) } else { Ok(after) }
    }

    /// The same for all nodes together.
    fn to_rate_limit(self, subject: LimitSubject, whose: &str, refill: LimitRefill) -> RateLimit {
        RateLimit::new(subject, whose, (self.count, self.period), refill)
    }
}

/// Requests of one key in a minute, unless the settings say otherwise.
pub const KEY_LIMIT: u32 = 600;
/// Requests without a good key, and messages of visitors, of one address in a minute, unless the settings say otherwise.
pub const ADDRESS_LIMIT: u32 = 20;
/// In a day an address has this many such minutes.
const DAY_FACTOR: u32 = 10;
/// Messages of one person.
pub const PERSON_LIMIT: RequestRate = RequestRate::new(100, MINUTE);
/// What a page of one person notes by itself: how far they have read, and that they type.
const SIGN_LIMIT: RequestRate = RequestRate::new(120, MINUTE);
/// Messages of an address that are sent once more, past a limit.
const REPEAT_LIMIT: RequestRate = RequestRate::new(20, MINUTE);
/// Passwords that are tried from one address. Wrong ones make whoever tries them wait long before.
const SIGN_IN_LIMIT: RequestRate = RequestRate::new(60, MINUTE);
/// The same of all whose address is not known. Many stand behind it, so it only keeps them from flooding the database.
const CROWD_SIGN_IN_LIMIT: RequestRate = RequestRate::new(600, MINUTE);
/// Verified deliveries to one webhook of one tenant.
const WEBHOOK_LIMIT: RequestRate = RequestRate::new(1_200, MINUTE);
/// Deliveries of one address that could not be verified; past them none is looked at. An address may stand for many senders, of whom
/// others can sign, so it is far above the limit of those who have no good key.
const UNVERIFIED_LIMIT: RequestRate = RequestRate::new(600, MINUTE);
const UNVERIFIED: &str = "unverified";
/// Messages of somebody anonymous with one binding; it begins anew after so long a silence.
pub const VISITOR_LIMIT: RequestRate = RequestRate::new(40, Duration::from_secs(15 * 60));

/// Messages of a tenant in an hour.
pub const fn tenant_rate(plan: UsagePlan) -> RequestRate {
    match plan {
        UsagePlan::Free => RequestRate::new(500, HOUR),
        UsagePlan::Starter => RequestRate::new(2_000, HOUR),
        UsagePlan::Pro => RequestRate::new(10_000, HOUR),
        UsagePlan::Business => RequestRate::new(50_000, HOUR),
    }
}

/// More counters than this are not kept.
const MAX_COUNTERS: usize = 200_000;
/// Where there was no room, those that are full again are looked for this often.
const CLEANUP_INTERVAL: Duration = Duration::from_secs(1);

/// The counters of this node.
pub struct NodeRateLimiter {
    clock: Arc<dyn Clock>,
    hasher: RandomState,
    key: RequestRate,
    address: [RequestRate; 2],
    most: usize,
    counters: Mutex<Counters>,
}

#[derive(Default)]
struct Counters {
    /// By what is counted and whose it is, hashed with a key nobody knows.
    known: HashMap<u64, Counter>,
    tidied_at: Option<Timestamp>,
}

#[derive(Clone, Copy)]
struct Counter {
    /// When all that was used will be free again.
    free_at: Timestamp,
    /// Of a visit: how many there were, and the last.
    visit: u32,
}

/// How much of a limit is left, and when all of it is free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRateStatus {
    pub limit: u32,
    pub remaining: u32,
    pub reset: Duration,
}

/// Which limit was reached, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reached {
    limit: RequestRate,
    wait: Duration,
}

impl NodeRateLimiter {
    /// `key` and `address` are the requests of one key, and those without a good one of one address, in a minute.
    pub fn new(clock: Arc<dyn Clock>, key: u32, address: u32) -> Self {
        let key = RequestRate::new(key, MINUTE);
        let address =
            [RequestRate::new(address, MINUTE), RequestRate::new(address.saturating_mul(DAY_FACTOR), DAY)];
        Self {
            clock,
            hasher: RandomState::new(),
            key,
            address,
            most: MAX_COUNTERS,
            counters: Mutex::default(),
        }
    }

    pub fn check_key(&self, caller: &ApiCaller) -> Result<(), ApiError> {
        self.count("key", caller.key, self.key)
            .map_err(|reached| limit_error(&reached, "this key", "requests"))
    }

    /// What a key has left of its minute. Nothing is counted by asking.
    pub fn key_status(&self, caller: &ApiCaller) -> RequestRateStatus {
        let now = self.clock.now();
        let counters = self.lock();
        let counter = counters.known.get(&self.hasher.hash_one(("key", caller.key)));
        let reset = counter.map_or(Duration::ZERO, |counter| counter.free_at.max(now).since(now));
        let each = self.key.period / self.key.count.max(1);
        let free = self.key.period.saturating_sub(reset).as_nanos() / each.as_nanos().max(1);
        let remaining = u32::try_from(free).unwrap_or(u32::MAX).min(self.key.count);
        RequestRateStatus { limit: self.key.count, remaining, reset }
    }

    /// Whoever has no good key. Without an address they all count as one; so do those on this machine, which may be a
    /// proxy that stands for everybody.
    pub fn check_unauthenticated(&self, address: Option<IpAddr>) -> Result<(), ApiError> {
        for limit in self.address {
            self.count("address", (address.map(to_network), limit.period), limit)
                .map_err(|reached| limit_error(&reached, "this address", "requests without a valid key"))?;
        }
        Ok(())
    }

    /// A message of somebody at a page who has proved nothing, by the address they ask from.
    pub fn check_visitor(&self, address: Option<IpAddr>) -> Result<[RateLimit; 2], ApiError> {
        for limit in self.address {
            self.count("visitors", (address.map(to_network), limit.period), limit)
                .map_err(|reached| limit_error(&reached, "this address", "messages"))?;
        }
        Ok(self.address_limits(address))
    }

    /// Whether to look up if a refused message repeats one that was accepted. These lookups have a limit of their own.
    pub fn allows_repeat(&self, address: Option<IpAddr>) -> bool {
        self.count("repeats", address.map(to_network), REPEAT_LIMIT).is_ok()
    }

    /// A password that is tried, before anything is looked up: by its address, or as one of the crowd whose addresses are not
    /// known. Says how long to wait where there are too many.
    pub fn check_sign_in(&self, address: Option<IpAddr>) -> Result<(), Duration> {
        let limit = if address.is_some() { SIGN_IN_LIMIT } else { CROWD_SIGN_IN_LIMIT };
        self.count("sign-ins", address.map(to_network), limit).map_err(|reached| reached.wait)
    }

    /// A verified delivery to a tenant's webhook: its sender is told when to come again.
    pub fn check_webhook(&self, tenant: TenantId, pack: &str, webhook: &str) -> Result<(), ApiError> {
        self.count("webhook", (tenant, pack, webhook), WEBHOOK_LIMIT)
            .map_err(|reached| limit_error(&reached, "this webhook", "deliveries"))
    }

    /// Whether a delivery of an address is looked at at all. Nothing is counted by asking. Without an address there is nobody to
    /// keep out but everybody.
    pub fn check_unverified(&self, address: Option<IpAddr>) -> Result<(), ApiError> {
        let Some(address) = address.map(to_network) else { return Ok(()) };
        let now = self.clock.now();
        let counters = self.lock();
        let counter = counters.known.get(&self.hasher.hash_one((UNVERIFIED, address)));
        let Some(counter) = counter else { return Ok(()) };
        UNVERIFIED_LIMIT
            .use_one(counter.free_at, now)
            .map(drop)
            .map_err(|reached| limit_error(&reached, "this address", "deliveries that can't be verified"))
    }

    /// A delivery of an address that could not be verified.
    pub fn count_unverified(&self, address: Option<IpAddr>) {
        if let Some(address) = address.map(to_network) {
            // A full counter stays full; the next delivery is not looked at.
            self.count(UNVERIFIED, address, UNVERIFIED_LIMIT).ok();
        }
    }

    /// What a message from an address is counted by in the database.
    pub fn address_limits(&self, address: Option<IpAddr>) -> [RateLimit; 2] {
        let [minute, day] = self.address;
        let whose = address_text(address);
        [
            minute.to_rate_limit(LimitSubject::AddressMinute, &whose, LimitRefill::Steady),
            day.to_rate_limit(LimitSubject::AddressDay, &whose, LimitRefill::Steady),
        ]
    }

    /// Counts a message of a newcomer by address. None if the address has used up its `free` messages without a proof of
    /// work.
    pub fn check_newcomer(&self, address: Option<IpAddr>, free: u32) -> Option<RateLimit> {
        let limit = RequestRate::new(free.max(1), VISITOR_LIMIT.period);
        let is_free = free > 0 && self.count("newcomer", address.map(to_network), limit).is_ok();
        let whose = address_text(address);
        is_free.then(|| limit.to_rate_limit(LimitSubject::Newcomer, &whose, LimitRefill::Steady))
    }

    /// A message of the tenant, before anything is done about it.
    pub fn check_tenant(&self, id: TenantId, plan: UsagePlan) -> Result<RateLimit, ApiError> {
        let limit = tenant_rate(plan);
        self.count("tenant", id, limit).map_err(|reached| tenant_limit_error(&reached))?;
        Ok(limit.to_rate_limit(LimitSubject::Tenant, "", LimitRefill::Steady))
    }

    /// A message of one person, known by their id or by the one address that was given.
    pub fn check_person(&self, tenant: TenantId, who: &str) -> Result<RateLimit, ApiError> {
        self.count("person", (tenant, who), PERSON_LIMIT).map_err(|reached| person_limit_error(&reached))?;
        Ok(PERSON_LIMIT.to_rate_limit(LimitSubject::Person, who, LimitRefill::Steady))
    }

    /// How far somebody has read, or that they type: no message, and counted apart from those.
    pub fn check_sign(&self, tenant: TenantId, person: PersonId) -> Result<(), ApiError> {
        let counted = self.count("sign", (tenant, person), SIGN_LIMIT);
        counted.map_err(|reached| limit_error(&reached, "this person", "signs"))
    }

    /// A message of somebody who has proved nothing.
    pub fn check_visit(
        &self,
        tenant: TenantId,
        who: &str,
        binding: BindingId,
    ) -> Result<RateLimit, ApiError> {
        self.count_visit((tenant, who, binding)).map_err(|reached| visit_limit_error(&reached))?;
        let whose = format!("{who} {binding}");
        Ok(VISITOR_LIMIT.to_rate_limit(LimitSubject::Visit, &whose, LimitRefill::AfterSilence))
    }

    /// A leaky bucket in one number: when it will have run empty.
    fn count(&self, what: &str, whose: impl std::hash::Hash, limit: RequestRate) -> Result<(), Reached> {
        let now = self.clock.now();
        let (mut counters, mut key) = (self.lock(), self.hasher.hash_one((what, whose)));
        if counters.is_full(key, self.most, now) {
            key = self.hasher.hash_one((what, "newcomers"));
        }
        let counter = counters.known.entry(key).or_insert(Counter { free_at: now, visit: 0 });
        counter.free_at = limit.use_one(counter.free_at, now)?;
        Ok(())
    }

    fn count_visit(&self, whose: impl std::hash::Hash) -> Result<(), Reached> {
        let now = self.clock.now();
        let (mut counters, mut key) = (self.lock(), self.hasher.hash_one(("visit", whose)));
        if counters.is_full(key, self.most, now) {
            key = self.hasher.hash_one(("visit", "newcomers"));
        }
        let counter = counters.known.entry(key).or_insert(Counter { free_at: now, visit: 0 });
        if counter.free_at <= now {
            counter.visit = 0;
        }
        if counter.visit >= VISITOR_LIMIT.count {
            return Err(Reached {
                limit: VISITOR_LIMIT,
                wait: counter.free_at.since(now).min(VISITOR_LIMIT.period),
            });
        }
        counter.visit += 1;
        counter.free_at = now.plus(VISITOR_LIMIT.period);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counters {
    /// Whether there is no room for a key that is not known. Those that are free again make room.
    fn is_full(&mut self, key: u64, most: usize, now: Timestamp) -> bool {
        if self.known.len() < most || self.known.contains_key(&key) {
            return false;
        }
        let lately = self.tidied_at.is_some_and(|at| at <= now && now.since(at) < CLEANUP_INTERVAL);
        if !lately {
            self.known.retain(|_, counter| counter.free_at > now);
            self.tidied_at = Some(now);
        }
        self.known.len() >= most
    }
}

fn address_text(address: Option<IpAddr>) -> String {
    address.map(|address| to_network(address).to_string()).unwrap_or_default()
}

/// A limit that all nodes together have reached, in the words of this node's own.
impl From<RateLimitHit> for ApiError {
    fn from(reached: RateLimitHit) -> Self {
        let limit = RequestRate::new(reached.most, reached.period);
        let (subject, reached) = (reached.subject, Reached { limit, wait: reached.wait });
        match subject {
            LimitSubject::Tenant => tenant_limit_error(&reached),
            LimitSubject::Person => person_limit_error(&reached),
            LimitSubject::Visit => visit_limit_error(&reached),
            LimitSubject::AddressMinute | LimitSubject::AddressDay | LimitSubject::Newcomer => {
                limit_error(&reached, "this address", "messages")
            }
        }
    }
}

fn tenant_limit_error(reached: &Reached) -> ApiError {
    limit_error(reached, "this workspace", "messages")
        .hint("Wait for the seconds in `retry-after`, or upgrade to a plan with a higher limit.")
}

fn person_limit_error(reached: &Reached) -> ApiError {
    limit_error(reached, "this person", "messages")
}

fn visit_limit_error(reached: &Reached) -> ApiError {
    let minutes = VISITOR_LIMIT.period.as_secs() / 60;
    let words = format!(
        "This visitor has sent {} messages; the limit resets after {minutes} minutes without one.",
        VISITOR_LIMIT.count
    );
    ApiError::new(ApiErrorCode::TooManyRequests, words)
        .hint("Wait for the seconds in `retry-after`, or verify their phone: POST /v1/persons/{id}/link.")
        .retry_after(reached.wait)
}

fn limit_error(reached: &Reached, who: &str, what: &str) -> ApiError {
    let span = match reached.limit.period {
        MINUTE => "a minute",
        HOUR => "an hour",
        _ => "a day",
    };
    let words = format!("Too many {what} from {who}: the limit is {} {span}.", reached.limit.count);
    ApiError::new(ApiErrorCode::TooManyRequests, words).retry_after(reached.wait).limit(reached.limit.count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::FakeClock;
    use proptest::prelude::*;

    const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

    fn limits() -> (NodeRateLimiter, Arc<FakeClock>) {
        let clock = Arc::new(FakeClock::new(START));
        (NodeRateLimiter::new(clock.clone(), KEY_LIMIT, ADDRESS_LIMIT), clock)
    }

    #[test]
    fn a_full_bucket_says_when_to_come_back() {
        let (limits, clock) = limits();
        let two = RequestRate::new(2, MINUTE);
        assert!(limits.count("x", 1, two).is_ok() && limits.count("x", 1, two).is_ok());
        let reached = limits.count("x", 1, two).unwrap_err();
        assert_eq!(reached.wait, Duration::from_secs(30));
        assert!(
            limits.count("x", 2, two).is_ok() && limits.count("y", 1, two).is_ok(),
            "others have their own"
        );
        clock.advance(Duration::from_secs(29));
        assert!(limits.count("x", 1, two).is_err());
        clock.advance(Duration::from_secs(1));
        assert!(limits.count("x", 1, two).is_ok());
        assert!(limits.count("x", 1, two).is_err());
    }

    #[test]
    fn deliveries_that_can_not_be_verified_close_an_address_for_a_while() {
        let (limits, clock) = limits();
        let (one, other) = (Some(IpAddr::from([198, 51, 100, 9])), Some(IpAddr::from([203, 0, 113, 9])));
        for _ in 0..UNVERIFIED_LIMIT.count {
            limits.check_unverified(one).unwrap();
            limits.count_unverified(one);
            limits.count_unverified(None);
        }
        for _ in 0..2 {
            assert_eq!(limits.check_unverified(one).unwrap_err().code, ApiErrorCode::TooManyRequests);
            limits.count_unverified(one);
        }
        limits.check_unverified(other).unwrap();
        limits.check_unverified(None).unwrap();
        clock.advance(Duration::from_millis(100));
        for _ in 0..3 {
            limits.check_unverified(one).unwrap();
        }
    }

    #[test]
    fn a_webhook_has_a_limit_of_its_own_in_each_tenant() {
        let (limits, clock) = limits();
        let ids = munshi_types::IdGenerator::system();
        let (shop, other): (TenantId, TenantId) = (ids.next(), ids.next());
        for _ in 0..WEBHOOK_LIMIT.count {
            limits.check_webhook(shop, "board", "notices").unwrap();
        }
        let reached = limits.check_webhook(shop, "board", "notices").unwrap_err();
        assert_eq!(reached.code, ApiErrorCode::TooManyRequests);
        assert!(limits.check_webhook(other, "board", "notices").is_ok());
        assert!(limits.check_webhook(shop, "board", "others").is_ok());
        clock.advance(MINUTE);
        assert!(limits.check_webhook(shop, "board", "notices").is_ok());
    }

    #[test]
    fn a_visit_begins_anew_after_a_silence() {
        let (limits, clock) = limits();
        let ids = munshi_types::IdGenerator::system();
        let whose: (TenantId, munshi_types::PersonId, BindingId) = (ids.next(), ids.next(), ids.next());
        for _ in 0..VISITOR_LIMIT.count {
            clock.advance(MINUTE);
            assert!(limits.count_visit(whose).is_ok());
        }
        clock.advance(MINUTE);
        assert_eq!(limits.count_visit(whose).unwrap_err().wait, MINUTE * 14);
        clock.advance(MINUTE * 14);
        assert!(limits.count_visit(whose).is_ok(), "asking in vain does not make it longer");
    }

    #[test]
    fn newcomers_share_a_counter_where_there_is_no_room() {
        let (mut limits, clock) = limits();
        limits.most = 3;
        let two = RequestRate::new(2, MINUTE);
        for whose in 0..3 {
            assert!(limits.count("x", whose, two).is_ok());
        }
        assert!(limits.count("x", 10, two).is_ok() && limits.count("x", 11, two).is_ok());
        assert!(limits.count("x", 12, two).is_err(), "they are held to one limit together");
        assert!(limits.count("x", 1, two).is_ok(), "those who are known are not");
        assert!(limits.lock().known.len() <= 4);
        clock.advance(MINUTE * 2);
        assert!(limits.count("x", 12, two).is_ok());
        assert!(limits.lock().known.len() <= 4);
    }

    #[test]
    fn one_network_is_one_address() {
        let (limits, _) = limits();
        let six = |last: u16| Some(IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, last]));
        for last in 0..ADDRESS_LIMIT {
            assert!(limits.check_unauthenticated(six(u16::try_from(last).unwrap())).is_ok());
        }
        let refused = limits.check_unauthenticated(six(999)).unwrap_err();
        assert_eq!(refused.code(), ApiErrorCode::TooManyRequests);
        assert!(refused.message.contains("20 a minute"), "{}", refused.message);
        assert!(limits.check_unauthenticated(Some(IpAddr::from([10, 0, 0, 1]))).is_ok());
        let here = Some(IpAddr::from([127, 0, 0, 1]));
        assert!((0..ADDRESS_LIMIT).all(|_| limits.check_visitor(here).is_ok()));
        assert!(limits.check_visitor(here).is_err(), "this machine may be a proxy");
    }

    #[test]
    fn passwords_are_counted_for_a_crowd_too() {
        let (limits, clock) = limits();
        let tried =
            |address: Option<IpAddr>| (0..1000).filter(|_| limits.check_sign_in(address).is_ok()).count();
        let address = |last: u8| Some(IpAddr::from([203, 0, 113, last]));
        assert_eq!((tried(None), tried(address(1)), tried(address(2))), (600, 60, 60));
        assert_eq!(limits.check_sign_in(address(1)), Err(Duration::from_secs(1)));
        clock.advance(MINUTE);
        assert_eq!(tried(None), 600);
    }

    proptest! {
        /// Whatever the times, no window of the period's length lets in more than twice the count, and a steady flow
        /// within the limit is never refused.
        #[test]
        fn no_window_lets_in_much_more(gaps in prop::collection::vec(0u64..2_000, 1..400)) {
            let (limits, clock) = limits();
            let limit = RequestRate::new(10, Duration::from_secs(10));
            let (mut taken, mut now) = (Vec::new(), 0u64);
            for gap in gaps {
                now += gap;
                clock.advance(Duration::from_millis(gap));
                if limits.count("x", 1, limit).is_ok() {
                    taken.push(now);
                }
            }
            for (at, first) in taken.iter().enumerate() {
                let within = taken[at..].iter().take_while(|time| **time - first < 10_000).count();
                prop_assert!(within <= 20, "{within} in one window");
            }
        }

        #[test]
        fn a_steady_flow_is_never_refused(count in 1u32..100, rounds in 1usize..300) {
            let (limits, clock) = limits();
            let limit = RequestRate::new(count, MINUTE);
            for _ in 0..rounds {
                prop_assert!(limits.count("x", 1, limit).is_ok());
                clock.advance(MINUTE / count + Duration::from_micros(1));
            }
        }
    }
}
