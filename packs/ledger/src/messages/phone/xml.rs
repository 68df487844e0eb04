//! The backup of Android's messages: `<sms address="VM-HDFCBK" date="1718337030000" type="1" body="…" />`.
//!
//! Read by hand, as backups break the rules of XML: they write an emoji as two numbers that are no letters by themselves,
//! and one that was cut off in the middle has no end.

use jiff::tz::TimeZone;

use super::{PhoneBackupRow, PhoneSms, is_sent, timestamp};
use crate::error::{Error, Result};

pub(super) fn read(text: &str, zone: &TimeZone) -> Result<Vec<PhoneBackupRow>> {
    let mut rows = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("<sms") {
        let tag = rest.get(at + "<sms".len()..).unwrap_or_default();
        rest = tag;
        // <smses> is the whole.
        if !tag.starts_with(char::is_whitespace) {
            continue;
        }
        let number = u64::try_from(rows.len()).unwrap_or(u64::MAX).saturating_add(1);
        match attributes(tag) {
            Some((found, after)) => {
                rows.push(PhoneBackupRow { number, message: message(&found, zone) });
                rest = after;
            }
            None => {
                let message = Err("the file is truncated in this message".to_owned());
                rows.push(PhoneBackupRow { number, message });
                break;
            }
        }
    }
    if rows.is_empty() && !text.contains("<smses") {
        return Err(Error::File("this is not a message backup: it has no <sms …/>".to_owned()));
    }
    Ok(rows)
}

fn message(found: &[(&str, String)], zone: &TimeZone) -> std::result::Result<PhoneSms, String> {
    let named = |name: &str| {
        let value = found.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        // The app writes what it does not know as a word.
        value.filter(|value| !value.is_empty() && *value != "null")
    };
    let text = named("body").ok_or("it has no body")?.to_owned();
    let date = named("date").ok_or("it has no date")?;
    let at = timestamp::parse(date, zone).ok_or_else(|| format!("`{date}` is not a valid time"))?;
    Ok(PhoneSms {
        text,
        sender: named("address").map(str::to_owned),
        at: Some(at),
        is_sent: named("type").is_some_and(is_sent),
    })
}

/// The attributes of a tag whose name was read, and what follows it; none where it does not end.
fn attributes(tag: &str) -> Option<(Vec<(&str, String)>, &str)> {
    let mut found = Vec::new();
    let mut rest = tag;
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix("/>").or_else(|| rest.strip_prefix('>')) {
            return Some((found, after));
        }
        let (name, value) = rest.split_once('=')?;
        let value = value.trim_start();
        let quote = value.chars().next().filter(|sign| matches!(sign, '"' | '\''))?;
        let (inside, after) = value.get(1..)?.split_once(quote)?;
        found.push((name.trim(), unescape(inside)));
        rest = after;
    }
}

/// Text with its entities as letters; two numbers that are half a letter each become one.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut first_half: Option<u32> = None;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        if !before.is_empty() {
            first_half = None;
        }
        rest = after;
        let Some((name, behind)) = after.split_once(';').filter(|(name, _)| name.len() <= 10) else {
            out.push('&');
            continue;
        };
        match parse_entity(name, &mut first_half) {
            Entity::Letter(letter) => out.push(letter),
            Entity::Half => {}
            Entity::Unknown => {
                out.push('&');
                continue;
            }
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

enum Entity {
    Letter(char),
    /// The first of two.
    Half,
    Unknown,
}

fn parse_entity(name: &str, first_half: &mut Option<u32>) -> Entity {
    let plain = match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    };
    if let Some(plain) = plain {
        return Entity::Letter(plain);
    }
    let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    });
    let Some(number) = number else { return Entity::Unknown };
    match (number, first_half.take()) {
        (0xD800..=0xDBFF, _) => {
            *first_half = Some(number);
            Entity::Half
        }
        (0xDC00..=0xDFFF, Some(high)) => {
            let whole = 0x1_0000 + ((high - 0xD800) << 10) + (number - 0xDC00);
            Entity::Letter(char::from_u32(whole).unwrap_or(char::REPLACEMENT_CHARACTER))
        }
        _ => Entity::Letter(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_is_read_with_all_that_apps_do_to_it() {
        let text = r#"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>
            <smses count="3" backup_set="x">
              <sms protocol="0" address="VM-AXISBK" date="1718337030000" type="1" subject="null" body="Rs.5 &amp; more&#10;&#55357;&#56832; a > b" read="1" />
              <sms address="+919876543210" date="1718337031000" type="2" body='I said "hello"' />
              <mms date="1"><part text="no"/></mms>
              <sms address="null" date="x" type="1" body="b" />
              <sms address="VM-AXISBK" date="17183370"#;
        let rows = read(text, &TimeZone::UTC).unwrap();
        assert_eq!(rows.len(), 4);
        let first = rows[0].message.clone().unwrap();
        assert_eq!(first.text, "Rs.5 & more\n😀 a > b");
        assert_eq!((first.sender.as_deref(), first.is_sent), (Some("VM-AXISBK"), false));
        assert!(rows[1].message.clone().unwrap().is_sent);
        assert!(rows[2].message.clone().unwrap_err().contains("not a valid time"));
        assert!(rows[3].message.clone().unwrap_err().contains("truncated"));
        assert!(read("<html></html>", &TimeZone::UTC).is_err());
    }
}
