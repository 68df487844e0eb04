use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};

use super::*;

const TIME: Duration = Duration::from_secs(5);

/// A server that hears each of these lines and says what stands beside it.
async fn serve(stream: DuplexStream, talk: &[(&str, &str)]) {
    let mut stream = BufReader::new(stream);
    for (heard, says) in talk {
        if !heard.is_empty() {
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            assert_eq!(line.trim_end(), *heard);
        }
        stream.write_all(says.as_bytes()).await.unwrap();
    }
}

fn login() -> (MailLogin, VaultSecret) {
    let login = MailLogin { name: "shop".to_owned(), password: "vault:mail".parse().unwrap() };
    (login, VaultSecret::new("a \"b\\".to_owned()).unwrap())
}

#[tokio::test]
async fn a_folder_is_read_without_a_trace() {
    let (ours, theirs) = duplex(4096);
    let talk = [
        ("", "* OK ready\r\n"),
        ("m1 CAPABILITY", "* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\nm1 OK\r\n"),
        ("m2 AUTHENTICATE PLAIN", "+ \r\n"),
        ("AHNob3AAYSAiYlw=", "m2 OK in\r\n"),
        ("m3 CAPABILITY", "* CAPABILITY IMAP4rev1 IDLE\r\nm3 OK\r\n"),
        (
            "m4 EXAMINE \"INBOX\"",
            "* 2 EXISTS\r\n* OK [UIDVALIDITY 9] x\r\n* OK [UIDNEXT 8] x\r\nm4 OK [READ-ONLY]\r\n",
        ),
        ("m5 UID SEARCH UID 6:*", "* SEARCH 7 6\r\nm5 OK\r\n"),
        (
            "m6 UID FETCH 6,7 (UID RFC822.SIZE INTERNALDATE)",
            "* 1 FETCH (UID 6 RFC822.SIZE 5)\r\n* 2 FETCH (FLAGS ())\r\nm6 OK\r\n",
        ),
        ("m7 UID FETCH 6 (UID BODY.PEEK[]<0.100>)", "* 1 FETCH (UID 6 BODY[]<0> {5}\r\nhello)\r\nm7 OK\r\n"),
        ("m8 UID FETCH 7 (UID BODY.PEEK[HEADER]<0.10>)", "m8 OK gone\r\n"),
        ("m9 IDLE", "+ idling\r\n* OK still here\r\n* 3 EXISTS\r\n"),
        ("DONE", "m9 OK\r\n"),
    ];
    let client = async {
        let mut connection = ImapConnection::new(ours, TIME);
        connection.greet().await.unwrap();
        let (login, password) = login();
        connection.log_in(&login, &password).await.unwrap();
        assert_eq!(connection.open("INBOX").await.unwrap(), OpenedFolder { validity: 9, mails: 2 });
        assert_eq!(connection.search("UID 6:*").await.unwrap(), [6, 7]);
        let listed = connection.list(&[6, 7]).await.unwrap();
        assert_eq!((listed.len(), listed[0].size), (1, Some(5)));
        assert_eq!(connection.fetch(6, "", 100).await.unwrap().as_deref(), Some(&b"hello"[..]));
        assert_eq!(connection.fetch(7, "HEADER", 10).await.unwrap(), None);
        assert_eq!(connection.wait(TIME).await.unwrap(), WaitOutcome::Changed);
    };
    tokio::join!(serve(theirs, &talk), client);
}

#[tokio::test]
async fn a_mail_that_is_told_of_beside_an_answer_is_not_waited_for() {
    let (ours, theirs) = duplex(4096);
    let talk = [
        ("m1 EXAMINE \"INBOX\"", "* 2 EXISTS\r\n* OK [UIDVALIDITY 9] x\r\nm1 OK\r\n"),
        ("m2 UID SEARCH UID 8:*", "* SEARCH\r\n* 3 EXISTS\r\nm2 OK\r\n"),
        ("m3 UID SEARCH UID 8:*", "* SEARCH 8\r\nm3 OK\r\n"),
    ];
    let client = async {
        let mut connection = ImapConnection::new(ours, TIME);
        connection.open("INBOX").await.unwrap();
        assert!(connection.search("UID 8:*").await.unwrap().is_empty());
        assert_eq!(
            connection.wait(TIME).await.unwrap(),
            WaitOutcome::Changed,
            "nothing is said to the server"
        );
        assert_eq!(connection.search("UID 8:*").await.unwrap(), [8]);
    };
    tokio::join!(serve(theirs, &talk), client);
}

#[tokio::test]
async fn a_password_goes_in_quotes_where_there_is_no_better_way() {
    let (ours, theirs) = duplex(4096);
    let talk = [
        ("", "* OK ready\r\n"),
        ("m1 CAPABILITY", "* CAPABILITY IMAP4rev1\r\nm1 OK\r\n"),
        (r#"m2 LOGIN "shop" "a \"b\\""#, "m2 NO [AUTHENTICATIONFAILED] shop@example.com is wrong\r\n"),
    ];
    let client = async {
        let mut connection = ImapConnection::new(ours, TIME);
        connection.greet().await.unwrap();
        let (login, password) = login();
        let refused = connection.log_in(&login, &password).await.unwrap_err();
        assert!(refused.is_refusal && refused.step == ImapStep::Login);
        assert!(!refused.what.contains("example.com") && !refused.what.contains("\"b"), "{refused}");
    };
    tokio::join!(serve(theirs, &talk), client);
}

#[tokio::test]
async fn what_is_said_before_the_line_is_encrypted_does_not_count() {
    for (said, is_taken) in
        [("m1 OK go\r\n", true), ("m1 OK go\r\n* OK mine\r\n", false), ("m1 NO\r\n", false)]
    {
        let (ours, theirs) = duplex(4096);
        let talk = [("", "* OK ready\r\n"), ("m1 STARTTLS", said)];
        let client = async {
            let mut connection = ImapConnection::new(ours, TIME);
            connection.greet().await.unwrap();
            assert_eq!(connection.start_tls().await.is_ok(), is_taken, "{said}");
        };
        tokio::join!(serve(theirs, &talk), client);
    }
}

#[tokio::test]
async fn a_server_that_goes_away_is_a_fault() {
    for (said, words) in
        [("", "closed"), ("* BYE tired\r\n", "did not greet"), ("HTTP/1.1 400\r\n", "did not greet")]
    {
        let (ours, theirs) = duplex(4096);
        let talk = [("", said)];
        let client = async {
            let fault = ImapConnection::new(ours, TIME).greet().await.unwrap_err();
            assert!(fault.what.contains(words) && !fault.is_refusal, "{fault}");
        };
        tokio::join!(serve(theirs, &talk), client);
    }
}
