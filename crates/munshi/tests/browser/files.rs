//! Files that somebody attaches: the tray, and what stands in the thread afterwards.

use std::path::PathBuf;
use std::time::Duration;

use munshi_test_support::hostile_files;
use serde_json::json;

use crate::browser::driver::Browser;
use crate::browser::shop::{BUBBLES, STILL, Shop, say};

/// No file of the tray is on its way any more.
const TAKEN: &str = "!document.querySelector('.tray progress')";
/// What stands in the tray: each file, and whether it says why it is not taken.
const TRAY: &str = "[...document.querySelectorAll('.tray li')].map((one) => \
                    [one.querySelector('.name').textContent, Boolean(one.querySelector('.why')?.textContent)])";
/// A picture of one's own that has come.
const PICTURE: &str =
    "[...document.querySelectorAll('.own .things img')].filter((one) => one.naturalWidth > 0)";

/// A conversation that has begun: who is new attaches nothing.
fn talk(shop: &Shop) -> Browser {
    let browser = shop.chat();
    assert_eq!(browser.value("document.querySelector('.attach').hidden"), json!(true));
    say(&browser, "hello");
    browser.until(&format!("{BUBBLES} === 2 && {STILL} && !document.querySelector('.attach').hidden"));
    browser
}

/// Files on somebody's disk.
struct Disk(tempfile::TempDir);

impl Disk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn save(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// One that takes no room.
    fn save_empty(&self, name: &str, length: u64) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::File::create(&path).unwrap().set_len(length).unwrap();
        path
    }
}

#[test]
fn a_picture_stands_in_the_thread_also_when_the_page_is_loaded_again() {
    let (shop, disk) = (Shop::open("Meera", "Nice.", Duration::from_millis(1)), Disk::new());
    let browser = talk(&shop);
    browser.pick(".attach", &[disk.save("bill.png", &hostile_files::png())]);
    browser.until(&format!("document.querySelector('.tray li') && {TAKEN}"));
    assert_eq!(browser.value(TRAY), json!([["bill.png", false]]));
    say(&browser, "the bill of today");
    browser.until(&format!("{BUBBLES} === 4 && {STILL} && {PICTURE}.length === 1"));
    assert_eq!(browser.value("document.querySelector('.tray').hidden"), json!(true));
    say(&browser, "and that is all");
    browser.until(&format!("{BUBBLES} === 6 && {STILL}"));
    // The message is no more the newest; its picture is there all the same, once, and what it was made of is a download.
    for _ in 0..2 {
        browser.reload();
        browser.until(&format!("{BUBBLES} === 6 && {PICTURE}.length === 1"));
        let shown = "[...document.querySelectorAll('.things img')].map((one) => [one.alt, new URL(one.src).pathname.startsWith('/files/'), \
                     one.closest('.said').querySelector('.text').textContent])";
        assert_eq!(browser.value(shown), json!([["bill.png", true, "the bill of today"]]));
        let download = "[...document.querySelectorAll('.things a.file')].map((one) => one.download)";
        assert_eq!(browser.value(download), json!(["bill.png"]));
    }
    assert_eq!(browser.complaints(), "");
    assert_eq!(shop.model.asked(), 3);
}

#[test]
fn the_tray_says_what_is_taken_and_lets_go_of_it() {
    let (shop, disk) = (Shop::open("Meera", "Noted.", Duration::from_millis(1)), Disk::new());
    let browser = talk(&shop);
    let note = disk.save("note.txt", "two kettles".as_bytes());
    let program = disk.save("program.txt", &[b"\x7fELF\x02\x01\x01".as_slice(), &[0; 200]].concat());
    let film = disk.save_empty("film.mp4", 26 << 20);
    browser.pick(".attach", &[note.clone(), program, film]);
    browser.until(&format!("document.querySelectorAll('.tray li').length === 3 && {TAKEN}"));
    assert_eq!(browser.value(TRAY), json!([["note.txt", false], ["program.txt", true], ["film.mp4", true]]));
    assert_eq!(browser.value("document.querySelector('.send').disabled"), json!(false));
    // Taken off, it goes with nothing; what was refused is no message.
    browser.click(".tray li:first-child button");
    assert_eq!(browser.value(TRAY), json!([["program.txt", true], ["film.mp4", true]]));
    assert_eq!(
        browser.value("[document.querySelector('.send').disabled, document.activeElement.tagName]"),
        json!([true, "TEXTAREA"])
    );
    // The same file once more, and nothing is said with it.
    browser.pick(".attach", &[note]);
    browser.until("!document.querySelector('.send').disabled");
    browser.click(".send");
    browser.until(&format!("{BUBBLES} === 4 && {STILL}"));
    assert_eq!(browser.value("document.querySelectorAll('.tray li').length"), json!(0));
    let said = "(() => { const last = [...document.querySelectorAll('.own')].pop(); \
                return [last.querySelector('.text').textContent, [...last.querySelectorAll('a.file')].map((one) => one.textContent)]; })()";
    let expected = json!(["📎 note.txt", ["note.txt"]]);
    assert_eq!(browser.value(said), expected);
    browser.reload();
    browser.until(&format!("{BUBBLES} === 4"));
    assert_eq!(browser.value(said), expected);
    assert_eq!(shop.model.asked(), 2);
}
