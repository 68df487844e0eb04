//! The widget on a page of the shop's own site, in a real browser: when the line, the binding or the host's token comes late.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use munshi_test_support::PATIENCE;
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::proxy::Proxy;
use serde_json::{Value, json};

use crate::api::browsers::{Served, beside};
use crate::api::driver::Browser;
use crate::api::support::Installation;

const ENTER: char = '\u{E007}';
const AN_HOUR_AND_MORE: Duration = Duration::from_secs(2 * 60 * 60);

/// A page of the shop's own site that has our script, and nothing else yet.
fn site(server: SocketAddr) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let page = format!(
        "<!doctype html><html lang=en><title>A shop</title><h1>A shop</h1><script src=\"http://{server}/widget.js\"></script>"
    );
    std::thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(socket.try_clone().unwrap());
            let mut line = String::new();
            while reader.read_line(&mut line).unwrap_or(0) > 2 {
                line.clear();
            }
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: {}",
                page.len()
            );
            drop(socket.write_all(format!("{head}\r\n\r\n{page}").as_bytes()));
        }
    });
    format!("http://shop.example:{}/", address.port())
}

/// Puts the element on the page.
fn add(browser: &Browser, attributes: &Value) {
    let script = "window.chat = document.createElement('munshi-chat'); \
                  for (const [name, value] of Object.entries(arguments[0])) chat.setAttribute(name, value); document.body.append(chat)";
    browser.run(script, &json!([attributes]));
}

fn open(browser: &Browser) {
    browser.until_spoken("Chat with Meera");
    browser.run("chat.show()", &json!([]));
    browser.until_spoken("Write a message");
}

const PERSONS_WHO_SPOKE: &str = "SELECT COUNT(DISTINCT person_id) FROM sessions WHERE tenant_id = $1";

on_both! {
    async fn a_widget_comes_as_soon_as_its_server_does(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("At nine.")]).await;
        let served = Served::of(&house).await;
        let line = Proxy::start(served.address).await;
        line.cut();
        let (page, server) = (site(served.address), format!("http://{}", line.address));
        let browser = beside(move || {
            let browser = Browser::open(&page);
            add(&browser, &json!({ "binding": "shop-front", "server": server }));
            // It has been tried more than once.
            let (began, mut tries) = (Instant::now(), 0);
            while tries < 2 {
                assert!(began.elapsed() < PATIENCE, "it was tried {tries} times");
                tries += browser.complaints().matches("Failed to fetch").count();
                std::thread::sleep(Duration::from_millis(100));
            }
            assert!(!browser.spoken().contains("Meera"));
            browser
        })
        .await;
        line.restore();
        beside(move || {
            open(&browser);
            browser.press(&format!("When do you open?{ENTER}"));
            browser.until_spoken("At nine.");
        })
        .await;
    }

    async fn a_widget_may_be_told_its_binding_later(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("At nine.")]).await;
        let served = Served::of(&house).await;
        let page = site(served.address);
        beside(move || {
            let browser = Browser::open(&page);
            add(&browser, &json!({ "theme": "dark" }));
            std::thread::sleep(Duration::from_millis(500));
            assert!(!browser.spoken().contains("Meera"));
            browser.run("chat.setAttribute('binding', 'shop-front')", &json!([]));
            open(&browser);
            browser.press(&format!("When do you open?{ENTER}"));
            browser.until_spoken("At nine.");
            assert_eq!(browser.complaints(), "");
        })
        .await;
    }

    async fn a_host_is_asked_again_where_its_token_has_gone_stale(test: TestDb) {
        let script = [ScriptedTurn::text("At nine."), ScriptedTurn::text("At eight.")];
        let house = Installation::open(&test, script).await;
        house.host_key().await;
        let served = Served::of(&house).await;
        let (page, first) = (site(served.address), house.host_token());
        let browser = beside(move || {
            let browser = Browser::open(&page);
            let ask = "window.tokens = [arguments[0]]; window.asked = []; window.chat = document.createElement('munshi-chat'); \
                       chat.token = async (isStale) => { asked.push(isStale); if (isStale && tokens.length > 1) tokens.shift(); return tokens[0]; }; \
                       chat.setAttribute('binding', 'shop-front'); document.body.append(chat)";
            browser.run(ask, &json!([first]));
            open(&browser);
            browser.press(&format!("When do you open?{ENTER}"));
            browser.until_spoken("At nine.");
            assert_eq!(browser.value("asked.includes(true)"), json!(false), "a token that is good is not asked for again");
            browser
        })
        .await;
        test.clock.advance(AN_HOUR_AND_MORE);
        let second = house.host_token();
        beside(move || {
            browser.run("tokens.push(arguments[0])", &json!([second]));
            browser.press(&format!("And when do you close?{ENTER}"));
            browser.until_spoken("At eight.");
            assert_eq!(browser.value("asked.includes(true)"), json!(true));
        })
        .await;
        let known = house.all_addresses(house.shop.tenant).await;
        assert_eq!(known.iter().filter(|(_, address)| address.ends_with("app/c-17")).count(), 1);
        assert_eq!(house.number(house.shop.tenant, PERSONS_WHO_SPOKE).await, 1, "nobody spoke as a visitor");
    }

    async fn a_text_that_has_gone_stale_is_set_anew(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("At nine."), ScriptedTurn::text("At eight.")]).await;
        house.host_key().await;
        let stale = house.host_token();
        test.clock.advance(AN_HOUR_AND_MORE);
        let served = Served::of(&house).await;
        let (page, fresh) = (site(served.address), house.host_token());
        let browser = beside(move || {
            let browser = Browser::open(&page);
            browser.run("window.told = 0; addEventListener('munshi-token', () => (told += 1), true)", &json!([]));
            add(&browser, &json!({ "binding": "shop-front", "token": stale }));
            browser.until("told === 1");
            std::thread::sleep(Duration::from_millis(500));
            assert!(!browser.spoken().contains("Meera"), "nobody talks as a visitor whom the host has signed in");
            // Whoever fetches another takes a while.
            browser.run("chat.setAttribute('token', arguments[0])", &json!([fresh]));
            open(&browser);
            browser.press(&format!("When do you open?{ENTER}"));
            browser.until_spoken("At nine.");
            browser
        })
        .await;
        test.clock.advance(AN_HOUR_AND_MORE);
        let next = house.host_token();
        beside(move || {
            browser.run("const next = arguments[0]; chat.addEventListener('munshi-token', () => (chat.token = next))", &json!([next]));
            browser.press(&format!("And when do you close?{ENTER}"));
            browser.until_spoken("At eight.");
        })
        .await;
        assert_eq!(house.number(house.shop.tenant, PERSONS_WHO_SPOKE).await, 1);
    }
}
