//! Patience and the end of it: timeouts before the first word, keep-alives, and cancellation down to the socket.

use std::time::Duration;

use munshi_llm::provider::{self, Provider};
use munshi_llm::{ChatEvent, ModelError, TimeoutStage};
use munshi_test_support::model_server::{FakeModelAnswer, FakeModelStep, Fixture};
use tokio::net::{TcpSocket, TcpStream};

use crate::wires::scene::{WIRES, cut, hear, request, server, target, wires};

#[tokio::test]
async fn a_server_that_says_nothing() {
    for wire in WIRES {
        let server = server(wire).await;
        let (wires, target, request) = (wires(), target(wire, &server.url()), request(wire, "text"));
        for answer in [FakeModelAnswer::silence(), FakeModelAnswer::stream(vec![FakeModelStep::Hang])] {
            let requests = server.stats().requests;
            server.enqueue_answer(answer);
            let (heard, ()) = tokio::join!(hear(&wires, &target, &request), async {
                server.wait_until(|seen| seen.requests > requests).await;
                tokio::time::pause();
            });
            tokio::time::resume();
            assert_eq!(heard.fault, Some(ModelError::Timeout(TimeoutStage::FirstByte)), "{wire}");
        }
    }
}

/// Keep-alives are no words: a model that never begins is given up at the first word's time, pings or not.
#[tokio::test]
async fn keep_alives_do_not_count_as_the_first_word() {
    for wire in WIRES {
        let server = server(wire).await;
        let (wires, mut target, request) = (wires(), target(wire, &server.url()), request(wire, "text"));
        target.timeouts.first_byte = Duration::from_millis(300);
        server.enqueue_answer(FakeModelAnswer::stream(vec![FakeModelStep::Repeat(b": ping\n\n".to_vec())]));
        let heard = hear(&wires, &target, &request).await;
        // So many pings may come in the time that there are too many bytes; it ends either way.
        let is_right = matches!(
            heard.fault,
            Some(ModelError::Timeout(TimeoutStage::FirstByte) | ModelError::Garbled(_))
        );
        assert!(is_right, "{wire}: {:?}", heard.fault);
    }
}

#[tokio::test]
async fn the_whole_has_its_time_too() {
    for wire in WIRES {
        let server = server(wire).await;
        let (wires, mut target, request) = (wires(), target(wire, &server.url()), request(wire, "text"));
        target.timeouts.between_bytes = target.timeouts.total * 2;
        let fixture = Fixture::load(wire, "text");
        cut(&server, &fixture, fixture.stream.len() / 2, vec![FakeModelStep::Hang]);
        let mut stream = wires.stream(&target, &request).await.unwrap();
        while !matches!(provider::next_event(&mut stream).await.unwrap().unwrap(), ChatEvent::Text(_)) {}
        tokio::time::pause();
        let heard = crate::wires::scene::listen(stream).await;
        tokio::time::resume();
        assert_eq!(heard.fault, Some(ModelError::Timeout(TimeoutStage::Whole)), "{wire}");
    }
}

/// A listener whose queue is full drops what knocks, as a dead host does.
#[tokio::test]
async fn a_host_that_does_not_answer_at_all() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queue = Vec::new();
    while let Ok(connected) = tokio::time::timeout(Duration::from_secs(1), TcpStream::connect(address)).await
    {
        queue.push(connected.unwrap());
    }
    let mut target = target("openai", &format!("http://{address}"));
    target.timeouts.connect = Duration::from_millis(100);
    let heard = hear(&wires(), &target, &request("openai", "text")).await;
    assert_eq!(heard.fault, Some(ModelError::Timeout(TimeoutStage::Connect)));
}

#[tokio::test]
async fn dropping_a_stream_closes_its_socket() {
    for wire in WIRES {
        let server = server(wire).await;
        let (wires, target, request) = (wires(), target(wire, &server.url()), request(wire, "text"));
        let fixture = Fixture::load(wire, "text");
        cut(&server, &fixture, fixture.stream.len() / 2, vec![FakeModelStep::Hang]);
        let mut stream = wires.stream(&target, &request).await.unwrap();
        while !matches!(provider::next_event(&mut stream).await.unwrap().unwrap(), ChatEvent::Text(_)) {}
        assert_eq!(server.stats().hung_up, 0);
        drop(stream);
        server.wait_until(|seen| seen.hung_up == 1).await;
    }
}

#[tokio::test]
async fn dropping_a_call_that_waits_closes_its_socket() {
    for wire in WIRES {
        let server = server(wire).await;
        let (wires, target, request) = (wires(), target(wire, &server.url()), request(wire, "text"));
        server.enqueue_answer(FakeModelAnswer::silence());
        server.enqueue_answer(FakeModelAnswer::new(
            200,
            "application/json",
            vec![FakeModelStep::Send(b"{".to_vec()), FakeModelStep::Hang],
        ));
        tokio::select! {
            _ = wires.stream(&target, &request) => panic!("nothing was said"),
            () = server.wait_until(|seen| seen.requests == 1) => {}
        }
        server.wait_until(|seen| seen.hung_up == 1).await;
        tokio::select! {
            _ = wires.complete(&target, &request) => panic!("not all was said"),
            () = server.wait_until(|seen| seen.requests == 2) => {}
        }
        server.wait_until(|seen| seen.hung_up == 2).await;
    }
}
