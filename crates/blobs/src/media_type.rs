//! What a file is, by its bytes. Names and what a client declares are never asked.
//!
//! A file is what its first bytes say. A text is a text only if all of it is UTF-8 without control characters; it is then plain text, also
//! where a browser would take it for a page or a script. Executables and archives are refused, and so is what nobody here knows.
//! Office documents are archives by their bytes; they are taken by what their first entries are called, and never unpacked.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The types that are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum MediaType {
    Jpeg,
    Png,
    Gif,
    Webp,
    /// Kept, and not shown: its decoders are not ours to run.
    Heic,
    Pdf,
    Text,
    Word,
    Spreadsheet,
    Slides,
    OpenText,
    OpenSpreadsheet,
    Ogg,
    Mp3,
    Wav,
    Amr,
    AudioMp4,
    VideoMp4,
    Webm,
}

impl MediaType {
    pub const ALL: [Self; 19] = [
        Self::Jpeg,
        Self::Png,
        Self::Gif,
        Self::Webp,
        Self::Heic,
        Self::Pdf,
        Self::Text,
        Self::Word,
        Self::Spreadsheet,
        Self::Slides,
        Self::OpenText,
        Self::OpenSpreadsheet,
        Self::Ogg,
        Self::Mp3,
        Self::Wav,
        Self::Amr,
        Self::AudioMp4,
        Self::VideoMp4,
        Self::Webm,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Heic => "image/heic",
            Self::Pdf => "application/pdf",
            Self::Text => "text/plain",
            Self::Word => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Spreadsheet => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Slides => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Self::OpenText => "application/vnd.oasis.opendocument.text",
            Self::OpenSpreadsheet => "application/vnd.oasis.opendocument.spreadsheet",
            Self::Ogg => "audio/ogg",
            Self::Mp3 => "audio/mpeg",
            Self::Wav => "audio/wav",
            Self::Amr => "audio/amr",
            Self::AudioMp4 => "audio/mp4",
            Self::VideoMp4 => "video/mp4",
            Self::Webm => "video/webm",
        }
    }

    /// What a downloaded file's name ends with.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
            Self::Gif => "gif",
            Self::Webp => "webp",
            Self::Heic => "heic",
            Self::Pdf => "pdf",
            Self::Text => "txt",
            Self::Word => "docx",
            Self::Spreadsheet => "xlsx",
            Self::Slides => "pptx",
            Self::OpenText => "odt",
            Self::OpenSpreadsheet => "ods",
            Self::Ogg => "ogg",
            Self::Mp3 => "mp3",
            Self::Wav => "wav",
            Self::Amr => "amr",
            Self::AudioMp4 => "m4a",
            Self::VideoMp4 => "mp4",
            Self::Webm => "webm",
        }
    }

    /// Pictures that are decoded here, and shown as what that gave.
    pub const fn is_picture(self) -> bool {
        matches!(self, Self::Jpeg | Self::Png | Self::Gif | Self::Webp)
    }
}

impl fmt::Display for MediaType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for MediaType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|known| known.as_str() == text);
        found.ok_or_else(|| format!("unknown media type `{text}`"))
    }
}

impl TryFrom<String> for MediaType {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<MediaType> for &'static str {
    fn from(media_type: MediaType) -> Self {
        media_type.as_str()
    }
}

/// By the beginning of a file, which is all of it where it is shorter. None where that says nothing.
pub(crate) fn recognise(head: &[u8]) -> Option<MediaType> {
    let begins = |magic: &[u8]| head.starts_with(magic);
    let at = |offset: usize, magic: &[u8]| head.get(offset..).is_some_and(|rest| rest.starts_with(magic));
    Some(match head {
        _ if begins(&[0xFF, 0xD8, 0xFF]) => MediaType::Jpeg,
        _ if begins(b"\x89PNG\r\n\x1a\n") => MediaType::Png,
        _ if begins(b"GIF87a") || begins(b"GIF89a") => MediaType::Gif,
        _ if begins(b"RIFF") && at(8, b"WEBP") => MediaType::Webp,
        _ if begins(b"RIFF") && at(8, b"WAVE") => MediaType::Wav,
        _ if begins(b"%PDF-") => MediaType::Pdf,
        _ if begins(b"OggS\0") => MediaType::Ogg,
        _ if begins(b"ID3") && head.get(3).is_some_and(|version| (2..=4).contains(version)) => MediaType::Mp3,
        _ if is_mp3_frame(head) => MediaType::Mp3,
        _ if begins(b"#!AMR") => MediaType::Amr,
        _ if at(4, b"ftyp") => return recognise_mp4(head.get(8..12)?),
        _ if begins(&[0x1A, 0x45, 0xDF, 0xA3]) && contains(head, b"webm") => MediaType::Webm,
        _ if begins(b"PK\x03\x04") => return recognise_office(head),
        _ => return None,
    })
}

/// MPEG audio, layer III, with a bit rate and a sample rate that exist.
fn is_mp3_frame(head: &[u8]) -> bool {
    let [0xFF, second, third, ..] = head else { return false };
    matches!(second, 0xFB | 0xFA | 0xF3 | 0xF2) && !matches!(third >> 4, 0 | 15) && (third >> 2) & 3 != 3
}

fn recognise_mp4(brand: &[u8]) -> Option<MediaType> {
    Some(match brand {
        b"heic" | b"heix" | b"hevc" | b"mif1" | b"msf1" => MediaType::Heic,
        b"M4A " | b"M4B " => MediaType::AudioMp4,
        b"isom" | b"iso2" | b"iso4" | b"iso5" | b"iso6" | b"mp41" | b"mp42" | b"avc1" | b"M4V " | b"qt  "
        | b"3gp4" | b"3gp5" | b"3gp6" => MediaType::VideoMp4,
        _ => return None,
    })
}

/// By the names of the first entries.
fn recognise_office(head: &[u8]) -> Option<MediaType> {
    let first = head.get(30..)?;
    if let Some(rest) = first.strip_prefix(b"mimetype") {
        let open = [MediaType::OpenText, MediaType::OpenSpreadsheet];
        return open.into_iter().find(|known| {
            rest.strip_prefix(known.as_str().as_bytes()).is_some_and(|rest| rest.starts_with(b"PK\x03\x04"))
        });
    }
    if !first.starts_with(b"[Content_Types].xml") && !first.starts_with(b"_rels/.rels") {
        return None;
    }
    let folders = [
        (b"word/".as_slice(), MediaType::Word),
        (b"xl/".as_slice(), MediaType::Spreadsheet),
        (b"ppt/".as_slice(), MediaType::Slides),
    ];
    // Each entry's name stands 30 bytes behind its mark.
    let marks = head.windows(4).enumerate().filter(|(_, mark)| *mark == b"PK\x03\x04");
    let mut names = marks.filter_map(|(at, _)| head.get(at + 30..));
    names
        .find_map(|name| folders.iter().find(|(folder, _)| name.starts_with(folder)).map(|(_, found)| *found))
}

/// What is not taken, by the name it gets in the refusal.
pub(crate) fn describe_refused(head: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 19] = [
        (b"MZ", "a Windows program"),
        (b"\x7fELF", "a program"),
        (b"\xCA\xFE\xBA\xBE", "a program"),
        (b"\xCF\xFA\xED\xFE", "a program"),
        (b"\xCE\xFA\xED\xFE", "a program"),
        (b"\xFE\xED\xFA\xCF", "a program"),
        (b"\0asm", "a program"),
        (b"dex\n", "a program"),
        (b"PK\x03\x04", "an archive"),
        (b"PK\x05\x06", "an archive"),
        (b"\x1F\x8B", "an archive"),
        (b"BZh", "an archive"),
        (b"\xFD7zXZ\0", "an archive"),
        (b"7z\xBC\xAF\x27\x1C", "an archive"),
        (b"Rar!\x1A\x07", "an archive"),
        (b"\x28\xB5\x2F\xFD", "an archive"),
        (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an Office document of before 2007"),
        (b"\xFF\xFE", "a text in UTF-16"),
        (b"\xFE\xFF", "a text in UTF-16"),
    ];
    let known = KINDS.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, what)| *what);
    known.or_else(|| head.get(257..).is_some_and(|rest| rest.starts_with(b"ustar")).then_some("an archive"))
}

fn contains(within: &[u8], word: &[u8]) -> bool {
    within.windows(word.len()).any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zip_of(names: &[&str]) -> Vec<u8> {
        let entry = |name: &&str| {
            let mut header = vec![0; 30];
            header[..4].copy_from_slice(b"PK\x03\x04");
            [header.as_slice(), name.as_bytes(), b"content"].concat()
        };
        names.iter().flat_map(entry).collect()
    }

    #[test]
    fn every_type_has_a_name_of_its_own() {
        for known in MediaType::ALL {
            assert_eq!(known.as_str().parse::<MediaType>().unwrap(), known);
        }
        assert!("text/html".parse::<MediaType>().is_err());
    }

    #[test]
    fn a_file_is_what_its_first_bytes_say() {
        for (head, expected) in [
            (&b"\xFF\xD8\xFF\xE0rest"[..], Some(MediaType::Jpeg)),
            (b"%PDF-1.7\n", Some(MediaType::Pdf)),
            (b" %PDF-1.7\n", None),
            (b"RIFF....WEBPVP8 ", Some(MediaType::Webp)),
            (b"RIFF....AVI ", None),
            (b"\0\0\0\x18ftypheic", Some(MediaType::Heic)),
            (b"\0\0\0\x18ftypisom", Some(MediaType::VideoMp4)),
            (b"\xFF\xFB\x90\x44", Some(MediaType::Mp3)),
            (b"\xFF\xFE\x90\x44", None),
            (b"<svg xmlns='http://www.w3.org/2000/svg'>", None),
            (b"", None),
        ] {
            assert_eq!(recognise(head), expected, "{head:?}");
        }
    }

    #[test]
    fn an_office_document_is_told_from_an_archive() {
        let word = zip_of(&["[Content_Types].xml", "_rels/.rels", "word/document.xml"]);
        assert_eq!(recognise(&word), Some(MediaType::Word));
        assert_eq!(recognise(&zip_of(&["_rels/.rels", "xl/workbook.xml"])), Some(MediaType::Spreadsheet));
        let open = zip_of(&["mimetypeapplication/vnd.oasis.opendocument.text"]);
        let open: Vec<u8> =
            open.strip_suffix(b"content").unwrap().iter().chain(b"PK\x03\x04").copied().collect();
        assert_eq!(recognise(&open), Some(MediaType::OpenText));
        for archive in [zip_of(&["word/document.xml"]), zip_of(&["a.exe"]), zip_of(&["[Content_Types].xml"])]
        {
            assert_eq!(recognise(&archive), None);
            assert_eq!(describe_refused(&archive), Some("an archive"));
        }
    }
}
