//! The widget on a page that does everything to break it.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use serde_json::json;

use crate::browser::driver::Browser;
use crate::browser::shop::{ENTER, ESCAPE, Shop};

/// Somebody's site. Its policy lets in our script and our server and nothing else.
fn site(server: SocketAddr) -> SocketAddr {
    let page = format!(
        "<!doctype html><html lang=en><title>Site</title><link rel=stylesheet href=/reset.css><h1 id=title>A shop</h1>\
         <div id=other></div><munshi-chat binding=shop></munshi-chat><script src=/page.js></script>\
         <script src=\"http://{server}/widget.js\"></script>"
    );
    let reset = "* { all: unset !important } munshi-chat { display: none !important; opacity: 0 !important; transform: scale(0) !important } \
                 munshi-chat * { color: red !important } :root { font-size: 3px !important } button, textarea { display: none !important }";
    let script = "const names = Object.keys(window); const root = document.getElementById('other').attachShadow({ mode: 'open' }); \
                  root.append(document.createElement('munshi-chat')); window.before = names; \
                  Object.prototype.polluted = 'x'; Array.prototype.extra = () => 1;";
    let policy = format!(
        "default-src 'none'; style-src 'self'; script-src 'self' http://{server}; connect-src http://{server}"
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let mut line = String::new();
            let mut reader = BufReader::new(socket.try_clone().unwrap());
            reader.read_line(&mut line).unwrap_or_default();
            let mut rest = String::new();
            while reader.read_line(&mut rest).unwrap_or(0) > 2 {
                rest.clear();
            }
            let (kind, body) = match line.split(' ').nth(1) {
                Some("/reset.css") => ("text/css", reset.to_owned()),
                Some("/page.js") => ("text/javascript", script.to_owned()),
                _ => ("text/html", page.clone()),
            };
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-security-policy: {policy}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            drop(socket.write_all(format!("{head}{body}").as_bytes()));
        }
    });
    address
}

#[test]
fn a_page_can_not_break_the_widget_nor_look_into_it() {
    let shop = Shop::open("Meera", "We open at nine.", Duration::from_millis(5));
    let site = site(shop.server.address);
    let browser = Browser::open(&format!("http://site.example:{}/", site.port()));
    browser.until_spoken("Chat with Meera");
    // What is seen is where and as large as it should be, whatever the page says about everything.
    let shown = "document.querySelector('munshi-chat')";
    assert_eq!(browser.text(&format!("getComputedStyle({shown}).display")), "block");
    assert_eq!(browser.text(&format!("getComputedStyle({shown}).opacity")), "1");
    browser.run("document.querySelector('munshi-chat').show()", &json!([]));
    browser.until_spoken("Write a message");
    browser.press(&format!("hello{ENTER}"));
    browser.until_spoken("We open at nine.");
    let (width, height) = panel(&browser);
    assert!((390.0..=410.0).contains(&width) && height > 500.0, "the panel is {width} by {height}");
    // Nobody looks in, and nothing leaks out.
    assert_eq!(browser.value(&format!("{shown}.shadowRoot")), json!(null));
    assert_eq!(browser.value(&format!("Object.getOwnPropertyNames({shown}).length")), json!(0));
    assert_eq!(
        browser.value("document.adoptedStyleSheets.length + document.querySelectorAll('style').length"),
        json!(0)
    );
    // The driver leaves some of its own.
    let added = "Object.keys(window).filter((name) => !window.before.includes(name) && !/^(.?cdc_|ret_nodes)/.test(name))";
    assert_eq!(browser.value(added), json!(["before"]), "only the page's own");
    assert!(!browser.text("document.body.innerText").contains("nine"));
    browser.press(&ESCAPE.to_string());
    browser.until("!document.querySelector('munshi-chat').hasAttribute('open')");
    assert_eq!(browser.complaints(), "", "the page's policy was not broken");
    // Loaded again, it is the same visitor.
    browser.reload();
    browser.until_spoken("Chat with Meera");
    browser.run("document.querySelector('munshi-chat').show()", &json!([]));
    browser.until_spoken("We open at nine.");
}

/// How large the panel is, as the browser's own tools see it.
fn panel(browser: &Browser) -> (f64, f64) {
    let tree = browser.tool("DOM.getDocument", &json!({ "depth": -1, "pierce": true }));
    let found = find(&tree["root"]).expect("there is a panel");
    let model = browser.tool("DOM.getBoxModel", &json!({ "backendNodeId": found }));
    (model["model"]["width"].as_f64().unwrap(), model["model"]["height"].as_f64().unwrap())
}

fn find(node: &serde_json::Value) -> Option<i64> {
    let named = node["attributes"].as_array().is_some_and(|all| all.iter().any(|one| one == "panel"));
    let shown = !node["attributes"].as_array().is_some_and(|all| all.iter().any(|one| one == "hidden"));
    if named && shown {
        return node["backendNodeId"].as_i64();
    }
    let inner = ["shadowRoots", "children"].into_iter().filter_map(|key| node[key].as_array());
    inner.flatten().find_map(find)
}

#[test]
fn what_is_said_in_one_tab_of_a_site_stands_in_the_other() {
    let shop = Shop::open("Meera", "We open at nine.", Duration::from_millis(5));
    let site = site(shop.server.address);
    let url = format!("http://site.example:{}/", site.port());
    let browser = Browser::open(&url);
    let open = || {
        browser.until_spoken("Chat with Meera");
        browser.run("document.querySelector('munshi-chat').show()", &json!([]));
        browser.until_spoken("Write a message");
    };
    open();
    browser.press(&format!("hello{ENTER}"));
    browser.until_spoken("We open at nine.");
    let (first, _second) = browser.new_tab(&url);
    open();
    browser.until_spoken("We open at nine.");
    browser.press(&format!("and on Sundays{ENTER}"));
    browser.until_spoken("and on Sundays");
    browser.show(&first);
    browser.until_spoken("and on Sundays");
    assert_eq!(browser.complaints(), "", "the page's policy was not broken");
}

#[test]
fn a_site_that_is_not_the_tenants_gets_no_widget() {
    let shop = Shop::open("Meera", "We open at nine.", Duration::from_millis(5));
    let site = site(shop.server.address);
    let browser = Browser::open(&format!("http://evil.example:{}/", site.port()));
    std::thread::sleep(Duration::from_secs(1));
    assert!(!browser.spoken().contains("Meera"), "{}", browser.spoken());
}
