//! A digest that is valid once it exists.

use std::fmt;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A SHA-256 as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Sha(String);

impl Sha {
    /// The digest of what `reader` yields, with its length in bytes.
    pub fn of(reader: &mut impl Read) -> io::Result<(Self, u64)> {
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 1 << 18];
        let mut bytes = 0;
        loop {
            let n = reader.read(&mut buffer)?;
            if n == 0 {
                return Ok((Self::from(hasher), bytes));
            }
            hasher.update(&buffer[..n]);
            bytes += n as u64;
        }
    }

    /// The hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Sha256> for Sha {
    fn from(hasher: Sha256) -> Self {
        Self(format!("{:x}", hasher.finalize()))
    }
}

impl TryFrom<String> for Sha {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        if text.len() == 64 && text.bytes().all(digit) {
            Ok(Self(text))
        } else {
            Err("a SHA-256 is 64 lower-case hexadecimal digits")
        }
    }
}

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
