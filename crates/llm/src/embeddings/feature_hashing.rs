//! A model of vectors that needs no download: words and their parts, hashed to places.
//!
//! Texts meet where they share words or pieces of words, in whatever script: राजन and `Rajan` have the same key. It
//! knows no synonyms. The same text gives the same vector on every machine and in every version; a change of what is
//! hashed is a new model with a new name.

use munshi_lang::token::{MessageTokenKind, tokenize};

/// How many places there are.
pub const DIMENSION: usize = 512;
/// The lengths of the pieces of a word's key.
const PIECES: [usize; 2] = [3, 4];
const WORD: f32 = 1.0;
/// All pieces of a word together weigh as much as this.
const ALL_PIECES: f32 = 1.4;
/// Words of so few letters hold sentences together and say little.
const SHORT_WORD: usize = 3;
const SHORT_WEIGHT: f32 = 0.4;

/// The vector of a text, of length one; all zeros for a text without words.
pub fn embed_by_hashing(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSION];
    for token in tokenize(text) {
        match token.kind {
            MessageTokenKind::Word(_) if !token.key.is_empty() => add_word(&mut vector, &token.key),
            MessageTokenKind::Word(_) | MessageTokenKind::Foreign | MessageTokenKind::Digits => {
                add(&mut vector, "word", &token.text.to_lowercase(), WORD);
            }
            MessageTokenKind::Sign => {}
        }
    }
    normalise(&mut vector);
    vector
}

fn add_word(vector: &mut [f32], key: &str) {
    let share = if key.chars().count() <= SHORT_WORD { SHORT_WEIGHT } else { 1.0 };
    add(vector, "word", &munshi_lang::fold::skeleton(key), WORD * share);
    let letters: Vec<char> = std::iter::once('^').chain(key.chars()).chain(std::iter::once('$')).collect();
    let pieces: Vec<String> = PIECES
        .iter()
        .flat_map(|length| letters.windows(*length))
        .map(|piece| piece.iter().collect())
        .collect();
    #[allow(clippy::cast_precision_loss, reason = "a word has few pieces")]
    let weight = share * ALL_PIECES / (pieces.len().max(1) as f32).sqrt();
    for piece in &pieces {
        add(vector, "piece", piece, weight);
    }
}

/// One place for each feature, with a sign, so that features that meet by chance cancel rather than add up.
fn add(vector: &mut [f32], kind: &str, feature: &str, weight: f32) {
    let hash = fnv(kind.bytes().chain([0]).chain(feature.bytes()));
    let place = usize::try_from(hash % DIMENSION as u64).unwrap_or(0);
    let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
    if let Some(slot) = vector.get_mut(place) {
        *slot += sign * weight;
    }
}

/// FNV-1a with a last stir, since its high bits hardly see the last letters.
fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let stirred = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    stirred ^ (stirred >> 29)
}

fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(a: &str, b: &str) -> f32 {
        embed_by_hashing(a).iter().zip(embed_by_hashing(b)).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn scripts_and_spellings_meet() {
        for (a, b) in [
            ("राजन का हिसाब", "Rajan ka hisaab"),
            ("ராஜன் கணக்கு", "rajan kanakku"),
            ("basmati rice 5 kg", "Basmati rice, 5 kg!"),
        ] {
            assert!(likeness(a, b) > 0.6, "{a} / {b}: {}", likeness(a, b));
        }
    }

    #[test]
    fn what_shares_words_is_nearer_than_what_does_not() {
        let question = "when does the shop open on sunday";
        let near = likeness(question, "The shop is open on Sunday from ten to two.");
        let far = likeness(question, "Refunds are paid within seven days.");
        assert!(near > far + 0.2, "{near} {far}");
        let (kin, stranger) = (likeness("delivery", "deliveries"), likeness("delivery", "payment"));
        assert!(kin > stranger + 0.2, "{kin} {stranger}");
    }

    #[test]
    fn the_same_everywhere_and_of_length_one() {
        let vector = embed_by_hashing("namaste");
        assert_eq!(vector.len(), DIMENSION);
        let length: f32 = vector.iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 1e-5);
        assert!(embed_by_hashing(" ?! ").iter().all(|value| *value == 0.0));
        let places: Vec<usize> = (0..DIMENSION).filter(|place| vector[*place] != 0.0).take(3).collect();
        assert_eq!(places, [5, 82, 85], "a change here is a new model with a new name");
    }
}
