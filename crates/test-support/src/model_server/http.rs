//! Just enough HTTP/1.1 to be in charge of every byte.

use tokio::io::AsyncReadExt;
use tokio::net::tcp::OwnedReadHalf;

#[derive(Clone, Debug)]
pub struct RawHttpRequest {
    pub method: String,
    /// With its query.
    pub path: String,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl RawHttpRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The next request on the connection; none when the client has closed it. `rest` carries over what was read too far.
pub(super) async fn read_request(reader: &mut OwnedReadHalf, rest: &mut Vec<u8>) -> Option<RawHttpRequest> {
    let end = loop {
        if let Some(at) = rest.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        read_more(reader, rest).await?;
    };
    let head = String::from_utf8(rest.drain(..end + 4).take(end).collect()).unwrap();
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let pairs = lines.filter_map(|line| line.split_once(':'));
    let headers: Vec<_> =
        pairs.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    while rest.len() < length {
        read_more(reader, rest).await?;
    }
    let body = rest.drain(..length).collect();
    Some(RawHttpRequest { method, path, headers, body })
}

async fn read_more(reader: &mut OwnedReadHalf, rest: &mut Vec<u8>) -> Option<()> {
    let mut piece = vec![0; 16 << 10];
    let size = reader.read(&mut piece).await.ok().filter(|size| *size > 0)?;
    rest.extend_from_slice(&piece[..size]);
    Some(())
}
