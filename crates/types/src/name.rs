//! The form of short names: they stand in paths, commands and addresses.

/// Whether it is 1 to 63 small letters, digits and hyphens, with a hyphen neither first nor last.
pub(crate) fn is_slug(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=63).contains(&text.len())
        && text.chars().all(|c| plain(c) || c == '-')
        && text.starts_with(plain)
        && text.ends_with(plain)
}
