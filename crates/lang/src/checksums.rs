//! The sums by which numbers that stand for a person or a firm are told from others.

const PRODUCT: [[u8; 10]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
    [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
    [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
    [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
    [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
    [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
    [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
    [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
    [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
];

const PERMUTED: [[u8; 10]; 8] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
    [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
    [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
    [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
    [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
    [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
    [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
];

/// Verhoeff's sum over digits from 0 to 9, which every Aadhaar number keeps.
pub fn is_verhoeff_valid(digits: &[u8]) -> bool {
    let sum = digits.iter().rev().enumerate().try_fold(0u8, |sum, (at, value)| {
        let moved = *PERMUTED.get(at % 8)?.get(usize::from(*value))?;
        PRODUCT.get(usize::from(sum))?.get(usize::from(moved)).copied()
    });
    sum == Some(0)
}

/// Luhn's sum over digits from 0 to 9, which every card number keeps.
pub fn is_luhn_valid(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, value)| match (at % 2, u32::from(*value)) {
            (0, value) => value,
            (_, value) if value > 4 => value * 2 - 9,
            (_, value) => value * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Whether fifteen letters and digits are a GSTIN: its shape, and the sum its last letter keeps.
pub fn is_gstin(text: &str) -> bool {
    let letters: Vec<u8> = text.bytes().map(|letter| letter.to_ascii_uppercase()).collect();
    let [front @ .., last] = letters.as_slice() else { return false };
    let shaped = letters.len() == 15
        && letters.iter().enumerate().all(|(at, letter)| match at {
            0 | 1 | 7..=10 => letter.is_ascii_digit(),
            2..=6 | 11 => letter.is_ascii_uppercase(),
            _ => letter.is_ascii_alphanumeric(),
        });
    if !shaped {
        return false;
    }
    let sum: u32 = front
        .iter()
        .enumerate()
        .map(|(at, letter)| {
            let product = value(*letter) * (1 + u32::from(at % 2 == 1));
            product / 36 + product % 36
        })
        .sum();
    value(*last) == (36 - sum % 36) % 36
}

fn value(letter: u8) -> u32 {
    u32::from(if letter.is_ascii_digit() {
        letter - b'0'
    } else {
        letter.wrapping_sub(b'A').wrapping_add(10)
    })
}

/// Whether ten letters and digits have the shape of a PAN; the fourth letter says whose it is.
pub fn is_pan(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(at, letter)| match at {
            3 => b"PCHFATBLJG".contains(&letter.to_ascii_uppercase()),
            5..=8 => letter.is_ascii_digit(),
            _ => letter.is_ascii_alphabetic(),
        })
}

/// Whether eleven letters and digits have the shape of a bank branch's code.
pub fn is_ifsc(text: &str) -> bool {
    text.len() == 11
        && text.bytes().enumerate().all(|(at, letter)| match at {
            0..=3 => letter.is_ascii_alphabetic(),
            4 => letter == b'0',
            _ => letter.is_ascii_alphanumeric(),
        })
        // Six letters after the nought are a word, not a branch.
        && text.bytes().skip(5).any(|letter| letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_hold() {
        assert!(is_verhoeff_valid(&[2, 3, 6]));
        assert!(!is_verhoeff_valid(&[2, 3, 7]));
        assert!(!is_verhoeff_valid(&[10]));
        assert!(is_luhn_valid(&[4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]));
        assert!(!is_luhn_valid(&[4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]));
        assert!(is_gstin("27AAPFU0939F1ZV") && is_gstin("27aapfu0939f1zv"));
        assert!(!is_gstin("27AAPFU0939F1ZW") && !is_gstin("27AAPFU0939F1Z") && !is_gstin(""));
        assert!(is_pan("ABCPK1234F") && !is_pan("ABCXK1234F") && !is_pan("ABCPK12345"));
        assert!(is_ifsc("HDFC0001234") && !is_ifsc("HDFC1001234") && !is_ifsc("ABCD0ABCDEF"));
    }
}
