//! A phone's messages from a file: the backup that Android apps write (`<sms address=… date=… body=…/>`), comma-separated
//! rows, or lines of JSON.
//!
//! A row that can't be read is one of the rows, with what is wrong with it; the others are read all the same.
//!
//! # Layout
//! - [`read`]: whichever it is; `xml`, `csv_rows`, `json_lines`: each of them
//! - `timestamp`: the ways a time is written

mod csv_rows;
mod json_lines;
mod timestamp;
mod xml;

use jiff::tz::TimeZone;
use munshi_types::Timestamp;

use crate::error::{Error, Result};

/// One message of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhoneBackupRow {
    /// Its place in the file: the line, or of XML the message.
    pub number: u64,
    pub message: std::result::Result<PhoneSms, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhoneSms {
    pub text: String,
    pub sender: Option<String>,
    /// When the phone got it.
    pub at: Option<Timestamp>,
    /// The phone's owner wrote it.
    pub is_sent: bool,
}

/// What a file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhoneBackupFormat {
    Xml,
    Csv,
    Jsonl,
}

impl PhoneBackupFormat {
    /// By how the text begins; a file's name may say anything.
    pub fn detect(text: &str) -> Self {
        let text = text.trim_start();
        if text.starts_with('<') {
            Self::Xml
        } else if text.starts_with('{') {
            Self::Jsonl
        } else {
            Self::Csv
        }
    }
}

/// The messages of a file. Times without a zone are of the tenant's.
pub fn read(bytes: &[u8], zone: &TimeZone) -> Result<Vec<PhoneBackupRow>> {
    let text = decode(bytes)?;
    match PhoneBackupFormat::detect(&text) {
        PhoneBackupFormat::Xml => xml::read(&text, zone),
        PhoneBackupFormat::Csv => csv_rows::read(&text, zone),
        PhoneBackupFormat::Jsonl => Ok(json_lines::read(&text, zone)),
    }
}

/// Phones write UTF-8, some with a mark before it; spreadsheets on Windows UTF-16.
fn decode(bytes: &[u8]) -> Result<String> {
    let sixteen = |rest: &[u8], order: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = rest.chunks_exact(2).map(|pair| order([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => Ok(sixteen(rest, u16::from_le_bytes)),
        [0xFE, 0xFF, rest @ ..] => Ok(sixteen(rest, u16::from_be_bytes)),
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Result<String> {
    if bytes.contains(&0) {
        return Err(Error::File(
            "this is not a text file: pass an XML, CSV or JSONL file of messages".to_owned(),
        ));
    }
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// What names a column or a key may have, in small letters.
const TEXT: &[&str] = &["text", "body", "message", "sms", "content", "msg"];
const SENDER: &[&str] = &["sender", "address", "from", "number", "phone", "phone number", "sender id"];
const AT: &[&str] =
    &["at", "date", "time", "timestamp", "received", "received_at", "date_received", "datetime"];
const KIND: &[&str] = &["type", "kind", "direction", "folder"];

/// Whether a message's kind says that the phone's owner wrote it: Android's number, or a word.
fn is_sent(kind: &str) -> bool {
    matches!(
        kind.trim().to_ascii_lowercase().as_str(),
        "2" | "3" | "4" | "5" | "6" | "sent" | "outgoing" | "outbox" | "draft"
    )
}
