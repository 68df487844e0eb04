//! A little work before much is said: a number that, behind the challenge, gives a SHA-256 with so many zero bits in front.
//!
//! Nothing of it is kept. The challenge is sealed for one message of one visitor, and a message is taken once by its id;
//! so an answer is good once, on any node, though nobody remembers it.

use std::time::Duration;

use munshi_identity::codes::CodeKey;
use munshi_types::Timestamp;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

/// For the slowest phone, and for a line that breaks meanwhile.
const LIFE: Duration = Duration::from_secs(5 * 60);
const PURPOSE: &str = "challenge";
/// No challenge or answer of ours is longer.
const LONGEST: usize = 200;

/// A proof of work.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Proof)]
pub(crate) struct ProofOfWork {
    /// The value of `x-challenge`.
    #[schema(max_length = 200)]
    pub(crate) challenge: String,
    /// The number you found.
    #[schema(max_length = 200, example = "40231")]
    pub(crate) answer: String,
}

/// What a challenge is good for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChallengeScope<'a> {
    pub(crate) binding: &'a str,
    /// Empty for somebody who has no token yet.
    pub(crate) visitor: &'a str,
    pub(crate) message: &'a str,
}

/// A new one: how many bits, until when, and the seal.
pub(crate) fn make(key: &CodeKey, of: ChallengeScope<'_>, bits: u32, now: Timestamp) -> String {
    let ends = now.plus(LIFE).as_micros();
    format!("{bits}.{ends}.{}", hex(&seal(key, of, bits, ends)))
}

/// Whether the work was done, for this very message, in time, and as much as was asked for.
pub(crate) fn is_solved(key: &CodeKey, of: ChallengeScope<'_>, proof: &ProofOfWork, now: Timestamp) -> bool {
    let ProofOfWork { challenge, answer } = proof;
    if challenge.len() > LONGEST || answer.len() > LONGEST {
        return false;
    }
    let mut parts = challenge.splitn(3, '.');
    let bits = parts.next().and_then(|text| text.parse::<u32>().ok());
    let ends = parts.next().and_then(|text| text.parse::<i64>().ok());
    let (Some(bits), Some(ends), Some(sent)) = (bits, ends, parts.next()) else { return false };
    let is_ours =
        key.verify_signature(PURPOSE, &seal_parts(of, bits, ends).each_ref().map(String::as_str), sent);
    is_ours
        && now < Timestamp::from_micros(ends)
        && count_leading_zeros(&format!("{challenge}.{answer}")) >= bits
}

fn seal(key: &CodeKey, of: ChallengeScope<'_>, bits: u32, ends: i64) -> Vec<u8> {
    key.sign(PURPOSE, &seal_parts(of, bits, ends).each_ref().map(String::as_str))
}

fn seal_parts(of: ChallengeScope<'_>, bits: u32, ends: i64) -> [String; 5] {
    [of.binding.to_owned(), of.visitor.to_owned(), of.message.to_owned(), bits.to_string(), ends.to_string()]
}

fn count_leading_zeros(text: &str) -> u32 {
    let mut zeros = 0;
    for byte in Sha256::digest(text.as_bytes()) {
        zeros += byte.leading_zeros();
        if byte != 0 {
            break;
        }
    }
    zeros
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
pub(crate) fn solve(challenge: &str) -> String {
    let bits: u32 = challenge.split('.').next().and_then(|bits| bits.parse().ok()).unwrap_or(0);
    (0u64..)
        .map(|number| number.to_string())
        .find(|number| count_leading_zeros(&format!("{challenge}.{number}")) >= bits)
        .unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

    #[test]
    fn work_is_good_for_the_message_it_was_done_for() {
        let key = CodeKey::new(&[7; 32]);
        let of = ChallengeScope { binding: "b", visitor: "v", message: "m" };
        let challenge = make(&key, of, 8, NOW);
        let proof = ProofOfWork { answer: solve(&challenge), challenge: challenge.clone() };
        assert!(is_solved(&key, of, &proof, NOW));
        assert!(is_solved(&key, of, &proof, NOW.plus(LIFE - Duration::from_secs(1))));
        assert!(!is_solved(&key, of, &proof, NOW.plus(LIFE)), "its time is over");
        assert!(!is_solved(&key, ChallengeScope { message: "n", ..of }, &proof, NOW));
        assert!(!is_solved(&key, ChallengeScope { visitor: "w", ..of }, &proof, NOW));
        assert!(!is_solved(&key, ChallengeScope { binding: "c", ..of }, &proof, NOW));
        assert!(!is_solved(&CodeKey::new(&[8; 32]), of, &proof, NOW), "another tenant's");
    }

    #[test]
    fn nobody_makes_it_easier() {
        let key = CodeKey::new(&[7; 32]);
        let of = ChallengeScope { binding: "b", visitor: "v", message: "m" };
        let challenge = make(&key, of, 20, NOW);
        let easier = challenge.replacen("20.", "0.", 1);
        assert!(!is_solved(&key, of, &ProofOfWork { challenge: easier, answer: "1".to_owned() }, NOW));
        let (bits, rest) = challenge.split_once('.').unwrap();
        let (ends, seal) = rest.split_once('.').unwrap();
        let later = format!("{bits}.{}.{seal}", ends.parse::<i64>().unwrap() + 1);
        assert!(!is_solved(&key, of, &ProofOfWork { answer: solve_few(&later), challenge: later }, NOW));
        for bad in ["", "x", "0.0.", "0.99999999999999999.00", "-1.1.1", &"9".repeat(500)] {
            assert!(
                !is_solved(&key, of, &ProofOfWork { challenge: bad.to_owned(), answer: "1".to_owned() }, NOW),
                "{bad}"
            );
        }
    }

    /// Without the work: the seal is looked at first.
    fn solve_few(_: &str) -> String {
        "0".to_owned()
    }

    #[test]
    fn bits_are_counted_from_the_front() {
        // SHA-256 of "abc" begins with ba, which is 1011….
        assert_eq!(count_leading_zeros("abc"), 0);
        // …of "1" with 6b, which is 0110….
        assert_eq!(count_leading_zeros("1"), 1);
    }
}
