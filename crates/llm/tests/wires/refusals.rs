//! What goes wrong before a stream begins, and with calls that are not streamed.

use std::time::Duration;

use munshi_llm::provider::Provider;
use munshi_llm::transport::ProviderResponseLimits;
use munshi_llm::{ModelError, TimeoutStage};
use munshi_test_support::model_server::{FakeModelAnswer, FakeModelStep, ModelServer};
use serde_json::{Value, json};

use crate::wires::scene::{WIRES, hear, request, server, target, wires, wires_with};

fn body(wire: &str, status: u16, kind: &str, message: &str) -> Value {
    match wire {
        "anthropic" => {
            json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
        }
        "openai" => json!({"error": {"message": message, "type": kind, "param": null, "code": kind}}),
        _ => json!({"error": {"code": status, "message": message, "status": kind}}),
    }
}

/// The same answer to a streamed and a whole call must mean the same.
async fn refused(wire: &str, answer: &FakeModelAnswer) -> ModelError {
    let server = server(wire).await;
    let (wires, target, request) = (wires(), target(wire, &server.url()), request(wire, "text"));
    server.enqueue_answer(answer.clone());
    let streamed = wires.stream(&target, &request).await.err().expect("a refusal");
    server.enqueue_answer(answer.clone());
    let whole = wires.complete(&target, &request).await.expect_err("a refusal");
    assert_eq!(streamed, whole);
    assert_eq!(server.stats().requests, 2, "each call is made once");
    streamed
}

#[tokio::test]
async fn statuses_mean_the_same_on_every_wire() {
    for wire in WIRES {
        let said = |status, kind| FakeModelAnswer::json(status, &body(wire, status, kind, "No."));
        let failed =
            |status, retry_after| ModelError::Failed { status, message: "No.".to_owned(), retry_after };
        for status in [500, 502, 503, 529] {
            assert_eq!(refused(wire, &said(status, "api_error")).await, failed(status, None));
        }
        let wait = Some(Duration::from_secs(7));
        assert_eq!(
            refused(wire, &said(503, "api_error").with_header("retry-after", "7")).await,
            failed(503, wait)
        );
        let slow = said(429, "rate_limit_error");
        assert_eq!(
            refused(wire, &slow.clone().with_header("retry-after", "7")).await,
            ModelError::RateLimited { retry_after: wait }
        );
        let dated = slow.clone().with_header("retry-after", "Sat, 10 Jan 2026 10:00:07 GMT");
        assert_eq!(refused(wire, &dated).await, ModelError::RateLimited { retry_after: wait });
        assert_eq!(refused(wire, &slow).await, ModelError::RateLimited { retry_after: None });
        assert_eq!(refused(wire, &said(401, "authentication_error")).await, ModelError::Unauthorised);
        let rejected = ModelError::Rejected { status: 400, message: "No.".to_owned() };
        assert_eq!(refused(wire, &said(400, "invalid_request_error")).await, rejected);
        let long =
            body(wire, 400, "invalid_request_error", "prompt is too long: 300000 tokens > 200000 maximum");
        assert_eq!(refused(wire, &FakeModelAnswer::json(400, &long)).await, ModelError::TooLong);
        let page = FakeModelAnswer::new(
            502,
            "text/html",
            vec![FakeModelStep::Send(b"<html>Bad gateway".to_vec()), FakeModelStep::End],
        );
        let nothing = ModelError::Failed { status: 502, message: String::new(), retry_after: None };
        assert_eq!(refused(wire, &page).await, nothing);
        let elsewhere = said(307, "").with_header("location", "/elsewhere");
        assert_eq!(refused(wire, &elsewhere).await.code(), "rejected", "redirects are not followed");
    }
}

#[tokio::test]
async fn googles_own_ways() {
    let retry = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "13s"});
    let quota = json!({"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED", "details": [retry]}});
    let wait = Some(Duration::from_secs(13));
    assert_eq!(
        refused("gemini", &FakeModelAnswer::json(429, &quota)).await,
        ModelError::RateLimited { retry_after: wait }
    );
    let info = json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"});
    let key = json!([{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": [info]}}]);
    assert_eq!(refused("gemini", &FakeModelAnswer::json(400, &key)).await, ModelError::Unauthorised);
}

#[tokio::test]
async fn faults_hold_no_key_and_no_prompt() {
    for wire in WIRES {
        let message = "key sk-test-key may not say: Ramesh ka kitna baaki hai?";
        let fault = refused(wire, &FakeModelAnswer::json(400, &body(wire, 400, "invalid", message))).await;
        let shown = format!("{fault} {fault:?}");
        assert!(!shown.contains("sk-test-key") && !shown.contains("Ramesh"), "{shown}");
    }
}

#[tokio::test]
async fn nobody_there_or_nothing_said() {
    for wire in WIRES {
        let (wires, request) = (wires(), request(wire, "text"));
        let heard = hear(&wires, &target(wire, &ModelServer::closed_url().await), &request).await;
        assert!(matches!(heard.fault, Some(ModelError::Unreachable(_))), "{:?}", heard.fault);
        assert_eq!(
            refused(wire, &FakeModelAnswer::disconnect()).await,
            ModelError::Interrupted,
            "it was sent"
        );

        let server = server(wire).await;
        let error = body(wire, 500, "api_error", "down");
        server.enqueue_answer(FakeModelAnswer::json(200, &error));
        let heard = hear(&wires, &target(wire, &server.url()), &request).await;
        assert_eq!(heard.fault.unwrap().code(), "provider_failed", "an error that calls itself a success");
        server.enqueue_answer(FakeModelAnswer::new(
            200,
            "text/html",
            vec![FakeModelStep::Send(b"<html>".to_vec()), FakeModelStep::End],
        ));
        let heard = hear(&wires, &target(wire, &server.url()), &request).await;
        let expected = ModelError::Garbled("expected an event stream, got `text/html`".to_owned());
        assert_eq!(heard.fault, Some(expected));
    }
}

#[tokio::test]
async fn whole_answers_that_are_not_whole() {
    let limits = ProviderResponseLimits { event: 64 << 10, answer: 256 << 10 };
    for wire in WIRES {
        let server = server(wire).await;
        let (wires, target, request) =
            (wires_with(limits), target(wire, &server.url()), request(wire, "text"));
        let cases = [
            (vec![FakeModelStep::Send(b"{\"id\":".to_vec()), FakeModelStep::Cut], "interrupted"),
            (vec![FakeModelStep::Send(b"{\"id\":".to_vec()), FakeModelStep::End], "garbled"),
            (vec![FakeModelStep::End], "garbled"),
            (vec![FakeModelStep::Send(b"[1,2]".to_vec()), FakeModelStep::End], "garbled"),
            (vec![FakeModelStep::Repeat(vec![b' '; 1000])], "garbled"),
        ];
        for (steps, code) in cases {
            server.enqueue_answer(FakeModelAnswer::new(200, "application/json", steps.clone()));
            let fault = wires.complete(&target, &request).await.expect_err("no whole answer");
            assert_eq!(fault.code(), code, "{wire} {steps:?}");
        }
        server.enqueue_answer(FakeModelAnswer::new(
            200,
            "application/json",
            vec![FakeModelStep::Send(b"{".to_vec()), FakeModelStep::Hang],
        ));
        let (outcome, ()) = tokio::join!(wires.complete(&target, &request), async {
            server.wait_until(|seen| seen.requests == 6).await;
            tokio::time::pause();
        });
        tokio::time::resume();
        assert_eq!(outcome, Err(ModelError::Timeout(TimeoutStage::Whole)), "{wire}");
    }
}
