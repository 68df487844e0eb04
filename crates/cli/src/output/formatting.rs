//! Sizes and times in short.

use munshi_types::Timestamp;

const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];

/// `512 bytes`, `1.5 MiB`, `12 GiB`.
pub(crate) fn format_size(bytes: u64) -> String {
    if bytes < 1024 {
        return if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") };
    }
    let mut unit = 0;
    // Tenths of the unit, so that no float is needed.
    let mut tenths = u128::from(bytes) * 10 / 1024;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    let (whole, part) = (tenths / 10, tenths % 10);
    let fraction = if whole < 10 && part > 0 { format!(".{part}") } else { String::new() };
    format!("{whole}{fraction} {}", UNITS[unit])
}

/// `2026-11-15 02:17:41`, in UTC.
pub(crate) fn format_time(time: Timestamp) -> String {
    let text = time.to_string();
    text.split(['.', 'Z']).next().unwrap_or_default().replace('T', " ")
}

/// `1 job`, `3 jobs`.
pub(crate) fn format_count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let shown: Vec<String> =
            [0, 1, 1023, 1024, 1536, 10 << 20, (1 << 30) + (1 << 29), u64::MAX].map(format_size).to_vec();
        assert_eq!(
            shown,
            ["0 bytes", "1 byte", "1023 bytes", "1 KiB", "1.5 KiB", "10 MiB", "1.5 GiB", "16777215 TiB"]
        );
    }

    #[test]
    fn a_moment_is_cut_to_the_second() {
        assert_eq!(format_time("2026-11-15T02:17:41.123456Z".parse().unwrap()), "2026-11-15 02:17:41");
        assert_eq!(format_time(Timestamp::EPOCH), "1970-01-01 00:00:00");
    }
}
