//! What comes with a reply, as a terminal shows it: links in full, and codes drawn for a camera.

use munshi_types::attachment::Attachment;
use qrcodegen::{QrCode, QrCodeEcc};

/// Light modules around a code, without which cameras don't find it.
const QUIET: i32 = 2;
/// Pages of packs; their links have no server in them.
const PAGES: &str = "/pages/";

/// The lines of an attachment. `base` is where this installation's pages are opened.
pub(crate) fn lines(attachment: &Attachment, base: Option<&str>) -> Vec<String> {
    match attachment {
        Attachment::Link { url, title } => vec![match (url.starts_with(PAGES), base) {
            (true, Some(base)) => prefix_title(title, &format!("{base}{url}")),
            (true, None) => prefix_title(title, &format!("{url} (opens where `munshi serve` runs)")),
            (false, _) => prefix_title(title, url),
        }],
        Attachment::Qr { text, title } => {
            let code = QrCode::encode_text(text, QrCodeEcc::Medium);
            let drawn = code.map(|code| render_qr_code(&code)).unwrap_or_default();
            drawn.into_iter().chain((!title.is_empty()).then(|| title.clone())).collect()
        }
        Attachment::Image { title, .. } => vec![prefix_title(title, "(an image; shown on web pages)")],
    }
}

fn prefix_title(title: &str, what: &str) -> String {
    if title.is_empty() { what.to_owned() } else { format!("{title}: {what}") }
}

/// Two rows of modules in one line of half blocks. Light is drawn, so that it reads on a dark screen.
fn render_qr_code(code: &QrCode) -> Vec<String> {
    let side = -QUIET..code.size() + QUIET;
    let light = |x: i32, y: i32| !code.get_module(x, y);
    let row = |y: i32| {
        side.clone()
            .map(|x| match (light(x, y), y + 1 >= code.size() + QUIET || light(x, y + 1)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            })
            .collect::<String>()
    };
    side.clone().step_by(2).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_its_quiet_zone_and_every_module() {
        let text = "upi://pay?pa=shop@bank&am=500";
        let code = QrCode::encode_text(text, QrCodeEcc::Medium).unwrap();
        let lines = render_qr_code(&code);
        let side = usize::try_from(code.size() + 2 * QUIET).unwrap();
        assert_eq!(lines.len(), side.div_ceil(2));
        assert!(lines.iter().all(|line| line.chars().count() == side));
        assert!(lines[0].chars().all(|block| block == '█'), "two light rows above");
        let dark = (0..code.size()).flat_map(|y| (0..code.size()).map(move |x| (x, y)));
        let dark = dark.filter(|(x, y)| code.get_module(*x, *y)).count();
        let shown: usize = lines
            .iter()
            .flat_map(|line| line.chars())
            .map(|block| match block {
                ' ' => 2,
                '▀' | '▄' => 1,
                _ => 0,
            })
            .sum();
        assert_eq!(shown, dark);
    }

    #[test]
    fn a_page_is_opened_where_the_server_is() {
        let link = |url: &str| Attachment::Link { url: url.to_owned(), title: "Bill".to_owned() };
        let shown = |url: &str, base| lines(&link(url), base).join("\n");
        assert_eq!(shown("/pages/x", Some("http://127.0.0.1:8400")), "Bill: http://127.0.0.1:8400/pages/x");
        assert!(shown("/pages/x", None).contains("munshi serve"));
        assert_eq!(shown("https://a.example", None), "Bill: https://a.example");
    }
}
