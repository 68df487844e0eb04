//! When a payment happened, by its message and by when that came.

use jiff::Zoned;
use jiff::civil::{Time, time};
use munshi_sms::Payment;
use munshi_types::{Timestamp, Zone};

use super::{IncomingSms, SmsTimeSource};

/// Where nothing but the day is known.
const NOON: Time = time(12, 0, 0, 0);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PaymentTime {
    pub at: Timestamp,
    /// Known to the minute, and not only by the day.
    pub is_exact: bool,
    /// The message itself says the minute; when a message came may be long after.
    pub is_said: bool,
}

impl PaymentTime {
    /// As the message says it; else when the phone got it. A message that names another day is of that day, and one that
    /// names a day still to come has misread something: then it is of when it came.
    pub(super) fn resolve(payment: &Payment, arrived: &IncomingSms<'_>, zone: &Zone) -> Self {
        let is_phones = arrived.told == SmsTimeSource::ByPhone;
        let came = Self { at: arrived.at, is_exact: is_phones, is_said: false };
        let local = arrived.at.to_jiff().to_zoned(zone.to_jiff());
        let day = payment.date.unwrap_or_else(|| local.date());
        let said = match payment.time {
            Some(time) => Some((day.to_datetime(time), true)),
            None if day != local.date() => Some((day.to_datetime(NOON), false)),
            None => None,
        };
        let Some((said, is_exact)) = said else { return came };
        let moment = zone.to_jiff().to_ambiguous_zoned(said).compatible().ok();
        match moment.map(|moment| Timestamp::from_micros(moment.timestamp().as_microsecond())) {
            Some(at)
                if at >= Timestamp::EPOCH && at <= arrived.at.plus(std::time::Duration::from_secs(3600)) =>
            {
                Self { at, is_exact, is_said: is_exact }
            }
            _ => came,
        }
    }
}

/// Gives a payment without a number the day it came, and by a phone also the minute: two of the same words on two days are
/// two payments.
pub(super) fn fill_missing_time(payment: &mut Payment, arrived: &IncomingSms<'_>, local: &Zoned) {
    if payment.reference.is_some() {
        return;
    }
    if payment.time.is_none()
        && payment.date.is_none_or(|day| day == local.date())
        && arrived.told == SmsTimeSource::ByPhone
    {
        payment.time = Some(local.time());
    }
    payment.date.get_or_insert(local.date());
}
