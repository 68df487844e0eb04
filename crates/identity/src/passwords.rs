//! Passwords: what one must be, and the slow hash that is kept of it.
//!
//! A hash takes tens of milliseconds and 19 MiB on purpose. So they are made off the async threads, a few at a time; a
//! flood of sign-ins waits in line or is turned away, and nothing else slows down.

use std::fmt;
use std::sync::Arc;

use argon2::password_hash::phc::{Output, PasswordHash as Parsed, Salt};
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use munshi_types::Random;
use tokio::sync::Semaphore;
use unicode_normalization::UnicodeNormalization;
use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// Shorter ones are tried out.
pub const SHORTEST: usize = 10;
/// Longer ones are somebody's attempt at our time.
const LONGEST: usize = 1024;
/// A password of fewer different letters is a pattern.
const FEWEST_DIFFERENT: usize = 5;
/// Hashes made at once.
const AT_ONCE: usize = 2;
/// So many wait for their turn; more are turned away.
const WAITING: usize = 64;

/// What one hash of argon2id costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordCost {
    memory_kib: u32,
    rounds: u32,
    lanes: u32,
}

impl PasswordCost {
    /// As OWASP recommends.
    pub const RECOMMENDED: Self = Self { memory_kib: 19 * 1024, rounds: 2, lanes: 1 };
    /// For tests, whose passwords guard nothing.
    pub const LEAST: Self = Self { memory_kib: 8, rounds: 1, lanes: 1 };
}

/// A password as somebody wrote it. Wiped when dropped; `{:?}` shows nothing.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

/// What is kept of a password, in the PHC form: it says how it was made.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

/// Makes and compares hashes. One for the process; clones share the line.
#[derive(Clone)]
pub struct PasswordService {
    random: Arc<dyn Random>,
    turns: Arc<Semaphore>,
    line: Arc<Semaphore>,
    cost: PasswordCost,
    /// Of nobody's password: whoever has no account takes as long as whoever has one.
    nobody: PasswordHash,
}

/// Why something can't be a password, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasswordRejection {
    #[error("a password has at least 10 letters: a few words in a row are easy to remember")]
    Short,
    #[error("a password has at most 1,024 letters")]
    Long,
    #[error("this password is a pattern that is quickly found: use more different letters")]
    Pattern,
    #[error("this password is one of the first that are tried: choose another")]
    Common,
}

impl Password {
    /// The same letters typed on another keyboard are the same password.
    pub fn new(text: &str) -> Self {
        let most: String = text.chars().take(LONGEST + 1).collect();
        Self(Zeroizing::new(Zeroizing::new(most).nfkc().collect()))
    }

    /// Whether it may be somebody's password from now on; the words say what to do.
    pub fn validate_for(&self, email: &str, name: &str) -> Result<(), PasswordRejection> {
        let letters = self.0.chars().count();
        if letters < SHORTEST {
            return Err(PasswordRejection::Short);
        }
        if letters > LONGEST || self.0.len() > 4 * LONGEST {
            return Err(PasswordRejection::Long);
        }
        let different: std::collections::BTreeSet<char> = self.0.chars().collect();
        if different.len() < FEWEST_DIFFERENT {
            return Err(PasswordRejection::Pattern);
        }
        let (said, own) = (self.0.to_lowercase(), email.to_lowercase());
        let part = own.split('@').next().unwrap_or_default();
        let same = [own.as_str(), part, &name.to_lowercase()].iter().any(|word| *word == said);
        if same || is_run(&said) {
            return Err(PasswordRejection::Common);
        }
        Ok(())
    }
}

/// Letters that stand side by side on a keyboard or in the alphabet.
fn is_run(text: &str) -> bool {
    const ROWS: [&str; 6] = [
        "0123456789012345678901234567890",
        "9876543210987654321098765432109",
        "abcdefghijklmnopqrstuvwxyz",
        "qwertyuiopasdfghjklzxcvbnm",
        "1q2w3e4r5t6y7u8i9o0p",
        "passwordpassword123456789012345",
    ];
    ROWS.iter().any(|row| row.contains(text))
}

impl PasswordHash {
    pub(crate) fn from_stored(text: String) -> Self {
        Self(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl PasswordService {
    pub fn new(random: Arc<dyn Random>) -> Result<Self> {
        Self::with_cost(random, PasswordCost::RECOMMENDED)
    }

    /// Hashes that were made at another cost are still compared as they say.
    pub fn with_cost(random: Arc<dyn Random>, cost: PasswordCost) -> Result<Self> {
        Ok(Self {
            nobody: build_unknown_hash(random.as_ref(), cost)?,
            random,
            cost,
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            line: Arc::new(Semaphore::new(AT_ONCE + WAITING)),
        })
    }

    pub async fn hash(&self, password: Password) -> Result<PasswordHash> {
        let (salt, cost) = (salt(self.random.as_ref()), self.cost);
        self.run_limited(move || hash(&password.0, &salt, cost)).await?
    }

    /// Whether a password is the one. Without a hash, as for an account that is not there, it takes as long and is not.
    pub async fn verify(&self, password: Password, hash: Option<PasswordHash>) -> Result<bool> {
        let (known, hash) = (hash.is_some(), hash.unwrap_or_else(|| self.nobody.clone()));
        let fits = self.run_limited(move || verify(&password.0, &hash)).await??;
        Ok(fits && known)
    }

    async fn run_limited<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let _place = self.line.try_acquire().map_err(|_| Error::Busy)?;
        let turn = self.turns.clone().acquire_owned().await.map_err(|_| Error::Busy)?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            // Given back here and not by whoever waits: one who leaves early frees no processor.
            drop(turn);
            done
        });
        done.await.map_err(|_| Error::Busy)
    }
}

fn argon2(cost: PasswordCost) -> Result<Argon2<'static>> {
    let params = Params::new(cost.memory_kib, cost.rounds, cost.lanes, None).map_err(to_hash_error)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn salt(random: &dyn Random) -> [u8; 16] {
    let mut bytes = [0; 16];
    random.fill(&mut bytes);
    bytes
}

fn hash(password: &str, salt: &[u8], cost: PasswordCost) -> Result<PasswordHash> {
    let hash: Parsed =
        argon2(cost)?.hash_password_with_salt(password.as_bytes(), salt).map_err(to_hash_error)?;
    Ok(PasswordHash(hash.to_string()))
}

/// A hash that no password is known for. It is drawn and not computed: a start need not spend the time and the memory, and
/// checking a password against it costs the same.
fn build_unknown_hash(random: &dyn Random, cost: PasswordCost) -> Result<PasswordHash> {
    let mut unknown = [0; Params::DEFAULT_OUTPUT_LEN];
    random.fill(&mut unknown);
    let hash = Parsed {
        algorithm: Algorithm::Argon2id.ident(),
        version: Some(Version::V0x13.into()),
        params: argon2(cost)?.params().try_into().map_err(to_hash_error)?,
        salt: Some(Salt::new(&salt(random)).map_err(to_hash_error)?),
        hash: Some(Output::new(&unknown).map_err(to_hash_error)?),
    };
    Ok(PasswordHash(hash.to_string()))
}

fn verify(password: &str, hash: &PasswordHash) -> Result<bool> {
    let parsed = Parsed::new(&hash.0).map_err(to_hash_error)?;
    // The hash says its own cost.
    Ok(Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok())
}

fn to_hash_error(error: impl fmt::Display) -> Error {
    Error::Store(munshi_store::Error::Decode(format!("invalid password hash: {error}")))
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash")
    }
}

impl fmt::Debug for PasswordService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Passwords({} free)", self.turns.available_permits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::SystemRandom;

    fn fit(text: &str) -> bool {
        Password::new(text).validate_for("asha@shop.example", "Asha Devi").is_ok()
    }

    #[test]
    fn what_is_tried_first_is_refused() {
        for bad in [
            "",
            "short",
            "aaaaaaaaaaaa",
            "1212121212",
            "1234567890",
            "qwertyuiop",
            "asha@shop.example",
            "Asha Devi",
            "password12",
        ] {
            assert!(!fit(bad), "{bad}");
        }
        assert!(!fit(&"ab cd ef".repeat(200)));
        for good in ["correct horse battery", "मेरी दुकान का ताला", "x9$kQ2!mZ0"]
        {
            assert!(fit(good), "{good}");
        }
    }

    #[tokio::test]
    async fn a_password_fits_its_own_hash_alone() {
        let passwords = PasswordService::new(Arc::new(SystemRandom)).unwrap();
        let hash = passwords.hash(Password::new("correct horse battery")).await.unwrap();
        assert!(hash.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        let fits = |text: &str, hash| passwords.verify(Password::new(text), hash);
        assert!(fits("correct horse battery", Some(hash.clone())).await.unwrap());
        assert!(!fits("correct horse batterz", Some(hash.clone())).await.unwrap());
        assert!(!fits("correct horse battery", None).await.unwrap());
        let (nobody, real) = (Parsed::new(&passwords.nobody.0).unwrap(), Parsed::new(hash.as_str()).unwrap());
        assert_eq!((nobody.algorithm, nobody.version), (real.algorithm, real.version));
        assert_eq!(
            (nobody.params, hash.0.len()),
            (real.params, passwords.nobody.0.len()),
            "it costs the same to check"
        );
        let other = passwords.hash(Password::new("correct horse battery")).await.unwrap();
        assert_ne!(hash, other, "each has its own salt");
        let cheap = PasswordService::with_cost(Arc::new(SystemRandom), PasswordCost::LEAST).unwrap();
        assert!(cheap.verify(Password::new("correct horse battery"), Some(other)).await.unwrap());
        let light = cheap.hash(Password::new("correct horse battery")).await.unwrap();
        assert!(light.as_str().starts_with("$argon2id$v=19$m=8,t=1,p=1$"));
        assert!(fits("correct horse battery", Some(light.clone())).await.unwrap());
        assert!(!fits("correct horse batterz", Some(light)).await.unwrap());
        // The same letters, composed and not.
        let hash = passwords.hash(Password::new("cafe\u{301} au lait")).await.unwrap();
        assert!(fits("caf\u{e9} au lait", Some(hash)).await.unwrap());
    }

    #[tokio::test]
    async fn a_flood_is_turned_away_and_the_line_recovers() {
        let passwords = PasswordService::new(Arc::new(SystemRandom)).unwrap();
        let waiting: Vec<_> = (0..AT_ONCE + WAITING).map(|_| passwords.line.try_acquire().unwrap()).collect();
        let refused = passwords.verify(Password::new("x"), None).await;
        assert!(matches!(refused, Err(Error::Busy)), "{refused:?}");
        drop(waiting);
        assert!(!passwords.verify(Password::new("x"), None).await.unwrap());
    }
}
