//! Growing pauses between wrong passwords.
//!
//! Wrong ones are counted for the account, for the address, and for the two together; past a few, each further try waits
//! twice as long as the one before. A stranger can make an account wait, but not shut its owner out: a browser in which
//! the owner has signed in before is counted by itself, and a one-time link always lets them in.
//!
//! A try is counted before its password is looked at, so that a hundred at once are not a hundred free ones.

use std::net::IpAddr;
use std::time::Duration;

use munshi_store::{PlatformTx, across_tenants, params};
use munshi_types::Timestamp;
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::operators;
use crate::token::SecretToken;

/// The first pause; each after it is twice as long.
const FIRST: Duration = Duration::from_secs(1);

/// How many tries are free, how long a pause gets, and after how long a silence all is forgotten.
#[derive(Clone, Copy, Debug)]
struct Patience {
    free: u32,
    longest: Duration,
    forgotten: Duration,
}

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// One account from one address.
const PAIR: Patience =
    Patience { free: 4, longest: MINUTE.saturating_mul(15), forgotten: HOUR.saturating_mul(24) };
/// One account, from wherever. Its owner may be among those who try.
const ACCOUNT: Patience =
    Patience { free: 10, longest: MINUTE.saturating_mul(5), forgotten: HOUR.saturating_mul(24) };
/// One address, for whichever accounts. An office may share one.
const ADDRESS: Patience =
    Patience { free: 20, longest: MINUTE.saturating_mul(15), forgotten: HOUR.saturating_mul(2) };
/// One account from a browser that is known.
const BROWSER: Patience =
    Patience { free: 6, longest: MINUTE.saturating_mul(5), forgotten: HOUR.saturating_mul(24) };

/// After so long nothing of it matters.
const KEPT: Duration = HOUR.saturating_mul(24);

/// Who tries.
#[derive(Clone, Debug)]
pub struct SignInAttempt {
    counters: Vec<Counter>,
}

#[derive(Clone, Debug)]
struct Counter {
    whose: Vec<u8>,
    patience: Patience,
    /// Whether a right password takes back all, or this one try.
    cleared: Cleared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cleared {
    All,
    One,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignInThrottle {
    /// The password may be looked at. How many tries of this account have been wrong by now, this one counted.
    Go { failures: u32 },
    /// Not before so long. It counts as no try.
    Wait(Duration),
}

impl SignInAttempt {
    /// A try from a browser that is not known. Without an address, as behind a proxy that many share, the account alone
    /// counts: nobody waits for what others there tried.
    pub fn new(email: &str, address: Option<IpAddr>) -> Self {
        let account = operators::normalize_email(email).unwrap_or_else(|_| email.trim().to_lowercase());
        let place = address.map(|address| network(address).to_string()).unwrap_or_default();
        let mut counters = vec![
            Counter { whose: hash(&["pair", &account, &place]), patience: PAIR, cleared: Cleared::All },
            Counter { whose: hash(&["account", &account]), patience: ACCOUNT, cleared: Cleared::All },
        ];
        if address.is_some() {
            let whose = hash(&["address", &place]);
            counters.push(Counter { whose, patience: ADDRESS, cleared: Cleared::One });
        }
        Self::from_counters(counters)
    }

    /// A try from a browser in which this account has signed in before.
    pub fn from_known_browser(email: &str, browser: &SecretToken) -> Self {
        let account = operators::normalize_email(email).unwrap_or_default();
        let whose = hash(&["browser", &account, browser.reveal()]);
        Self::from_counters(vec![Counter { whose, patience: BROWSER, cleared: Cleared::All }])
    }

    /// Held in one order, so that no two wait for each other.
    fn from_counters(mut counters: Vec<Counter>) -> Self {
        counters.sort_by(|a, b| a.whose.cmp(&b.whose));
        Self { counters }
    }

    /// How long to wait, where it is not time yet. Nothing is counted or stored by it, so that who is refused costs no write:
    /// ask this before [`Self::begin`].
    pub fn find_wait(&self, tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<Option<Duration>> {
        let mut wait = Duration::ZERO;
        for counter in &self.counters {
            if let Some((_, free_at)) = counter.find_count(tx, now)? {
                wait = wait.max(free_at.since(now).min(counter.patience.longest));
            }
        }
        Ok((wait > Duration::ZERO).then_some(wait))
    }

    /// Counts the try, or says how long to wait. In a unit of its own, before the password is looked at.
    pub fn begin(&self, tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<SignInThrottle> {
        if let Some(wait) = self.find_wait(tx, now)? {
            return Ok(SignInThrottle::Wait(wait));
        }
        let mut counted = Vec::new();
        let mut wait = Duration::ZERO;
        for counter in &self.counters {
            let (failures, free_at) = counter.lock_count(tx, now)?;
            wait = wait.max(free_at.since(now).min(counter.patience.longest));
            counted.push(failures + 1);
        }
        if wait > Duration::ZERO {
            return Ok(SignInThrottle::Wait(wait));
        }
        for (counter, failures) in self.counters.iter().zip(&counted) {
            tx.execute(
                across_tenants(
                    "UPDATE sign_in_pauses SET failures = $2, last_at = $3, free_at = $4 WHERE whose = $1",
                ),
                params![
                    counter.whose,
                    i64::from(*failures),
                    now,
                    now.plus(counter.patience.delay_after(*failures))
                ],
            )?;
        }
        Ok(SignInThrottle::Go { failures: counted.into_iter().max().unwrap_or(1) })
    }

    /// The password was right: the account's count is forgotten, the address gets this one try back.
    pub fn record_success(&self, tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<()> {
        for counter in &self.counters {
            match counter.cleared {
                Cleared::All => {
                    tx.execute(
                        across_tenants("DELETE FROM sign_in_pauses WHERE whose = $1"),
                        params![counter.whose],
                    )?;
                }
                Cleared::One => {
                    tx.execute(
                        across_tenants(
                            "UPDATE sign_in_pauses SET failures = failures - 1, free_at = $2
                             WHERE whose = $1 AND failures > 0",
                        ),
                        params![counter.whose, now],
                    )?;
                }
            }
        }
        Ok(())
    }
}

impl Counter {
    /// The count and its pause, held until the transaction ends; those from long ago are none.
    fn lock_count(&self, tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<(u32, Timestamp)> {
        tx.execute(
            across_tenants(
                "INSERT INTO sign_in_pauses (whose, failures, last_at, free_at) VALUES ($1, 0, $2, $2)
                 ON CONFLICT (whose) DO UPDATE SET failures = sign_in_pauses.failures",
            ),
            params![self.whose, now],
        )?;
        Ok(self.find_count(tx, now)?.unwrap_or((0, now)))
    }

    /// The same without holding it; none where there is none, or it is from long ago.
    fn find_count(&self, tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<Option<(u32, Timestamp)>> {
        let found = tx.optional(
            across_tenants("SELECT failures, last_at, free_at FROM sign_in_pauses WHERE whose = $1"),
            params![self.whose],
            |row| Ok((row.get::<i64>(0)?, row.get::<Timestamp>(1)?, row.get::<Timestamp>(2)?)),
        )?;
        let recent = found.filter(|(_, last_at, _)| now.since(*last_at) < self.patience.forgotten);
        Ok(recent.map(|(failures, _, free_at)| (u32::try_from(failures).unwrap_or(u32::MAX - 1), free_at)))
    }
}

impl Patience {
    /// How long the next waits after so many.
    fn delay_after(self, failures: u32) -> Duration {
        match failures.checked_sub(self.free) {
            None => Duration::ZERO,
            Some(over) => {
                let doubled = 1_u32.checked_shl(over.min(31)).unwrap_or(u32::MAX);
                FIRST.saturating_mul(doubled).min(self.longest)
            }
        }
    }
}

/// Removes counts that matter no more; for the nightly job.
pub fn sweep(tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<u64> {
    Ok(tx
        .execute(across_tenants("DELETE FROM sign_in_pauses WHERE last_at < $1"), params![now.minus(KEPT)])?)
}

/// Whoever has an IPv6 network has all its addresses.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => {
            let [a, b, c, d, ..] = six.segments();
            IpAddr::V6([a, b, c, d, 0, 0, 0, 0].into())
        }
        four => four,
    }
}

fn hash(words: &[&str]) -> Vec<u8> {
    let mut digest = Sha256::new();
    for word in words {
        // With its length before it, no word can be taken for part of the next.
        digest.update((word.len() as u64).to_le_bytes());
        digest.update(word.as_bytes());
    }
    digest.finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let seconds: Vec<u64> = (1..=16).map(|failures| PAIR.delay_after(failures).as_secs()).collect();
        assert_eq!(seconds, [0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
        assert_eq!(ADDRESS.delay_after(u32::MAX), ADDRESS.longest);
    }

    proptest! {
        #[test]
        fn one_more_wrong_try_never_waits_less(failures in 0u32..100_000) {
            for patience in [PAIR, ACCOUNT, ADDRESS, BROWSER] {
                prop_assert!(patience.delay_after(failures) <= patience.delay_after(failures + 1));
                prop_assert!(patience.delay_after(failures) <= patience.longest);
            }
        }
    }
}
