//! JSON Schemas of the messages, and stand-ins for the types whose JSON form is not their Rust form.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::{
    AnswerReply, AskRequest, CaptionEvent, ErrorReply, FrameRequest, RemoveRequest, SearchReply, SearchRequest,
    StateEvent, StreamReply, StreamRequest, StreamsReply, StreamsRequest, Verdict, VerifyReply, VerifyRequest,
};

/// The version of a message; reads and writes as the number 1 and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct V1;

impl TryFrom<u64> for V1 {
    type Error = String;

    fn try_from(version: u64) -> Result<Self, String> {
        if version == 1 { Ok(Self) } else { Err(format!("version {version} is not spoken here: send 1")) }
    }
}

impl From<V1> for u64 {
    fn from(V1: V1) -> Self {
        1
    }
}

impl JsonSchema for V1 {
    fn schema_name() -> Cow<'static, str> {
        "Version".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "const": 1 })
    }
}

macro_rules! stand_in {
    ($(#[$doc:meta])* $name:ident, $schema:tt) => {
        $(#[$doc])*
        pub(super) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

stand_in!(
    /// Seconds into a stream.
    Seconds, { "type": "number", "minimum": 0, "maximum": 3155760000.0 }
);
stand_in!(
    /// A time of day.
    Rfc3339, { "type": "string", "format": "date-time", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$" }
);
stand_in!(
    /// A stream id.
    Token, { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$" }
);
stand_in!(
    /// An identity.
    Uuid, { "type": "string", "format": "uuid", "pattern": "^[0-9a-f-]{36}$" }
);
stand_in!(
    /// A digest.
    Digest, { "type": "string", "pattern": "^[0-9a-f]{64}$" }
);

/// The schema of every message by file name: what a request may be, what a reply or an event will be.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("ask.request", read::<AskRequest>()),
        ("ask.reply", written::<AnswerReply>()),
        ("verify.request", read::<VerifyRequest>()),
        ("verify.reply", written::<VerifyReply>()),
        ("search.request", read::<SearchRequest>()),
        ("search.reply", written::<SearchReply>()),
        ("frame.request", read::<FrameRequest>()),
        ("streams.request", read::<StreamsRequest>()),
        ("streams.reply", written::<StreamsReply>()),
        ("streams.add.request", read::<StreamRequest>()),
        ("streams.add.reply", written::<StreamReply>()),
        ("streams.change.request", read::<StreamRequest>()),
        ("streams.change.reply", written::<StreamReply>()),
        ("streams.remove.request", read::<RemoveRequest>()),
        ("streams.remove.reply", written::<StreamReply>()),
        ("error.reply", written::<ErrorReply>()),
        ("caption.event", written::<CaptionEvent>()),
        ("verdict.event", written::<Verdict>()),
        ("state.event", written::<StateEvent>()),
    ]
}

fn read<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<T>()
}

fn written<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_version_one_is_read() {
        assert_eq!(serde_json::to_string(&V1).expect("serialises"), "1");
        assert!(serde_json::from_str::<V1>("1").is_ok());
        for bad in ["0", "2", "\"1\"", "1.0", "-1", "null"] {
            assert!(serde_json::from_str::<V1>(bad).is_err(), "{bad} was accepted");
        }
    }
}
