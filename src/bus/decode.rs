//! From bytes of anybody to a request that is within its limits. Cheap to refuse: the length is looked at before the
//! content, nesting is bounded by the parser, and nothing is kept of an unknown field.

use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::refusal::Refusal;
use super::wire::{Checked, ErrorCode, Object};

/// Parses and checks a request of at most `limit` bytes. An empty body counts as `{}`.
pub(super) fn decode<T: DeserializeOwned + Checked>(body: &[u8], limit: usize) -> Result<T, Refusal> {
    if body.len() > limit {
        let message = format!("the request has {} bytes, at most {limit} are read", body.len());
        return Err(Refusal::new(ErrorCode::TooLarge, message));
    }
    let body = if body.is_empty() { b"{}" } else { body };
    let mut json = serde_json::Deserializer::from_slice(body);
    let Object::<T>(request) = serde_path_to_error::deserialize(&mut json).map_err(|error| objection(&error))?;
    json.end().map_err(|error| Refusal::new(ErrorCode::BadJson, error.to_string()))?;
    request.check().map_err(|(field, what)| Refusal::new(ErrorCode::BadRequest, format!("{field}: {what}")))?;
    Ok(request)
}

fn objection(error: &serde_path_to_error::Error<serde_json::Error>) -> Refusal {
    let path = error.path().to_string();
    let code = match error.inner().classify() {
        Category::Data if path == "v" => ErrorCode::BadVersion,
        Category::Data => ErrorCode::BadRequest,
        Category::Syntax | Category::Eof | Category::Io => ErrorCode::BadJson,
    };
    let message = if path == "." { error.inner().to_string() } else { format!("{path}: {}", error.inner()) };
    Refusal::new(code, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::wire::{AskRequest, FrameRequest, SearchRequest, StreamsRequest, VerifyRequest};

    const LIMIT: usize = 65536;

    fn refused<T: DeserializeOwned + Checked + std::fmt::Debug>(body: impl AsRef<[u8]>) -> (ErrorCode, String) {
        let refusal = decode::<T>(body.as_ref(), LIMIT).expect_err("refused");
        (refusal.code, refusal.message)
    }

    #[test]
    fn good_requests_pass() {
        let ask: AskRequest = decode(br#"{"question":"Is a dog there?","k":3,"v":1}"#, LIMIT).expect("valid");
        assert_eq!((ask.question.as_str(), ask.k, ask.design), ("Is a dog there?", Some(3), None));
        let verify = br#"{"claims":[{"claim":"A dog.","timestamp":12}],"design":"caption-nli"}"#;
        assert_eq!(decode::<VerifyRequest>(verify, LIMIT).expect("valid").claims[0].timestamp.seconds(), 12.0);
        assert!(decode::<StreamsRequest>(b"", LIMIT).is_ok());
    }

    #[test]
    fn the_wrong_field_is_named() {
        use ErrorCode::{BadRequest, BadVersion};
        let cases = [
            (r"{}", BadRequest, "question"),
            (r#"{"question":7}"#, BadRequest, "question"),
            (r#"{"question":" "}"#, BadRequest, "question"),
            (r#"{"question":"a\u0000b"}"#, BadRequest, "question"),
            (r#"{"question":"q","kk":1}"#, BadRequest, "kk"),
            (r#"{"question":"q","k":0}"#, BadRequest, "k:"),
            (r#"{"question":"q","k":-1}"#, BadRequest, "k:"),
            (r#"{"question":"q","k":1.5}"#, BadRequest, "k:"),
            (r#"{"question":"q","design":"magic"}"#, BadRequest, "design"),
            (r#"{"question":"q","stream":"a.*"}"#, BadRequest, "stream"),
            (r#"{"question":"q","question":"r"}"#, BadRequest, "question"),
            (r#"{"v":2,"question":"q"}"#, BadVersion, "version 2"),
            (r#"{"v":"1","question":"q"}"#, BadVersion, "v:"),
            (r#"[1,"q",null,null,null,null]"#, BadRequest, "JSON object"),
            (r"null", BadRequest, "null"),
        ];
        for (body, code, word) in cases {
            let (got, message) = refused::<AskRequest>(body);
            assert_eq!(got, code, "{body}: {message}");
            assert!(message.contains(word), "{body}: {message:?} does not name {word}");
        }
        let (_, message) =
            refused::<VerifyRequest>(r#"{"claims":[{"claim":"a","timestamp":1},{"claim":"b","timestamp":-1}]}"#);
        assert!(message.starts_with("claims[1].timestamp: -1"), "{message}");
        assert_eq!(refused::<VerifyRequest>(r#"{"claims":[]}"#).0, BadRequest);
        assert_eq!(refused::<VerifyRequest>(r#"{"claims":[["A dog.",1]]}"#).0, BadRequest);
        assert_eq!(refused::<StreamsRequest>("[]").0, BadRequest);
        assert_eq!(refused::<SearchRequest>(r#"{"query":"a","from":5,"to":4}"#).0, BadRequest);
        assert_eq!(refused::<FrameRequest>(r#"{"timestamp":1e300}"#).0, BadRequest);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let deep = "[".repeat(LIMIT / 2);
        let deep_field = format!(r#"{{"question":{}"#, "{\"a\":".repeat(10_000));
        let bad: [&[u8]; 11] = [
            b"{",
            b"question",
            b"\0",
            b"{\"question\":\"\xff\"}",
            b"{\"question\":\"\xed\xa0\x80\"}",
            b"{\"question\":\"a\0\"}",
            b"{\"question\":\"\\ud800\"}",
            b"{\"question\":\"q\"} x",
            b"{\"question\":\"q\",\"k\":NaN}",
            b"{'question':1}",
            b"{\"question\":\"q\",\"k\":1e999}",
        ];
        for body in bad {
            assert_eq!(refused::<AskRequest>(body).0, ErrorCode::BadJson, "{:?}", String::from_utf8_lossy(body));
        }
        for body in [deep, deep_field] {
            assert!(matches!(refused::<AskRequest>(body).0, ErrorCode::BadJson | ErrorCode::BadRequest));
        }
        assert_eq!(refused::<AskRequest>(vec![b' '; LIMIT + 1]).0, ErrorCode::TooLarge);
    }
}
