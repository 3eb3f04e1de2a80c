//! A choice that is written as one word, or as a section whose `kind` is that word beside its settings.

use std::fmt;
use std::iter::once;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// For `#[serde(deserialize_with)]` on a field of an enum with `#[serde(tag = "kind")]`: `drafter = "smollm2"` says the
/// same as `[drafter]` with `kind = "smollm2"`.
pub fn choice<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Choice<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Choice<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a word, or a section with a kind")
        }

        fn visit_str<E: Error>(self, word: &str) -> Result<T, E> {
            T::deserialize(MapDeserializer::new(once(("kind", word))))
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_any(Choice(PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
    enum Tool {
        Hand {},
        Saw(Saw),
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Saw {
        teeth: u32,
    }

    #[derive(Debug, Deserialize)]
    struct Box {
        #[serde(deserialize_with = "choice")]
        tool: Tool,
    }

    #[test]
    fn words_and_sections_say_the_same() {
        let tool = |text: &str| toml::from_str::<Box>(text).map(|it| it.tool).map_err(|error| error.to_string());
        assert_eq!(tool("tool = 'hand'"), Ok(Tool::Hand {}));
        assert_eq!(tool("[tool]\nkind = 'hand'"), Ok(Tool::Hand {}));
        assert_eq!(tool("[tool]\nkind = 'saw'\nteeth = 9"), Ok(Tool::Saw(Saw { teeth: 9 })));
        for (bad, due) in [
            ("tool = 'axe'", "unknown variant `axe`"),
            ("tool = 'saw'", "missing field `teeth`"),
            ("tool = 1", "a word, or a section with a kind"),
            ("[tool]\nkind = 'hand'\nteeth = 9", "teeth"),
            ("[tool]\nkind = 'saw'\nteeth = 9\nrust = 1", "rust"),
            ("[tool]\nteeth = 9", "kind"),
        ] {
            let refused = tool(bad).expect_err(bad);
            assert!(refused.contains(due), "{bad}: {refused:?} instead of {due:?}");
        }
    }
}
