//! What pages load: style sheets, scripts and pictures, part of the binary. Each stands under a name that changes with
//! its bytes, so that browsers keep it for ever.
//!
//! `bundle` joins the small modules of `assets/` to what is sent. To add one, add a line to [`SHEETS`] or [`SCRIPTS`].

mod bundle;

use std::io::Write;
use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";
/// For what stands under a name with its hash.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// For what others link to by a name that stays.
const FOR_AN_HOUR: &str = "public, max-age=3600";

/// A text of `assets/` as it was when the program was built.
macro_rules! file {
    ($path:literal) => {
        include_str!(concat!("../../assets/", $path))
    };
}

/// Style sheets, each the files it is made of.
const SHEETS: &[(&str, &[&str])] = &[(
    "style.css",
    &[
        file!("css/tokens.css"),
        file!("css/base.css"),
        file!("css/chat.css"),
        file!("css/room.css"),
        file!("css/start.css"),
        file!("css/account.css"),
        file!("css/paper.css"),
    ],
)];

/// What the widget wears, in its own script: no page has to let a style sheet in.
const WORN: &[&str] = &[file!("css/tokens.css"), file!("css/chat.css"), file!("css/widget.css")];

/// Scripts, each the modules it is made of, those that are needed first.
const SCRIPTS: &[(&str, &[&str])] = &[
    ("theme.js", &[file!("js/theme.js")]),
    ("start.js", &[file!("js/start.js")]),
    ("wait.js", &[file!("js/wait.js")]),
    ("desk.js", &[file!("js/dom.js"), file!("js/events.js"), file!("js/desk.js")]),
    (
        "chat.js",
        &[
            file!("js/dom.js"),
            file!("js/markdown.js"),
            file!("js/proof.js"),
            file!("js/events.js"),
            file!("js/door.js"),
            file!("js/stores.js"),
            file!("js/tray.js"),
            file!("js/presence.js"),
            file!("js/view.js"),
            file!("js/link.js"),
            file!("js/consents.js"),
            file!("js/uploads.js"),
            file!("js/unread.js"),
            file!("js/live.js"),
            file!("js/turns.js"),
            file!("js/chat.js"),
            file!("js/page.js"),
        ],
    ),
    (
        WIDGET,
        &[
            file!("js/dom.js"),
            file!("js/markdown.js"),
            file!("js/proof.js"),
            file!("js/events.js"),
            file!("js/door.js"),
            file!("js/stores.js"),
            file!("js/tray.js"),
            file!("js/presence.js"),
            file!("js/view.js"),
            file!("js/link.js"),
            file!("js/consents.js"),
            file!("js/uploads.js"),
            file!("js/unread.js"),
            file!("js/live.js"),
            file!("js/turns.js"),
            file!("js/chat.js"),
            file!("js/widget.js"),
        ],
    ),
];

const WIDGET: &str = "widget.js";

const PICTURES: &[(&str, &str)] = &[("mark.svg", file!("img/mark.svg"))];

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let sheets = SHEETS.iter().map(|(name, parts)| Asset::new(name, STYLE, bundle::style(parts)));
    let scripts = SCRIPTS.iter().map(|(name, parts)| {
        let worn = if *name == WIDGET { Some(bundle::style(WORN)) } else { None };
        Asset::new(name, SCRIPT, bundle::script(parts, worn.as_deref()))
    });
    let pictures = PICTURES.iter().map(|(name, text)| Asset::new(name, PICTURE, (*text).to_owned()));
    sheets.chain(scripts).chain(pictures).collect()
});

/// Made once, when it is first asked for; kept until the process ends.
pub(crate) struct Asset {
    name: &'static str,
    /// Where it is: `/assets/style-0123456789abcdef.css`.
    path: String,
    /// The hash in quotes, as browsers send it back.
    tag: String,
    kind: &'static str,
    plain: Bytes,
    /// None where it would not be smaller.
    packed: Option<Bytes>,
}

impl Asset {
    fn new(name: &'static str, kind: &'static str, text: String) -> Self {
        let hash: String =
            Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let (stem, end) = name.split_once('.').unwrap_or((name, ""));
        let packed = gzip(text.as_bytes()).filter(|packed| packed.len() < text.len());
        Self {
            name,
            path: format!("/assets/{stem}-{hash}.{end}"),
            tag: format!("\"{hash}\""),
            kind,
            plain: Bytes::from(text),
            packed: packed.map(Bytes::from),
        }
    }

    /// The asset packed where the browser reads that, or nothing where it has it.
    fn to_response(&self, headers: &HeaderMap, keep: &'static str) -> Response {
        let mut response = if header_contains(headers, IF_NONE_MATCH, &self.tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            let packed = self.packed.as_ref().filter(|_| header_contains(headers, ACCEPT_ENCODING, "gzip"));
            let mut response = packed.unwrap_or(&self.plain).clone().into_response();
            if packed.is_some() {
                response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
            response
        };
        let sent = response.headers_mut();
        sent.insert(CONTENT_TYPE, HeaderValue::from_static(self.kind));
        sent.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
        sent.insert(VARY, HeaderValue::from_static("accept-encoding"));
        if let Ok(tag) = HeaderValue::from_str(&self.tag) {
            sent.insert(ETAG, tag);
        }
        response
    }
}

fn header_contains(headers: &HeaderMap, name: axum::http::HeaderName, word: &str) -> bool {
    let sent = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    sent.flat_map(|value| value.split(',')).any(|part| {
        let part = part.trim().trim_start_matches("W/");
        let (named, weight) = part.split_once(';').unwrap_or((part, ""));
        named.trim() == word && !matches!(weight.trim(), "q=0" | "q=0.0")
    })
}

fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}

/// Where an asset is, for templates. A name that is not in the lists leads nowhere, and a test renders every page.
pub(crate) fn path(name: &str) -> &'static str {
    ASSETS.iter().find(|asset| asset.name == name).map_or("", |asset| &asset.path)
}

/// What stands at a path under `/assets`.
pub(crate) fn serve_by_path(name: &str, headers: &HeaderMap) -> Option<Response> {
    let asset = ASSETS.iter().find(|asset| asset.path.strip_prefix("/assets/") == Some(name))?;
    Some(asset.to_response(headers, FOR_EVER))
}

/// An asset under the name that others link to.
pub(crate) fn serve_by_name(name: &str, headers: &HeaderMap) -> Option<Response> {
    let asset = ASSETS.iter().find(|asset| asset.name == name)?;
    Some(asset.to_response(headers, FOR_AN_HOUR))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(pairs: &[(axum::http::HeaderName, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_name_changes_with_the_bytes() {
        let one = Asset::new("a.css", STYLE, "a{}".to_owned());
        let other = Asset::new("a.css", STYLE, "b{}".to_owned());
        assert_ne!(one.path, other.path);
        assert!(one.path.starts_with("/assets/a-") && one.path.ends_with(".css"), "{}", one.path);
        assert!(path("style.css").starts_with("/assets/style-") && path("nothing.css").is_empty());
    }

    fn weight(name: &str) -> usize {
        let asset = ASSETS.iter().find(|asset| asset.name == name).unwrap();
        asset.packed.as_ref().unwrap_or(&asset.plain).len()
    }

    #[test]
    fn a_slow_phone_has_little_to_load() {
        assert!(weight(WIDGET) < 23 * 1024, "the widget weighs {}", weight(WIDGET));
        let page = weight("style.css") + weight("theme.js") + weight("chat.js") + weight("mark.svg");
        // With the page itself, which a test of its own weighs.
        assert!(page < 40 * 1024, "what a chat loads weighs {page}");
    }

    #[test]
    fn it_is_packed_for_those_who_read_that() {
        let name = path("style.css").strip_prefix("/assets/").unwrap();
        let packed = serve_by_path(name, &sent(&[(ACCEPT_ENCODING, "br, gzip;q=0.8")])).unwrap();
        assert_eq!(packed.headers()[CONTENT_ENCODING], "gzip");
        assert_eq!(packed.headers()[CACHE_CONTROL], FOR_EVER);
        for none in ["gzip;q=0", "identity", ""] {
            let plain = serve_by_path(name, &sent(&[(ACCEPT_ENCODING, none)])).unwrap();
            assert!(!plain.headers().contains_key(CONTENT_ENCODING), "{none}");
        }
        assert!(serve_by_path("style-0000000000000000.css", &HeaderMap::new()).is_none());
    }

    #[test]
    fn what_a_browser_has_is_not_sent_again() {
        let first = serve_by_name("style.css", &HeaderMap::new()).unwrap();
        let tag = first.headers()[ETAG].clone();
        let again = serve_by_name("style.css", &HeaderMap::from_iter([(IF_NONE_MATCH, tag)])).unwrap();
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        let other = serve_by_name("style.css", &sent(&[(IF_NONE_MATCH, "\"else\"")])).unwrap();
        assert_eq!(other.status(), StatusCode::OK);
    }
}
