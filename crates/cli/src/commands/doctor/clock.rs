//! The clock: leases and schedules go by it, on every node.

use munshi_store::Db;
use munshi_types::Timestamp;

use super::finding::DoctorFinding;
use crate::output::formatting::format_time;

/// Milliseconds between this machine and the database that are worth a word, and that break leases.
const NOTICEABLE: u64 = 1_000;
const HARMFUL: u64 = 10_000;
/// 2026-01-01: before this program was made.
const EARLIEST: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

pub(super) async fn examine(now: Timestamp, db: Option<&Db>) -> DoctorFinding {
    let hint = "set the time and sync it with chrony or systemd-timesyncd";
    if now < EARLIEST {
        return DoctorFinding::fail(
            "clock",
            format!("the time is {} UTC, which is in the past", format_time(now)),
            hint,
        );
    }
    let ahead = match db {
        Some(db) if db.engine() == "postgres" => db.measure_clock_skew(now).await.ok(),
        _ => None,
    };
    let Some(ahead) = ahead else { return DoctorFinding::ok("clock", format!("{} UTC", format_time(now))) };
    let side = if ahead < 0 { "behind" } else { "ahead of" };
    let detail = format!("{} ms {side} the database server", ahead.unsigned_abs());
    match ahead.unsigned_abs() {
        HARMFUL.. => DoctorFinding::fail("clock", detail, hint),
        NOTICEABLE.. => DoctorFinding::warn("clock", detail, hint),
        _ => DoctorFinding::ok("clock", detail),
    }
}
