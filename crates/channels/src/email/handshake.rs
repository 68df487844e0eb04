//! STARTTLS: what is said in the open before a line is encrypted, and no more.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Of one answer. Real ones have a dozen short lines.
const LONGEST_ANSWER: usize = 16 * 1024;

/// Why a line can't be encrypted.
#[derive(Debug, thiserror::Error)]
pub(super) enum HandshakeError {
    #[error("it closed the connection")]
    Closed,
    #[error("{0}")]
    Broken(#[from] io::Error),
    #[error("it does not speak SMTP")]
    NoSmtp,
    #[error("it answered {0}")]
    Refused(String),
    #[error("it does not offer STARTTLS: use security = \"tls\" with port 465 if it has that")]
    NotOffered,
    /// Somebody on the way may have put words in, to be taken for the server's once the line is encrypted.
    #[error("more was said in the open than was asked for")]
    SaidTooMuch,
}

/// One answer of a server.
#[derive(Debug)]
struct PlainAnswer {
    code: u16,
    lines: Vec<String>,
}

/// Leads a fresh line to where its next byte is the first of TLS.
pub(super) async fn request_tls<S>(line: &mut S, hello: &str) -> Result<(), HandshakeError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut unread = Vec::new();
    expect(read_answer(line, &mut unread).await?, 220)?;
    line.write_all(format!("EHLO {hello}\r\n").as_bytes()).await?;
    let offered = expect(read_answer(line, &mut unread).await?, 250)?;
    let is_offered = |line: &String| line.trim().eq_ignore_ascii_case("STARTTLS");
    if !offered.lines.iter().any(is_offered) {
        return Err(HandshakeError::NotOffered);
    }
    line.write_all(b"STARTTLS\r\n").await?;
    expect(read_answer(line, &mut unread).await?, 220)?;
    if unread.is_empty() { Ok(()) } else { Err(HandshakeError::SaidTooMuch) }
}

fn expect(answer: PlainAnswer, code: u16) -> Result<PlainAnswer, HandshakeError> {
    match answer.code == code {
        true => Ok(answer),
        false => Err(HandshakeError::Refused(format!("{} {}", answer.code, answer.lines.join(" ")))),
    }
}

/// Reads up to the end of one answer; what comes behind it stays in `unread`.
async fn read_answer<S>(line: &mut S, unread: &mut Vec<u8>) -> Result<PlainAnswer, HandshakeError>
where
    S: AsyncRead + Unpin,
{
    let mut answer = PlainAnswer { code: 0, lines: Vec::new() };
    let mut size = 0;
    loop {
        while let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
            let said: Vec<u8> = unread.drain(..=end).collect();
            size += said.len();
            let (code, is_last, words) = parse_line(&said).ok_or(HandshakeError::NoSmtp)?;
            answer.code = code;
            answer.lines.push(words);
            if is_last {
                return Ok(answer);
            }
        }
        if size + unread.len() > LONGEST_ANSWER {
            return Err(HandshakeError::NoSmtp);
        }
        if line.read_buf(unread).await? == 0 {
            return Err(HandshakeError::Closed);
        }
    }
}

/// `250-SIZE 1000` or, last of an answer, `250 SIZE 1000`.
fn parse_line(said: &[u8]) -> Option<(u16, bool, String)> {
    let text = String::from_utf8_lossy(said);
    let text = text.trim_end();
    let code = text.get(..3).filter(|code| code.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()?;
    let is_last = match text.get(3..4) {
        None | Some(" ") => true,
        Some("-") => false,
        Some(_) => return None,
    };
    Some((code, is_last, text.get(4..).unwrap_or_default().to_owned()))
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    /// A server that says these things, one after each thing it hears.
    async fn talk(says: &[&str]) -> Result<(), HandshakeError> {
        let (mut ours, mut theirs) = duplex(64 * 1024);
        let server = async move {
            let mut heard = [0; 256];
            for (number, said) in says.iter().enumerate() {
                if number > 0 && theirs.read(&mut heard).await.unwrap() == 0 {
                    return;
                }
                theirs.write_all(said.as_bytes()).await.unwrap();
            }
        };
        tokio::join!(request_tls(&mut ours, "shop.example"), server).0
    }

    #[tokio::test]
    async fn a_line_is_ready_once_the_server_says_so() {
        let ready = ["220-hello\r\n220 there\r\n", "250-mx\r\n250-starttls\r\n250 SIZE 1\r\n", "220 go\r\n"];
        talk(&ready).await.unwrap();
    }

    #[tokio::test]
    async fn what_is_not_a_way_to_encryption_is_refused() {
        type Check = fn(&HandshakeError) -> bool;
        let cases: [(&[&str], Check); 6] = [
            (&["220 a\r\n", "250 mx\r\n"], |error| matches!(error, HandshakeError::NotOffered)),
            (&["220 a\r\n", "250 STARTTLS\r\n", "220 go\r\n250 mine\r\n"], |error| {
                matches!(error, HandshakeError::SaidTooMuch)
            }),
            (&["220 a\r\n", "250 STARTTLS\r\n", "454 not now\r\n"], |error| {
                matches!(error, HandshakeError::Refused(_))
            }),
            (&["554 go away\r\n"], |error| matches!(error, HandshakeError::Refused(_))),
            (&["HTTP/1.1 400 Bad Request\r\n"], |error| matches!(error, HandshakeError::NoSmtp)),
            (&["220-a\r\n"], |error| matches!(error, HandshakeError::Closed)),
        ];
        for (says, fits) in cases {
            let error = talk(says).await.unwrap_err();
            assert!(fits(&error), "{says:?}: {error:?}");
        }
    }
}
