//! One row of a file, by the names of its columns.

use std::collections::HashMap;
use std::str::FromStr;

use jiff::civil::Date;
use munshi_types::{Money, Timestamp, Zone};

use crate::books::export::FORMULA;
use crate::books::quantity::Quantity;
use crate::error::{Error, Result};

/// The rows of a file and where its columns stand.
pub(super) struct CsvTable<'t> {
    columns: HashMap<String, usize>,
    reader: csv::Reader<&'t [u8]>,
}

pub(super) struct CsvRow<'t> {
    columns: &'t HashMap<String, usize>,
    record: csv::StringRecord,
    pub(super) line: u64,
}

impl<'t> CsvTable<'t> {
    /// Reads the header. Every column it names must be one of those known, so that a slip is not passed over.
    pub(super) fn open(file: &'static str, text: &'t str, known: &[&str], needed: &[&str]) -> Result<Self> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| Error::File(format!("{file}: {error}")))?;
        let mut columns = HashMap::new();
        for (at, name) in header.iter().enumerate() {
            let name = name.trim().to_lowercase().replace(' ', "_");
            if !known.contains(&name.as_str()) {
                let what = format!("{file}: unknown column `{name}`: use {}", known.join(", "));
                return Err(Error::File(what));
            }
            if columns.insert(name.clone(), at).is_some() {
                return Err(Error::File(format!("{file}: duplicate column `{name}`")));
            }
        }
        match needed.iter().find(|name| !columns.contains_key(**name)) {
            Some(missing) => Err(Error::File(format!("{file}: the column `{missing}` is missing"))),
            None => Ok(Self { columns, reader }),
        }
    }

    pub(super) fn next(&mut self, file: &'static str) -> Result<Option<CsvRow<'_>>> {
        let line = self.reader.position().line();
        let mut record = csv::StringRecord::new();
        let more = self.reader.read_record(&mut record);
        let more = more.map_err(|error| Error::File(format!("{file}, line {line}: {error}")))?;
        let line = record.position().map_or(line, csv::Position::line);
        Ok(more.then_some(CsvRow { columns: &self.columns, record, line }))
    }
}

impl CsvRow<'_> {
    /// What stands in a column, without the spaces around it; none when it is empty.
    pub(super) fn text(&self, column: &str) -> Option<&str> {
        let cell = self.record.get(*self.columns.get(column)?)?.trim();
        (!cell.is_empty()).then_some(cell)
    }

    /// Text that somebody wrote: to the letter, and without the mark that keeps spreadsheets from running it.
    pub(super) fn raw_text(&self, column: &str) -> &str {
        let cell = self.columns.get(column).and_then(|at| self.record.get(*at)).unwrap_or_default();
        match cell.strip_prefix('\'') {
            Some(rest) if rest.starts_with(FORMULA) => rest,
            _ => cell,
        }
    }

    pub(super) fn name(&self, column: &str) -> Option<&str> {
        let name = self.raw_text(column).trim();
        (!name.is_empty()).then_some(name)
    }

    pub(super) fn required(&self, column: &str) -> Result<&str> {
        self.name(column).ok_or_else(|| Error::invalid(format!("`{column}` is empty")))
    }

    pub(super) fn parse<T: FromStr>(&self, column: &str, what: &str) -> Result<Option<T>> {
        let Some(text) = self.text(column) else { return Ok(None) };
        let bad = |_| Error::invalid(format!("`{text}` in `{column}` is not a valid {what}"));
        plain_digits(text).parse().map(Some).map_err(bad)
    }

    /// Rupees, with or without their sign, and with commas where they stand in India or elsewhere.
    pub(super) fn money(&self, column: &str) -> Result<Option<Money>> {
        let Some(text) = self.text(column) else { return Ok(None) };
        let plain: String =
            plain_digits(text).chars().filter(|letter| !matches!(letter, '₹' | ' ')).collect();
        if !is_grouped(&plain) {
            return Err(Error::invalid(format!(
                "`{text}` in `{column}` has misplaced commas: write 1,50,000 or 150000"
            )));
        }
        Ok(Some(plain.replace(',', "").parse()?))
    }

    /// Refuses a row with more cells than the header names: what stands there would be lost.
    pub(super) fn ensure_no_extra_cells(&self) -> Result<()> {
        let mut more = self.record.iter().skip(self.columns.len());
        match more.find(|cell| !cell.trim().is_empty()) {
            None => Ok(()),
            Some(cell) => Err(Error::invalid(format!(
                "`{cell}` is past the last column: put text with commas in double quotes"
            ))),
        }
    }

    /// What the row says, however it is written: days, amounts and numbers by their value, names by their sound, the
    /// columns in any order.
    pub(super) fn canonical_cells(&self, zone: &Zone) -> Result<Vec<String>> {
        let mut all: Vec<String> = Vec::new();
        for column in self.columns.keys() {
            let Some(text) = self.text(column) else { continue };
            let said = match column.as_str() {
                "when" | "made" => self.time(column, zone)?.map(|time| time.as_micros().to_string()),
                "amount" | "paid" => self.money(column)?.map(|money| money.as_paise().to_string()),
                "quantity" => self.parse::<Quantity>(column, "quantity")?.map(|size| size.to_string()),
                "contact" | "item" => Some(munshi_lang::fold::key(self.raw_text(column))),
                "kind" | "means" => Some(text.to_lowercase()),
                _ => Some(self.raw_text(column).trim().to_owned()),
            };
            all.extend(said.map(|said| format!("{column}={said}")));
        }
        all.sort();
        Ok(all)
    }

    pub(super) fn is_yes(&self, column: &str) -> Result<bool> {
        match self.text(column).map(str::to_lowercase).as_deref() {
            None | Some("no" | "0" | "false") => Ok(false),
            Some("yes" | "1" | "true" | "x") => Ok(true),
            Some(other) => Err(Error::invalid(format!("`{other}` in `{column}` is not yes or no"))),
        }
    }

    /// A moment, or a day as people write it; a day alone is its noon.
    pub(super) fn time(&self, column: &str, zone: &Zone) -> Result<Option<Timestamp>> {
        let Some(text) = self.text(column) else { return Ok(None) };
        let text = plain_digits(text);
        if let Ok(moment) = text.parse::<Timestamp>() {
            return Ok(Some(moment));
        }
        let noon = day(&text).and_then(|day| day.at(12, 0, 0, 0).to_zoned(zone.to_jiff()).ok());
        let noon = noon.ok_or_else(|| {
            Error::invalid(format!("`{text}` in `{column}` is not a day: write 2026-11-15 or 15/11/2026"))
        })?;
        Ok(Some(noon.timestamp().into()))
    }

    /// All cells as they are written.
    pub(super) fn raw_cells(&self) -> Vec<&[u8]> {
        self.record.iter().map(str::as_bytes).collect()
    }
}

/// Digits of any Indian script as those of the others.
fn plain_digits(text: &str) -> String {
    const ZEROS: [char; 9] = ['०', '০', '੦', '૦', '୦', '௦', '౦', '೦', '൦'];
    let plain = |letter: char| {
        let value = |zero: char| u32::from(letter).checked_sub(u32::from(zero)).filter(|value| *value < 10);
        ZEROS.into_iter().find_map(|zero| char::from_digit(value(zero)?, 10)).unwrap_or(letter)
    };
    text.chars().map(plain).collect()
}

/// Whether commas stand in an amount where they can: before the last three digits, and before every two or three of
/// those in front.
fn is_grouped(text: &str) -> bool {
    let whole = text.split('.').next().unwrap_or_default().trim_start_matches(['-', '+']);
    let mut groups = whole.split(',').rev();
    let Some(last) = groups.next().filter(|last| last.len() != whole.len()) else {
        return !text.contains(',');
    };
    let front: Vec<usize> = groups.map(str::len).collect();
    let (Some(first), inner) = (front.last(), front.get(..front.len().saturating_sub(1)).unwrap_or_default())
    else {
        return false;
    };
    let of = |size: usize| inner.iter().all(|group| *group == size) && (1..=size).contains(first);
    let is_once = !text.split('.').skip(1).any(|part| part.contains(','));
    last.len() == 3 && (of(2) || of(3)) && is_once
}

fn day(text: &str) -> Option<Date> {
    if let Ok(day) = text.parse::<Date>() {
        return Some(day);
    }
    let parts: Vec<&str> = text.split(['/', '-', '.']).collect();
    let [day, month, year] = parts.as_slice() else { return None };
    Date::new(year.parse().ok().filter(|year: &i16| *year > 1900)?, month.parse().ok()?, day.parse().ok()?)
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stand_where_people_put_them() {
        for right in ["150", "1,500", "1,50,000", "150,000", "1,500,000", "12,34,567.50", "-1,500"] {
            assert!(is_grouped(right), "{right}");
        }
        for wrong in ["1,50", "1,5,0", ",150", "1,,500", "1500,000,00", "15,00", "1,500.5,0", "1,50,00"] {
            assert!(!is_grouped(wrong), "{wrong}");
        }
    }

    #[test]
    fn digits_of_every_script_are_read() {
        assert_eq!(plain_digits("१०० ১২ ૩૪ ౫౬ ௭௮ ൯"), "100 12 34 56 78 9");
    }
}
