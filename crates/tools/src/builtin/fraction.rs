//! Numbers that are never rounded on the way: whole over whole.

use std::fmt;

/// Beyond this on either side of the line nothing is calculated: room for a digit more in the division below.
const LARGEST: i128 = 10_i128.pow(36);
/// Of a number that has no end, so many digits after the point are told.
const DIGITS: usize = 20;

/// `above / below`, `below` positive, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExactFraction {
    above: i128,
    below: i128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArithmeticError {
    ByZero,
    TooLarge,
}

impl fmt::Display for ArithmeticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByZero => "nothing can be divided by zero",
            Self::TooLarge => "the numbers become too large or too fine to be exact: at most 36 digits",
        })
    }
}

type Outcome = Result<ExactFraction, ArithmeticError>;

impl ExactFraction {
    fn new(above: i128, below: i128) -> Outcome {
        if below == 0 {
            return Err(ArithmeticError::ByZero);
        }
        let shared = greatest_common_divisor(above, below).max(1) * below.signum();
        let exact = Self { above: above / shared, below: below / shared };
        let fits = exact.above.abs() <= LARGEST && exact.below <= LARGEST;
        if fits { Ok(exact) } else { Err(ArithmeticError::TooLarge) }
    }

    /// From digits and how many of them stand after the point.
    pub(super) fn from_decimal(digits: &str, after: usize) -> Outcome {
        let above = digits.parse().map_err(|_| ArithmeticError::TooLarge)?;
        let power = u32::try_from(after).ok().and_then(|after| 10_i128.checked_pow(after));
        Self::new(above, power.ok_or(ArithmeticError::TooLarge)?)
    }

    pub(super) fn plus(self, other: Self) -> Outcome {
        let shared = greatest_common_divisor(self.below, other.below).max(1);
        let sum = || {
            let left = self.above.checked_mul(other.below / shared)?;
            let right = other.above.checked_mul(self.below / shared)?;
            Some((left.checked_add(right)?, self.below.checked_mul(other.below / shared)?))
        };
        let (above, below) = sum().ok_or(ArithmeticError::TooLarge)?;
        Self::new(above, below)
    }

    pub(super) fn negated(self) -> Self {
        Self { above: -self.above, ..self }
    }

    pub(super) fn times(self, other: Self) -> Outcome {
        let (one, two) = (
            greatest_common_divisor(self.above, other.below).max(1),
            greatest_common_divisor(other.above, self.below).max(1),
        );
        let above = (self.above / one).checked_mul(other.above / two).ok_or(ArithmeticError::TooLarge)?;
        let below = (self.below / two).checked_mul(other.below / one).ok_or(ArithmeticError::TooLarge)?;
        Self::new(above, below)
    }

    pub(super) fn divided_by(self, other: Self) -> Outcome {
        self.times(Self::new(other.below, other.above)?)
    }

    /// What is left after taking `other` away as often as it goes; it has the sign of `self`.
    pub(super) fn remainder(self, other: Self) -> Outcome {
        let often = self.divided_by(other)?;
        let whole = Self { above: often.above / often.below, below: 1 };
        self.plus(whole.times(other)?.negated())
    }

    /// Whether its digits come to an end.
    pub(super) fn is_terminating(self) -> bool {
        let mut below = self.below;
        for prime in [2, 5] {
            while below % prime == 0 {
                below /= prime;
            }
        }
        below == 1
    }
}

fn greatest_common_divisor(one: i128, other: i128) -> i128 {
    let (mut one, mut other) = (one.abs(), other.abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// All its digits where they end, else the first twenty after the point, the last of them rounded.
impl fmt::Display for ExactFraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut whole, mut rest) = (self.above.abs() / self.below, self.above.abs() % self.below);
        let mut digits = Vec::new();
        while rest != 0 && (self.is_terminating() || digits.len() <= DIGITS) {
            rest *= 10;
            digits.push(rest / self.below);
            rest %= self.below;
        }
        if !self.is_terminating() {
            let mut carry = i128::from(digits.pop().is_some_and(|next| next >= 5));
            for digit in digits.iter_mut().rev() {
                *digit += carry;
                carry = *digit / 10;
                *digit %= 10;
            }
            whole += carry;
        }
        let is_zero = whole == 0 && digits.iter().all(|digit| *digit == 0);
        let sign = if self.above < 0 && !is_zero { "-" } else { "" };
        write!(f, "{sign}{whole}")?;
        if !digits.is_empty() {
            f.write_str(".")?;
        }
        digits.iter().try_for_each(|digit| write!(f, "{digit}"))
    }
}
