//! Every refusal has the one shape and the request's id.

use crate::web::support::{Reply, Running, exchange, get};
use munshi_web::ApiErrorCode;

async fn post(server: &Running, path: &str, headers: &str, body: &str) -> Reply {
    let length = body.len();
    let head =
        format!("POST {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: {length}\r\n");
    exchange(server.address, format!("{head}{headers}\r\n{body}")).await
}

const JSON: &str = "content-type: application/json\r\n";

#[tokio::test]
async fn every_code_has_its_status_and_shape() {
    let server = Running::start().await;
    for code in ApiErrorCode::ALL {
        let reply = get(server.address, &format!("/test/refuse/{}", code.as_str()), "").await;
        assert_eq!(reply.error_code(), code.as_str());
        assert_eq!(reply.status, code.status().as_u16());
        let waits = matches!(reply.status, 429 | 503);
        assert_eq!(reply.header("retry-after").parse::<u32>().is_ok(), waits, "{code:?}");
    }
}

#[tokio::test]
async fn an_unknown_address_is_404() {
    let server = Running::start().await;
    let reply = get(server.address, "/nowhere?token=secret", "").await;
    assert_eq!((reply.status, reply.error_code().as_str()), (404, "not_found"));
    assert!(!reply.text().contains("secret"));
}

#[tokio::test]
async fn a_wrong_method_is_405_and_says_which_are_right() {
    let server = Running::start().await;
    let reply = post(&server, "/healthz", "", "").await;
    assert_eq!((reply.status, reply.error_code().as_str()), (405, "method_not_allowed"));
    assert_eq!(reply.header("allow"), "GET,HEAD");
}

#[tokio::test]
async fn json_that_is_broken_wrong_or_not_json_is_told_apart() {
    let server = Running::start().await;
    let cases = [
        (JSON, "{\"item\":", 400, "bad_request", "not valid JSON"),
        (JSON, "", 400, "bad_request", "empty"),
        (JSON, "{\"item\":\"rice\",\"paise\":\"ten\"}", 422, "invalid", "`paise` is invalid"),
        (JSON, "{\"item\":\"rice\"}", 422, "invalid", "missing field `paise`"),
        ("content-type: text/csv\r\n", "rice,10", 415, "unsupported_media_type", "`text/csv`"),
        ("", "{}", 415, "unsupported_media_type", "missing or invalid"),
    ];
    for (headers, body, status, code, words) in cases {
        let reply = post(&server, "/test/order", headers, body).await;
        assert_eq!((reply.status, reply.error_code().as_str()), (status, code), "{body}");
        let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(words), "{message}");
    }
    let fine = post(&server, "/test/order", JSON, "{\"item\":\"rice\",\"paise\":1000}").await;
    assert_eq!((fine.status, fine.text()), (200, "{\"item\":\"rice\",\"paise\":1000}"));
}

#[tokio::test]
async fn a_refusal_of_axums_own_extractors_gets_the_shape_and_keeps_its_words() {
    let server = Running::start().await;
    let reply = get(server.address, "/test/page?size=many", "").await;
    assert_eq!((reply.status, reply.error_code().as_str()), (400, "bad_request"));
    assert!(reply.json()["error"]["message"].as_str().unwrap().contains("invalid digit"), "{}", reply.text());
    assert_eq!(get(server.address, "/test/page?size=5", "").await.text(), "5");
}

#[tokio::test]
async fn what_went_wrong_inside_stays_inside() {
    let server = Running::start().await;
    let reply = get(server.address, "/test/broken", "").await;
    assert_eq!((reply.status, reply.error_code().as_str()), (500, "internal"));
    assert!(!reply.text().contains("hunter2"));
    let reply = get(server.address, "/test/plain", "").await;
    assert_eq!((reply.status, reply.error_code().as_str()), (502, "internal"));
    assert!(!reply.text().contains("10.0.0.7"));
}

#[tokio::test]
async fn a_page_with_a_shape_of_its_own_keeps_it() {
    let server = Running::start().await;
    let reply = get(server.address, "/test/page-of-its-own", "").await;
    assert_eq!((reply.status, reply.text()), (410, "<h1>Gone</h1>"));
    assert!(!reply.header("x-request-id").is_empty());
}

#[tokio::test]
async fn a_panic_is_500_and_the_server_lives() {
    let server = Running::start().await;
    for _ in 0..3 {
        let reply = get(server.address, "/test/panic", "x-request-id: falls-1\r\n").await;
        assert_eq!((reply.status, reply.error_code().as_str()), (500, "internal"));
        assert_eq!(reply.header("x-request-id"), "falls-1");
        assert!(!reply.text().contains("fell over"));
    }
    assert_eq!(get(server.address, "/healthz", "").await.status, 200);
}
