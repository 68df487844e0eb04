//! One-time codes: six digits sent to an address prove that whoever asked has it.
//!
//! Nothing here looks at whether an address is known, so no answer can tell. A code is kept as a keyed hash; only the
//! conversation or sign-in that asked for it can answer, and each has one good code for a purpose at a time.

mod request;
mod text;
mod verify;

pub(crate) use request::SHOWN_ADDRESS;
pub use request::{CodeRequest, CodeRequestOutcome, NewCode, delete_of_asker, request, sweep, withdraw};
pub use text::{CodeKey, CodeText, extract_digits};
pub use verify::{CodeAttempt, CodeProof, CodeVerification, verify};

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A code is good for so long.
pub const LIFE: Duration = Duration::from_secs(10 * 60);
/// After so many wrong answers a code is good for nothing. The table's check has the same number.
pub const ATTEMPTS: u32 = 5;
/// So many codes may be sent to an address in an hour, whoever asks.
pub const PER_ADDRESS: u32 = 3;
/// And so many in a day: guessing goes on for no longer.
pub const PER_ADDRESS_DAY: u32 = 10;
/// So many codes may be asked for in an hour by one conversation or sign-in, for whatever addresses.
pub const PER_ASKER: u32 = 5;
/// So many codes of a purpose may leave a tenant in an hour, whoever asks, for whatever addresses: who opens conversation after
/// conversation fills no strangers' mailboxes.
pub const PER_TENANT: u32 = 200;
/// The hour.
pub const SPAN: Duration = Duration::from_secs(60 * 60);
/// The day.
pub const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What a code is for. One for linking signs nobody in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodePurpose {
    /// A visitor shows that a phone or e-mail is theirs.
    Link,
    /// A member comes into the console.
    SignIn,
}

impl CodePurpose {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::SignIn => "sign_in",
        }
    }
}
