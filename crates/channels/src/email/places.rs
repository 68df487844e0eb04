//! How many connections an account has at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use munshi_types::{OutboundPurpose, Timestamp};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::send_rate::SendLimit;

/// Of one account. Fewer than a tenant has: an account whose server is slow keeps no other of the tenant from sending.
const MOST_FOR_MESSAGES: usize = 2;

/// Of all accounts of a tenant. Fewer than the outbox sends at once: a tenant whose servers are slow keeps no other from sending.
const MOST_FOR_TENANT: usize = 3;

/// Somebody waits for a code, and it does not stand behind reminders.
const MOST_FOR_CODES: usize = 2;

/// What finds no place comes again after so long,
const SOON: Duration = Duration::from_secs(5);
/// one after the other,
const APART: Duration = Duration::from_millis(250);
/// and none later than this.
const LATEST: Duration = Duration::from_secs(300);

/// The connections that all accounts of a tenant may have open for messages. Codes pass no outbox, and have none of these.
#[derive(Clone, Debug)]
pub struct TenantConnectionPlaces(Arc<Semaphore>);

impl Default for TenantConnectionPlaces {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST_FOR_TENANT)))
    }
}

/// A connection's place, held until the mail is handed over.
#[derive(Debug)]
pub(super) struct ConnectionPlace<'a> {
    _account: SemaphorePermit<'a>,
    _tenant: Option<SemaphorePermit<'a>>,
}

/// The connections that an account may have open. Nobody waits for one: who finds none is told when to come again.
#[derive(Debug)]
pub(super) struct ConnectionPlaces {
    messages: Semaphore,
    codes: Semaphore,
    tenant: TenantConnectionPlaces,
    /// When the last that found no place comes again.
    last: Mutex<Timestamp>,
}

impl ConnectionPlaces {
    pub(super) fn new(tenant: TenantConnectionPlaces) -> Self {
        Self {
            messages: Semaphore::new(MOST_FOR_MESSAGES),
            codes: Semaphore::new(MOST_FOR_CODES),
            tenant,
            last: Mutex::new(Timestamp::EPOCH),
        }
    }

    pub(super) fn take(
        &self,
        purpose: OutboundPurpose,
        now: Timestamp,
    ) -> Result<ConnectionPlace<'_>, SendLimit> {
        if purpose == OutboundPurpose::Code {
            let account = self.codes.try_acquire().map_err(|_| build_limit("channel", SOON))?;
            return Ok(ConnectionPlace { _account: account, _tenant: None });
        }
        let full = |whose| build_limit(whose, self.find_next_time(now));
        let account = self.messages.try_acquire().map_err(|_| full("channel"))?;
        let tenant = self.tenant.0.try_acquire().map_err(|_| full("workspace"))?;
        Ok(ConnectionPlace { _account: account, _tenant: Some(tenant) })
    }

    fn find_next_time(&self, now: Timestamp) -> Duration {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let next = last.plus(APART).max(now.plus(SOON)).min(now.plus(LATEST));
        *last = next;
        next.since(now)
    }
}

fn build_limit(whose: &str, after: Duration) -> SendLimit {
    SendLimit { what: format!("all connections of this {whose} are in use"), after }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    #[test]
    fn who_finds_no_place_comes_again_and_nobody_waits() {
        let places = ConnectionPlaces::new(TenantConnectionPlaces::default());
        let take = |purpose| places.take(purpose, NOON);
        let held: Vec<_> = (0..MOST_FOR_MESSAGES).map(|_| take(OutboundPurpose::Reply).unwrap()).collect();
        assert_eq!(take(OutboundPurpose::Reminder).unwrap_err().after, SOON);
        assert_eq!(take(OutboundPurpose::Reminder).unwrap_err().after, SOON + APART, "not all at once");
        let codes: Vec<_> = (0..MOST_FOR_CODES).map(|_| take(OutboundPurpose::Code).unwrap()).collect();
        assert_eq!(take(OutboundPurpose::Code).unwrap_err().after, SOON, "codes have an end too");
        drop((held, codes));
        assert!(take(OutboundPurpose::Reply).is_ok() && take(OutboundPurpose::Code).is_ok());
    }

    #[test]
    fn accounts_share_what_their_tenant_has() {
        let tenant = TenantConnectionPlaces::default();
        let [slow, other, third] = [(); 3].map(|()| ConnectionPlaces::new(tenant.clone()));
        let _held: Vec<_> =
            (0..MOST_FOR_MESSAGES).map(|_| slow.take(OutboundPurpose::Reply, NOON).unwrap()).collect();
        let last = other.take(OutboundPurpose::Reply, NOON).unwrap();
        let refused = third.take(OutboundPurpose::Reply, NOON).unwrap_err();
        assert!(refused.what.contains("workspace"), "{refused:?}");
        assert!(third.take(OutboundPurpose::Code, NOON).is_ok(), "somebody waits for it");
        drop(last);
        assert!(third.take(OutboundPurpose::Reply, NOON).is_ok());
    }

    #[test]
    fn none_comes_much_later() {
        let places = ConnectionPlaces::new(TenantConnectionPlaces::default());
        let _held: Vec<_> =
            (0..MOST_FOR_MESSAGES).map(|_| places.take(OutboundPurpose::Reply, NOON).unwrap()).collect();
        for _ in 0..5000 {
            assert!(places.take(OutboundPurpose::Reply, NOON).unwrap_err().after <= LATEST);
        }
    }
}
