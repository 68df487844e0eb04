//! A form with a file in it, as Telegram takes files.

use std::fmt::Write as _;

/// The form's media type and its bytes. The boundary is the message's own, and none of the fields can have it within.
pub(super) struct FormBody {
    boundary: String,
    bytes: Vec<u8>,
}

impl FormBody {
    /// `mark` is letters and digits that stand in nothing that goes along.
    pub(super) fn new(mark: &str) -> Self {
        Self { boundary: format!("munshi-{mark}"), bytes: Vec::new() }
    }

    pub(super) fn add_text(&mut self, name: &str, value: &str) {
        let head = format!("--{}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n", self.boundary);
        self.bytes.extend_from_slice(head.as_bytes());
        self.bytes.extend_from_slice(value.as_bytes());
        self.bytes.extend_from_slice(b"\r\n");
    }

    pub(super) fn add_file(&mut self, name: &str, file: (&str, &str, &[u8])) {
        let (file_name, media_type, content) = file;
        let mut head = format!("--{}\r\nContent-Disposition: form-data; name=\"{name}\"", self.boundary);
        let _infallible = write!(head, "; filename=\"{}\"", escape(file_name));
        let _infallible = write!(head, "\r\nContent-Type: {}\r\n\r\n", clean(media_type));
        self.bytes.extend_from_slice(head.as_bytes());
        self.bytes.extend_from_slice(content);
        self.bytes.extend_from_slice(b"\r\n");
    }

    pub(super) fn finish(mut self) -> (String, Vec<u8>) {
        self.bytes.extend_from_slice(format!("--{}--\r\n", self.boundary).as_bytes());
        (format!("multipart/form-data; boundary={}", self.boundary), self.bytes)
    }
}

/// As browsers write it.
fn escape(name: &str) -> String {
    let kept: String = name.chars().filter(|c| !c.is_control()).take(120).collect();
    let escaped = kept.replace('"', "%22");
    if escaped.trim().is_empty() { "file".to_owned() } else { escaped }
}

fn clean(media_type: &str) -> &str {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/+-.".contains(c);
    match media_type.contains('/') && media_type.chars().all(is_plain) {
        true => media_type,
        false => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_holds_its_fields_and_nothing_of_a_name_becomes_one() {
        let mut form = FormBody::new("0190");
        form.add_text("chat_id", "5");
        form.add_file("document", ("a\"\r\nX: y.pdf", "application/pdf\r\nX: y", b"%PDF"));
        let (media_type, bytes) = form.finish();
        assert_eq!(media_type, "multipart/form-data; boundary=munshi-0190");
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(
            text,
            "--munshi-0190\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n5\r\n\
             --munshi-0190\r\nContent-Disposition: form-data; name=\"document\"; filename=\"a%22X: y.pdf\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n%PDF\r\n--munshi-0190--\r\n"
        );
    }
}
