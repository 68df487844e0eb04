//! What comes with a reply, ready to be drawn.

use munshi_types::attachment::Attachment;
use qrcodegen::{QrCode, QrCodeEcc};
use serde::Serialize;
use utoipa::ToSchema;

/// The largest picture that is sent along, in letters of base64.
const LARGEST: usize = 2 * 1024 * 1024;
const PICTURES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/gif", "image/svg+xml"];
/// What a link may lead to; the rest is not shown.
const SCHEMES: [&str; 5] = ["https:", "http:", "mailto:", "tel:", "upi:"];

/// Where pages of packs stand on this server; a link there has no scheme of its own.
const PAGES: &str = "/pages/";

/// An attachment for a page. A QR code is an SVG path, so that pages need no permission to load images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schema(as = Shown)]
pub(crate) enum AttachmentView {
    Link {
        url: String,
        title: String,
    },
    Qr {
        text: String,
        title: String,
        /// Modules per side.
        size: i32,
        /// The dark modules as an SVG path, one unit per module.
        path: String,
    },
    Image {
        media_type: String,
        /// Base64.
        data: String,
        title: String,
    },
}

impl AttachmentView {
    /// None for what can't be shown, or may not.
    pub(crate) fn of(attachment: &Attachment) -> Option<Self> {
        match attachment.clone() {
            Attachment::Link { url, title } => {
                let scheme = url.split_inclusive(':').next().unwrap_or_default().to_ascii_lowercase();
                let leads = SCHEMES.contains(&scheme.as_str()) || url.starts_with(PAGES);
                leads.then_some(Self::Link { url, title })
            }
            Attachment::Qr { text, title } => {
                let code = QrCode::encode_text(&text, QrCodeEcc::Medium).ok()?;
                Some(Self::Qr { size: code.size(), path: build_svg_path(&code), text, title })
            }
            Attachment::Image { media_type, data, title } => {
                let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
                let fits = PICTURES.contains(&media_type.as_str()) && data.len() <= LARGEST;
                (fits && data.bytes().all(is_base64)).then_some(Self::Image { media_type, data, title })
            }
        }
    }
}

/// A run of dark modules of a row is one stroke.
fn build_svg_path(code: &QrCode) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    for y in 0..code.size() {
        let mut x = 0;
        while x < code.size() {
            let end = (x..code.size()).find(|at| !code.get_module(*at, y)).unwrap_or(code.size());
            if end > x {
                // Writing to memory can't fail.
                let _written = write!(out, "M{x} {y}h{}v1h-{}z", end - x, end - x);
            }
            x = end.max(x) + 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_drawn_as_it_is() {
        let text = "upi://pay?pa=shop@bank&am=500".to_owned();
        let code = QrCode::encode_text(&text, QrCodeEcc::Medium).unwrap();
        let drawn = build_svg_path(&code);
        // Every module of the path is dark, and every dark one is in it.
        let dark = (0..code.size()).flat_map(|y| (0..code.size()).map(move |x| (x, y)));
        let dark = dark.filter(|(x, y)| code.get_module(*x, *y)).count();
        let strokes = drawn.split('M').skip(1).map(|stroke| {
            let after = stroke.split('h').nth(1).unwrap();
            after.split('v').next().unwrap().parse::<usize>().unwrap()
        });
        assert_eq!(strokes.sum::<usize>(), dark);
        assert!(drawn.starts_with("M0 0h7v1h-7z"), "the corner's mark: {drawn}");
        let shown = AttachmentView::of(&Attachment::Qr { text, title: String::new() }).unwrap();
        assert!(matches!(shown, AttachmentView::Qr { size, .. } if size == code.size()));
    }

    #[test]
    fn what_could_do_harm_is_not_shown() {
        let link =
            |url: &str| AttachmentView::of(&Attachment::Link { url: url.to_owned(), title: String::new() });
        assert!(link("https://a.example").is_some() && link("UPI://pay").is_some());
        assert!(link("/pages/kirana/ledger/bills/1").is_some() && link("/account").is_none());
        for bad in ["javascript:alert(1)", "data:text/html,x", "//a.example", "a", "", " javascript:x"] {
            assert!(link(bad).is_none(), "{bad}");
        }
        let image = |media_type: &str, data: &str| {
            AttachmentView::of(&Attachment::Image {
                media_type: media_type.to_owned(),
                data: data.to_owned(),
                title: String::new(),
            })
        };
        assert!(image("image/png", "aGk=").is_some());
        assert!(image("text/html", "aGk=").is_none() && image("image/png", "a\"onload").is_none());
        assert!(
            AttachmentView::of(&Attachment::Qr { text: "x".repeat(5000), title: String::new() }).is_none()
        );
    }
}
