//! One GET to the daemon's own health address: the loopback, no TLS, a body that ends with the connection.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(5);

/// What came back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: String,
}

/// Fetches `path`.
pub(super) async fn get(address: SocketAddr, path: &str) -> anyhow::Result<Reply> {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        // In HTTP/1.0 the body ends with the connection, so there are no chunks to decode.
        stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").as_bytes()).await?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await?;
        anyhow::Ok(bytes)
    };
    let bytes = timeout(PATIENCE, exchange).await.with_context(|| format!("http://{address}{path} is silent"))??;
    parse(&String::from_utf8_lossy(&bytes)).with_context(|| format!("http://{address}{path} does not speak HTTP"))
}

fn parse(text: &str) -> Option<Reply> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    Some(Reply { status, body: body.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_has_a_status_and_a_body() {
        let text = "HTTP/1.0 503 Service Unavailable\r\ncontent-type: text/plain\r\n\r\nmodels\n\r\n\r\nindex";
        assert_eq!(parse(text), Some(Reply { status: 503, body: "models\n\r\n\r\nindex".into() }));
        for bad in ["", "HTTP/1.0 200 OK\r\n", "SSH-2.0\r\n\r\n", "HTTP/1.0 x\r\n\r\n"] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }
}
