//! Comma-separated rows with a header that names the columns.

use jiff::tz::TimeZone;

use super::{AT, KIND, PhoneBackupRow, PhoneSms, SENDER, TEXT, is_sent, timestamp};
use crate::error::{Error, Result};

/// Where each thing stands.
struct Columns {
    text: usize,
    sender: Option<usize>,
    at: Option<usize>,
    kind: Option<usize>,
}

pub(super) fn read(text: &str, zone: &TimeZone) -> Result<Vec<PhoneBackupRow>> {
    let separator = separator(text.lines().next().unwrap_or_default());
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(text.as_bytes());
    let header =
        reader.headers().map_err(|error| Error::File(format!("the header can't be read: {error}")))?;
    let columns = Columns::of(header)?;
    let mut rows = Vec::new();
    for record in reader.into_records() {
        match record {
            Ok(record) => {
                let number = record.position().map_or(0, csv::Position::line);
                rows.push(PhoneBackupRow { number, message: message(&record, &columns, zone) });
            }
            Err(error) => {
                let number = error.position().map_or(0, csv::Position::line);
                rows.push(PhoneBackupRow { number, message: Err(format!("the row can't be read: {error}")) });
            }
        }
    }
    Ok(rows)
}

/// The sign that parts the header's columns.
fn separator(header: &str) -> u8 {
    [b',', b';', b'\t']
        .into_iter()
        .max_by_key(|sign| header.bytes().filter(|byte| byte == sign).count())
        .unwrap_or(b',')
}

impl Columns {
    fn of(header: &csv::StringRecord) -> Result<Self> {
        let place = |names: &[&str]| {
            let is_named = |column: &str| names.contains(&column.trim().to_ascii_lowercase().as_str());
            header.iter().position(is_named)
        };
        let text = place(TEXT).ok_or_else(|| {
            Error::File(
                "no column contains the messages: the first line must name the columns, with `text` and, if \
                 present, `sender` and `date`"
                    .to_owned(),
            )
        })?;
        Ok(Self { text, sender: place(SENDER), at: place(AT), kind: place(KIND) })
    }
}

fn message(
    record: &csv::StringRecord,
    columns: &Columns,
    zone: &TimeZone,
) -> std::result::Result<PhoneSms, String> {
    let cell =
        |at: Option<usize>| at.and_then(|at| record.get(at)).map(str::trim).filter(|cell| !cell.is_empty());
    let text = cell(Some(columns.text)).ok_or("it has no text")?.to_owned();
    let at = match cell(columns.at) {
        Some(at) => Some(timestamp::parse(at, zone).ok_or_else(|| format!("`{at}` is not a valid time"))?),
        None => None,
    };
    Ok(PhoneSms {
        text,
        sender: cell(columns.sender).map(str::to_owned),
        at,
        is_sent: cell(columns.kind).is_some_and(is_sent),
    })
}
